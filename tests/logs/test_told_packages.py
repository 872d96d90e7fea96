"""Packages, interpreters and images in people's words and in lists: what goes first, and texts that look alike."""

from __future__ import annotations

import pytest

from tests.logs.judged import first


@pytest.mark.parametrize(
    ("text", "cause", "is_it"),
    [
        ("Keras 3 model trains on CPU\n\nTF 2.16.1, keras 3.3. `tf.config.list_physical_devices('GPU')` gives [PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]\nbut nvidia-smi is at 0% during fit and it's very slow. keras.backend.backend() returns 'torch', is that of importance?\n", 'keras-backend-not-tensorflow', True),
        ('0% GPU in fit\n\n[PhysicalDevice(name=\'/physical_device:GPU:0\', device_type=\'GPU\')]\n~/.keras/keras.json:\n{"floatx": "float32", "epsilon": 1e-07, "backend": "torch", "image_data_format": "channels_last"}\nWhy is it slow on my 3090? TF 2.17\n', 'keras-backend-not-tensorflow', True),
        ('I compared keras with backend = "jax" and backend = "tensorflow". On JAX my model is OK, with TF 2.17 it lists no GPU:\nCould not find cuda drivers on your machine, GPU will not be used.\n[]\n', 'keras-backend-not-tensorflow', False),
        ("conda env without GPU\n\nconda list shows tensorflow-base with build mkl_py39h4683426_0, and list_physical_devices('GPU') returns []. RTX 2080, TF 2.8. Driver 510. Why?\n", 'conda-cpu-build', True),
        ("mamba installed cpu_py311h65739b5_3 although I have a 3090\n\nprint(tf.config.list_physical_devices('GPU'))\n[]\nPackage tensorflow 2.14 from conda-forge.\n", 'conda-cpu-build', True),
        ("My pytorch from conda is cpu_py310 but that's fine, I only use TF for the GPU. tensorflow 2.13 by pip:\nprint(tf.config.list_physical_devices('GPU'))\n[]\nCould not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory\n", 'conda-cpu-build', False),
        ("cudnn in venv, still not found, TF 2.12\n\nCould not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory\nSkipping registering GPU devices...\n$ pip list | grep nvidia\nnvidia-cudnn-cu11            8.6.0.163\nnvidia-cublas-cu11           11.11.3.6\nI have CUDA 11.8 in /usr/local.\n", 'pip-nvidia-libs-not-found', True),
        ("TF 2.12 and cudnn\n\nCould not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory\nSkipping registering GPU devices...\n$ pip list | grep nvidia\nnvidia-cudnn-cu12            9.1.0.70\nIt's installed, or not?\n", 'pip-nvidia-libs-not-found', False),
        ("Manjaro: installed python-tensorflow-opt with pacman, cuda and cudnn too. RTX 3070\n>>> tf.config.list_physical_devices('GPU')\n[]\nWhat is missing?\n", 'tf-cpu-only-package', True),
        ('Arch\nlocal/python-tensorflow-opt-cuda 2.15.0-4\n2023-12-12 10:00:00.123456: E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:274] failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n[]\n', 'tf-cpu-only-package', False),
        ('TF 2.9 Windows\n\nCould not load dynamic library \'cudnn64_8.dll\'; dlerror: cudnn64_8.dll not found\nSkipping registering GPU devices...\nC:\\> dir "C:\\Program Files\\NVIDIA\\cudnn\\bin"\nC:\\Program Files\\NVIDIA\\cudnn\\bin\\cudnn64_7.dll\nHow do I get TF to use it? GTX 1070\n', 'cudnn-wrong-major', True),
        ("TF 2.13 Ubuntu\n\nCould not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory\nSkipping registering GPU devices...\n$ ls /usr/lib/x86_64-linux-gnu/libcudnn*\n/usr/lib/x86_64-linux-gnu/libcudnn.so.9\n/usr/lib/x86_64-linux-gnu/libcudnn_adv.so.9\n", 'cudnn-wrong-major', True),
        ('node app slow, no GPU used\n\nnpm install @tensorflow/tfjs-node, RTX 3060 with CUDA 11.8. posenet needs 400 ms per frame and the GPU stays idle. What must I configure?\n', 'tf-cpu-only-package', True),
        ("const tf = require('@tensorflow/tfjs-node-gpu')\nError: The specified module could not be found. \\\\?\\C:\\app\\node_modules\\@tensorflow\\tfjs-node-gpu\\lib\\napi-v8\\tfjs_binding.node\nMy app with tfjs-node-gpu does not start.\n", 'tf-cpu-only-package', False),
        ("Notebook: ModuleNotFoundError, terminal OK\n\nIn [1]: import tensorflow as tf\nModuleNotFoundError                       Traceback (most recent call last)\n<ipython-input-1-64156d691fe5> in <module>\n----> 1 import tensorflow as tf\nModuleNotFoundError: No module named 'tensorflow'\n\n(tf) me@pc:~$ pip install tensorflow\nRequirement already satisfied: tensorflow in ./envs/tf/lib/python3.10/site-packages (2.12.0)\nI restarted jupyter already.\n", 'jupyter-kernel-other-environment', True),
        ("python3\n>>> import tensorflow\nModuleNotFoundError: No module named 'tensorflow'\nHow do I install it on Ubuntu 22.04 with my RTX?\n", 'jupyter-kernel-other-environment', False),
        ('GPU:0 unknown device\n  File "C:\\Users\\x\\anaconda3\\envs\\tf-2.15\\lib\\site-packages\\tensorflow\\python\\framework\\ops.py", line 22, in f\nRuntimeError: /job:localhost/replica:0/task:0/device:GPU:0 unknown device.\nWindows 11, RTX 4070\n', 'tf-windows-native-cpu-only', True),
        ('GPU:0 unknown device\n  File "C:\\Users\\x\\anaconda3\\envs\\tf210\\lib\\site-packages\\tensorflow\\python\\framework\\ops.py", line 22, in f\nRuntimeError: /job:localhost/replica:0/task:0/device:GPU:0 unknown device.\nWindows 11, RTX 4070\n', 'tf-windows-native-cpu-only', False),
        ('is_built_with_cuda() returns False on windows 10, tensorflow 2.13 by pip, GTX 1660. What do I need to install to get True?\n', 'tf-windows-native-cpu-only', True),
        ('is_built_with_cuda() returns False on ubuntu, tensorflow 2.13 by pip, GTX 1660. What do I need to install to get True?\n', 'tf-windows-native-cpu-only', False),
        ('import tensorflow fails only in one folder\n  File "/home/kofi/venv/lib/python3.10/site-packages/tensorflow/python/framework/dtypes.py", line 19, in <module>\nModuleNotFoundError: No module named \'numpy.core\'; \'numpy\' is not a package\nTF 2.12\n', 'tf-shadowed', True),
        ('ModuleNotFoundError: No module named \'keras.src\'; \'keras\' is not a package\n  File "/home/kofi/venv/lib/python3.10/site-packages/tensorflow/keras/__init__.py"\nTF 2.16\n', 'tf-shadowed', True),
        ('import tensorflow fails\n  File "/home/kofi/venv/lib/python3.10/site-packages/tensorflow/python/framework/dtypes.py", line 19, in <module>\nModuleNotFoundError: No module named \'numpy.core._multiarray_umath\'\nTF 2.2\n', 'tf-shadowed', False),
        ('Image has no GPU, though the test works\n\nTest: docker run --rm --gpus all nvidia/cuda:12.2.0-base-ubuntu22.04 nvidia-smi works and lists my 4090.\ndocker run -it --rm tensorflow/tensorflow:2.15.0-gpu bash\nroot@1b2c3d4e5f60:/# python -c "import tensorflow as tf; print(tf.config.list_physical_devices(\'GPU\'))"\n2024-01-30 12:15:43.280411: E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:274] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n[]\n', 'container-no-gpus-flag', True),
        ('pip install tensorflow in arm64v8/python:3.7 container\n\nERROR: Could not find a version that satisfies the requirement tensorflow==1.15 (from versions: none)\nERROR: No matching distribution found for tensorflow==1.15\nIt works on my laptop.\n', 'tf-aarch64-no-wheel', True),
        ('nccl-tests hang with 2x RTX 4090\n\nIOMMU is disabled and ACS is off as well. all_reduce_perf hangs, NCCL_P2P_DISABLE=1 makes it run. Any idea?\n', 'p2p-unsupported-geforce', True),
        ('training hangs with 2x A6000\n\nMirroredStrategy hangs at the first step. When I switched off the IOMMU in the BIOS it works.\n', 'nccl-p2p-iommu-acs', True),
        ('Why is one GPU idle?\n\nThere are 4 GPUs in the machine. The memory of all of them is used, but only GPU 0 is working, keras fit, TF 2.3.\n', 'single-gpu-silently', True),
        ('2x RTX 2080, same speed as one\n\nI use model.fit. gpu 0 98%, gpu 1 0% in nvidia-smi, memory full on both. TF 2.1, no errors.\n', 'single-gpu-silently', True),
        ("4x V100, MirroredStrategy: gpu 0 98%, gpu 1 97%, gpu 2 98%, gpu 3 97%. It's slower than expected, 2.1 times of one.\n", 'single-gpu-silently', False),
        ('GPU load like a saw tooth\n\nGPU utilization jumps between 0% and 95% in fit. ImageDataGenerator.flow_from_directory from a network drive, 12 MP images. GTX 1080, TF 2.2\n', 'cpu-starved-input', True),
        ('fit with my python generator: nvidia-smi shows 0 0 0 97 0 0 0 95 0 0\n\nclass Gen(keras.utils.Sequence) reads tif files with opencv. RTX 3080, TF 2.5, slow. Do I have to set something?\n', 'cpu-starved-input', True),
        ("GPU usage is 0% all the time, it's slow, TF 2.12 on Windows 10, RTX 3080\n", 'cpu-starved-input', False),
        ('GPU-Util alternates between 0% and 99%\n\nMy generator decodes 12 MP jpegs with PIL inside __getitem__ of a keras Sequence. V100, TF 2.3, 45 minutes per epoch\n', 'cpu-starved-input', True),
        ('My GPU waits? 3 s with 0 % then a peak of 90 %\n\nnvidia-smi -l 1: 0 % 0 % 0 % 92 % 0 % 0 % 0 % 88 %. flow_from_dataframe with augmentation, TF 2.4, RTX 2080.\n', 'cpu-starved-input', True),
        ('htop and nvidia-smi while model.fit runs: GPU0 97% / 10.8 GB, GPU1 0% / 10.8 GB. Two 2080 Ti, TF 2.2. Why is the second one not working?\n', 'single-gpu-silently', True),
        ('DGX with 4 V100: memory full on all four, only the first one computes. tf.keras, TF 2.1. Is it broken?\n', 'single-gpu-silently', True),
        ("Debian: apt install python3-tensorflow\n>>> tf.config.list_physical_devices('GPU')\n[]\ndriver and nvidia-smi ok, RTX 2060\n", 'tf-cpu-only-package', True),
        ('face recognition with tfjs is too slow on my RTX server\n\n"dependencies": { "@tensorflow/tfjs-node": "4.2.0", "@vladmandic/face-api": "1.7" }\nCPU 100%, nvidia-smi shows no process.\n', 'tf-cpu-only-package', True),
        ('ModuleNotFoundError: No module named \'tensorflow\' in Jupyter Lab\n\nIn the terminal `python -c "import tensorflow"` works fine. In [1]: import tensorflow -> error. conda env "ml", Ubuntu.\n', 'jupyter-kernel-other-environment', True),
        ("No GPU with tensorflow=2.10.0=mkl_py310hd9a6a59_0 from the defaults channel; tf.config.list_physical_devices('GPU') returns []; driver 520, GTX 1660\n", 'conda-cpu-build', True),
        ('2x V100 and MirroredStrategy. gpu 0 97%, gpu 1 96%. Only one of them is shown in TensorBoard. TF 2.3\n', 'single-gpu-silently', False),
        ("pip says Requirement already satisfied: tensorflow, but python train.py: ModuleNotFoundError: No module named 'tensorflow'. Ubuntu, python3.8 and 3.10 are installed.\n", 'jupyter-kernel-other-environment', False),
        ('Windows 11, WSL2 Ubuntu: tf.test.is_built_with_cuda() True, list_physical_devices [] TF 2.13. RTX 3060\n', 'tf-windows-native-cpu-only', False),
        ("conda install tensorflow=2.4.1=gpu_py39h8236f22_0 replaced mkl_py39 and now it works: GPU listed [PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]\n", 'conda-cpu-build', False),
        ('nccl all_reduce hangs on 8x A100, IOMMU is disabled. NCCL_P2P_DISABLE=1 works\n', 'p2p-unsupported-geforce', False),
        ('GPU usage jumps 0% - 90% - 0% with reinforcement learning, env steps in python between, small MLP. TF 2.3\n', 'cpu-starved-input', False),
    ],
)  # fmt: skip
def test_what_is_namedfirst(text: str, cause: str, is_it: bool) -> None:
    assert (first(text) == cause) is is_it
