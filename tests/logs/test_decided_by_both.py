"""Where what somebody writes decides between the causes that a program's line leaves, and where it does not."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, shown

REFUSES = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
COMPAT = "Error 804: forward compatibility was attempted on non supported HW\n"
DIFFER = "kernel version 450.66.0 does not match DSO version 450.142.0 -- cannot find working devices in this configuration\n"
HANDLE = "Unable to determine the device handle for GPU 0000:0B:00.0: Unknown Error\n"
NO_LIBCUDA = "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory\n"
PART = "Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open shared object file: No such file or directory\n"
DLOPEN = "W tensorflow/core/common_runtime/gpu/gpu_device.cc:2251] Cannot dlopen some GPU libraries. Please make sure the missing libraries\n[]\n"
REFUSED = "ERROR: tensorflow_gpu-1.13.1-cp35-cp35m-win_amd64.whl is not a supported wheel on this platform.\n"
NO_CUBLAS = "ImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory\n"
NO_CUDART = (
    "Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file\n"
)
LISTED = "Could not find a version that satisfies the requirement tensorflow-gpu==1.15.0 (from versions: 1.12.3, 1.13.1, 1.14.0, 2.0.0a0, 2.0.0b0, {last})\n"
PREVIEWS_LEFT_OUT = "  Could not find a version that satisfies the requirement tensorflow==1.15.0 (from versions: 1.12.3, 1.13.1, 1.13.2, 1.14.0)\n"
TABLE = "| NVIDIA-SMI 390.25                 Driver Version: 390.25                    |\n"
UNKNOWN = "cudaGetDeviceCount returned 30\n"
READY = "failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized\n"
FAILED = "failed to run cuBLAS routine: CUBLAS_STATUS_EXECUTION_FAILED\n"
NOT_BUILT = (
    "Attempting to fetch value instead of handling error Internal: no supported devices found for platform CUDA\n"
)
ROWS = "".join(
    f"2019-01-03 08:07:31.1: I tensorflow/core/common_runtime/gpu/gpu_device.cc:990] {n}:   N {{y}} \n" for n in "01"
)
GEFORCE = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1103] Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:0 with 9854 MB memory) -> physical GPU (device: 0, name: GeForce RTX 2080 Ti, pci bus id: 0000:05:00.0, compute capability: 7.5)\n"
NO_FUNCTION = "no device function\nNCCL version 2.4.8+cuda{cuda}\nbox:97:97 [7] NCCL INFO Using 256 threads, Min Comp Cap {least}, Trees disabled\n"
OF_CUDA_12 = "Could not load library libcublasLt.so.12. Error: libcublasLt.so.12: cannot open shared object file: No such file or directory\n"
NOT_DETECTED = "WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.\n"
NO_NVML = "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown.\n"
NOT_INSIDE = 'Error: container_linux.go:345: starting container process caused "exec: \\"nvidia-smi\\": executable file not found in $PATH": OCI runtime error\n'
PTXAS = "You are using ptxas 8.x, but TF requires ptxas 9.x (and strongly prefers >= 9.2.88).\n"
DEFAULT = "    _DEFAULT = SymbolDatabase(pool=descriptor_pool.Default())\nAttributeError: 'module' object has no attribute 'Default'\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # the driver
        (REFUSES + "With the `linux` kernel it works, I am on linux-cachyos\n", "driver-module-not-loaded"),
        (REFUSES + "With the `linux` kernel it works, Secure Boot is enabled\n", None),
        (REFUSES + "I use the linux kernel\n", None),
        (COMPAT + "nvidia-smi works fine\n", "cuda-compat-unsupported"),
        (COMPAT + "nvidia-smi does not work\n", None),
        (DIFFER + "In the container cuda-compat-11-0 is 450.142.0\n", "cuda-compat-unsupported"),
        (DIFFER + "In the image something is 450.142.0\n", None),
        ("LXD 3.0.3\n" + UNKNOWN + TABLE, "cuinit-uvm-device-missing"),
        (UNKNOWN + TABLE, None),
        ("The GPU is Intel (R) UHD Graphics 620\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n", "no-nvidia-gpu"),
        ("RTX 3060 beside Intel UHD\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n", None),
        ("- Nvidia Drivers: 390.116\n- TF version: 1.13.1\nSession() freezes the machine, how can I fix it? It does not work.\n", "driver-too-old"),
        ("- Nvidia Drivers: 418.116\n- TF version: 1.13.1\nSession() freezes the machine, how can I fix it? It does not work.\n", None),
        ("+---+\n| NVIDIA-SMI 352.63     Driver Version: 384.130        |\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n", "driver-library-mismatch"),
        ("+---+\n| NVIDIA-SMI 384.111    Driver Version: 384.130        |\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n", None),
        ("WSL2\n| NVIDIA-SMI 550.60.01    Driver Version: 551.76        CUDA Version: 12.4     |\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n", None),
        ("kernel reported version is: 375.26.0\nImportError: libnvidia-fatbinaryloader.so.375.51: cannot open shared object file\n", "driver-library-mismatch"),
        ("kernel reported version is: 375.51.0\nImportError: libnvidia-fatbinaryloader.so.375.51: cannot open shared object file\n", None),
        ("cuda driver library init failure: 802\n", None),
        ("Linux DESKTOP 4.4.0-19041-Microsoft\n" + REFUSES, "wsl1-no-gpu"),
        ("Linux DESK 4.4.0-19041-Microsoft #1237-Microsoft x86_64 GNU/Linux\n" + NO_LIBCUDA, "wsl1-no-gpu"),
        ("Linux DESK 3.4.0+ #1 PREEMPT x86_64 GNU/Linux\nlibcuda.so.1 => not found\n", "wsl1-no-gpu"),
        ("Ubuntu in WSL 1, Windows 10\n" + REFUSES, "wsl1-no-gpu"),
        ("Ubuntu in WSL 1, Windows 10. With WSL 2 it is the same.\n" + REFUSES, None),
        ("Linux DESKTOP 4.4.0-19041-Microsoft\n", None),
        ("How can one use it with an AMD RX 570?\n", "amd-gpu"),
        ("Can this be run with an AMD GPU?\n", "amd-gpu"),
        ("nvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown\nThere's no NVIDIA graphics card in it\n", "no-nvidia-gpu"),
        ("nvidia-dkms failing build on 6.17.1\n", "driver-kernel-incompatible"),
        ("nvidia-dkms builds on 6.17.1\n", None),
        ("> Building DKMS module: nvidia-570.133.07... FAILED!\n", "driver-kernel-incompatible"),
        ("How can one use it with an AMD RX 570 beside a GTX 1060?\n", None),
        ("on a machine *without* a GPU this code prints: failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n", "no-nvidia-gpu"),
        ("Can it be run somehow? There is no Nvidia GPU in the machine.\n", "no-nvidia-gpu"),
        ("The idea was to run it on an Ubuntu laptop, but one _without_ nvidia graphic card. It says CUDA is missing.\n", "no-nvidia-gpu"),
        ("in a docker container on a machine that has **CPU** only, this prints\n" + NO_LIBCUDA, "no-nvidia-gpu"),
        ('failed call to cuInit: CUresult(-1)\nlibcuda reported version is: Invalid argument: expected %d.%d form for driver version; got "1"\nkernel reported version is: 352.93.0\n', "libcuda-stub-loaded"),
        ("Since a while I need to run `dkms install nvidia/390` after each kernel upgrade\n", "driver-module-not-loaded"),
        ("It fails when I suspend my laptop and run it then; after a reboot it runs\nRuntimeError: CUDA error: unspecified launch failure\n", "cuinit-unknown-after-suspend"),
        ("ERROR: The NVIDIA Driver is present, but CUDA failed to initialize.\n   [[ System not yet initialized (error 802) ]]\n", None),
        ("[  7.1] NVRM: Xid (PCI:0000:dc:00): 45, pid=1, name=python3, Ch 01 caused by previous Xid 149\n[  7.2] NVRM: Xid (PCI:0000:dc:00): 45, pid=1, name=python3, Ch 02\n", None),
        ("[  7.2] NVRM: Xid (PCI:0000:dc:00): 45, pid=1, name=python3, Ch 02\n", "xid13-31-43-app-or-gpu-fault"),
        # containers
        ('Graphics Mesa Intel Xe Graphics (TGL GT2)\ncould not select device driver "" with capabilities: [[gpu]].\n', "no-nvidia-gpu"),
        ("docker run --runtime nvidia works; deployed in kubernetes it says\n" + NO_LIBCUDA, "container-runtime-not-default"),
        ("I want TensorFlow on kubernetes with this device plugin\n" + NO_LIBCUDA, "container-runtime-not-default"),
        ("podman run --hook-dir=/usr/share/containers/oci/hooks.d image\nroot@0a1b2c3d4e5f:/# torch.cuda.is_available() False\n", None),
        ("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.\nWhen I launch ldconfig within the container the problem is fixed.\n", "container-ldconfig-path"),
        ("$ docker run --gpus all nvidia/cuda nvidia-smi\n" + NO_NVML + "$ sudo docker run --gpus all nvidia/cuda nvidia-smi\nCUDA Version 12.2.2\n", "container-docker-desktop-linux"),
        ("$ sudo docker run --gpus all nvidia/cuda nvidia-smi\n" + NO_NVML, "container-host-driver-broken"),
        ("$ docker run 5f270feee059 --gpus=all\n" + NOT_DETECTED, "container-no-gpus-flag"),
        ("$ docker run --rm -it nvidia/cuda --runtime=nvidia\n" + NOT_DETECTED, "container-no-gpus-flag"),
        ("$ docker run --gpus=all 5f270feee059\n" + NOT_DETECTED, None),
        ("$ docker run --rm -v /a:/b --gpus all 5f270feee059\n" + NOT_DETECTED, None),
        ("$ sudo podman run --rm nvidia/cuda nvidia-smi\n" + NOT_INSIDE, "container-no-gpus-flag"),
        ("It is rootless.\n$ podman run --rm nvidia/cuda nvidia-smi\n" + NOT_INSIDE, None),
        ("Could not register device plugin: rpc error: code = Unimplemented desc = unknown service deviceplugin.Registration\n", "k8s-device-plugin-not-registered"),
        ("nvidia-container-cli configure: unrecognized option '--display'\n", "container-toolkit-too-old"),
        ("a100, mig enabled\nNVIDIA_VISIBLE_DEVICES=0:0,0:1\n" + NOT_BUILT, "mig-single-instance-limit"),
        ("a100, mig enabled\nNVIDIA_VISIBLE_DEVICES=0:0\n" + NOT_BUILT, None),
        ("Several MIG slices, and it seems to use just 1.\n", "mig-single-instance-limit"),
        ("|                               |                      |               MIG M. |\nit seems to use just 1\n", None),
        # hardware
        (HANDLE + "Now and then while the GPU is in use it happens\n", "xid79-fell-off-bus"),
        (HANDLE, None),
        ("Now and then GPU 1 falls out of the bus.\n", "xid79-fell-off-bus"),
        ('When it idles, nvidia-nvsmi says "GPU is lost" then.\n', "xid79-fell-off-bus"),
        ("My computer turns off while training with a large batch size; temperatures are fine\n", "psu-insufficient"),
        ("My computer turns off while training\n", None),
        # libraries
        ("WSL2, RTX 3050\n" + PART, "wsl-libcuda-path"),
        ("Ubuntu, RTX 3050\n" + PART, None),
        ("tensorflow 2.16.1\npip install tensorflow[and-cuda]\n" + DLOPEN, "pip-nvidia-libs-not-found"),
        ("tensorflow 2.17.1\npip install tensorflow[and-cuda]\n" + DLOPEN, None),
        ("tensorflow 2.16.1\npip install tensorflow\n" + DLOPEN, None),
        ("tensorflow 2.12. The page says nothing of it, so I did not set a path.\n" + DLOPEN, "ld-library-path-not-set"),
        ("tensorflow 2.12. The page says nothing of it, so I set a path.\n" + DLOPEN, None),
        ("However cuda 9.0 is there in /usr/local/cuda-9.0\n" + NO_CUBLAS, "ld-library-path-not-set"),
        ("However cuda 9.0 is there in /usr/local/cuda-9.0 and LD_LIBRARY_PATH is set\n" + NO_CUBLAS, None),
        ("However cuda 9.0 is not in /usr/local/cuda-9.0\n" + NO_CUBLAS, None),
        ("First I installed cuda toolkit 12.3 on the windows side, then once more with the official docs\n" + NO_CUDART, "cuda-version-mismatch"),
        ("TF 2.11. It is broken: tensorflow looked for CUDA 11 libraries, not 12.\n", "cuda-version-mismatch"),
        ("In Terminal it runs. PyCharm says\n" + NO_CUBLAS, "ld-library-path-not-set"),
        ("PyCharm says\n" + NO_CUBLAS, None),
        ("the link /usr/lib/x86_64-linux-gnu/libcudnn.so to libcudnn.so.4 is not there\nCouldn't open CUDA library libcudnn.so. LD_LIBRARY_PATH: \n", None),
        ("libcudnn.so.4 is in /usr/lib/x86_64-linux-gnu/libcudnn.so.4\nCouldn't open CUDA library libcudnn.so. LD_LIBRARY_PATH: \n", None),
        ("TensorFlow version: 2.16.1\nCUDA/cuDNN version: 11.8 / 8.6\nThe GPU is not detected, list_physical_devices is empty\n", "cuda-version-mismatch"),
        ("TensorFlow version: 2.16.1\nCUDA/cuDNN version: 12.3 / 8.9\nThe GPU is not detected, list_physical_devices is empty\n", None),
        ("Failed to launch ptxas error when using an image\n", "ptxas-missing"),
        (PTXAS, "ptxas-too-old"),
        ('XLA reports the error: "./bin/ptxas not found"\n', "ptxas-missing"),
        ("In /usr/local/cuda-9.0/lib64 there is libcublas.so.9.0\n" + NO_CUBLAS, "ld-library-path-not-set"),
        ("In /usr/local/cuda-9.0/lib64 there is no libcublas.so.9.0\n" + NO_CUBLAS, None),
        ('"libcudart.so.11.0" does exist, it is in /opt/conda/envs/tf/lib\n' + NO_CUDART, "ld-library-path-not-set"),
        ("TensorFlow 2.13.0, CUDA 11.8\n" + OF_CUDA_12, "cuda-lib-from-other-toolkit"),
        ("A new jax. CUDA 11.8 is installed.\n" + OF_CUDA_12, "cuda-lib-from-other-toolkit"),
        ("TensorFlow 2.15.0, CUDA 12.2\n" + OF_CUDA_12, None),
        ("My cuda is 11.2\n" + NO_CUDART.replace("libcudart.so.11.0", "cublasLt64_11.dll"), None),
        ("XlaRuntimeError: INTERNAL: CustomCall failed: Couldn't find a suitable version of ptxas. The following locations were considered: bin/ptxas\n", "ptxas-missing"),
        ("tensorflow 2.6 does not detect ptxas.exe\n", "ptxas-missing"),
        ("GTX1650 TI 照说明装了cuda10.1和cudnn-7.6.5\n报的是找不到cudnn64_8.dll\n", "cudnn-wrong-major"),
        ("GTX1650 TI 照说明装了cuda11.2和cudnn-8.1.0\n报的是找不到cudnn64_8.dll\n", None),
        # packages
        ("Windows 10, Python 3.5.1\n" + REFUSED, "python-32bit"),
        ("Windows 10, Python 3.6.1\n" + REFUSED, "python-version-unsupported"),
        ("ImportError: cannot import name 'keras' from partially initialized module 'tensorflow' (most likely due to a circular import) (C:\\src\\tensorflow.py)\n", "tf-shadowed"),
        ("ImportError: cannot import name 'keras' from partially initialized module 'tensorflow' (most likely due to a circular import) (/srv/v/site-packages/tensorflow/__init__.py)\n", None),
        ("tensorflow==1.8.0\ntensorflow-gpu==1.3.0\nAttributeError: 'module' object has no attribute 'Exporter'\n", "tf-packages-overlap"),
        ("tensorflow==1.8.0\ntensorboard==1.3.0\nAttributeError: 'module' object has no attribute 'Exporter'\n", None),
        ("TensorFlow installed from (source or binary): source\nTensorFlow version: 2.5.0\nCUDA/cuDNN version: V11.0.221\npip install tensorflow==2.5.0\nlist_physical_devices('GPU') returns an empty list\n", "cuda-version-mismatch"),
        ("TensorFlow installed from (source or binary): source\nTensorFlow version: 2.5.0\nCUDA/cuDNN version: V11.0.221\nlist_physical_devices('GPU') returns an empty list\n", None),
        (LISTED.format(last="2.0.0b1"), "pip-too-old"),
        (LISTED.format(last="2.0.0b1, 2.0.0"), None),
        ("pip 18.1 from /srv/v/lib/python3.6/site-packages/pip (python 3.6)\n" + PREVIEWS_LEFT_OUT, "pip-too-old"),
        ("pip 18.1 from /srv/v/lib/python3.4/site-packages/pip (python 3.4)\n" + PREVIEWS_LEFT_OUT, "python-version-unsupported"),
        (PREVIEWS_LEFT_OUT, None),
        ("Python 3.4.3\n" + LISTED.format(last="2.0.0b1"), "python-version-unsupported"),
        (DEFAULT, "protobuf-mismatch"),
        ("Could not find a version that satisfies the requirement tensorflow-gpu==2.11 (from versions: 2.9.3, 2.10.0, 2.10.1, 2.12.0)\n", "tensorflow-gpu-package-removed"),
        ('  File "/home/u/.local/lib/python3.6/site-packages/tensorflow/__init__.py", line 24\n  File "/home/u/miniconda3/envs/tf/lib/python3.6/imp.py", line 343\n' + NO_CUBLAS, "tf-packages-overlap"),
        ('  File "/home/u/miniconda3/envs/tf/lib/python3.6/site-packages/tensorflow/__init__.py", line 24\n  File "/home/u/miniconda3/envs/tf/lib/python3.6/imp.py", line 343\n' + NO_CUBLAS, None),
        ("tensorflow-gpu 1.0.1 found my GPU. After installing keras, tensorflow finds CPU only.\n", "tf-cpu-only-package"),
        ("Numpy version error compiled with API 0x10 installed 0xf\n", "numpy-abi-break"),
        ("It runs on the CPU, though I have both *tensorflow-gpu* and *tensorflow-cpu* installed. It does not use the GPU.\n", "tf-packages-overlap"),
        ("Could not find a version that satisfies the requirement tensorflow-gpu==2.3.0rc0 (from versions: 2.2.0, 2.3.0, 2.3.1)\n", None),
        (LISTED.format(last="2.0.0b1").replace("1.14.0, ", "1.14.0,\n "), "pip-too-old"),
        ("Jetson Nano\ntensorflow-2.3.1-cp36-cp36m-linux_aarch64.whl is not a supported wheel on this platform.\n", "python-version-unsupported"),
        ("tensorflow-gpu 1.14: / lib64/ libm.so .6: version `GLIBC_ 2.23' not found\n", "glibc-too-old"),
        ("Cannot run on CentOS with glibc 2.17\nThis wheel has a glibc version of 2.23.\n", "glibc-too-old"),
        ("Cannot run on CentOS with glibc 2.27\nThis wheel has a glibc version of 2.23.\n", None),
        ("As I have cuda 11 (cuda 8 I do not have) I took tensorflow-gpu == 1.14, and the model never uses the gpu.\n", "cuda-version-mismatch"),
        ("As I have cuda 10.0 (cuda 8 I do not have) I took tensorflow-gpu == 1.14, and the model never uses the gpu.\n", None),
        ("I want Tensorflow on the Gpu and not cpu. TensorFlow 2.13.0, Windows 10, GTX 1050 Ti\n", "tf-windows-native-cpu-only"),
        ("TensorFlow 2.12.0, Windows 10, GTX 1070\nI can't pick the GPU: list_physical_devices gives back an empty array\n", "tf-windows-native-cpu-only"),
        # cards
        ("I use 3080ti / tensorflow 1.15 / cuda 10.1\n" + FAILED, "gpu-too-new-for-build"),
        ("tensorflow-gpu 1.13.0rc0 needs a compute capability of 6.0 or more. GTX 980 Ti does not work\n", "gpu-compute-capability-too-old"),
        ("tensorflow-gpu 1.13.0rc0 needs a compute capability of 3.5 or more. GTX 980 Ti does not work\n", None),
        ("RTX 3090 with TensorFlow 1.14: long until the training starts, 30 minutes. It is 5 on a 2080ti.\n", "jit-cold-start"),
        ("On a K80 it runs, on an RTX 2080 it fails. nvidia/cuda:8.0, CUDA 8.0, TensorFlow 1.3\n" + FAILED, "gpu-too-new-for-build"),
        # several GPUs, speed
        ("I have four TITAN XP cards, but only one of them is used. Multi GPU not being utilized, TF 1.12\n", "single-gpu-silently"),
        ("I have a TITAN XP card, but only one of them is used. TF 1.12\n", None),
        (ROWS.format(y="N") + GEFORCE + "Is there peer to peer access?\n", "p2p-unsupported-geforce"),
        (ROWS.format(y="Y") + GEFORCE + "Is there peer to peer access?\n", None),
        (ROWS.format(y="N") + GEFORCE.replace("GeForce RTX 2080 Ti", "Tesla T4") + "Is there peer to peer access?\n", None),
        ("NCCL_P2P_LEVEL set by environment to LOC\n", "nccl-p2p-disabled-by-env"),
        ("NCCL_P2P_LEVEL set by environment to SYS\n", None),
        (NO_FUNCTION.format(cuda="10.2", least="8"), "nccl-too-old-for-gpu"),
        (NO_FUNCTION.format(cuda="11.4", least="8"), None),
        ("ncclAllReduce hangs on 2 A6000. With NCCL_P2P_DISABLE=1 there is no deadlock.\n", "nccl-p2p-iommu-acs"),
        ("ncclAllReduce hangs on 2 A6000. With NCCL_P2P_DISABLE=1 it hangs as well.\n", None),
        ("NCCL hangs in AllReduce with P2P enabled, two RTX Pro 6000\n", "nccl-p2p-iommu-acs"),
        ("The GPU stays below its limit.\n- SW Power Cap: Active\n", None),
        ("NCCL hangs on the first all_reduce, 2x RTX PRO 6000, both on node 0, unless NCCL_P2P_DISABLE=1\n", "nccl-p2p-iommu-acs"),
        ("NCCL hangs on the first all_reduce, 2x RTX PRO 6000, both on node 0\n", None),
        ("`Nan` errors in multiple-gpu training with MirroredStrategy, since we have a new server\nOn it with 1 GPU : no `nan`, no issue.\n", "nccl-p2p-iommu-acs"),
        ("The GPU is slower than the CPU, with a simple MNIST model.\n", "gpu-launch-bound"),
        ("It trains faster on the CPU: the CPU is twice faster than the GPU. An LSTM of 20 units, batch size 16.\n", "gpu-launch-bound"),
        ("The GPU is slower than the CPU.\n", None),
        ("This GPU is slower than the other GPU, with a simple MNIST model.\n", None),
        ("34.5 % of the total step time sampled is spent on 'Kernel Launch'. It could be due to CPU contention with tf.data.\n", "gpu-launch-bound"),
        ("Cannot run Pytorch and Tensorflow models consecutively on a single GPU\nThe second one goes OOM\n", "tf-preallocates-all-memory"),
        ("Pytorch runs this model, Tensorflow goes OOM\n", None),
        ("Only one of the GPU's is used. Tensorflow does see the other ones.\n", "single-gpu-silently"),
        ("Only one of the GPU's is used.\n", None),
        ("NaN in the loss, only with multiple GPUs, since we have a new server\n", "nccl-p2p-iommu-acs"),
        ("NaN in the loss, only with multiple GPUs\n", None),
        ("Training fails for each pair of GPUs behind PIX\nThe training hangs with 2 GPUs\n", "nccl-p2p-iommu-acs"),
        ("Two 1080ti are no faster than one. It looks like the input wastes lots of time\n", "cpu-starved-input"),
        ("multi_gpu_model is not split to more than one gpu: tensorflow takes the full memory of all available gpus, yet only the first one works, the second is idle\n", None),
    ],
)  # fmt: skip
def test_what_both_tell(text: str, cause: str | None) -> None:
    roots, _ = shown(judged(text))
    assert roots[:1] == ([cause] if cause else []), (roots, text)


def test_a_fabric_manager_that_has_nothing_to_do_is_no_fault() -> None:
    text = "The fabricmanager does not start, 2 x 4090, is there any way?\nrequest to query NVSwitch device failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\n"
    report = judged(text)
    assert (report.diagnosis.verdict, report.diagnosis.candidates) == ("unknown", {})


REBOOTS = "The machine restarts by itself\n\nI run a small program, and whenever it trains on the GPU the machine restarts.\nWhat can I do?\n\nThanks!\n"
NOT_READY = "CUDA on our new node\n\nI have installed it as the guide says.\n\nfailed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized\n"
NO_CUDNN = "The demo runs on the CPU\n\nI have followed the guide, and this is what I get.\n\nCould not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file\n"
TELLS = "Something is wrong on our server\n\nI have set all up as the guide says, and this comes:\n\n{line}\n\nWhat can we do?\n"
OTHER_KERNEL = "The GPU does not work\n\n{refuses}\nI'm on the kernel 6.9 and nvidia-dkms is installed. Since the kernel was replaced the module is not built for it.\n\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (REBOOTS, "psu-insufficient"),
        (REBOOTS + "It is too hot, too.\n", None),
        (NOT_READY, "fabric-manager-not-running"),
        (NOT_READY + "The fabric manager is of another version than the driver.\n", None),
        (NOT_READY.split("\n")[-2], None),
        (NO_CUDNN, "cudnn-missing"),
        (NO_CUDNN + "cuDNN 8.2 is installed.\n", None),
        (NO_CUDNN.replace("I have", "Having").replace("what I get", "the end"), None),
        (OTHER_KERNEL.format(refuses=REFUSES), "driver-module-not-loaded"),
        # that hardly anything else fits makes nothing likely
        (TELLS.format(line="cuInit failed: system has unsupported display driver / cuda driver combination"), None),
        (TELLS.format(line=COMPAT.strip()) + "\nThe library that is loaded is older than the driver.\n", None),
        ("cuInit failed: system has unsupported display driver / cuda driver combination\n" * 8, None),
        # what is named as installed is what is asked for, or is not
        (TELLS.format(line=NO_CUBLAS.strip()) + "\nWe have CUDA 9.0 installed.\n", "ld-library-path-not-set"),
        (TELLS.format(line=NO_CUBLAS.strip()), None),
        (
            TELLS.format(
                line="Successfully opened dynamic library libcublas.so.11\nCould not load dynamic library 'libcusparse.so.11'; dlerror: libcusparse.so.11: cannot open"
            ),
            "cuda-libs-missing",
        ),
        (
            TELLS.format(
                line="Could not load dynamic library 'libcusparse.so.11'; dlerror: libcusparse.so.11: cannot open"
            ),
            None,
        ),
        (
            TELLS.format(line="Could not find cuda drivers on your machine")
            + "\nTensorFlow version: 2.13.1\nWe have CUDA 12.4 installed.\n",
            "cuda-version-mismatch",
        ),
        (
            TELLS.format(line="Could not find cuda drivers on your machine")
            + "\nTensorFlow version: 2.13.1\nWe have CUDA 11.8 installed.\n",
            None,
        ),
        (REFUSES, None),
    ],
)
def test_what_is_likely(text: str, cause: str | None) -> None:
    """It is named first, it is called unproven, and the others that fit stay."""
    diagnosis = judged(text).diagnosis
    assert [root.cause for root in diagnosis.root_causes] == ([cause] if cause else [])
    assert not any(root.proven for root in diagnosis.root_causes)
    assert any(diagnosis.candidates.values())
    assert all(one.cause != cause for left in diagnosis.candidates.values() for one in left)
