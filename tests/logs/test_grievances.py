"""What people complain of, and what programs only suspect: candidates, the likely one first; questions are no faults."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

FIRST = {
    "driver-too-old": [
        "RuntimeError: The NVIDIA driver on your system is too old (found version 10020). Please update your GPU driver",
        "UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 9010).",
        "ERROR: CUDA 11.2 is not supported by your driver (which supports up to 10.1)",
        "[hevc_nvenc @ 0x55] Driver does not support the required nvenc API version. Required: 12.0 Found: 11.0",
        "2021-03-04 10:11:12.123456: E tensorflow/stream_executor/cuda/cuda_dnn.cc:328] Possibly insufficient driver version: 418.87.1",
        "My nvidia driver is too old, the admin says",
        "is my GPU driver outdated? The NVIDIA driver is outdated says the app",
        "CUDA driver version is insufficient for CUDA runtime version",
    ],
    "driver-rminit-failed": [
        "$ nvidia-smi\nNo devices were found",
        "`No devices were found`",
        "nvidia-smi: No devices were found.",
        "nvidia-smi returns no devices were found after the update",
        'Running nvidia-smi just says "No devices found"',
    ],
    "driver-module-not-loaded": [
        "NVIDIA kernel module missing. Falling back to nouveau",
        "at boot: Nvidia kernel module missing",
        "The nvidia kernel module is not loaded on my Fedora 40",
        "nvidia kernel module not found after upgrading",
        "modprobe: ERROR: could not insert 'nvidia_470': Invalid argument",
    ],
    "driver-missing|driver-module-not-loaded|container-no-gpus-flag": [
        "No NVIDIA drivers found",
        "error: no nvidia driver detected",
        "NVIDIA driver not detected by the installer",
        "Nvidia drivers were not found on my machine",
        "The graphics driver is not installed",
        "nvidia-smi says there is no driver installed",
    ],
    "container-no-gpus-flag": [
        "docker run -it tensorflow/tensorflow:2.9 bash\nno NVIDIA driver found",
        "My docker container can't see the GPU",
        "GPU not detected inside the docker container",
        "Container doesn't recognize nvidia gpu",
        "docker swarm: the gpu is not found by the service",
        "docker service create with nvidia gpus doesn't work, no gpu in the task",
        "GPUs not available in docker compose",
        "Unable to use GPU? Docker image does not find CUDA",
        "nvidia-smi is not available in the container",
    ],
    "container-toolkit-missing|container-no-gpus-flag": ["docker: can't use the GPU"],
    "container-runtime-not-default": [
        "NVIDIA GPU not working in k3s pods",
        "GPUs are not detected by kubernetes",
        "nvidia device plugin: GPU not found in microk8s",
        "K8s: nvidia runtime doesn't work",
    ],
    "apptainer-no-nv": [
        "GPU isn't visible, I forgot the --nv option",
        "the wrapper does not pass `--nv`",
        "container is started without --nv",
    ],
    "container-docker-desktop-linux": [
        "Docker Desktop on Fedora: nvidia GPU",
        "GPU support in Docker Desktop for Linux",
        "Docker Desktop for Linux can't use my nvidia card",
        "I'm using Docker Desktop on Pop!_OS and --gpus all gives no gpu",
    ],
    "container-snap-docker": [
        "docker installed with snap\ndocker: Error response from daemon: failed to create shim: OCI runtime create failed: runc create failed: nvidia-container-cli: initialization error: load library failed: libdxcore.so: cannot open shared object file: no such file or directory: unknown.",
        "I use the docker snap.\nGPU is not visible in the docker container",
    ],
    "container-cgroupv2-unsupported": [
        "OCI runtime create failed: container init caused: mountpoint for devices not found: unknown",
        "cannot find cgroup mount destination: unknown. nvidia",
    ],
    "wsl-libcuda-path": [
        "In WSL2 libcuda.so is in /usr/lib/wsl/lib and isn't seen",
        "libcuda.so not seen, I'm on WSL 2",
    ],
    "optimus-gpu-powered-off": [
        "I switched to the intel profile with prime-select intel\nnvidia-smi says no driver",
        "envycontrol -s integrated\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
        "$ supergfxctl -g\nIntegrated\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
        "optimus-manager: Current GPU mode : integrated\nnvidia-smi: no nvidia driver",
        "system76-power graphics\nintegrated\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
    ],
    "libcuda-stub-loaded": [
        "numba.cuda.cudadrv.driver.CudaAPIError: [34] Call to cuInit results in CUDA_ERROR_STUB_LIBRARY",
        "Mapped libcuda.so paths:\n  /usr/local/cuda-12.1/targets/x86_64-linux/lib/stubs/libcuda.so\nError at driver init: [34]",
        "7f12a0000000-7f12a0010000 r-xp 00000000 08:01 1234 /usr/local/cuda/lib64/stubs/libcuda.so.1\nfailed call to cuInit: UNKNOWN ERROR (34)",
        "        libcuda.so.1 => /usr/local/cuda/lib64/stubs/libcuda.so.1 (0x00007f3c)",
    ],
    "fabric-manager-not-running": [
        "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152\nthe fabric manager is not running on that node",
        "RuntimeError: CUDA error: system not yet initialized\nFabric Manager wasn't started",
    ],
    "nccl-nvls-fabric-manager": [
        "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA error 1 'invalid argument'"
    ],
    "nccl-shm-too-small": [
        'Fatal Python error: Bus error\n  File "train.py", line 3',
        "Bus error (core dumped) with NCCL in docker",
        "[host:01] *** Process received signal ***\n[host:01] Signal: Bus error (7)",
        "worker exited unexpectedly, exitcode: -7",
        "died with <Signals.SIGBUS: 7>",
        "Caught signal 7 (Bus error: nonexistent physical address)",
        "#0 0x00007f31b0544f3b in ncclShmOpen (shmPath=0x7f) at misc/shmutils.cc:71",
        "RuntimeError: DataLoader worker (pid 77) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.",
        "NCCL error: unhandled system error, NCCL version 2.10.3",
    ],
    "nccl-wrong-interface": [
        "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:825, unhandled system error, NCCL version 2.7.8\nthis is with two nodes",
        "What do I put in NCCL_SOCKET_IFNAME?\nunhandled system error",
        "torch.distributed hangs with NCCL on 2 machines",
    ],
    "nccl-p2p-iommu-acs": [
        "NaN loss with MirroredStrategy",
        "Multi-GPU training gives nan, single GPU is fine",
        "wrong results of all_reduce with two GPUs",
        "Dual 4090: loss becomes NaN with nccl",
        "nvidia 0000:0a:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x000c address=0xd0000000 flags=0x0030]",
        "MirroredStrategy never starts the first epoch on 2 GPUs",
        "Training does not proceed with multiple GPUs",
        "多卡训练卡住",
        "NCCL init never returns",
        "Tensorflow multi-GPU training never finishes",
    ],
    "nccl-too-old-for-gpu": ["no device function", "NCCL WARN Cuda failure 'invalid device function'"],
    "multi-gpu-topology-no-p2p": [
        "nccl allreduce is slow across sockets",
        "low bandwidth in all_reduce_perf between GPU 0 and 4",
        "NCCL performance drops with GPUs on different CPUs",
    ],
    "gpu-throttling-power": [
        "GPU hits the power limit and throttles",
        "sw_power_cap is the issue at 70%",
        "clocks drop, reason: SW Power Cap",
        "Why does the power cap trigger at 200 W?",
    ],
    "gpu-throttling-thermal": [
        "card throttles at 87C",
        "GPU overheats and slows down during training",
        "thermal throttling during training",
        "it gets hot (90 degrees) and then throttles",
        "Throttling because temperature reaches 83 C",
    ],
    "gpu-exclusive-busy": [
        "the GPU is in exclusive mode",
        "compute mode seems to be EXCLUSIVE_THREAD",
        "GPUs are set to exclusive process mode by the admin",
    ],
    "xid79-fell-off-bus": [
        "my GPU is lost after some hours",
        "one GPU gets lost during training",
        "GPU disappeared from nvidia-smi",
    ],
    "xid119-gsp-timeout": [
        "GSP firmware timeout on A100",
        "disabling GSP with NVreg_EnableGpuFirmware=0 fixes it",
        "driver hangs in GSP init",
    ],
    "cuda-visible-devices-wrong": [
        "RuntimeError: CUDA error: invalid device ordinal",
        "cudaErrorInvalidDevice: invalid device ordinal",
        "RuntimeError: Attempting to deserialize object on CUDA device 2 but torch.cuda.device_count() is 1.",
        "AssertionError: Invalid device id",
        "THCudaCheck FAIL error=10 : invalid device ordinal",
        "ValueError: Invalid CUDA 'device=1' requested.",
    ],
    "mig-single-instance-limit": [
        "A100 with MIG, 2 instances\ndevice >= 0 && device < num_gpus INTERNAL ASSERT FAILED"
    ],
    "container-ldconfig-path": [
        "root@0123456789ab:/# nvidia-smi\nNVIDIA-SMI couldn't find libnvidia-ml.so library in your system.\nAfter running ldconfig it works.",
    ],
    "container-host-driver-broken": [
        "W0101 10:00:00.1 77 nvc.c:258] failed to detect NVIDIA devices\nI0101 10:00:00.1 77 nvc.c:395] dxcore initialization failed, continuing assuming a non-WSL environment\nnvidia-container-cli: initialization error: driver rpc error: failed to process request"
    ],
    "driver-missing": [
        "ImportError: missing libcuda.so.1",
        "tensorflow can't find libcuda.so.1",
        "no libcuda.so on this box",
    ],
    "cuinit-uvm-device-missing": ["The GPU is found only as root"],
}
MORE = {
    "container-no-gpus-flag": [
        "the benchmark can't see any GPU in its container",
        "Docker: no GPU found",
        "no graphics card is recognized in the container",
        "Cannot run the GPU in a docker image",
        "inside the docker container gpus were not recognised",
    ],
    "optimus-gpu-powered-off": ["laptop: dGPU not detected", "the discrete GPU isn't working since the update"],
    "driver-rminit-failed": [
        "nvidia-smi complains that there aren't any devices",
        "the driver does not recognize the gpu",
    ],
    "container-runtime-not-default": [
        "the k8s node doesn't recognize the GPU",
        "k0s: `libnvidia-ml.so.1` missing in the pod",
    ],
    "driver-missing": ["libnvidia-ml.so.1 not found"],
    "nccl-p2p-iommu-acs": ["one of 4 GPUs always stucks with NCCL"],
}
FIRST = {cause: [*FIRST.get(cause, []), *MORE.get(cause, [])] for cause in (*FIRST, *MORE)}
FINE = [
    "How do I choose the GPU in Kubernetes?",
    "Which NVIDIA driver do I need for TensorFlow 2.15?",
    "Does docker support GPUs on Linux?",
    "Is NCCL faster than Horovod?",
    "MirroredStrategy works well with two GPUs",
    "We use 4 GPUs with NCCL on two machines, it is fast",
    "Docker Desktop on Windows with GPU works",
    "Docker Desktop is installed",
    "nvidia-smi shows the GPU in the container",
    "GPU is in default compute mode",
    "power limit: 250 W",
    "|  0%   37C    P8               5W / 450W |",
    "loss: nan",
    "The temperature is 60 C, no throttling",
    "NVIDIA driver 535 is installed and works",
    "the driver is new enough",
    "No NVIDIA driver is needed for tensorflow-cpu",
    "the service runs in docker without gpus, on purpose",
    "PCIe Bus Error is not seen",
    "GSP firmware version: 535.104.05",
    "  GSP Firmware Version                  : 550.54.15",
    "options nvidia NVreg_EnableGpuFirmware=0",
    "NCCL version 2.18.3+cuda12.1",
    "NVIDIA_VISIBLE_DEVICES=all",
    "I have two machines with GPUs",
    "Feature request: support the --gpus option",
    "Please add multi-GPU training",
    "nvidia-persistenced: device 0000:01:00.0 - persistence mode enabled.",
    "prime-select query",
    "$ sudo ldconfig",
    "How can I use multiple GPUs for inference?",
    "GPU lost memory? no",
    "use `singularity exec --nv tf.sif python train.py`",
    "clocks_event_reasons.sw_power_cap, Not Active",
    "Thermal design power: 300W",
    "P2P matrix is fine",
    "training finished",
    "MIG is disabled",
    "root@box:~# nvidia-smi -L",
    "The documentation of NCCL is not available in French",
]


@pytest.mark.parametrize(("causes", "text"), [(causes, text) for causes, texts in FIRST.items() for text in texts])
def test_the_likely_cause_goes_first(causes: str, text: str) -> None:
    roots, candidates = said(judged(text + "\n"))
    assert [*roots, *candidates][0] in causes.split("|")


@pytest.mark.parametrize("text", FINE)
def test_a_question_or_a_healthy_line_is_no_fault(text: str) -> None:
    report = judged(text + "\n")
    assert (said(report), report.diagnosis.unexplained) == (([], []), ())


CUINIT = "2023-04-02 10:11:12.131415: E tensorflow/compiler/xla/stream_executor/cuda/cuda_driver.cc:266] failed call to cuInit: "


@pytest.mark.parametrize(
    ("text", "causes", "not_named"),
    [
        ("MirroredStrategy gives NaN\nNVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.", ["xid79-fell-off-bus"], "nccl-p2p-iommu-acs"),
        ("my docker container can't see the GPU\nnvidia-container-cli: initialization error: nvml error: driver not loaded",
         ["container-host-driver-broken"], "container-no-gpus-flag"),
        (f"the GPU is in exclusive mode\n{CUINIT}CUDA_ERROR_INVALID_VALUE\n", [], "gpu-exclusive-busy"),
        ("the card throttles at 85C\nCUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered", [], "gpu-throttling-thermal"),
    ],
)  # fmt: skip
def test_a_program_counts_more_than_words(text: str, causes: list[str], not_named: str) -> None:
    roots, candidates = said(judged(text))
    assert roots == causes
    assert not_named not in candidates


def test_words_do_not_hide_what_slows_a_program() -> None:
    apart = "Peer access not supported between device ordinals"
    pairs = ((0, 2), (2, 0), (0, 3), (3, 0), (1, 2), (2, 1), (1, 3), (3, 1))
    log = "\n".join(f"I tensorflow/core/common_runtime/gpu/gpu_device.cc:847] {apart} {a} and {b}" for a, b in pairs)
    assert said(judged(f"the NVIDIA driver is outdated, perhaps\n{log}"))[0] == ["multi-gpu-topology-no-p2p"]


@pytest.mark.parametrize(
    ("hint", "first"),
    [
        ("", "container-no-gpus-flag"),
        ("docker comes from `snap`", "container-snap-docker"),
        ("snap version", "container-snap-docker"),
        ("Docker Desktop 4.20", "container-docker-desktop-linux"),
        ("Docker Desktop 4.20 on Windows 11", "container-no-gpus-flag"),
    ],
)
def test_what_else_is_said_of_docker_goes_first(hint: str, first: str) -> None:
    missing = 'docker: Error response from daemon: exec: "nvidia-smi": executable file not found in $PATH: unknown.'
    assert said(judged(f"{hint}\n{missing}"))[1][0] == first


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("nvidia-smi is not mounted into the container\nthe driver lies in /var/lib/nvidia", "container-driver-root-wrong"),
        ("it needs the --gpus flag\ndocker stack deploy: nvidia GPU not found", "container-no-gpus-flag"),
        ("tensorflow can't find libcuda.so.1 in my Dockerfile\ndocker build .", "container-no-gpus-flag"),
        ("Attempting to fetch value: Internal: no supported devices found for platform CUDA", "cuda-visible-devices-wrong"),
        ("mig is on\nInternal: no supported devices found for platform CUDA", "mig-single-instance-limit"),
        ("secure boot enabled\nNVIDIA kernel module missing", "driver-secure-boot"),
        ("does tensorflow run on an AMD Radeon?", "amd-gpu"),
        ("NCCL + Docker hangs when using multiple hosts", "nccl-wrong-interface"),
        (("Error polling for event status: failed to query event: CUDA_ERROR_ILLEGAL_ADDRESS\nfailed to query event: "
         "CUDA_ERROR_ILLEGAL_INSTRUCTION"), "xid13-31-43-app-or-gpu-fault"),
    ],
)  # fmt: skip
def test_circumstances_choose(text: str, first: str) -> None:
    roots, candidates = said(judged(text))
    assert (roots, candidates[0]) == ([], first)


@pytest.mark.parametrize(
    "text",
    [
        "tensorflow-rocm on my AMD Radeon works",
        "tensorflow on an AMD Ryzen is fast",
        "the NVIDIA driver is needed; no NVIDIA driver is needed for tests",
        "x" * 600 + " no NVIDIA driver found",
        "[  12.3] some: no nvidia driver found here",
    ],
)
def test_what_is_no_complaint(text: str) -> None:
    assert said(judged(text)) == ([], [])


def test_wsl_is_not_where_the_toolkit_looks_for_it() -> None:
    log = (
        "I0101 10:00:00.1 77 nvc.c:393] attempting to load dxcore to see if we are running under Windows Subsystem for Linux (WSL)\n"
        "I0101 10:00:00.1 77 nvc.c:395] dxcore initialization failed, continuing assuming a non-WSL environment\n"
        "nvidia-container-cli: initialization error: driver rpc error: failed to process request\n"
    )
    roots, candidates = said(judged(log))
    assert (roots, "container-host-driver-broken" in candidates) == ([], True)


def test_ldconfig_cures_only_what_ldconfig_can() -> None:
    text = "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.\nIf I call ldconfig within the container it works"
    assert said(judged(text)) == (["container-ldconfig-path"], [])
    assert said(judged(text.replace("it works", "nothing changes")))[0] == []
    assert said(judged(text.replace("within the container ", "")))[0] == []


def test_a_mapped_stub() -> None:
    stub = "/usr/local/cuda-12.1/targets/x86_64-linux/lib/stubs/libcuda.so"
    assert said(judged(f"Mapped libcuda.so paths:\n   {stub}")) == (["libcuda-stub-loaded"], [])
    assert said(judged(f"$ find / -name 'libcuda.so*'\n{stub}")) == ([], [])
    assert said(judged(f"Mapped libcuda.so paths:\n  /usr/lib/x86_64-linux-gnu/libcuda.so.1\n   {stub}")) == ([], [])


def test_what_stands_far_down_in_a_log_is_no_complaint() -> None:
    assert said(judged("step\n" * 2999 + "no NVIDIA driver found"))[1]
    assert said(judged("step\n" * 3000 + "no NVIDIA driver found")) == ([], [])


def test_syslog_writes_line_breaks_as_numbers() -> None:
    text = "Mar  3 04:05:06 box app[77]: $ snap install docker#012docker: Error response from daemon: could not select device driver"
    assert said(judged(text)) == (["container-snap-docker"], [])


def test_a_line_between_backticks() -> None:
    assert said(judged("`No devices were found`"))[1][0] == "driver-rminit-failed"
    assert said(judged("`nvidia-smi` says `No devices were found`"))[1][0] == "driver-rminit-failed"
