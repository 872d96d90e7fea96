"""Memory that is kept, and what a build does not find, in people's words: what goes first, and texts that look alike."""

from __future__ import annotations

import pytest

from tests.logs.judged import first

TOO_LARGE, HELD, TAKEN = "gpu-oom-model-or-data", "gpu-memory-held-by-other-process", "tf-preallocates-all-memory"
HOST, GROWS = "cgroup-memory-limit", "host-memory-leak"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('DFL OOM\n\nWhat is OOM? I get it at start of SAEHD training on a GTX 1050\n\nModel first run.\n[8] Batch_size ( ?:help ) : 8\n[128] Resolution ( 64-640 ?:help ) : 128', TOO_LARGE),
        ('OOM at the second training stage\n\nStage one is fine, the second stage with 512x512 crops runs out of GPU memory. GTX 1080', TOO_LARGE),
        ('OOM though the memory is free\n\nname: GeForce GTX 1050\nmemoryClockRate (GHz) 1.455\nTotal memory: 3.94GiB\nFree memory: 3.60GiB\nEpoch 1/10\n2018-01-02 10:00:00.0: W tensorflow/core/common_runtime/bfc_allocator.cc:273] Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.53GiB.  Current allocation summary follows.', TOO_LARGE),
        ("Use shared GPU memory\n\nMy laptop's GTX 1650 has 4 GB dedicated and 8 GB shared. It crashes with OOM when the dedicated is full and never uses the shared one.", TOO_LARGE),
        ('Shared GPU memory is not used, I get an OOM error with a 3 GB card', TOO_LARGE),
        ('能不能使用共享GPU内存?专用显存4G不够用,一训练就OOM', TOO_LARGE),
        ('The notebook kernel crashes as soon as the data set gets large. Small subset works. 16 GB RAM', HOST),
        ('训练数据超过2000张图片,内核就挂掉重启,1000张没问题', HOST),
        ('Der Kernel stirbt beim Laden von mehr als 3000 Bildern, mit 1000 klappt es', HOST),
        ('Session crashed after using all available RAM - colab, loading my dataset of 50k images', HOST),
        ("Anaconda kernel died and restarts\n\nWith more than 1500 volumes the kernel dies. With 800 it runs.\n\n2021-04-09 11:06:08.187912: W tensorflow/stream_executor/platform/default/dso_loader.cc:60] Could not load dynamic library 'cupti64_110.dll'; dlerror: cupti64_110.dll not found", HOST),
        ("Memory doubles after every episode of my DQN agent. With K.clear_session() after fit() it's gone.", GROWS),
        ('every new experiment takes additional RAM; tf.reset_default_graph() at the end of the function solves that', GROWS),
        ('I fixed the growing memory by calling tf.keras.backend.clear_session() after each model in my grid search', GROWS),
        ('Память растёт каждый эпизод, помогает clear_session()', GROWS),
        ('La memoria se duplica después de cada episodio, con clear_session() se arregla', GROWS),
        ('How do I call clear_session() in my own loop? Thanks', ''),
        ('set_memory_growth is ignored: all 11 GB are in use right after the start', TAKEN),
        ('allow_growth无效,显存还是全部被占用', TAKEN),
        ('set_memory_growth funktioniert nicht, die Karte ist trotzdem voll belegt', TAKEN),
        ('allow_growth no funciona, sigue ocupando toda la memoria de la GPU', TAKEN),
        ('config.gpu_options.allow_growth is not respected by this library: nvidia-smi shows 10.8 of 11 GB used', TAKEN),
        ('After the segmentation plugin (TensorFlow) has run, the next module (torch) has no GPU memory left: out of memory. Each alone works.', TAKEN),
        ('Memory stays allocated after del model and K.clear_session(). How to release VRAM?', TAKEN),
        ("The detector doesn't give the GPU memory back when it's finished, the tracker after it is out of memory", TAKEN),
        ('Speicher der GPU wird nach der Vorhersage nicht freigegeben, solange Python läuft', TAKEN),
        ('Освободить видеопамять после обучения? sess.close() не помогает, память занята', TAKEN),
        ('tensorflow no libera la memoria de la GPU después de entrenar', TAKEN),
        ('When step 1 (tensorflow) is finished its GPU memory is still held so step 2 (pytorch) fails with OOM', TAKEN),
        ("node07 can't allocate GPU memory\n\nEvery time my job lands on node07 it fails with CUDA out of memory. On the other nodes the same job runs.", HELD),
        ('out of memory on gpu-12 only\n\nThe same script works on gpu-11 and gpu-13.', HELD),
        ('Can you check node gn3? The GPUs there have no free memory when my job starts.', HELD),
        ('Auf dem Knoten gpu03 bekomme ich immer CUDA out of memory, auf gpu04 läuft der gleiche Job', HELD),
        ('GPU 2 on our server always out of memory, the same script on GPU 0 is fine', HELD),
        ('My job on the cluster needs more than 32 GB of GPU memory, V100 nodes give CUDA out of memory at batch 64', TOO_LARGE),
        ('Error in 3D U-Net training\n\nDst tensor is not initialized. The patch size is 192x192x192, 12 GB Titan X', TOO_LARGE),
        ("CUDA_ERROR_OUT_OF_MEMORY at start\n\nnvidia-smi: 10.9 of 11.2 GB are in use by another user's python", HELD),
        ('Every run fails with out of memory since my last run crashed. Only a reboot helps.', HELD),
        ('Kernel restarting at x_train = np.array(x_train), 30k images 256x256', HOST),
        ('each call of load_model adds 200MB, never freed', GROWS),
        ("Can't run the large model on 8GB. medium works", TOO_LARGE),
        ('la memoria de mi gpu (3 GB) no alcanza, ¿qué puedo bajar?', TOO_LARGE),
        ('The plugin blocks my whole VRAM, even when it does nothing', TAKEN),
        ('Why does inference with a 20 MB model need 10 GB of VRAM?', TAKEN),
        ('gpu memory stays full after tf.keras.backend.clear_session()', TAKEN),
        ('Como faço para o TensorFlow não usar toda a memória da GPU?', TAKEN),
        ('out of memory, but the card has 24 GB and my net is tiny. nvidia-smi shows 23 GB used by a process of root', HELD),
        ('The longer it trains the more RAM it takes', GROWS),
    ],
)  # fmt: skip
def test_memory(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('cudart64_110.dll not found\n\nCUDA toolkit is installed and its path is in PATH. Windows 10', 'ld-library-path-not-set'),
        ('Library cublas64_12.dll is not found or cannot be loaded. CUDA is installed and I added it to the Windows path.', 'ld-library-path-not-set'),
        ('找不到cublas64_11.dll, CUDA已经安装了, 环境变量也配置了', 'ld-library-path-not-set'),
        ('Whisper: Library cublas64_11.dll is not found or cannot be loaded\nI have the nvidia toolkit and the path variable is right.', 'ld-library-path-not-set'),
        ('cublas64_11.dll wird nicht gefunden, obwohl das CUDA Toolkit installiert ist und der Pfad gesetzt ist', 'ld-library-path-not-set'),
        ('cublas64_11.dll not found. I have CUDA 12.1 installed', 'cuda-version-mismatch'),
        ('nvcc not in the image\n\nIn your docker image nvcc --version gives: bash: nvcc: command not found. I need it to compile the ops. CUDA 11.4 in the other image', 'cuda-toolkit-missing'),
        ('docker image has no nvcc\n\nI run `docker run --gpus all -it nvidia/cuda:11.4.0-runtime-ubuntu20.04` and building the extension fails: nvcc: not found', 'cuda-toolkit-missing'),
        ("The arm64 container lacks nvcc (bash: nvcc: command not found), amd64 has it: release 11.4, V11.4.100. cmake can't find CUDA", 'cuda-toolkit-missing'),
        ('RuntimeError: CUDA_HOME environment variable is not set while building the docker image FROM nvidia/cuda:11.3-runtime', 'cuda-toolkit-missing'),
        ('nvcc: command not found, but /usr/local/cuda-11.4/bin/nvcc exists. I want to compile the ops', 'ld-library-path-not-set'),
        ('nvcc: command not found when I run make for tf_ops. CUDA 10.0 is installed, nvidia-smi works', 'ld-library-path-not-set'),
        ('CMake Error: Could NOT find CUDA (missing: CUDA_TOOLKIT_ROOT_DIR CUDA_NVCC_EXECUTABLE CUDA_INCLUDE_DIRS CUDA_CUDART_LIBRARY)\n\nbuilding the wrapper on Ubuntu 20.04', 'cuda-toolkit-missing'),
        ('Specify CUDA_TOOLKIT_ROOT_DIR\n\ncatkin_make stops with:\nCMake Error at /usr/share/cmake-3.10/Modules/FindCUDA.cmake:682 (message):\n  Specify CUDA_TOOLKIT_ROOT_DIR', 'cuda-toolkit-missing'),
        ('CMake Error: The following variables are used in this project, but they are set to NOTFOUND.\nCUDA_CUDART_LIBRARY (ADVANCED)\n\nI try to compile darknet_ros', 'cuda-toolkit-missing'),
        ('-- Could NOT find CUDAToolkit (missing: CUDAToolkit_INCLUDE_DIR) (found version "11.8")\nCMake Error at CMakeLists.txt:20: find_package. Building llama.cpp', 'cuda-toolkit-missing'),
        ('Could NOT find CUDA (missing: CUDA_CUDART_LIBRARY)\n\nHello, how to solve this when compiling? Ubuntu 18.04', 'cuda-toolkit-missing'),
        ('Compiling the CUDA compiler identification source file failed / No CUDA toolset found.\nCMake Error: No CUDA toolset found. I build on Visual Studio 2019', 'cuda-toolkit-missing'),
        ('fatal error: cuda_runtime.h: No such file or directory\ncompilation terminated. when I build the plugin', 'cuda-toolkit-missing'),
        ('/usr/bin/ld: cannot find -lcudart\ncollect2: error: ld returned 1 exit status\nwhile compiling the ops', 'cuda-toolkit-missing'),
        ('docker build fails: RuntimeError: No CUDA GPUs are available\n\nRUN python setup.py install in my Dockerfile; docker run --gpus all works', 'container-no-gpus-flag'),
        ('RuntimeError: cuda runtime error (38) : no CUDA-capable device is detected while building the docker image (docker build -t x .)', 'container-no-gpus-flag'),
        ('Docker Hub automated build stops at make: no CUDA-capable device is detected. Can it be compiled without a GPU?', 'container-no-gpus-flag'),
        ('CUDA_VISIBLE_DEVICES=2 python train.py gives no CUDA-capable device is detected. I have two GPUs, built from source', 'cuda-visible-devices-wrong'),
        ('Which package is used?\n\nI ran by mistake\npip install -r requirements.txt\nand then\npip install -r requirements-gpu.txt\nNow it trains on the CPU.', 'tf-packages-overlap'),
        ('RuntimeError: NVCC returned an error. See below for full command line and output log:\n\n/usr/local/cuda/bin/nvcc --std=c++11 "D:\\work\\x.cu" -o "C:\\Temp\\x.cu" 2>&1\n\nThe system cannot find the path specified.\n\nplease help', 'ld-library-path-not-set'),
        ('/usr/local/cuda/bin/nvcc "E:\\stylegan\\upfirdn_2d.cu" --preprocess\n系统找不到指定的路径。', 'ld-library-path-not-set'),
        ('cuda_runtime.h not found when building the ros package in the docker image', 'cuda-toolkit-missing'),
        ("l4t-base r34.1 doesn't contain CUDA any more, opencv build fails: Could NOT find CUDA", 'cuda-toolkit-missing'),
        ("error: command '/usr/local/cuda/bin/nvcc' failed: No such file or directory (pip install apex)", 'cuda-toolkit-missing'),
        ("CMake can't find CUDA, what should I install? ubuntu 22", 'cuda-toolkit-missing'),
        ('Kompilieren geht nicht: cuda_runtime.h: Datei oder Verzeichnis nicht gefunden', 'cuda-toolkit-missing'),
        ("The runtime image lacks nvcc; can't compile the extension in the container", 'cuda-toolkit-missing'),
    ],
)  # fmt: skip
def test_libraries_and_builds(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    "text",
    [
        'We set allow_growth=True and it works as it should. Thanks for the hint!',
        'Why does Windows task manager show my GPU at 3%, although it is much faster than on the CPU?',
        'Task manager shows GPU 2% but training is 10x faster than with CPU. Is that normal?',
        "Activity monitor says the GPU is hardly used. But it does run on the GPU, since it's MUCH faster than the CPU version",
        'Thanks, with smaller images the memory suffices.',
        'Is 8 GB enough for training?',
        'Feature: show GPU memory usage in the status bar',
    ],
)  # fmt: skip
def test_nothing_is_wrong(text: str) -> None:
    assert first(text) == ""
