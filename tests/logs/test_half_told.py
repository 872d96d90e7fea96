"""Set-ups that are half told, and lines of programs that are cut off: what goes first, and texts that look alike."""

from __future__ import annotations

import pytest

from tests.logs.judged import first


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("numpy.dtype size changed warning\n\nI get these when importing pandas after the tensorflow install:\n/usr/local/lib/python3.6/importlib/_bootstrap.py:219: RuntimeWarning: numpy.dtype size changed, may indicate binary incompatibility. Expected 96, got 88\n  return f(*args, **kwds)\nIs it something to worry about?\n", ""),
        ("/home/k/anaconda3/lib/python3.6/importlib/_bootstrap.py:219: RuntimeWarning: numpy.ufunc size changed, may indicate binary incompatibility. Expected 192, got 216\n  return f(*args, **kwds)\n", ""),
        ("numpy.dtype size changed, may indicate binary incompatibility. Expected 96, got 88\n\nThat is printed each time the training starts, everything else is ok\n", ""),
        ("ValueError: numpy.ndarray size changed, may indicate binary incompatibility. Expected 88 from C header, got 80 from PyObject\n\ncomes on import of the package in Colab since today\n", "numpy-abi-break"),
        ("Colab: numpy.dtype size changed\n\nValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88 from PyObject\n", "numpy-abi-break"),
        ("ValueError: numpy.ufunc size changed\n\nhow do I repair this? it came after pip install -U numpy\n", "numpy-abi-break"),
        ("ValueError: numpy.ufunc has the wrong size, try recompiling. Expected 192, got 216\nwhen I do import sklearn then tensorflow\n", "numpy-abi-break"),
        ('/opt/conda/lib/python3.7/site-packages/foo/__init__.py:3: RuntimeWarning: numpy.ufunc size changed, may indicate binary incompatibility. Expected 192 from C header, got 216 from PyObject\nTraceback (most recent call last):\n  File "a.py", line 1, in <module>\n    import tensorflow as tf\nRuntimeError: module compiled against API version 0xc but this version of numpy is 0xa\nImportError: numpy.core.multiarray failed to import\n', "numpy-abi-break"),
        ("TypeError: Descriptor cannot be created directly\n\nimporting tensorflow hub gives me this\n", "protobuf-mismatch"),
        ("Descriptors can not be created directly\n\nafter I updated all packages\n", "protobuf-mismatch"),
        ("import tensorflow fails with TypeError: Descriptors cannot not be created directly.\nIf this call came from a _pb2.py file, your generated code is out of date and must be regenerated with protoc >= 3.19.0.\n", "protobuf-mismatch"),
        ("The computer was restarted suddenly while training\n\nSince I have the second RTX 3090 it happens under load, in the middle of the training.\n", "psu-insufficient"),
        ("My PC restarts when training on GPU\n\nAs soon as model.fit starts with tensorflow on the RTX 3080 the PC reboots itself. 550 W supply.\n", "psu-insufficient"),
        ("ImportError: libcublas.so.9.0: cannot open shared object file\n\nI've CUDA 8.0, 9.0 and 9.2 installed on Ubuntu 16.04, and tensorflow-gpu 1.8 from pip doesn't import.\n\n  File \"/usr/local/lib/python3.5/dist-packages/tensorflow/python/pywrap_tensorflow.py\", line 58, in <module>\n    from tensorflow.python.pywrap_tensorflow_internal import *\nImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory\n", "ld-library-path-not-set"),
        ("libcudart.so.10.0 not found\n\nCUDA 9.0, 10.0, 10.1 are installed here side by side. Why is it not found?\nImportError: libcudart.so.10.0: cannot open shared object file: No such file or directory\n", "ld-library-path-not-set"),
        ("ImportError: libcublas.so.10.0: cannot open shared object file: No such file or directory\n\nThere are cuda 10.0 and 10.1 on this machine\n", "ld-library-path-not-set"),
        ("ImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory\n\nCUDA 8.0 and 9.2 are installed, tensorflow 1.8. what is wrong?\n", "cuda-version-mismatch"),
        ("ImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory\n\nCUDA 9.1 is installed, and cuDNN 7. I use ubuntu 16.04 and python 3.5\n", "cuda-version-mismatch"),
        ("tensorflow 1.5 on CUDA 9.1\n\nImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory. I have CUDA 9.1, 7.0 cudnn.\n", "cuda-version-mismatch"),
        ("libcusolver.so.8.0: cannot open shared object file: No such file or directory\n\nI have both CUDA 7.5 and 8.0. tensorflow 1.2 asks for libcusolver.so.8.0\nImportError: libcusolver.so.8.0: cannot open shared object file: No such file or directory\n", "ld-library-path-not-set"),
        ("Tensorflow not working with CUDA v9\n\nI c:\\tf_jenkins\\home\\workspace\\release-win\\device\\gpu\\os\\windows\\tensorflow\\stream_executor\\dso_loader.cc:126] Couldn't open CUDA library cublas64_80.dll\nI c:\\tf_jenkins\\home\\workspace\\release-win\\device\\gpu\\os\\windows\\tensorflow\\stream_executor\\cuda\\cuda_blas.cc:2294] Unable to load cuBLAS DSO.\n", "cuda-version-mismatch"),
        ("I have CUDA 9 and cuDNN 7 but import says\n\nImportError: libcublas.so.8.0: cannot open shared object file: No such file or directory\n", "cuda-version-mismatch"),
        ("installed CUDA v8 on windows and it wants cudart64_90.dll\n\nImportError: Could not find 'cudart64_90.dll'. TensorFlow requires that this DLL be installed in a directory that is named in your %PATH% environment variable. Download and install CUDA 9.0\n", "cuda-version-mismatch"),
        ("ImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory\n\nCUDA 9 is installed in /usr/local/cuda-9.0 and so is cudnn 7\n", "ld-library-path-not-set"),
        ("TensorFlow 1.3 wants cudnn64_6.dll\n\nI have the file cudnn64_7.dll in my CUDA bin folder, tensorflow could not find cudnn64_6.dll. Do they really not read NVIDIA's current one?\n", "cudnn-wrong-major"),
        ("Could not find cudnn64_5.dll\n\nThe new cuDNN zip only contains cudnn64_6.dll. After renaming cudnn64_6.dll to cudnn64_5.dll it starts. Could the docs be clear on this?\n", "cudnn-wrong-major"),
        ("the zip from Nvidia has a dll called cudnn64_7.dll, while my tensorflow-gpu 1.4 looks for cudnn64_6.dll\n", "cudnn-wrong-major"),
        ("Could not find 'cudnn64_7.dll'. TensorFlow requires that this DLL be installed in a directory that is named in your %PATH% environment variable.\n\nI have CUDA 10.0 on windows 10 and a GTX 1070\n", "cudnn-missing"),
        ("ImportError: Could not find 'cudart64_100.dll'.\n\ntensorflow 1.13.1, cuda 10.0 on Windows 10. I opened C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v10.0\\bin and there it is, so what does it search?\n", "ld-library-path-not-set"),
        ("where to get cublas_64_80.dll?\n\ncntk asks for cublas_64_80.dll and curand64_80.dll on my laptop\n", "cuda-toolkit-missing"),
        ("ludwig installs tensorflow although I have tensorflow-gpu\n\nrequirements.txt names tensorflow, so pip pulls in plain tensorflow next to tensorflow-gpu and now only the CPU is used.\n", "tf-packages-overlap"),
        ("slow on GPU server\n\nI uninstalled tensorflow 1.12 and then installed tensorflow-gpu 1.12, but it is as slow as before and only the CPU is used\n", "tf-cpu-only-package"),
        ("InternalError: cudnn PoolForward launch failed\n\nE tensorflow/stream_executor/cuda/cuda_dnn.cc:378] Loaded runtime CuDNN library: 7005 (compatib\n", "cudnn-version-too-old"),
        ("E tensorflow/stream_executor/cuda/cuda_dnn.cc:378] Loaded runtime CuDNN library: 7005 (compatibility version 7000) but source was compiled with 7102 (compatibility version 7100).  If using a binary install, upgrade your CuDNN library to match.\n", "cudnn-version-too-old"),
        ("training takes longer on the GPU\n\nmy small dense net with batch size 8 takes longer on the GPU than on the CPU, RTX 2070, tf 2.3\n", "gpu-launch-bound"),
        ("pip install tensorflow==2.0.0 does not work\n\nCould not find a version that satisfies the requirement tensorflow==2.0.0 (from versions: 0.12.1, 1.0.0, 1.0.1, 1.1.0, 1.2.0, 1.2.1, 1.3.0, 1.4.0, 1.4.1, 1.5.0, 1.5.1, 1.6.0, 1.7.0, 1.7.1, 1.8.0, 1.9.0, 1.10.0, 1.10.1, 1.11.0, 1.12.0, 1.12.2, 1.12.3, 1.13.1, 1.13.\n", "pip-too-old"),
        ("No tensorflow 2.1 for me?\n\npip3 install tensorflow==2.1.0 on Ubuntu 18.04, python 3.6: No matching distribution found for tensorflow==2.1.0. The newest it offers is 1.14.0\n", "pip-too-old"),
        ("tensorflow 2.0 missing on PyPI\n\npip lists versions up to 2.0.0b1 only, but 2.0.0 is released, is it? Ubuntu, python 3.7\nNo matching distribution found for tensorflow==2.0.0\n", "pip-too-old"),
        ("Could not find a version that satisfies the requirement tensorflow==1.15 (from versions: 2.2.0, 2.2.1, 2.3.0, 2.3.1, 2.4.0)\n\npip3 install tensorflow==1.15 on Ubuntu 20.04\n", "python-version-unsupported"),
        ("pip install tensorflow==1.15.0 on python 3.9\n\nERROR: Could not find a version that satisfies the requirement tensorflow==1.15.0 (from versions: 2.5.0rc0, 2.5.0rc1, 2.5.0rc2, 2.5.0rc3, 2.5.0, 2.5.1, 2.6\n", "python-version-unsupported"),
        ("import tensorflow fails in my project\n\nTraceback (most recent call last):\n  File \"C:/Users/m/PycharmProjects/ml/random.py\", line 3, in <module>\n    import tensorflow as tf\n  File \"C:\\Users\\m\\Anaconda3\\lib\\site-packages\\tensorflow\\__init__.py\", line 99, in <module>\n    from tensorflow_core import *\n  File \"C:\\Users\\m\\Anaconda3\\lib\\tempfile.py\", line 45, in <module>\n    from random import Random as _Random\nImportError: cannot import name 'Random'\n", "tf-shadowed"),
        ("Traceback (most recent call last):\n  File \"/home/k/dl/code.py\", line 1, in <module>\n    import tensorflow\n  File \"/home/k/env/lib/python3.7/site-packages/tensorflow/__init__.py\", line 98, in <module>\n    from tensorflow_core import *\n  File \"/usr/lib/python3.7/pdb.py\", line 76, in <module>\n    import code\nAttributeError: module 'tensorflow' has no attribute 'compat'\n\nwhat's wrong with my installation?\n", "tf-shadowed"),
        ('Traceback (most recent call last):\n  File "C:/Users/m/ml/test.py", line 3, in <module>\n    import tensorflow as tf\n  File "C:\\Users\\m\\Anaconda3\\lib\\site-packages\\tensorflow\\python\\pywrap_tensorflow.py", line 58, in <module>\n    from tensorflow.python.pywrap_tensorflow_internal import *\nImportError: DLL load failed: A dynamic link library (DLL) initialization routine failed.\n', "msvc-runtime-missing"),
        ("how to free GPU memory after the notebook crashed?\n\nThe kernel died in the middle of the training and nvidia-smi says\n|   0  GeForce GTX 1080    Off  | 00000000:01:00.0 Off |                  N/A |\n| 30%   28C    P8    22W / 250W |   7625MiB /  8119MiB |      0%      Default |\n", "gpu-memory-held-by-other-process"),
        ("Clear GPU memory after training was interrupted\n\nI stopped the run with ctrl+c, and the memory lives on in the card: 10514 MiB of 11178 MiB. No process is listed.\n", "gpu-memory-held-by-other-process"),
        ("failed initializing StreamExecutor for CUDA device ordinal 0\n\nAnother process takes the whole memory of gpu 0, mine is meant for gpu 1 and still this comes.\nfailed initializing StreamExecutor for CUDA device ordinal 0: Internal: failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY; total memory reported: 12788105216\n", "gpu-memory-held-by-other-process"),
        ("tensorflow takes the whole memory of my GPU\n\nI only have a small mnist net and it takes 11 GB of the GTX 1080 Ti. how do i limit it?\n", "tf-preallocates-all-memory"),
        ("How to free GPU memory after training?\n\nWhen model.fit is over, the memory is still allocated until I close python. GTX 1070, keras\n", "tf-preallocates-all-memory"),
    ],
)  # fmt: skip
def test_what_goes_first(text: str, cause: str) -> None:
    assert first(text) == cause
