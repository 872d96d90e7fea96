"""What titles and prose say of drivers, containers, several GPUs and faults: candidates with the likely one first, never one cause."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

FIRST = {
    "driver-kernel-incompatible": [
        "dkms module can't build on 6.3",
        "New kernel 6.7 breaks the DKMS module",
        "DKMS build of nvidia 535 fails to build against linux 6.8\n",
        "the dkms module is broken since 6.5",
    ],
    "driver-module-not-loaded": [
        "The module is not rebuilt when a new kernel comes",
        "dkms module disappeared with the last dnf update",
        "After each kernel update I run `dkms install` by hand for nvidia",
        "kernel upgrade broke the nvidia driver",
        "nvidia stopped working after the kernel was upgraded",
        "The NVIDIA driver is not loaded after the reboot",
        "nvidia drivers don't work since yesterday",
        "nvidia-driver installation fails on the VM",
    ],
    "driver-nouveau-conflict": ["nouveau is still loaded", "it uses nouveau instead of the nvidia module"],
    "driver-secure-boot": [
        "Secure Boot prevents my module",
        "with secure boot on, nvidia does not come up",
        "nvidia modules fail with Secure Boot",
        "modprobe: ERROR: could not insert 'v4l2loopback': Key was rejected by service",
    ],
    "driver-library-mismatch": [
        "nvidia-smi shows a version mismatch",
        "driver and library versions do not match",
        "version mismatch between kernel module and library",
    ],
    "cuinit-unknown-after-suspend": [
        "tensorflow loses the gpu when my laptop was suspended",
        "GPU is gone after the computer wakes up",
        "CUDA is broken after hibernation? CUDA fails after hibernate",
    ],
    "optimus-gpu-powered-off": [
        "Bumblebee: nothing works on my laptop",
        "problem with tensorflow-gpu and Nvidia PRIME",
        "the dGPU is powered off",
        "NVIDIA card is disabled by prime",
    ],
    "driver-libcuda-not-on-path": ["libcuda is not discovered, LD_LIBRARY_PATH=/run/opengl-driver/lib helps"],
    "driver-missing": ["libcuda.so.1 can't be opened", "the program crashes without libcuda.so"],
    "driver-too-old-for-ptx": ["an exception of unsupported PTX", "PTX version is not supported"],
    # containers
    "container-cgroup-devices-lost": [
        "Docker container loses the GPU after a few hours",
        "containers keep losing GPUs",
        "GPU becomes unavailable after some time in a docker container",
        "GPU vanishes in the pod after daemon-reload",
        "the container has no GPU any more",
    ],
    "container-toolkit-missing": [
        "I checked and the nvidia-container-toolkit was missing",
        "I forgot to install nvidia-container-toolkit",
        "nvidia-docker2 is not installed on this node",
    ],
    "container-runtime-not-default": [
        "k3s pods get GPUs only with runtimeClassName nvidia",
        "the pods do not find NVML",
    ],
    "k8s-device-plugin-not-registered": [
        "GPU is not shown in the node's Capacity",
        "no nvidia.com/gpu in Allocatable",
        "the plugin isn't advertising the GPUs",
        "0 GPUs are allocatable",
        "Kubernetes does not schedule the GPU",
    ],
    "container-rootless-cgroups": ["GPU doesn't work with rootless docker", "rootless podman can't use the nvidia GPU"],
    "container-cgroupv2-unsupported": ["--gpus all fails on cgroup v2", "nvidia gpu: not working with cgroupv2"],
    "wsl-driver-toolkit-mismatch": [
        "WSL2: nvidia-smi is fine, docker with GPU doesn't run\ndocker can't see the GPU in WSL2"
    ],
    "container-no-gpus-flag": [
        "libcuda.so.1 not found\n--device /dev/nvidia0:/dev/nvidia0",
        "Docker image: GPU isn't detected by keras",
    ],
    # several GPUs
    "nccl-wrong-interface": [
        "Multi-node training ends with a timeout",
        'NCCL "Connection refused" from the workers',
        "NCCL connection timed out",
        "call to connect returned Connection refused",
        "NCCL_SOCKET_IFNAME has no effect",
        "NCCL + docker hangs with more than one host",
        "a1:31:37 [0] NCCL INFO NET/IB : No device\nb2:94:98 [0] NCCL INFO NET/IB : No device\nhorovod hangs with NCCL",
    ],
    "nccl-shm-too-small": [
        "allreduce crashes unless --ipc=host is given",
        "with --shm-size=1g it works",
        "unhandled system error with 3 nodes locally",
    ],
    "nccl-nvls-fabric-manager": ["NVLS fails on our H100"],
    "p2p-unsupported-geforce": [
        "No P2P with RTX 4080",
        "peer access is not possible on my two cards",
        "NCCL P2P issue with two RTX 5080",
        "Dual 4080 slower bandwidth over PCIe",
        "why has GPU2 to GPU3 a lower bandwidth",
    ],
    "nccl-p2p-iommu-acs": [
        "Multi GPU training works with Intel, fails with an AMD CPU",
        "One GPU is fine, two GPUs are trouble",
    ],
    "mig-single-instance-limit": [
        "the server doesn't use all MiG instances",
        "tensorflow does not see all MIG devices",
    ],
    # faults
    "xid79-fell-off-bus": [
        "2 GPUs disappeared from nvidia-smi",
        "sometimes one card is gone",
        "nvidia-smi hangs since noon",
        "it shows ERR! for the fan",
        "The computer freezes when training",
    ],
    "ecc-uncorrectable-error": ["ECC errors on GPU 3"],
    "psu-insufficient": [
        "dual GPU training powers off my desktop",
        "training shuts down my PC",
        "Desktop will shutdown after some epochs of training",
        "when I train on the laptop the power goes off",
        "一训练电脑就重启",
    ],
    "gpu-throttling-thermal": [
        "the GPU overheats in the case",
        "Why did the GPU become slow? GPU gets slower over time",
    ],
    "gpu-throttling-power": ["GPU is stuck at 300 MHz"],
    "pcie-link-degraded": ["PCIe x4 instead of x16", "PCIe bandwidth is reduced", "PCIe Gen1 under load"],
}
FINE = [
    "dkms status",
    "The dkms module is built and loaded",
    "Is nouveau better than nvidia?",
    "blacklist nouveau",
    "Secure Boot is disabled",
    "the module is rebuilt for each kernel",
    "suspend works and CUDA as well",
    "runtimeClassName: nvidia",
    "Capacity: 4 GPUs",
    "rootless podman with CDI and GPU is great",
    "cgroup v2 is used",
    "multi-node training with NCCL is fast",
    "NCCL_SOCKET_IFNAME=eth0",
    "--ipc=host --shm-size=8g",
    "P2P is enabled",
    "MIG instances are listed",
    "the GPUs are in nvidia-smi",
    "no ECC errors",
    "  ECC Errors",
    "GPU clocks are at 1980 MHz",
    "PCIe Gen1 at idle",
    "PCIe x16",
    "the computer is fast when training",
    "the fabric manager failed? There is no NVSwitch",
    "AMD CPU with two GPUs works",
    "bumblebee is obsolete",
    "The kernel restarts when training",
    "restart the computer, then train",
    "x1:31:37 [0] NCCL INFO NET/IB : No device\nx2:94:98 [0] NCCL INFO NET/IB : No device",
]


@pytest.mark.parametrize(("cause", "text"), [(cause, text) for cause, texts in FIRST.items() for text in texts])
def test_the_likely_cause_goes_first_and_is_not_alone(cause: str, text: str) -> None:
    roots, candidates = said(judged(text + "\n"))
    assert (roots, candidates[:1]) == ([], [cause])


@pytest.mark.parametrize("text", FINE)
def test_what_is_no_complaint(text: str) -> None:
    report = judged(text + "\n")
    assert (said(report), report.diagnosis.unexplained) == (([], []), ())


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("ERROR: The Nouveau kernel driver is currently in use by your\n       system.  This driver is incompatible", "driver-nouveau-conflict"),
        ("Failed to initialize NVML: Driver / library version mismatch", "driver-library-mismatch"),
        ("AttributeError: /opt/cuda-12.2/lib64/stubs/libcuda.so: undefined symbol: _x", "libcuda-stub-loaded"),
        ("`GPU is lost. Please reboot to recover`", "xid79-fell-off-bus"),
        ("_kgspRpcRecvPoll: GSP RM heartbeat timed out\nXid 109: CTX SWITCH TIMEOUT\nXid 8", "xid119-gsp-timeout"),
        ("it ended with Xid 62 and then Xid 154", "xid-hardware-fault"),
        (
            "CUDA error 401 'the operation cannot be performed', NVSwitch\nbut the Fabric Manager service isn't running",
            "fabric-manager-not-running",
        ),
        (
            "a DGX\n\u00d7 nvidia-fabricmanager.service - NVIDIA fabric manager service\n     Active: failed (Result: exit-code)",
            "fabric-manager-not-running",
        ),
    ],
)  # fmt: skip
def test_what_programs_say_decides(text: str, cause: str) -> None:
    assert said(judged(text + "\n")) == ([cause], [])


def test_a_gpu_of_another_vendor_is_named() -> None:
    log = "[ 39.5] NVRM: No NVIDIA graphics adapter found!\n"
    assert said(judged(log))[1][0] == "driver-nouveau-conflict"
    assert said(judged("The card here is an AMD R9 290X\n" + log))[1][0] == "no-nvidia-gpu"


def test_inside_a_container_the_module_of_the_host_is_loaded() -> None:
    smi = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
    host = "on the host:\n| NVIDIA-SMI 410.48                 Driver Version: 410.48                    |\n"
    assert said(judged("in the container:\n" + smi + host))[1][0] == "container-no-gpus-flag"
    assert said(judged(smi))[1][0] == "driver-module-not-loaded"


def test_docker_desktop_on_windows_has_wsl_of_its_own() -> None:
    text = "Windows 11, WSL2\n{}docker run --gpus all tf\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"
    assert said(judged(text.format("Docker Desktop 4.29\n")))[1][0] == "wsl-driver-toolkit-mismatch"
    assert said(judged(text.format("")))[1][0] == "wsl-libcuda-path"


def test_words_do_not_stand_beside_a_program() -> None:
    log = "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus."
    assert said(judged(f"the dkms module is broken on 6.5\n{log}")) == (["xid79-fell-off-bus"], [])
