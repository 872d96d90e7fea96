"""GPUs that are not in the machine or not given, in people's words: what goes first, and texts that look alike."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged, said

NODES = "device-node-permission"
SLEPT = "cuinit-unknown-after-suspend"
LOST = "container-cgroup-devices-lost"
NONE = "no-nvidia-gpu"
PLUGIN = "k8s-device-plugin-not-registered"
KERNEL = "driver-kernel-incompatible"
PEERS = "nccl-p2p-iommu-acs"
NOT_GIVEN = "container-no-gpus-flag"
WSL = "wsl-driver-toolkit-mismatch"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('Docker run error\n\n> Error response from daemon: failed to create task for container: nvidia-container-cli: initialization error: WSL environment detected but no adapters were found\n\nI do not own an NVIDIA graphics card so I would like to use the CPU mode.', NONE),
        ('[BUG] no adapters\n\nHardware: Intel UHD Graphics 620\nOS: Windows 10, WSL2\n\nnvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown', NONE),
        ("I tried the tutorial's container on my Windows tablet. There isn't any Nvidia GPU in it.\nnvidia-container-cli: initialization error: WSL environment detected but no adapters were found", NONE),
        ("container can't be created\nOCI runtime create failed: nvidia-container-cli: initialization error: WSL environment detected but no adapters were found\nNote: no NVIDIA GPU in this PC, AMD Ryzen 5 with integrated graphics", NONE),
        ("`make up` fails with 'WSL environment detected but no adapters were found'\n\nI don't have a dedicated GPU, is there a CPU-only compose file?", NONE),
        ('Surface Pro 7, Windows 11, docker desktop with WSL2.\nnvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown\nThis device does not have an NVIDIA GPU.', NONE),
        ('failed to start: nvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown\n\nWindows Insider build 20150, GTX 1080 Ti, driver 455.38. No GPU is shown in WSL.', WSL),
        ('nvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown\nI have two GPUs in this machine, the Intel one and a GeForce GTX 1650.\nWindows 10 21H2, Docker Desktop 4.5', WSL),
        ('Docker on WSL2 with 2 cards\n\nnvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown\n\nnvidia-smi in WSL works and lists my A4000', WSL),
        ('Can a single pod use GPUs from several machines?\n\nOur cluster has two servers with 4 T4. Requesting 8 gpus: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu. With 4 everything is fine.', ''),
        ('Question: one notebook with 6 GPUs?\n\nEach of our nodes has 2 GPUs, three nodes. If I set the limit to 6: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu. Up to 2 it works well.', ''),
        ("Katib trial with 3 gpus\n\nOur two machines have two RTX 2080 each; trials with 2 GPUs run well. With 3: '0/2 nodes are available: 2 Insufficient nvidia.com/gpu.' Can it take the third from the other machine?", ''),
        ('Is it possible to give a notebook 2 GPUs if they are in different machines?\n\nI have two PCs with one GPU each. One GPU works. With two: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu.', ''),
        ("How to use GPUs of two nodes in one pod?\n\nWe have 3 nodes with 2 V100 each. A pod with nvidia.com/gpu: 2 works fine. With 4 I get '0/3 nodes are available: 3 Insufficient nvidia.com/gpu'. Is it possible to share GPUs across nodes?", ''),
        ('Jupyter pod over multiple nodes\n\nTwo nodes, 1 GPU each. I request 2 GPUs for one pod and it stays pending: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu. Requesting 1 GPU works. Do I have to split the job?', ''),
        ('Pod pending\n\nWe have 2 servers with 4 T4 each. I request 1 GPU and get 0/2 nodes are available: 2 Insufficient nvidia.com/gpu.\nThe driver works on both.', PLUGIN),
        ('0/1 nodes are available: 1 Insufficient nvidia.com/gpu. limits: nvidia.com/gpu: 1. It worked before the reboot of the node.', PLUGIN),
        ('0/2 nodes are available: 2 Insufficient nvidia.com/gpu.\n\nTwo nodes with 4 GPUs per node; my pod requests 2. kubectl describe shows no nvidia.com/gpu under Allocatable.', PLUGIN),
        ('tensorflow import error\n\nTraceback (most recent call last):\n  File "C:\\Users\\user\\AppData\\Local\\Programs\\Python\\Python35-32\\lib\\site-packages\\tensorflow\\python\\pywrap_tensorflow_internal.py", line 18, in swig_import_helper\n    fp, pathname, description = imp.find_module(\'_pywrap_tensorflow_internal\', [dirname(__file__)])\nI only have an AMD APU', 'python-32bit'),
        ('c:\\users\\x\\appdata\\local\\programs\\python\\python38-32\\python.exe -m pip install tensorflow\nERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)\nERROR: No matching distribution found for tensorflow', 'python-32bit'),
        ('ImportError on Windows\n\nGPU: Intel UHD 630\n\n  File "C:\\Python36-32\\lib\\site-packages\\tensorflow\\python\\pywrap_tensorflow.py", line 58, in <module>\n    from tensorflow.python.pywrap_tensorflow_internal import *\n  File "C:\\Python36-32\\lib\\site-packages\\tensorflow\\python\\pywrap_tensorflow_internal.py", line 28, in <module>\n    _pywrap_tensorflow_internal = swig_import_helper()\nModuleNotFoundError: No module named \'_pywrap_tensorflow_internal\'', 'python-32bit'),
        ('pip install tensorflow\n\nC:\\Users\\ana\\AppData\\Local\\Programs\\Python\\Python37-32\\Scripts>pip install tensorflow\n  Could not find a version that satisfies the requirement tensorflow (from versions: )\nNo matching distribution found for tensorflow', 'python-32bit'),
        ('No module named _pywrap_tensorflow_internal\n- OS: Windows 7\n- Python 3.6.5\n- GPU model and memory: Intel HD 4400\n\nTraceback (most recent call last):\n  File "C:\\Users\\me\\AppData\\Local\\Programs\\Python\\Python36-32\\lib\\site-packages\\tensorflow\\python\\pywrap_tensorflow_internal.py", line 18, in swig_import_helper\n    fp, pathname, description = imp.find_module(\'_pywrap_tensorflow_internal\', [dirname(__file__)])\n  File "C:\\Users\\me\\AppData\\Local\\Programs\\Python\\Python36-32\\lib\\imp.py", line 296, in find_module\n    raise ImportError(_ERR_MSG.format(name), name=name)\nImportError: No module named \'_pywrap_tensorflow_internal\'\n', 'python-32bit'),
        ('tensorflow 1.13 cpu on Windows 10 with Intel graphics\n\n  File "C:\\Program Files (x86)\\Python36-32\\lib\\site-packages\\tensorflow\\python\\pywrap_tensorflow_internal.py", line 18, in swig_import_helper\n    fp, pathname, description = imp.find_module(\'_pywrap_tensorflow_internal\'', 'python-32bit'),
        ('import fails\n\nWindows 10, GTX 1050\nTraceback (most recent call last):\n  File "C:\\Users\\me\\AppData\\Local\\Programs\\Python\\Python36\\lib\\site-packages\\tensorflow\\python\\pywrap_tensorflow_internal.py", line 18, in swig_import_helper\n    fp, pathname, description = imp.find_module(\'_pywrap_tensorflow_internal\', [dirname(__file__)])\n  File "C:\\Users\\me\\AppData\\Local\\Programs\\Python\\Python36\\lib\\imp.py", line 296, in find_module\n    raise ImportError(_ERR_MSG.format(name), name=name)\nImportError: DLL load failed: The specified module could not be found.\n', 'msvc-runtime-missing'),
        ('failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n\nIt happens when I come back to the computer after some hours. Reloading the kernel module (sudo modprobe -r nvidia_uvm; sudo modprobe nvidia_uvm) fixes it.', SLEPT),
        ("sudo modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm\n\nThat's what I have to do nearly every day, since torch says CUDA error 999 (unknown error)", SLEPT),
        ('CUDA unknown error every now and then\n\nRuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment\nUbuntu 22.04, RTX 3070 Laptop. I found that `sudo rmmod nvidia_uvm; sudo modprobe nvidia_uvm` is enough, no reboot needed.', SLEPT),
        ('CUDA unknown error after a while\n\nRuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment\n\nnvidia-smi works. What helps without a reboot is\n\nsudo rmmod nvidia_uvm\nsudo modprobe nvidia_uvm', SLEPT),
        ('Blender: CUDA error: Unknown error in cuInit(0) in the morning; unloading nvidia_uvm and loading it again repairs it', SLEPT),
        ('999 nach längerer Pause\n\nCUDA error 999: unknown error. sudo modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm hilft.', SLEPT),
        ('cuInit fails with 999 for users, but works for everyone once root has run nvidia-smi and deviceQuery\n\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error', 'cuinit-uvm-device-missing'),
        ('CUDA unknown error in my user session; once I ran a CUDA program as root, it works for everybody until the next boot.\n\nRuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment', 'cuinit-uvm-device-missing'),
        ("CUDA_ERROR_UNKNOWN from cuInit at every boot. modprobe nvidia_uvm and then it's fine.\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error", 'cuinit-uvm-device-missing'),
        ('ollama as my user uses CPU, with sudo it uses the GPU\n\nfailed to initialise NVML: insufficient permissions. Arch', NODES),
        ('(venv) me@box:~> python -c \'import tensorflow as tf; print(tf.config.list_physical_devices("GPU"))\'\n[]\n(venv) me@box:~> sudo /home/me/venv/bin/python -c \'import tensorflow as tf; print(tf.config.list_physical_devices("GPU"))\'\n[PhysicalDevice(name=\'/physical_device:GPU:0\', device_type=\'GPU\')]\nGTX 1650, opensuse', NODES),
        ('在普通用户下 torch.cuda.is_available() 返回 False, 用 sudo 返回 True\n显卡 RTX 3090, Ubuntu 20.04', NODES),
        ('me@host:~$ nvidia-smi\nFailed to initialize NVML: Insufficient Permissions\nme@host:~$ sudo nvidia-smi\n| NVIDIA-SMI 460.32.03    Driver Version: 460.32.03    CUDA Version: 11.2     |\nHow can I let my account use it?', NODES),
        ('OpenSUSE: darktable and blender see no CUDA device as user. As root they do. I was told to add myself to the video group.', NODES),
        ('pytorch sees the GPU with sudo only\n\n$ python3 -c "import torch; print(torch.cuda.is_available())"\nFalse\n$ sudo python3 -c "import torch; print(torch.cuda.is_available())"\nTrue\n\nUbuntu 18.04', NODES),
        ('sudo python says No module named tensorflow, without sudo it is found\n\nImportError: No module named tensorflow', 'tf-not-installed'),
        ("sudo python can't load libcudart.so.11.0, plain python can\n\nsudo python -c 'import tensorflow'\nCould not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file", 'sudo-stripped-environment'),
        ("Works as user, not with sudo\n\nsudo python3 train.py\nCould not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory", 'sudo-stripped-environment'),
        ('NvRmMemInitNvmap failed with Permission denied\nI get this when I run my tensorflow script by a systemd service with User=app on a Xavier NX', NODES),
        ('Jetson nano dustynv/l4t-tensorflow: with `--user 1000` no GPU\n\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE, with root it is fine.', NODES),
        ('Non-root container user has no GPU (Jetson Xavier)\n\nIf I set USER appuser in the Dockerfile, CUDA is not available in the l4t-ml container. As root it is.', NODES),
        ('CUDA in jetson container only as root user\n\nAGX Orin, JP 5.1.1. `docker run --runtime nvidia --user $(id -u)` gives `torch.cuda.is_available()` False. Without --user it is True.', NODES),
        ('cudaErrorNotSupported 801 on Jetson for users other than root\n\ndustynv/pytorch:2.1-r36.2.0, jetson orin nano. root: ok.', NODES),
        ("l4t-ml container: GPU only for root\n\nJetson AGX Xavier. When I create a user in the Dockerfile CUDA can't be used by it: torch.cuda.is_available() = False", NODES),
        ('pip install tensorflow on the Jetson Orin gives a build with no GPU\n\nis_built_with_cuda() False', 'tf-aarch64-cpu-only'),
        ('NCCL hangs if I use cards that are not connected via NVLink\n\nDual EPYC, four A5000 of which two have a bridge.', PEERS),
        ('PyTorch DDP freeze on PCIe-only pair, bridge pair OK (A5500, ASUS WRX80)', PEERS),
        ('Multi GPU benchmark gets stuck when the GPUs talk over PCIe\n\nWith the NVLinked pair it is fine. RTX A6000, Threadripper Pro.', PEERS),
        ('Multi GPU stuck\n\n4 x A40, with NVLink bridges between 0/1 and 2/3. Using all four with MirroredStrategy: hangs; only 0,1: works; only 0,2: hangs.', PEERS),
        ('Stuck at running warmup with GPUs 0 and 1, not with 0 and 3\n\nOnly 0-3 and 1-2 are linked by NVLink. A6000', PEERS),
        ('NCCL all reduce hangs between GPUs not linked by NVLink\n\nThreadripper, 4x A6000. all_reduce_perf -g 2 with the NVLink pair passes, with the others never returns.', PEERS),
        ('Two RTX 4090 without NVLink: scaling is only 1.3x\n\nMirroredStrategy works but hardly faster.', 'scaling-below-expected'),
        ('Do I need NVLink for two A6000?\n\nWithout the bridge training on both works at 1.7x.', 'nvlink-down'),
        ('podman (rootless) on Arch: NVML: Insufficient Permissions\n\n$ podman run --rm --device nvidia.com/gpu=all --security-opt=label=disable ubuntu nvidia-smi -L\nFailed to initialize NVML: Insufficient Permissions\n--group-add keep-groups makes it work.', NODES),
        ('Rootless podman and NVML permissions\n\n$ podman run --device nvidia.com/gpu=all --security-opt label=disable ubuntu nvidia-smi\nFailed to initialize NVML: Insufficient Permissions\n$ sudo podman run --device nvidia.com/gpu=all --security-opt label=disable ubuntu nvidia-smi\n| NVIDIA-SMI 525.85.05   Driver Version: 525.85.05   CUDA Version: 12.0     |\n/dev/nvidia0 is root:video 660', NODES),
        ('NVML Insufficient Permissions in rootless podman even with label=disable\n\npodman 4.3 on openSUSE MicroOS. sudo podman is fine.\nFailed to initialize NVML: Insufficient Permissions', NODES),
        ('podman as user: NVML Insufficient Permissions\n\nlabel=disable is set, no-cgroups = true. ls -l /dev/nvidia*\ncrw-rw---- 1 root video 195, 0 Feb 1 10:00 /dev/nvidia0\ncrw-rw---- 1 root video 195, 255 Feb 1 10:00 /dev/nvidiactl\nFailed to initialize NVML: Insufficient Permissions\nRootful works.', NODES),
        ('rootless podman: Insufficient Permissions\n\nwith `--security-opt label=disable` set too. The devices belong to root:video with 0660 on this SLES 15 host, I am a member of video.\nFailed to initialize NVML: Insufficient Permissions', NODES),
        ('podman rootless on openSUSE: Failed to initialize NVML: Insufficient Permissions\n\n$ podman run --rm --security-opt=label=disable nvidia/cuda:11.4.0-base nvidia-smi\nFailed to initialize NVML: Insufficient Permissions\n\nOn the host nvidia-smi works as my user.', NODES),
        ('RHEL 8, podman run nvidia/cuda nvidia-smi: Failed to initialize NVML: Insufficient Permissions\nWith --security-opt=label=disable the table comes up.', 'lsm-denied'),
        ('CentOS 8 podman\n$ podman run --rm nvidia/cuda:11.0-base nvidia-smi\nFailed to initialize NVML: Insufficient Permissions\nsetenforce 0 helps. SELinux', 'lsm-denied'),
        ('Fedora 36, rootless podman\n\n$ podman run --rm --hooks-dir=/usr/share/containers/oci/hooks.d/ nvidia/cuda:11.0-base nvidia-smi\nFailed to initialize NVML: Insufficient Permissions\nWith --security-opt=label=disable it works. SELinux is enforcing.', 'lsm-denied'),
        ('Home Assistant / Frigate: from time to time ffmpeg says CUDA_ERROR_NO_DEVICE in the container. On the host nvidia-smi works. Stopping and starting the container fixes it.', LOST),
        ("Containers lose CUDA every few days\n\nOllama in docker falls back to the CPU after some time; `docker restart ollama` and it's on the GPU again.", LOST),
        ("The transcoder randomly can't find the card anymore until I run docker compose down and up\n\nDebian 11, docker 23, nvidia driver 525", LOST),
        ('GPU transcoding stops working after some days (docker)\n\nPlex in docker. After two or three days hardware transcoding is gone; `docker restart plex` fixes it.\ncu->cuInit(0) failed -> CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected', LOST),
        ('Nach ein paar Tagen sieht der Jellyfin Container die Grafikkarte nicht mehr, ein Neustart des Containers hilft immer\n\nDocker auf Debian, GTX 1650\nno CUDA-capable device is detected', LOST),
        ("Jellyfin docker: NVENC works after start, then from one day to the next it's gone\n\nCUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected. I restart the container every night as a workaround.", LOST),
        ('serving container is killed after some days, memory grows until OOM; restarting the container helps', 'host-memory-leak'),
        ('container: Failed to initialize NVML: Driver/library version mismatch after some days. Restarting the container does not help', 'driver-library-mismatch'),
        ('GPU disappears after some hours of training\n\ndocker container. nvidia-smi on the host says: Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost. Reboot the system to recover this GPU', 'xid79-fell-off-bus'),
        ("CI runner w/o GPU: nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file\n\nOur runners have no GPUs, I'd like to run unit tests in the CUDA image there.", NONE),
        ('make test: could not select device driver "" with capabilities: [[gpu]]\n\nMy laptop has no NVIDIA GPU, is there a way to start it on the cpu?', NONE),
        ('docker: Error response from daemon: could not select device driver "nvidia" with capabilities: [[gpu]]\n\nThere\'s no GPU in my NAS. How can I remove the requirement?', NONE),
        ('could not select device driver "nvidia" with capabilities: [[gpu]]\n\nI only have a CPU in my VPS, how to start?', NONE),
        ('[Question] can I use this without an Nvidia card?\n\nI have an AMD card.\ndocker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].', 'amd-gpu'),
        ('Run CUDA images on a CPU-only host\n\nI want to run the same image on hosts with no GPUs. With --gpus all:\nnvidia-container-cli: initialization error: nvml error: driver not loaded: unknown.\nCan it fall back to the CPU?', NONE),
        ('could not select device driver "" with capabilities: [[gpu]]\n\nThe laptop has an RTX 3050, Ubuntu 22.04. Without --gpus the container starts, but no GPU in it.', 'container-toolkit-missing'),
        ('docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\nThere is no GPU in the container then. RTX 2080 on the host.', 'container-toolkit-missing'),
        ('docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n\nI don\'t have a GPU problem on the host, nvidia-smi works.', 'container-toolkit-missing'),
        ('Pod without resource limits can use the GPU\n\nk8s 1.20, device plugin 0.9. A pod that sets no nvidia.com/gpu limit still sees the GPUs of the node in nvidia-smi. I expected that it sees none.', ''),
        ('nvidia-smi lists GPUs in a pod that has not requested any (k8s)', ''),
        ('Why can a pod use GPUs although its spec has no gpu limits?\n\nkubernetes, nvidia-docker2 as default runtime. All GPUs are exposed to it.', ''),
        ('Pods that do not ask for GPUs have access to them\n\nnvidia runtime as default, kubernetes 1.23. Any pod with CUDA image and no limits sees the whole set of GPUs.', ''),
        ("All GPUs visible in containers that didn't ask for one (default runtime nvidia)\n\nIs that the intended behavior on kubernetes?", ''),
        ("nvidia-smi shows all gpus when no resource is requested\n\nA pod from nvidia/cuda that doesn't ask for nvidia.com/gpu gets all of them. How can I prevent that? Setting NVIDIA_VISIBLE_DEVICES=none helps.", ''),
        ('Pod sees no GPU\n\nI did not set a limit for nvidia.com/gpu, and nvidia-smi in the pod is not found. On the node it works.', 'container-runtime-not-default'),
        ('Deployment on GKE has no /usr/local/nvidia\n\nThe sample CUDA pod shows the GPU; mine: bash: nvidia-smi: command not found. The cluster has GPU nodes and the driver daemonset.', NOT_GIVEN),
        ('Flink taskmanager pod: nvidia-smi: command not found\n\nTest pod with nvidia/cuda and nvidia.com/gpu limit works on the cluster.', NOT_GIVEN),
        ('PyTorchJob pods have no GPU while a plain Job has one\n\nSame node, same image. In the PyTorchJob: nvidia-smi: command not found', NOT_GIVEN),
        ('KFServing predictor pod has no GPU, other pods do\n\nbash: nvidia-smi: command not found. In the test pod with limits: nvidia.com/gpu: 1 it works.', NOT_GIVEN),
        ("nvidia-smi: command not found in the TFJob's pod\n\nGKE, the device plugin runs, a plain pod with limits works. In my job I set resources: requests: nvidia.com/gpu: 1 only.", NOT_GIVEN),
        ('Argo step: nvidia-smi: not found\n\nOther pods on the same GKE node pool have the GPU. This step lists no GPU.', NOT_GIVEN),
        ('nvidia-smi: command not found on the GKE node\n\nThe driver installer daemonset is pending. Nodes have a T4.', 'driver-missing'),
        ('Kubeflow pipeline component with .set_gpu_limit(1) never starts (Pending). Single node, Tesla T4', PLUGIN),
        ('How to use the GPU in minikube (docker driver)?\n\nAfter adding limits: nvidia.com/gpu: 1 my pod is stuck in the Pending state.', PLUGIN),
        ('set_gpu_limit(1) leaves my kubeflow pipeline step pending\n\nOne EC2 p3 instance with driver, docker --gpus all works there.', PLUGIN),
        ('kind: pod with gpu limit stays in Pending\n\nDocker with --gpus works on that machine, GTX 1070.', PLUGIN),
        ('GPU pod stuck at Pending on my home k3s\n\nI set nvidia.com/gpu: 1. The box has a GTX 1660 and docker run --gpus all works.', PLUGIN),
        ('microk8s\n\nWithout the gpu limit the pod runs but there is no GPU in it, with limit 1 it hangs in Pending. The host has a working T4.', PLUGIN),
        ("nvidia-390 DKMS: 'make' failed with bad exit status on kernel 5.17", KERNEL),
        ('open-gpu-kernel-modules 525.60.11 does not build on 6.2\n\nERROR: bad exit status for module build on kernel 6.2.0', KERNEL),
        ('akmods: Building and installing nvidia-kmod failed on 6.4.4-200.fc38.x86_64\nChecking kmods exist for 6.4.4-200.fc38.x86_64\nBuilding and installing nvidia-kmod [FAILED]', KERNEL),
        ('Arch: nvidia-470xx-dkms broken with linux 6.8\n\nError! Bad return status for module build on kernel: 6.8.1-arch1-1 (x86_64)', KERNEL),
        ('Error! Bad return status for module build on kernel: 6.5.0-14-generic (x86_64)\nConsult /var/lib/dkms/nvidia/535.129.03/build/make.log for more information.', KERNEL),
        ('DKMS: nvidia 515.65.01 not compiling on kernel 6.0.2', KERNEL),
        ('Module build for kernel 6.1.0-13-amd64 was skipped since the kernel headers for this kernel do not seem to be installed.\nnvidia/525.147.05', 'driver-module-not-loaded'),
        ('nvidia-dkms: build failed, make: not found. Kernel 6.2\nError! Bad return status for module build on kernel: 6.2.0-20-generic (x86_64)\n/bin/sh: 1: make: not found\n/var/lib/dkms/nvidia/525.60/build/make.log', 'driver-module-not-loaded'),
        ('virtualbox-dkms: Bad return status for module build on kernel: 6.5.0-14-generic (x86_64)', ''),
        ('Pod pending because of memory request\n\n0/3 nodes are available: 3 Insufficient memory. It asks for 200Gi.', PLUGIN),
    ],
)  # fmt: skip
def test_what_goes_first(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Docker needs sudo on my box. In the container tensorflow lists no GPU", NOT_GIVEN),
        ("NCCL hangs on two RTX 4090 without NVLink, one GPU alone works", "p2p-unsupported-geforce"),
        ("kubernetes: the pod is Pending, Insufficient cpu. The GPU step asks for nvidia.com/gpu: 1", ""),
    ],
)
def test_these_look_alike(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("k8s. Each node has 2 T4. A pod with 2 GPUs works, with 4: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.", "benign-beyond-a-node"),
        ("kubernetes: pods that request no GPU see all GPUs of the node, the default runtime is nvidia", "benign-unasked-gpus"),
    ],
)  # fmt: skip
def test_what_is_as_it_should_be(text: str, kind: str) -> None:
    report = judged(text)
    assert said(report) == ([], [])
    assert kind in [event.kind for event in report.facts.text.understood()]
