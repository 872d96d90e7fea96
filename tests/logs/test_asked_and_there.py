"""What is asked for against what is there, an error after another one, and words that put a cause first; and where they tell nothing."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

PART = "Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object file: No such file or directory\n"
HERE = "        libcudnn_{part}.so.{major} (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libcudnn_{part}.so.{major}\n"
WHEEL = "/srv/v/lib/python3.10/site-packages/nvidia/cudnn/lib/"
CUBLAS = "ImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory\n"
XID = "[{at}] NVRM: Xid (PCI:{where}): {xid}, pid=4711, name=train, Ch 00000010\n"
MMU, HALT = "31", "62"
ROWS = "I tensorflow/core/common_runtime/gpu/gpu_init.cc:136] {row}:   {reach} \n"
APART = "Training is slow on four cards\nI tensorflow/core/common_runtime/gpu/gpu_init.cc:59] cannot enable peer access from device ordinal 0 to device ordinal 2\n"
PAIRS = "".join(ROWS.format(row=n, reach="Y Y N N" if n < 2 else "N N Y Y") for n in range(4))
ALL = "".join(ROWS.format(row=n, reach="Y Y Y Y") for n in range(4))
TRAP = "Apr  4 21:03:45 box kernel: [  552.800686] traps: python3[4636] trap invalid opcode ip:7f40e2481d99 sp:7fffea3652a0 error:0 in {file}[7f40e1d82000+1912000]\n"
ONE = "$ CUDA_VISIBLE_DEVICES={value} python train.py\nIt still takes GPU 0?\nFound device 0 with properties: \nname: GeForce GTX TITAN X\nFree memory: 11.87GiB\n"
NO_GPU = "AssertionError: \nFound no NVIDIA driver on your system. Please check that you have an NVIDIA GPU\n"
OLD = "Successfully opened dynamic library libcudart.so.10.1\npciBusID: 0000:73:00.0 name: {card} computeCapability: {capability}\n"
STUB = "failed call to cuInit: UNKNOWN ERROR (34)\nkernel driver does not appear to be running on this host ({host})\n"
REQUEST = 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
CAP = "    Clocks Event Reasons\n        Idle                              : Not Active\n        SW Power Cap                      : {cap}\n        HW Slowdown                       : Not Active\n"
MIXED = "It ends at once\nCould not load library {lib}. Error: /usr/lib/x86_64-linux-gnu/{lib}: undefined symbol: {symbol}\n"
MINOR = "It computes on the CPU\nTensorFlow 2.4.1, CUDA {cuda} and cuDNN 8.0.5 are installed\nThe GPU isn't used\n"
UNKNOWN = "failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n"
DLL8 = "Could not locate cudnn_ops_infer64_8.dll. Please make sure it is in your library path!\n"
PTXAS = "Can't find ptxas binary in ${CUDA_DIR}/bin.\n"
STARTS = "At the first start it prints\ntotal memory: 7.92GiB free Memory: 7.60GiB\nand at the second one it says freeMemory: {free}\n"
FULL = "failed to allocate 72.50M (76021760 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY\n"
QUERY = "==============NVSMI LOG==============\n\nAttached GPUs                             : 1\nGPU 00000000:0B:00.0\n"
NOT_OFFERED = "ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)\nERROR: No matching distribution found for tensorflow\n"
WINDOWS = "Cannot install it\n- OS Platform and Distribution: Windows 10 Home\n- TensorFlow version: 2.3\n- Python version: {python}\n"
WITH_ZLIB = "It ends at once\n2021-12-12 23:48:46.254332: I tensorflow/stream_executor/cuda/cuda_dnn.cc:359] Loaded cuDNN version {version}\nCould not load library cudnn_cnn_infer64_8.dll. Error code 126\n"
BANNER = """\
No CUDA in it
{place} nvidia-smi
+-----------------------------------------------------------------------------+
| NVIDIA-SMI {driver}   Driver Version: {driver}   CUDA Version: {cuda}     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
|===============================+======================+======================|
|   0  {card:<18}  Off  | 00000000:04:00.0  On |                  N/A |
| 30%   44C    P8    32W / 350W |    913MiB / 24234MiB |      0%      Default |
"""
FIVE_HUNDRED = """\
Is it my image?
{place}
UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 500: named symbol not found (Triggered internally at CUDAFunctions.cpp:108.)
"""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (PART + HERE.format(part="ops", major=9) + HERE.format(part="graph", major=9), "cudnn-wrong-major"),
        (PART + HERE.format(part="ops", major=9) + HERE.format(part="cnn_infer", major=8), None),
        (PART, None),
        (PART + WHEEL + "libcudnn_ops_infer.so.8\n", "pip-nvidia-libs-not-found"),
        (PART + "/opt/cudnn/lib/libcudnn_ops_infer.so.8\n", "ld-library-path-not-set"),
        (CUBLAS + "/opt/cuda-9.2/lib64/libcublas.so.9.2.113\n", "cuda-version-mismatch"),
        (CUBLAS + "/opt/cuda-9.2/lib64/libcublas.so.9.2.113\n/opt/cuda-9.0/lib64/libcublas.so.9.0.176\n", "ld-library-path-not-set"),
        (CUBLAS + "/usr/lib/x86_64-linux-gnu/libcublas.so.11.2.0.252\n", None),  # which carries its own version
        # an Xid after another one
        (XID.format(at="14328.198504", where="0000:0a:00", xid=MMU) + XID.format(at="14370.687545", where="0000:0a:00", xid=HALT), "xid13-31-43-app-or-gpu-fault"),
        (XID.format(at="14328.198504", where="0000:0a:00", xid=MMU) + XID.format(at="94370.687545", where="0000:0a:00", xid=HALT), "xid-hardware-fault"),
        (XID.format(at="14328.198504", where="0000:0b:00", xid=MMU) + XID.format(at="14370.687545", where="0000:0a:00", xid=HALT), "xid-hardware-fault"),
        (XID.format(at="14328.198504", where="0000:0a:00", xid=HALT) + XID.format(at="14370.687545", where="0000:0a:00", xid=MMU), "xid-hardware-fault"),
        # which CUDA, and which GPUs
        ("After the update TensorFlow searched for the libraries of CUDA 11, not those of 12\n", "cuda-version-mismatch"),
        ("After the update TensorFlow searched for the libraries of CUDA 11, and they are there\n", None),
        # peers
        (APART + PAIRS, "multi-gpu-topology-no-p2p"),
        (APART + ALL, None),
        # processors
        ("It ends at once\n" + TRAP.format(file="libtensorflow_framework.so.1"), "cpu-no-avx"),
        ("It ends at once\n" + TRAP.format(file="libgame.so.1"), None),
        # memory
        ("Tensorflow keeps grabbing the whole GPU memory\n", "tf-preallocates-all-memory"),
        ("Each of the two occupies the GPU memory completely\n", "tf-preallocates-all-memory"),
        ("With the device gpu:1 all of /gpu:0's memory is taken as well\n", "tf-preallocates-all-memory"),
        ("all of the gpu memory was allocated by another job\n", None),
        ("Each program seems to occupy the entire GPU memory\n", "tf-preallocates-all-memory"),
        ("A session takes the whole memory of the card\n", "tf-preallocates-all-memory"),
        ("Both scripts take all the video memory\n", "tf-preallocates-all-memory"),
        ("Our TF service did not make use of all the GPU memory\n", None),
        ("How can several processes use all the GPU memory?\n", None),
        (STARTS.format(free="211.31MiB") + FULL, "gpu-memory-held-by-other-process"),
        (STARTS.format(free="7.11GiB") + FULL, None),
        # cuDNN's parts
        (MIXED.format(lib="libcudnn_cnn_infer.so.8", symbol="_ZN5cudnn3cnn5beginEv, version libcudnn_ops_infer.so.8"), "cudnn-version-mismatch"),
        (MIXED.format(lib="libcudnn_cnn.so.9", symbol="_ZN5cudnn3cnn5beginEv, version libcudnn_graph.so.9"), "cudnn-version-mismatch"),
        (MIXED.format(lib="libcudnn_cnn_infer.so.8", symbol="nvrtcGetCUBIN"), None),
        # the CUDA of TensorFlow 2.4 is 11.0
        (MINOR.format(cuda="11.1"), "cuda-version-mismatch"),
        (MINOR.format(cuda="11.0"), None),
        (MINOR.format(cuda="11.2").replace("2.4.1", "2.5.0"), None),
        # nvidia-uvm
        ("No GPU in the container after a reboot\nIt works once I start `nvidia-modprobe -c 0 -u` on the host\n", "cuinit-uvm-device-missing"),
        ("The GPU works in podman only after a CUDA program was run on the host.\n", "cuinit-uvm-device-missing"),
        (UNKNOWN + "sudo modprobe nvidia-uvm solves it\n", "cuinit-uvm-device-missing"),
        (UNKNOWN + "sudo modprobe nvidia-uvm didn't help, it works nowhere\n", None),
        # a card that somebody calls too new
        ("TensorFlow 2.3.1 does not support the RTX 3090\nCUDA 11.1 is what that card needs\n", "gpu-too-new-for-build"),
        ("TensorFlow 2.4.1 does not support the RTX 3090\nCUDA 11.1 is what that card needs\n", None),
        ("TensorFlow 2.4.1 is not compatible with the H100\nCUDA 11.8 is what that card needs\n", None),
        # ptxas
        ("RuntimeError: Internal: ptxas fatal   : value 'sm_86' is not defined for option 'gpu-name'\n", "ptxas-too-old"),
        (PTXAS + "It ends in XLA's compiler\n", "ptxas-missing"),
        ("jaxlib.xla_extension.XlaRuntimeError: NOT_FOUND: " + PTXAS, "ptxas-missing"),
        ("It trains well\n2021-05-01 10:00:00.000001: W nvptx_compiler.cc:70] " + PTXAS.strip() + " Will back to the GPU driver for PTX -> sass compilation.\n", None),
        ("It trains well\n2021-05-01 10:00:00.000001: W nvptx_compiler.cc:70] " + PTXAS, None),
    ],
)  # fmt: skip
def test_it_is_decided(text: str, cause: str | None) -> None:
    roots, _ = said(judged(text))
    assert roots == ([cause] if cause else [])


@pytest.mark.parametrize(
    ("text", "cause", "first"),
    [
        ("ImportError: libcudart.so.8.0: cannot open shared object file: No such file or directory\nI don't want to start over: cuda 8.0 toolkit and cudnn 5.1 are installed\n", "ld-library-path-not-set", True),
        ("ImportError: libcudart.so.8.0: cannot open shared object file: No such file or directory\nDo I need that cuda 8.0 toolkit and cudnn 5.1 are installed?\n", "ld-library-path-not-set", False),
        ("No peer-to-peer between my cards\nTensorFlow 1.11.0, RTX 2080 Ti (4 pcs.). It does not show peer-to-peer access.\n", "p2p-unsupported-geforce", True),
        ("No peer-to-peer between my cards\nTensorFlow 1.11.0, Tesla V100 (4 pcs.). It does not show peer-to-peer access.\n", "p2p-unsupported-geforce", False),
        ("TF finds none\nWith sudo the trainer runs on the GPU, it doesn't otherwise\nfailed call to cuInit: CUDA_ERROR_UNKNOWN\n", "cuinit-uvm-device-missing", True),
        ("Requirements can't be met\nI want tensorflow-gpu 1.12.0, but there are no versions available below 2.2.0 using pip\n", "python-version-unsupported", True),
        ("no driver?\nI run the demo, found nothing\n我是用docker来运行的, 机子上有GPU\n" + NO_GPU, "container-no-gpus-flag", True),
        ("no driver?\nI run the demo, found nothing\n" + NO_GPU, "container-no-gpus-flag", False),
        ("no driver?\n" + NO_GPU + "app_worker_1 exited with code 1\nGracefully stopping... (press Ctrl+C again to force)\n", "container-no-gpus-flag", True),
        ("Start-up of TensorFlow is extremely slow\n" + OLD.format(card="GeForce RTX 3080", capability="8.6"), "jit-cold-start", True),
        ("Start-up of TensorFlow is extremely slow\n" + OLD.format(card="GeForce GTX 1080", capability="6.1"), "jit-cold-start", False),
        ("kernel driver is missing, why?\nThe image is tensorflow/tensorflow:2.9.1-gpu, on the host all is well\n" + STUB.format(host="serve-5f7d446b77-kmsxn"), "container-no-gpus-flag", True),
        ("kernel driver is missing, why?\nOn my desktop all was well\n" + STUB.format(host="desktop"), "container-no-gpus-flag", False),
        ("The guide says nothing about a path, so I didn't set one\nCannot dlopen some GPU libraries\n", "ld-library-path-not-set", True),
        (REQUEST + "The same here, my docker is a snap install\n", "container-snap-docker", True),
        (REQUEST + "The same here, docker is not from snap, I removed the docker snap\n", "container-snap-docker", False),
        ("I have cudnn 9.1 here, CUDA 12.4\n" + DLL8, "cudnn-wrong-major", True),
        ("装了cudnn9\n" + DLL8, "cudnn-wrong-major", True),
        ("cudnn_ops_infer64_8.dll alone? Will 9 do?\n" + DLL8, "cudnn-wrong-major", True),
        ("I have cudnn 8.9 here, CUDA 12.4\n" + DLL8, "cudnn-wrong-major", False),
        ("It needs cudnn 9, the guide says\n" + DLL8, "cudnn-wrong-major", False),
        # what the words say of the place, the card, the file
        ("How to train on the GPU with no docker?\nIt trains on CPU only. The package is tensorflow-gpu by anaconda\n", "container-no-gpus-flag", False),
        ("Slow on two cards\nGPU-P2P can't be turned on for the GeForce 1080Ti in my VM\n", "p2p-unsupported-geforce", True),
        ("4 GPUs hang, 2 GPUs work\nThe last line of each:\nbox:1040:1049 [0] NCCL INFO NVLS Bind mem 0xac0000000 UC handle 0x7f44 MC handle 0x7f44 size 1073741824\n", "nccl-nvls-fabric-manager", True),
        ("What is CUDA_VISIBLE_DEVICES for?\nWith export CUDA_VISIBLE_DEVICES = '' it is much faster, and nvidia-smi shows nothing of the program. Did it run on the CPU?\n", "cuda-visible-devices-empty", True),
        ("In WSLg the GPU was gone\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n", "wsl-libcuda-path", True),
        ("GPU not registering since pip update from 0.10 to 0.12\n>>> [x.name for x in device_lib.list_local_devices()]\n['/cpu:0']\nCUDA Capability Major/Minor version number:    5.2\nThe driver seems old enough to me\n", "driver-too-old", False),
        ("No device found\nI'm on Kali and the graphic driver is noveau. hashcat prints: No devices found/left.\n", "driver-missing", True),
        ("No device found\nI'm on Kali and the graphic driver is nvidia. hashcat prints: No devices found/left.\n", "driver-missing", False),
        ("4 GPUs hang, 2 GPUs work\n", "nccl-nvls-fabric-manager", False),
        ("Bug: Error: libcuda.so: cannot open shared object file\nIt is wsl2, TensorFlow finds the GPU there\n", "wsl-libcuda-path", True),
        ("It crashes in the Linux Subsystem\nI press translate and get\nCould not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open shared object file: No such file or directory\n", "wsl-libcuda-path", True),
        ("libdevice isn't found in TF 2.11\nactive environment : tmp\nconda version : 22.9.0\nvirtual packages : __cuda=12.0=0\n", "libdevice-missing", True),
        ("Memory isn't released\nHello, once the program has ended GPU0 is empty, the other GPUs though don't release theirs\n", "gpu-memory-held-by-other-process", True),
        ("0.11: tf.device() does not bind the GPU\nA session takes the resource of all GPUs each time\n", "tf-preallocates-all-memory", True),
        ("ECC error from the GPU driver when a container starts\nIt is a p2.xl in AWS, with docker\n", "ecc-uncorrectable-error", True),
        ("no ECC error from the GPU driver when a container starts\nIt is a p2.xl in AWS, with docker\n", "ecc-uncorrectable-error", False),
        ("The usage doesn't get over 70%\n\n" + QUERY + CAP.format(cap="Active"), "gpu-throttling-power", True),
        ("The usage doesn't get over 70%\n\n" + QUERY + CAP.format(cap="Not Active"), "gpu-throttling-power", False),
        ("tensorflow_gpu=1.6 cuda9.1\nA training says that the cuda version does not match\n", "cuda-version-mismatch", True),
        ("tensorflow_gpu=1.6 cuda9.0\nA training says that the cuda version does not match\n", "cuda-version-mismatch", False),
        ("A bug\nUnder load of the 3090 the system freezes and then goes down hard\nThe PSU has 1400W\n", "psu-insufficient", True),
        ("A bug\nUnder load of the 3090 the notebook freezes and then its kernel goes down\nThe PSU has 1400W\n", "psu-insufficient", False),
        ("It worked before\n(CUDA113+CUDNN82) ann@box:~$ sudo ./infer\n./infer: error while loading shared libraries: libcudnn.so.8: cannot open shared object file: No such file or directory\n", "cudnn-wrong-major", False),
        ("CUDA is gone after each suspend\nOnce sudo modprobe nvidia_uvm is run, all is fine again\n", "cuinit-unknown-after-suspend", True),
        ("CUDA is not there\nOnce sudo modprobe nvidia_uvm is run, all is fine again\n", "cuinit-uvm-device-missing", True),
        # what nothing else is left for
        (WINDOWS.format(python="3.8") + NOT_OFFERED, "python-32bit", True),
        (WINDOWS.format(python="3.9") + NOT_OFFERED, "python-32bit", False),
        (WITH_ZLIB.format(version="8301"), "zlibwapi-missing", True),
        (WITH_ZLIB.format(version="8100").replace("cnn_infer", "ops_infer"), "zlibwapi-missing", False),
        ("It ends with this\nCould not load library cudnn_cnn_infer64_8.dll. Error code 126\n", "zlibwapi-missing", True),
        ("It ends with this\nCould not load library cudnn_ops_infer64_8.dll. Error code 126\n", "zlibwapi-missing", False),
        # the loader finds a file and refuses it
        ("It worked before\nImportError: /usr/local/cuda/lib64/libcudnn.so.6: file too short\n", "cuda-lib-unusable", True),
        ("It worked before\nImportError: libcudnn.so.6: cannot open shared object file: No such file or directory\n", "cuda-lib-unusable", False),
        # a prompt or a path tells the machine
        ("No TensorFlow\nnvidia@jetson-0412:~/work$ pip install tensorflow\nDEPRECATION: Python 2.7 will reach the end of its life on January 1st, 2020. Please upgrade your Python as Python 2.7 won't be maintained after that date.\n" + NOT_OFFERED, "tf-aarch64-no-wheel", True),
        ("No TensorFlow\nnvidia@box-0412:~/work$ pip install tensorflow\nDEPRECATION: Python 2.7 will reach the end of its life on January 1st, 2020. Please upgrade your Python as Python 2.7 won't be maintained after that date.\n" + NOT_OFFERED, "tf-aarch64-no-wheel", False),
        ("No TensorFlow\nC:\\Program Files (x86)\\Python38-32\\Scripts>pip install tensorflow\n" + NOT_OFFERED, "python-32bit", True),
        ("No TensorFlow\nC:\\Program Files\\Python38\\Scripts>pip install tensorflow\n" + NOT_OFFERED, "python-32bit", False),
        # a libcuda that is newer than the driver's branch
        (BANNER.format(place="root@3d7e0ba526d4:/work#", driver="470.161.03", cuda="11.7", card="NVIDIA GeForce ..."), "cuda-compat-unsupported", True),
        (BANNER.format(place="root@3d7e0ba526d4:/work#", driver="470.161.03", cuda="11.4", card="NVIDIA GeForce ..."), "cuda-compat-unsupported", False),
        (BANNER.format(place="root@3d7e0ba526d4:/work#", driver="470.161.03", cuda="11.7", card="Tesla V100-SXM2..."), "cuda-compat-unsupported", False),
        (BANNER.format(place="ann@box:~$", driver="470.161.03", cuda="11.7", card="NVIDIA GeForce ..."), "cuda-compat-unsupported", False),
        # PyTorch's words for CUDA's number
        (FIVE_HUNDRED.format(place="Windows 11 is the host, the image runs in Docker Desktop there"), "wsl-driver-toolkit-mismatch", True),
        (FIVE_HUNDRED.format(place="Windows 11 is the host, the image runs in Docker Desktop there").replace("cudaGetDeviceCount", "cudaLaunchKernel"), "wsl-driver-toolkit-mismatch", False),
        ("No GPU here\nTensorFlow looked for the libraries of CUDA 11 and not of 12\n", "cuda-version-mismatch", True),
        ("No GPU here\nTensorFlow looked for the libraries of my home and not of 12\n", "cuda-version-mismatch", False),
    ],
)  # fmt: skip
def test_it_goes_first(text: str, cause: str, first: bool) -> None:
    roots, left = said(judged(text))
    assert ([*roots, *left][:1] == [cause]) is first, (roots, left)


@pytest.mark.parametrize(("value", "harmless"), [("2", True), ("0", False), ("1,2", False)])
def test_a_found_device_is_the_chosen_one(value: str, harmless: bool) -> None:
    kinds = {e.kind for e in judged(ONE.format(value=value)).facts.text.understood()}
    assert ("benign-renumbered" in kinds) is harmless


@pytest.mark.parametrize(("card", "harmless"), [("NVIDIA GeForce ...", True), ("NVIDIA A100-SXM...", False)])
def test_a_fabric_manager_where_there_is_no_nvswitch(card: str, harmless: bool) -> None:
    failed = "The fabric manager does not start\nJob for nvidia-fabricmanager.service failed because the control process exited with error code.\n"
    row = f"|   0  {card:<18}  Off  | 00000000:05:00.0 Off |                  N/A |\n"
    report = judged(failed + row)
    kinds = {e.kind for e in report.facts.text.understood()}
    assert ("benign-no-nvswitch" in kinds) is harmless
    assert (said(report) == ([], [])) is harmless


def test_what_people_say_is_not_sought_in_the_log() -> None:
    logged = "I0000 00:00:1795203577.532378     947 gpu_device.cc:2043] {}\n"
    told = "tensorflow grabs all 11 GB of the GPU for a small model"
    assert said(judged(told))[0] == ["tf-preallocates-all-memory"]
    assert said(judged(logged.format(told)))[0] == []
