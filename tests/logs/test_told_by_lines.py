"""What a program's line tells of a cause in an unusual place; and the same line where it tells nothing."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

KERNEL_390 = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  390.87  Tue Aug 21 12:33:05 PDT 2018\n"
NO_DEVICE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
REPORTED = "libcuda reported version is: {library}\nkernel reported version is: {kernel}\n"
NOT_READY = "failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized\n"
LISTED = "GPU 0: Tesla T4 (UUID: GPU-2f0c1a44-77aa-4b51-9a3e-0d1c5f2b8e01)\n"
UUID = "CUDA_VISIBLE_DEVICES=GPU-{uuid}\nNum GPUs Available: 0\n"
BANNER = "ERROR: This container was built for NVIDIA Driver Release 525.60 or later, but\n       version {driver} was detected and compatibility mode is UNAVAILABLE.\n       [[CUDA Driver UNAVAILABLE (cuInit(0) returned 803)]]\n"
NODE = "crw-rw-{others} 1 root root 195, 0 May  3 11:02 /dev/nvidia0\ncat: /dev/nvidia0: {why}\n"
NO_GPU = "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]\n"
DLOPEN = "W tensorflow/core/common_runtime/gpu/gpu_device.cc:2251] Cannot dlopen some GPU libraries. Please make sure the missing libraries\n"
NO_CUDNN = "Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory\n"

NO_CUDART = "Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory\n"
CUBLAS = (
    "Could not load dynamic library 'libcublas.so.11'; dlerror: /usr/local/cuda-11.2/lib64/libcublas.so.11: {why}\n"
)
WHEELS = "nvidia-cudnn-cu12            9.14.0.64\nnvidia-cudnn-{other}            9.16.0.29\n"
NO_DNN = "FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above for more details.\n"
NO_ALGORITHM = "NOT_FOUND: No algorithm worked!  Error messages:\n"
SMI = "| NVIDIA-SMI {driver}   Driver Version: {driver}   CUDA Version: 11.4     |\n"
REQUIRES = 'tensorflow 2.18.0 requires nvidia-cudnn-cu12==9.3.0.75; extra == "and-cuda", but you have nvidia-cudnn-cu12 {has} which is incompatible.\n'
SYMBOL = "OSError: /home/a/v/site-packages/nvidia/cusparse/lib/libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12\n"
HANDLE = "E tensorflow/stream_executor/cuda/cuda_blas.cc:238] failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED\n"
WIN_32 = "C:\\Program Files (x86)\\Python37-32\\python.exe"
EXTRA = "nvidia-cublas-cu12==12.3.4.1\nnvidia-cudnn-cu12==8.9.7.29\n{package}\n" + NO_GPU
NO_WHEEL = "ERROR: Could not find a version that satisfies the requirement tensorflow==2.6.0 (from versions: none)\nERROR: tensorflow-2.6.0-cp38-cp38-manylinux2010_x86_64.whl is not a supported wheel on this platform.\n"
TREE = 'Traceback (most recent call last):\n  File "<stdin>", line 1, in <module>\n    import tensorflow\n  File "{directory}/tensorflow/python/pywrap_tensorflow.py", line 25, in <module>\n    from tensorflow.python.platform import self_check\nImportError: No module named \'tensorflow.python.platform.build_info\'\n'


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("lrwxrwxrwx 1 root root 18 Nov 20 10:11 /usr/lib64/libcuda.so.1 -> libcuda.so.396.54\n" + KERNEL_390 + NO_DEVICE, "driver-library-mismatch"),
        ("lrwxrwxrwx 1 root root 17 Nov 20 10:11 /usr/lib64/libcuda.so.1 -> libcuda.so.390.87\n" + KERNEL_390 + NO_DEVICE, None),
        ("lrwxrwxrwx 1 root root 17 Nov 20 10:11 /usr/local/cuda/compat/libcuda.so.1 -> libcuda.so.396.54\n" + KERNEL_390 + NO_DEVICE, None),
        ("Failed to initialize NVML: Driver/library version mismatch\n" + DLOPEN, "driver-library-mismatch"),
        # services
        ("ii  nvidia-fabricmanager-550   550.54.14-1\nii  nvidia-driver-550-server  550.90.07-0ubuntu0.22.04.2\n" + NOT_READY, "fabric-manager-version-mismatch"),
        ("ii  nvidia-fabricmanager-550   550.90.07-1\nii  nvidia-driver-550-server  550.90.07-0ubuntu0.22.04.2\n" + NOT_READY, None),
        ("ii  nvidia-fabricmanager-550   550.54.14-1\nii  nvidia-driver-550-server  550.90.07-0ubuntu0.22.04.2\n", None),
        # visibility
        (UUID.format(uuid="9b1c0000-1111-4222-8333-444455556666") + LISTED, "cuda-visible-devices-wrong"),
        (UUID.format(uuid="2f0c1a44") + LISTED, None),
        # containers
        (BANNER.format(driver="418.226.00"), "container-driver-too-old"),
        (BANNER.format(driver="418.226.00").replace("803", "804"), "container-driver-too-old"),
        ("No help topic for 'cdi'\nCDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all\n", "container-toolkit-too-old"),
        ("CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all\n", "container-toolkit-missing"),
        ("nvidia-container-cli: mount error: open failed: /sys/fs/cgroup/devices/docker/0a1b2c/devices.allow: no such file or directory: unknown\n", "container-cgroupv2-unsupported"),
        ("In a pod:\n" + NODE.format(others="rw-", why="Operation not permitted") + "systemctl daemon-reload was run before\n", "container-cgroup-devices-lost"),
        (NODE.format(others="---", why="Permission denied"), "device-node-permission"),
        ("A Kaggle notebook\n" + NO_GPU + "Accelerator: None\n", "colab-cpu-runtime"),
        ("A Kaggle notebook\n" + NO_GPU + "Accelerator: GPU T4 x2\n", None),
        (NO_GPU + "- Accelerator: None\nUbuntu 22.04, GeForce RTX 3060\n", None),
        ("A Kaggle notebook\n" + NO_GPU + "Hardware accelerator: CPU changed to GPU in the menu\n", None),
        # libraries
        (NO_CUDNN + "  nvidia/cudnn/lib/libcudnn.so.8\n", "pip-nvidia-libs-not-found"),
        (NO_CUDNN + "/opt/cudnn/lib/libcudnn.so.8\n", "ld-library-path-not-set"),
        (DLOPEN + "ls: cannot access '/usr/local/cuda*': No such file or directory\n", "cuda-toolkit-missing"),
        (DLOPEN + "$ ls /usr/local\nbin  etc  games  include  lib  man  sbin  share  src\n", "cuda-toolkit-missing"),
        (DLOPEN + "$ ls /usr/local\nbin  cuda  etc  games  include  lib  man  sbin  share  src\n", None),
        ("Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open\nnvidia-cuda-toolkit is 10.1.243-3\n", "cuda-version-mismatch"),
        ("Could not load dynamic library 'libcudart.so.10.1'; dlerror: libcudart.so.10.1: cannot open\nnvidia-cuda-toolkit is 10.1.243-3\n", None),
        (NO_CUDART + "LD_LIBRARY_PATH=/usr/local/cuda-11.8/lib64\n/usr/local/cuda-11.2/lib64/libcudart.so.11.0\n", "ld-library-path-wrong-toolkit"),
        (NO_CUDART + "LD_LIBRARY_PATH=/opt/tools/lib\n/usr/local/cuda-11.2/lib64/libcudart.so.11.0\n", "ld-library-path-not-set"),
        (CUBLAS.format(why="symbol free_gemm_select version libcublasLt.so.11 not defined in file libcublasLt.so.11 with link time reference"), "cuda-lib-from-other-toolkit"),
        (CUBLAS.format(why="cannot open shared object file"), None),
        (WHEELS.format(other="cu13") + NO_DNN, "cu12-cu13-wheel-clash"),
        (WHEELS.format(other="cu13"), None),
        ("tensorflow 2.18.0\nSuccessfully installed nvidia-cudnn-cu12-8.9.2.26\n" + DLOPEN, "cudnn-wrong-major"),
        ("tensorflow 2.18.0\nSuccessfully installed nvidia-cudnn-cu12-9.3.0.75\n" + DLOPEN, None),
        ("pip install tensorflow==2.15.0\nSetting up libcudnn9-cuda-12 (9.1.0.70-1) ...\n" + DLOPEN, "cudnn-wrong-major"),
        ("pip install tensorflow==2.15.0\nSetting up libcudnn8 (8.9.7.29-1) ...\n" + DLOPEN, None),
        (SMI.format(driver="470.199.02") + "TensorFlow 2.17.0\n" + NO_GPU, "driver-too-old"),
        (SMI.format(driver="535.104.05") + "TensorFlow 2.17.0\n" + NO_GPU, None),
        (SMI.format(driver="470.199.02") + "TensorFlow 2.10.0\n" + NO_GPU, None),
        (REQUIRES.format(has="9.1.0.70") + NO_DNN, "cudnn-version-too-old"),
        (REQUIRES.format(has="9.5.0.50") + NO_DNN, None),
        ("Tesla P100-PCIE-16GB\nLoaded cuDNN version 91300\n" + NO_ALGORITHM, "cudnn-dropped-gpu"),
        ("Tesla T4\nLoaded cuDNN version 91300\n" + NO_ALGORITHM, None),
        ("Tesla P100-PCIE-16GB\nLoaded cuDNN version 90300\n" + NO_ALGORITHM, None),
        ("Tesla V100-SXM2-16GB\nUpgrade: libcudnn9-cuda-12:amd64 (9.8.0.87-1, 9.13.0.50-1)\n" + NO_ALGORITHM, "cudnn-dropped-gpu"),
        ("cudatoolkit 10.1.243 h6bb024c_0\ntensorflow                2.10.0                   pypi_0    pypi\ncudatoolkit               10.1.243             h6bb024c_0\n" + NO_GPU, "cuda-version-mismatch"),
        # builds and packages
        ("No CUDA support will be enabled for TensorFlow.\n" + NO_GPU, "tf-cpu-only-package"),
        ("docker run --gpus all -it tensorflow/tensorflow:2.13.0 bash\n" + NO_GPU, "tf-cpu-only-package"),
        ("docker run --gpus all -it tensorflow/tensorflow:2.13.0-gpu bash\n" + NO_GPU, None),
        ("docker run --gpus all -it tensorflow/tensorflow:2.13.0 bash\n", None),
        ("TensorFlow version: 2.17.0\nOrderedDict([('is_cuda_build', False), ('is_rocm_build', False), ('msvcp_dll_names', 'msvcp140.dll,msvcp140_1.dll')])\n", "tf-windows-native-cpu-only"),
        ("tensorflow                   2.15.0\ntensorflow-intel             2.15.0\n" + NO_GPU, "tf-windows-native-cpu-only"),
        ("tensorflow                   2.15.0\n" + NO_GPU, None),
        (NO_WHEEL + "  cp38-cp38-manylinux_2_26_aarch64\n", "tf-aarch64-no-wheel"),
        (TREE.format(directory="/home/dev/src/tensorflow"), "tf-shadowed"),
        (TREE.format(directory="/usr/lib/python3/dist-packages"), None),
        # what looks the same and is not
        (SMI.format(driver="470.82.01") + "docker run nvcr.io/nvidia/tensorflow:21.10-tf2-py3\n" + NO_GPU, "container-no-gpus-flag"),
        ("rc  nvidia-driver-390   390.157-0ubuntu0\nTensorFlow 2.16.1\n" + NO_GPU, None),
        ("ii  nvidia-driver-470   470.256.02-0ubuntu0\nTensorFlow 2.16.1\n" + NO_GPU, "driver-too-old"),
        ("| NVIDIA-SMI 470.57.02   Driver Version: 470.57.02   CUDA Version: 12.2     |\nTensorFlow 2.15.0\n" + NO_GPU, None),
        ("ii  nvidia-fabricmanager-535   535.161.08-1\nrc  nvidia-driver-525   525.147.05-0\n" + NOT_READY, None),
        ("nvidia-fabricmanager-535   535.161.08-1\n" + SMI.format(driver="535.161.8") + NOT_READY, None),
        (NO_CUDNN + "LD_LIBRARY_PATH=/usr/local/cuda-12.2/lib64\n/usr/local/cuda-11.8/lib64/libcudnn.so.8\n", "ld-library-path-not-set"),
        (NO_CUDART + "LD_LIBRARY_PATH=/usr/local/cuda-10.1/extras/CUPTI/lib64\n/usr/local/cuda-11.2/lib64/libcudart.so.11.0\n", "ld-library-path-not-set"),
        ("FROM tensorflow/tensorflow:2.15.0\nRUN pip install tensorflow[and-cuda]\n" + NO_GPU, None),
        ("fails on my new RTX 4090, it worked on the GTX 1080 Ti\nnvidia-cudnn-cu12            9.12.0.46\n" + NO_ALGORITHM, None),
        ("I stayed at 8.9 and do not have nvidia-cudnn-cu12 9.12.0.46 on my GTX 1080 Ti\n" + NO_ALGORITHM, None),
        (WHEELS.format(other="cu13") + NO_CUDART, None),
        ("Successfully installed nvidia-cudnn-cu11-8.9.4.25\nSuccessfully uninstalled nvidia-cudnn-cu11-8.9.4.25\nSuccessfully installed nvidia-cudnn-cu12-9.3.0.75\n" + NO_DNN, None),
        ("CUDA driver error: OUT_OF_MEMORY\n", None),
        (UUID.format(uuid="2F0C1A44") + LISTED, None),
        (UUID.format(uuid="9b1c0000-1111-4222-8333-444455556666") + "GPU 0: Tesla T4 (UUID: GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx)\n", None),
        ("lrwxrwxrwx 1 root root 18 Nov 20 10:11 /opt/old-driver/libcuda.so.1 -> libcuda.so.396.54\n" + KERNEL_390 + NO_DEVICE, None),
        (NO_CUDART + "In /usr/local/cuda/lib64 the libcudart.so is version 10.1\n", "cuda-version-mismatch"),
        (NO_CUDART + "In /usr/local/cuda/lib64 the libcudart.so is version 11.0\n", None),
        (SYMBOL + "$ echo $LD_LIBRARY_PATH\n/usr/lib/x86_64-linux-gnu\n", "cuda-lib-from-other-toolkit"),
        ("nvidia-cudnn-cu12 9.13.0.50 on my GTX 1080 Ti, 9.3.0.75 works\n" + NO_ALGORITHM, "cudnn-dropped-gpu"),
        ("nvidia-cudnn-cu12 9.3.0.75 on my GTX 1080 Ti\n" + NO_ALGORITHM, None),
        (HANDLE, "gpu-memory-handle-alloc"),
        (HANDLE + "nvidia-smi: 0MiB / 11178MiB\n", None),
        (f"Python 3.7, {WIN_32}\nERROR: Could not find a version that satisfies the requirement tensorflow-gpu==1.14 (from versions: none)\n", "python-32bit"),
        ("Windows 11, TensorFlow 2.17.0\nlist_physical_devices() zeigt nur CPU:0\n", "tf-windows-native-cpu-only"),
        (EXTRA.format(package="tensorflow-cpu==2.16.1"), "tf-cpu-only-package"),
        ("pip install tensorflow-gpu ends with metadata-generation-failed\n", "tensorflow-gpu-package-removed"),
        ("pip install lxml ends with metadata-generation-failed\n", None),
    ],
)  # fmt: skip
def test_what_a_line_decides(text: str, cause: str | None) -> None:
    assert said(judged(text))[0] == ([cause] if cause else [])


def test_releases_that_are_reported_apart() -> None:
    """Without the line that compares them."""
    roots, candidates = said(judged(NO_GPU + REPORTED.format(library="510.47.3", kernel="470.94.0")))
    assert [*roots, *candidates][0] == "driver-library-mismatch"
    assert "driver-library-mismatch" not in said(judged(REPORTED.format(library="470.94.0", kernel="470.94.0")))[0]


@pytest.mark.parametrize(
    ("error", "own"),
    [
        ("KeyError: 'label'", True),
        ("ValueError: Input 0 of layer dense is incompatible: expected shape=(None, 784), found shape=(32, 28)", True),
        ("AttributeError: 'NoneType' object has no attribute 'shape'", True),
        ("AttributeError: module 'tensorflow' has no attribute 'Session'", True),
        ("AttributeError: module 'tensorflow' has no attribute 'constant'", False),
        ("IndexError: list index out of range", False),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'ptxas'", False),
        ("ValueError: Memory growth cannot differ between GPU devices", False),
        ("RuntimeError: it does not work", False),
    ],
)
def test_an_error_of_the_program_itself(error: str, own: bool) -> None:
    trace = f'Traceback (most recent call last):\n  File "train.py", line 7, in <module>\n    main()\n{error}\n'
    report = judged(trace)
    assert bool(report.facts.text.said("benign-own-error", "benign-api-of-tf1")) is own
    assert bool(report.diagnosis.unexplained) is not own or not own
    assert not own or said(report) == ([], [])


GPU_LISTED = "[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]\n"
JAX = "WARNING:jax._src.xla_bridge:987: An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (GPU_LISTED + "('3.5.0', 'jax')\n" + JAX, "keras-backend-not-tensorflow"),
        ('os.environ["KERAS_BACKEND"] = "torch"\n' + GPU_LISTED, "keras-backend-not-tensorflow"),
        ("KERAS_BACKEND=jax\nimport keras\n" + NO_CUDART, None),
        (GPU_LISTED + "import keras\n" + JAX, None),
        (GPU_LISTED + JAX, None),
        ("KERAS_BACKEND=torch\n" + GPU_LISTED, "keras-backend-not-tensorflow"),
        ("KERAS_BACKEND=tensorflow\n" + GPU_LISTED, None),
    ],
)
def test_a_backend_of_keras(text: str, cause: str | None) -> None:
    """It is information: TensorFlow itself is well."""
    assert [root.cause for root in judged(text).diagnosis.root_causes] == ([cause] if cause else [])


DEVICE = "pciBusID: 0000:05:00.0 name: Tesla K10.G1.8GB computeCapability: {capability}\nNum GPUs Available:  0\n"
BY_PEOPLE = "I have set it all up as the guide says, and I have tried it twice with my colleagues\n"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (BY_PEOPLE + "tensorflow 2.3.1\n" + DEVICE.format(capability="3.0"), "gpu-compute-capability-too-old"),
        (BY_PEOPLE + "tensorflow 2.3.1\n" + DEVICE.format(capability="3.7"), "cuda-libs-missing"),
        ("Conv2D fails on my RTX 5090\nCUDNN_STATUS_EXECUTION_FAILED\n", "gpu-too-new-for-build"),
        ("It prints two errors and no GPU\n", "tf-cpu-only-package"),
    ],
)
def test_what_goes_first(text: str, first: str) -> None:
    roots, candidates = said(judged(text))
    assert [*roots, *candidates][0] == first


def test_a_driver_that_the_other_kernel_has() -> None:
    lost = 'TensorFlow says "kernel driver does not appear to be running on this host"\n'
    assert said(judged(lost + "In the regular kernel it used to work\n"))[1][0] == "driver-module-not-loaded"
    assert said(judged(lost))[1][0] != "driver-module-not-loaded"


def test_cudnn_that_works_elsewhere_is_not_missing() -> None:
    lost = "Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file\nSuccessfully opened dynamic library libcublas.so.11\n"
    told = (
        "My program does not start any more on our server\n\n"
        + lost
        + "\nWhat can I do, I have no idea what happened there?\n"
    )
    assert said(judged(told))[0] == ["cudnn-missing"]
    assert said(judged(told + "cuDNN works fine with PyTorch.\n"))[0] == []


def test_another_python_that_lacks_it_is_no_reason() -> None:
    text = "Illegal instruction (core dumped)\nImportError: No module named tensorflow\n"
    assert said(judged(text))[0] == ["cpu-no-avx"]
    assert said(judged(text.split("\n", 1)[1]))[0] == ["tf-not-installed"]


@pytest.mark.parametrize(
    "text", ["It looks like the GPU isn't loaded\n", "No NVIDIA drivers\n\nI start it in docker\n"]
)
def test_people_say_that_there_is_no_gpu(text: str) -> None:
    assert judged(text).facts.tensorflow.devices == ()


def test_driver_releases_apart_come_first_whatever_cuinit_answers() -> None:
    answer = "failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n"
    differ = "kernel version 450.80.2 does not match DSO version 450.102.4 -- cannot find working devices in this configuration\n"
    assert said(judged(answer + differ))[1][0] == "driver-library-mismatch"
    assert said(judged(answer))[1][0] == "cuinit-uvm-device-missing"


IDLE = "GPU Link Info\n    PCIe Generation\n        Max                       : 4\n        Current                   : 1\nPerformance State                     : {state}\n"


def test_an_idle_link_without_the_head_of_the_list() -> None:
    assert judged(IDLE.format(state="P8")).facts.text.said("benign-pcie-idle")
    assert not judged(IDLE.format(state="P0")).facts.text.said("benign-pcie-idle")


def test_no_process_was_killed() -> None:
    assert judged("The pod was OOMKilled\n").facts.text.said("killed")
    assert not judged("No OOMKilled in describe\n").facts.text.said("killed")


def test_a_gpu_that_was_listed_at_another_moment() -> None:
    """Then what the text reads like is not answered by it."""
    text = "The GPU is lost whenever I open a new terminal\n\nRight after the installation it was\n" + GPU_LISTED
    text += "and in a new terminal, conda activate tf, the same command: []\nconda install -c conda-forge cudatoolkit=11.2.2 cudnn=8.1.0\n"
    text += "export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$CONDA_PREFIX/lib/\npip install tensorflow==2.11.*\n"
    roots, candidates = said(judged(text))
    assert [*roots, *candidates]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("failed call to cuInit: CUDA_ERROR_OUT_OF_MEMORY\nvirtual memory          (kbytes, -v) 16777216\n", "address-space-limit"),
        ("CUDA Capability Major/Minor version number:    3.0\nTensorFlow 2.3.0\nNum GPUs Available:  0\n", "gpu-compute-capability-too-old"),
        ("CUDA Capability Major/Minor version number:    6.1\nTensorFlow 2.3.0\nNum GPUs Available:  0\n", "cuda-libs-missing"),
        ("Convolution: can't find libdevice on our cluster, jit_compile fails\n", "libdevice-missing"),
    ],
)  # fmt: skip
def test_what_a_line_puts_first(text: str, first: str) -> None:
    roots, candidates = said(judged(text))
    assert [*roots, *candidates][:1] == [first]


NO_LIBCUDA = "Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file: No such file or directory\n"
RUN = "$ docker run --rm --gpus all tensorflow/tensorflow:2.11.0-gpu python list.py\n"
EDITOR = 'devcontainer.json:\n  "image": "tensorflow/tensorflow:2.11.0-gpu",\n'


@pytest.mark.parametrize(
    ("text", "first"),
    [
        # a trial beside it, which has the GPU
        (RUN + GPU_LISTED + "$ docker compose up\n" + NO_LIBCUDA, "container-no-gpus-flag"),
        (RUN + "root@0a1b2c3d4e5f:/# python a.py\n" + NO_LIBCUDA, "container-capabilities-without-compute"),
        (EDITOR + "In it:\n" + NO_LIBCUDA + RUN + "prints the table\n", "container-no-gpus-flag"),
        ("rootless podman\nFailed to initialize NVML: Insufficient Permissions\n", "container-rootless-cgroups"),
        ("podman\nFailed to initialize NVML: Insufficient Permissions\n", "device-node-permission"),
    ],
)  # fmt: skip
def test_who_asks_for_gpus(text: str, first: str) -> None:
    roots, candidates = said(judged(text))
    assert [*roots, *candidates][0] == first


def test_nan_on_several_gpus_alone_is_no_matter_of_the_card() -> None:
    text = "NaN in multi GPU training with MirroredStrategy since the cards are in the new server\n\nThe loss is nan after a few iterations on our RTX A5000.{only}\n"
    alone, several = (judged(text.format(only=only)) for only in ("", " Only with multiple GPUs, with one it is fine."))
    assert several.facts.text.said("only-several-wrong")
    assert "gpu-too-new-for-build" not in [*said(several)[0], *said(several)[1][:1]]
    assert not alone.facts.text.said("only-several-wrong")


COMPAT = "kernel version {kernel} does not match DSO version 470.57.2 -- cannot find working devices in this configuration\n{path}\n"
NVRM_352 = "driver version file contents: NVRM version: NVIDIA UNIX x86_64 Kernel Module  352.63  Sat Nov  7 21:25:42 PST 2015\n"
LSMOD = "user@box:~$ lsmod | grep nvidia\n"
CONDA = "cudatoolkit               {cuda}                  0    conda-forge\n"
INSUFFICIENT = "E tensorflow/stream_executor/cuda/cuda_dnn.cc:373] Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED\nE tensorflow/stream_executor/cuda/cuda_dnn.cc:381] Possibly insufficient driver version: 390.87.0\n"
UNKNOWN = "failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (COMPAT.format(kernel="535.129.3", path="/usr/local/cuda-11.4/compat/libcuda.so.470.57.02"), "cuda-compat-unsupported"),
        (COMPAT.format(kernel="535.129.3", path="/usr/local/cuda-11.4/compat/libcuda.so.510.47.03"), None),
        ("GPU2: unable to get fan speed - GPU is lost (15)\nthe pc reboots by itself, temps are fine\n", "xid79-fell-off-bus"),
        ("the pc reboots by itself when training with a large batch size\n", "psu-insufficient"),
        ("Tras la suspensión ya no funciona:\n" + UNKNOWN, "cuinit-unknown-after-suspend"),
        ("Nach dem Ruhezustand geht nichts mehr:\n" + UNKNOWN, "cuinit-unknown-after-suspend"),
        (UNKNOWN, None),
        ("Aus dem Ruhezustand kommt er gut zurück, es war schon vorher so:\n" + UNKNOWN, None),
        ("スリープはしていません\n" + UNKNOWN, None),
        ("I have a GTX 570. After a kernel update: modprobe: FATAL: Module nvidia not found.\n", "driver-module-not-loaded"),
        ("LnkSta: Speed 8GT/s, Width x4 (downgraded) while training, of the NVMe disk\n", None),
        ("libdevice.compute_35.10.bc not found in the old env, fixed since\nall is well now\n", None),
        ("libdevice.compute_35.10.bc not found\n", "libdevice-missing"),
        (CONDA.format(cuda="9.2") + INSUFFICIENT, "driver-too-old"),
        (CONDA.format(cuda="9.0") + INSUFFICIENT, "gpu-memory-handle-alloc"),
        ("hostname: 24b008aee65f\n" + NVRM_352 + "modprobe: FATAL: Module nvidia not found.\n" + UNKNOWN, None),
        ("modprobe: FATAL: Module nvidia not found.\n", "driver-module-not-loaded"),
        ("our laptop has no NVIDIA graphics card\nWSL environment detected but no adapters were found\n", "no-nvidia-gpu"),
        ("Redhat has Selinux\n$ docker run --gpus all nvidia/cuda nvidia-smi\nFailed to initialize NVML: Insufficient Permissions\n", "lsm-denied"),
        ("tensorflow 1.3 wants libcudnn.so.5 in the title\nImportError: libcudnn.so.6: cannot open shared object file: No such file or directory\nI have installed cudnn 5.1\n", "cudnn-wrong-major"),
        # cards before any TensorFlow
        ("my gt 620m is not seen by tensorflow-gpu 1.4, only the CPU\n", "gpu-compute-capability-too-old"),
        ("The NVS 5400M is not listed as a GPU by tensorflow\n", "gpu-compute-capability-too-old"),
        ("The GTX 580 is not listed as a GPU by tensorflow, nor is the GTX 1080 beside it\n", None),
        ("The GTX 580 was replaced by another card last year, all is fine\n", None),
        # Windows' CUDA 11.0 has cusolver64_10.dll
        ("Successfully opened dynamic library cublas64_11.dll\nCould not load dynamic library 'cusolver64_11.dll'; dlerror: cusolver64_11.dll not found\nCould not load dynamic library 'cudnn64_8.dll'; dlerror: cudnn64_8.dll not found\n", "cuda-version-mismatch"),
        ("Could not load dynamic library 'cublas64_11.dll'; dlerror: cublas64_11.dll not found\nCould not load dynamic library 'cusolver64_11.dll'; dlerror: cusolver64_11.dll not found\n", None),
        ("Could not load dynamic library 'cusolver64_11.dll'; dlerror: cusolver64_11.dll not found\nCould not load dynamic library 'cudnn64_8.dll'; dlerror: cudnn64_8.dll not found\n" + DLOPEN, "cuda-version-mismatch"),
        ("Could not load dynamic library 'cusolver64_11.dll'; dlerror: cusolver64_11.dll not found\n", None),
        # 32 bits
        ("pip: No matching distribution found for tensorflow\npython -c \"import struct;print(struct.calcsize('P')*8)\" prints 32\n", "python-32bit"),
        ("pip: No matching distribution found for tensorflow\npython -c \"import struct;print(struct.calcsize('P')*8)\" prints 64\n", None),
        # a link under load
        ("lspci while it trains: LnkSta: Speed 8GT/s (downgraded), Width x1 (downgraded) during training\n", "pcie-link-degraded"),
        ("lspci: LnkSta: Speed 8GT/s (ok), Width x16 (ok) during training\n", None),
        ("tensorflow 1.3\nImportError: libcudnn.so.6: cannot open shared object file: No such file or directory\nI have installed cudnn 6.0\n", None),
    ],
)  # fmt: skip
def test_what_the_driver_is_said_to_be(text: str, cause: str | None) -> None:
    roots, _ = said(judged(text))
    assert roots[:1] == ([] if cause is None else [cause])


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (f"The driver is installed, and tensorflow lists no GPU\n{LSMOD}user@box:~$ uname -r\n", "driver-module-not-loaded"),
        ("lsmod | grep nvidia shows nothing\n", "driver-module-not-loaded"),
        (f"{LSMOD}nvidia_uvm           1003520  0\nnvidia              20480000  5\nuser@box:~$ uname -r\n", None),
        ("in Google Colab\n!nvidia-smi\n/bin/bash: nvidia-smi: command not found\n", "colab-cpu-runtime"),
        ("It works in Colab, not at home\n$ nvidia-smi\n/bin/bash: nvidia-smi: command not found\n", "driver-missing"),
        ('os.environ["CUDA_VISIBLE_DEVICES"] = "-1"\nwhy is no GPU used? tf.config.list_physical_devices(\'GPU\') is []\n', "cuda-visible-devices-empty"),
        ('os.environ["CUDA_VISIBLE_DEVICES"] = "0"\nwhy is no GPU used? tf.config.list_physical_devices(\'GPU\') is []\n', "tf-cpu-only-package"),
        ("Cannot find cudnn, but cudnn works with Theano\nCouldn't open CUDA library libcudnn.so. LD_LIBRARY_PATH: \n", "ld-library-path-not-set"),
        ("Cannot find cudnn, with Theano neither\nCouldn't open CUDA library libcudnn.so. LD_LIBRARY_PATH: \n", "cudnn-missing"),
        ("Protocol Buffer error at import tensorflow\n" + 'Traceback (most recent call last):\n  File "<stdin>", line 1, in <module>\n    import tensorflow\nTypeError: cannot be made\n', "protobuf-mismatch"),
        ("显存没有被占满\n", None),
        ("In the container lsmod | grep nvidia shows nothing\ntf.config.list_physical_devices('GPU') is []\n", "container-no-gpus-flag"),
        ("tensorflow 一启动 GPU就全被占满了 怎么办\n", "tf-preallocates-all-memory"),
        ("Using TensorFlow backend.\nkeras does not use my GPU with the tensorflow backend, with theano it does\n", "tf-cpu-only-package"),
        ("bumblebee on Ubuntu\nlibcuda reported version is: 352.63\n" + UNKNOWN, "cuinit-uvm-device-missing"),
        ("GPU slow: clocks_throttle_reasons.active 0x0000000000000004\n", "gpu-throttling-power"),
        ("GPU slow: clocks_throttle_reasons.active 0x0000000000000020\n", "gpu-throttling-thermal"),
        ("GPU slow: clocks_throttle_reasons.active 0x0000000000000000\n", None),
    ],
)  # fmt: skip
def test_what_comes_first(text: str, first: str | None) -> None:
    roots, left = said(judged(text))
    assert [*roots, *left][:1] == ([] if first is None else [first])


def test_a_launch_failure_beside_an_illegal_instruction() -> None:
    """It is the GPU's, not the processor's."""
    assert not judged('"an illegal instruction / unspecified launch failure"\n').facts.text.said("illegal-instruction")
    assert judged("Illegal instruction (core dumped)\n").facts.text.said("illegal-instruction")


def test_memory_errors_in_a_list_without_its_head() -> None:
    table = "ECC Errors\n    Volatile\n        Double Bit\n            Device Memory       : {n}\n            Total               : {n}\n"
    assert said(judged(table.format(n=2)))[0] == ["ecc-uncorrectable-error"]
    assert said(judged(table.format(n=0)))[0] == []


def test_an_error_within_a_package_is_not_the_programs_own() -> None:
    trace = 'Traceback (most recent call last):\n  File "/v/lib/python3.9/site-packages/horovod/tensorflow/mpi_ops.py", line 7, in <module>\n{error}\n'
    assert not judged(trace.format(error="NameError: name 'x' is not defined")).facts.text.said("benign-own-error")
    assert judged(trace.format(error="ValueError: Shapes (1,) and (2,) are incompatible")).facts.text.said(
        "benign-own-error"
    )


def test_rates_and_no_rates() -> None:
    """Temperatures below a rate of all, thousands, other units."""
    table = "Throughput is 500 images/s in all. Temperatures:\nGPU 0: 81\nGPU 1: 79\nGPU 2: 52\n"
    assert not judged(table).facts.text.said("gpu-rate")
    faster = "900 img/s with synthetic data, 1,000 img/s with the real data\n"
    assert said(judged(faster))[0] == []
    other = "1200 images/s with synthetic data, 20 steps/s with real data\n"
    assert said(judged(other))[0] == []


def test_a_row_of_rates_that_is_none() -> None:
    assert said(judged("P2P=Enabled, one way, GB/s: 0 . .\n")) == ([], [])


def test_the_memory_of_the_machine_is_not_the_cards() -> None:
    text = "RTX 3070 with 64 GB of RAM\nCreated device /job:localhost/replica:0/task:0/device:GPU:0 with 5600 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 3070, pci bus id: 0000:01:00.0, compute capability: 8.6\nResourceExhaustedError: OOM when allocating tensor with shape[64,512]\n"
    assert "gpu-memory-held-by-other-process" not in said(judged(text))[0]
