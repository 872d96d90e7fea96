"""What container engines, NVIDIA's toolkit and Kubernetes print."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said, shown

OLD = 'docker: Error response from daemon: OCI runtime create failed: container_linux.go:345: starting container process caused "process_linux.go:430: container init caused \\"process_linux.go:413: running prestart hook 0 caused \\\\\\"error running hook: exit status 1, stdout: , stderr: %s\\\\\\\\n\\\\\\"\\"": unknown.'  # fmt: skip
NEW = "docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running hook #0: error running hook: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'\n%s: unknown."  # fmt: skip
CLI = "nvidia-container-cli: "
SMI = """+-----------------------------------------------------------------------------+
| NVIDIA-SMI 515.65.01    Driver Version: 515.65.01    CUDA Version: 11.7     |
"""
SMI_390 = "| NVIDIA-SMI 390.144                Driver Version: 390.144                   |\n"
NO_NVML = CLI + "initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory"  # fmt: skip
NOT_SELECTED = 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].'
UBUNTU = "I am on Ubuntu 22.04.\n"

DECIDED = [
    # toolkit
    (NOT_SELECTED, "container-toolkit-missing"),
    ('Error response from daemon: could not select device driver "nvidia" with capabilities: [[compute utility]]', "container-toolkit-missing"),
    ("Error: no capabilities with [[gpu]]", "container-toolkit-missing"),
    ("docker: Error response from daemon: Unknown runtime specified nvidia.\nSee 'docker run --help'.", "container-toolkit-missing"),
    ("Error response from daemon: unknown or invalid runtime name: nvidia", "container-toolkit-missing"),
    ('docker: Error response from daemon: OCI runtime create failed: exec: "nvidia-container-runtime-hook": executable file not found in $PATH: unknown.', "container-toolkit-missing"),
    ("docker: fork/exec /usr/bin/nvidia-container-runtime: no such file or directory: unknown.", "container-toolkit-missing"),
    ("bash: nvidia-container-cli: command not found", "container-toolkit-missing"),
    ("Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all", "container-toolkit-missing"),
    # the driver is too old for the image
    (OLD % (CLI + "requirement error: unsatisfied condition: cuda>=11.4, please update your driver to a newer version, or use an earlier cuda container"), "container-driver-too-old"),
    (OLD % ("exec command: [/usr/bin/nvidia-container-cli --load-kmods configure --require=cuda>=10.0 brand=tesla,driver>=384,driver<385 --pid=77 /var/lib/docker/x]\\\\\\\\n" + CLI + "requirement error: unsatisfied condition: brand = tesla"), "container-driver-too-old"),
    (NEW % (CLI + "requirement error: unsatisfied condition: cuda>=12.4, please update your driver"), "container-driver-too-old"),
    ("ERROR: This container was built for NVIDIA Driver Release 545.23 or later, but\n       version 535.54.03 was detected and compatibility mode is UNAVAILABLE.", "container-driver-too-old"),
    (SMI_390 + "docker run --rm --gpus all nvidia/cuda:10.1-base nvidia-smi\ndocker: Error response from daemon: OCI runtime create failed: runc create failed: unable to start container process", "container-driver-too-old"),
    # the host's driver
    (NEW % (CLI + "initialization error: nvml error: driver not loaded"), "container-host-driver-broken"),
    (OLD % (CLI + "initialization error: nvml error: driver not loaded"), "container-host-driver-broken"),
    ("$ nvidia-container-cli list\n" + NO_NVML, "container-host-driver-broken"),
    (NOT_SELECTED + "\nand now, with the toolkit:\n" + NEW % NO_NVML, "container-host-driver-broken"),
    (NEW % (CLI + "initialization error: nvml error: driver/library version mismatch"), "driver-library-mismatch"),
    # control groups
    (OLD % (CLI + "container error: cgroup subsystem devices not found"), "container-cgroupv2-unsupported"),
    (NEW % (CLI + "mount error: failed to add device rules: unable to generate new device filter program from existing programs: unable to create new device filters program: load program: invalid argument: 0: (69) r2 = *(u16 *)(r1 +0)"), "container-cgroupv2-unsupported"),
    (NEW % (CLI + "mount error: failed to add device rules: unable to find any existing device filters attached to the cgroup: bpf_prog_query(BPF_CGROUP_DEVICE) failed: operation not permitted"), "container-rootless-cgroups"),
    (OLD % (CLI + "mount error: open failed: /sys/fs/cgroup/devices/user.slice/devices.allow: permission denied"), "container-rootless-cgroups"),
    ("docker context use rootless\n" + NEW % (CLI + "mount error: failed to add device rules: unable to generate new device filter program: load program: permission denied"), "container-rootless-cgroups"),
    # snap, Docker Desktop, settings of the toolkit
    ("$ snap install docker\n" + NOT_SELECTED, "container-snap-docker"),
    ("My docker is installed via snap.\n" + NEW % NO_NVML, "container-snap-docker"),
    (SMI + "docker               20.10.24      2915   latest/stable    canonical\u2713  -\n" + NEW % NO_NVML, "container-snap-docker"),
    ("Windows Home 10\nDocker-Desktop 4.5.1\nUnknown runtime specified nvidia", "container-toolkit-missing"),
    (UBUNTU + " Context:    desktop-linux\n" + NOT_SELECTED, "container-docker-desktop-linux"),
    (UBUNTU + SMI + "Server: Docker Desktop 4.20.1 (110738)\n" + NEW % NO_NVML, "container-docker-desktop-linux"),
    (OLD % (CLI + "ldcache error: open failed: /sbin/ldconfig.real: no such file or directory"), "container-ldconfig-path"),
    (CLI + "ldcache error: process /sbin/ldconfig failed with error code: 127", "container-ldconfig-path"),
    ("docker run --rm --gpus all nvidia/cuda:11.2.0-base nvidia-smi\nroot@0a1b2c3d4e5f:/# nvidia-smi\nNVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", "container-ldconfig-path"),
    (NEW % ("nvidia-container-cli.real: initialization error: change root failed: no such file or directory"), "container-driver-root-wrong"),
    ("I0409 09:00:00.1 29760 nvc.c:255] using root /run/nvidia/driver\n" + NEW % NO_NVML, "container-driver-root-wrong"),
    ("chroot: failed to run command 'nvidia-smi': No such file or directory", "container-driver-root-wrong"),
    (NEW % 'time="2022-02-13T11:11:05+08:00" level=error msg="No help topic for \'prestart\'"', "container-toolkit-too-old"),
    ("Error response from daemon: get nvidia_driver_384.90: no such volume: nvidia_driver_384.90", "container-toolkit-too-old"),
    (OLD % (CLI + "device error: unknown device id: 1"), "container-visible-devices-wrong"),
    (NEW % (CLI + "device error: 4: unknown device"), "container-visible-devices-wrong"),
    ("nvidia-docker | 2018/02/03 11:22:33 Error: invalid device: 2", "container-visible-devices-wrong"),
    (NEW % (CLI + "mount error: file creation failed: /var/lib/docker/overlay2/0a/merged/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1: file exists"), "container-image-has-driver-files"),
    ("Windows 11, WSL2\n" + OLD % (CLI + "initialization error: driver error: failed to process request"), "wsl-driver-toolkit-mismatch"),
    ("WSL2\n" + OLD % (CLI + "mount error: mount operation failed: /proc/driver/nvidia/gpus/0bcd:00:00.0: no such file"), "wsl-driver-toolkit-mismatch"),
    # Kubernetes
    ("2022/05/13 23:09:23 Failed to initialize NVML: could not load NVML library.\n2022/05/13 23:09:23 If this is a GPU node, did you set the docker default runtime to `nvidia`?", "container-runtime-not-default"),
    ("I0121 20:28:50.871846       1 factory.go:107] Detected non-NVML platform: could not load NVML library: libnvidia-ml.so.1: cannot open shared object file", "container-runtime-not-default"),
    ("E0506 17:45:45.421956       1 factory.go:112] Incompatible strategy detected auto", "container-runtime-not-default"),
    ("Nvml init failed: ERROR_LIBRARY_NOT_FOUND", "container-runtime-not-default"),
    ("Capacity:\n  nvidia.com/gpu:     0\n  Warning  FailedScheduling  2m  default-scheduler  0/2 nodes are available: 2 Insufficient nvidia.com/gpu.", "k8s-device-plugin-not-registered"),
    ("0/3 nodes are available: 1 PodToleratesNodeTaints, 3 Insufficient nvidia.com/gpu.", "k8s-device-plugin-not-registered"),
    # a container that lost its GPUs
    ("root@4f5e6d7c8b9a:/workspace# nvidia-smi\nFailed to initialize NVML: Unknown Error", "container-cgroup-devices-lost"),
    ("Failed to initialize NVML: Unknown Error\nIt comes after every systemctl daemon-reload.", "container-cgroup-devices-lost"),
    ("After some days nvidia-smi in the docker container says Failed to initialize NVML: Unknown Error", "container-cgroup-devices-lost"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "cause"), DECIDED)
def test_a_line_that_decides(text: str, cause: str) -> None:
    assert said(judged(text)) == ([cause], [])


OPEN = [
    (SMI + NEW % NO_NVML, ("container-snap-docker", "container-docker-desktop-linux", "container-driver-root-wrong")),
    ("WSL2\n" + NEW % (CLI + "initialization error: nvml error: driver not loaded"), ("container-host-driver-broken", "wsl-driver-toolkit-mismatch")),
    (NEW % (CLI + "initialization error: WSL environment detected but no adapters were found"), ("wsl-driver-toolkit-mismatch",)),
    (OLD % (CLI + "initialization error: driver error: failed to process request"), ("container-host-driver-broken", "wsl-driver-toolkit-mismatch")),
    (NEW % (CLI + "initialization error: driver rpc error: timed out"), ("container-host-driver-broken", "container-toolkit-too-old")),
    ("rootless podman, no-cgroups = true\n" + OLD % (CLI + "initialization error: cuda error: unknown error"), ("container-rootless-cgroups", "container-host-driver-broken")),
    (NEW % (CLI + "detection error: nvml error: unknown error"), ("container-host-driver-broken", "xid79-fell-off-bus")),
    (OLD % (CLI + "initialization error: cuda error: forward compatibility was attempted on non supported hw"), ("cuda-compat-unsupported", "driver-library-mismatch")),
    (NEW % (CLI + "initialization error: nvml error: insufficient permissions"), ("container-driver-root-wrong", "container-host-driver-broken")),
    (OLD % (CLI + "ldcache error: process /sbin/ldconfig.real failed with error code: 1"), ("container-ldconfig-path", "container-toolkit-too-old")),
    (NEW % (CLI + "mount error: failed to add device rules: something else"), ("container-rootless-cgroups", "container-toolkit-too-old")),
    (NEW % (CLI + "mount error: stat failed: /dev/nvidia-uvm: no such file or directory"), ("cuinit-uvm-device-missing", "container-host-driver-broken")),
    (NEW % (CLI + "container error: something new"), ("container-host-driver-broken", "container-toolkit-too-old")),
    (OLD[:230], ("container-driver-too-old", "container-host-driver-broken")),
    ('docker: Error response from daemon: OCI runtime create failed: exec: "nvidia-smi": executable file not found in $PATH: unknown.', ("container-no-gpus-flag", "container-toolkit-missing")),
    ("Error: unresolvable CDI devices nvidia.com/gpu=1", ("container-toolkit-missing", "container-visible-devices-wrong")),
    ("Error: stat nvidia.com/gpu=all: no such file or directory", ("container-toolkit-missing", "container-toolkit-too-old")),
    ("error during container init: failed to fulfil mount request: open /usr/bin/nvidia-persistenced: no such file or directory", ("cdi-spec-stale", "container-toolkit-too-old")),
    ('docker: Error response from daemon: error gathering device information while adding custom device "/dev/nvidia0": no such file or directory.', ("device-nodes-missing", "container-host-driver-broken")),
    ("unknown flag: --gpus", ("container-toolkit-too-old",)),
    ('Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "nvidia" is configured', ("container-toolkit-missing", "container-runtime-not-default")),
    ('"No devices found. Waiting indefinitely."', ("container-runtime-not-default", "container-host-driver-broken")),
    ("0/3 nodes are available: 1 node(s) had taints, 2 Insufficient nvidia.com/gpu.", ("k8s-device-plugin-not-registered", "container-runtime-not-default")),
    ("Allocatable: nvidia.com/gpu: 2\n0/3 nodes are available: 3 Insufficient nvidia.com/gpu.", ("k8s-device-plugin-not-registered", "container-runtime-not-default")),
    ("no-cgroups = true\nroot@4f5e6d7c8b9a:/# nvidia-smi\nFailed to initialize NVML: Unknown Error", ("container-cgroup-devices-lost",)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "first"), OPEN)
def test_a_line_that_does_not_decide(text: str, first: tuple[str, ...]) -> None:
    roots, candidates = said(judged(text))
    assert (roots, tuple(candidates[: len(first)])) == ([], first)


@pytest.mark.parametrize(
    "text",
    [
        "Auto-detected mode as 'legacy'",
        "I0726 19:37:31.1 70 nvc.c:395] dxcore initialization failed, continuing assuming a non-WSL environment",
        "W0726 19:37:31.2 71 nvc.c:273] failed to set inheritable capabilities\n" + SMI,
        "NOTE: MOFED driver for multi-node communication was not detected.\n      Multi-node communication performance may be reduced.",
        "NOTE: version 470.57.02 was detected and compatibility mode is ENABLED.",
        "docker run --gpus all nvidia/cuda:11.0-base nvidia-smi\n" + SMI,
        # known of images before 2021: under WSL their entry point looks for files that are not there
        "wsl2\ndocker run --gpus all nvcr.io/nvidia/tensorflow:20.03-tf2-py3\nWARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.",
        "docker run --gpus all nvcr.io/nvidia/x\nWARNING: The NVIDIA Driver was not detected.\n" + SMI,
        "Allocated resources:\n  nvidia.com/gpu     0             0",
        "I removed the docker snap and installed docker by apt.",
    ],
)  # fmt: skip
def test_what_harms_nothing(text: str) -> None:
    roots, candidates = shown(judged(text))
    assert not roots
    assert not candidates


def test_lines_that_were_cut_by_the_terminal() -> None:
    whole = OLD % (CLI + "requirement error: unsatisfied condition: cuda >= 11.0")
    at = whole.index("isfied")
    width = next(n for n in range(90, 150) if at % n == 0 or at % n < 2)
    text = "\n".join(whole[n : n + width] for n in range(0, len(whole), width))
    assert not any("unsatisfied condition" in line for line in text.split("\n"))
    assert said(judged(text)) == (["container-driver-too-old"], [])


def test_the_condition_is_named() -> None:
    (root,) = judged(OLD % (CLI + "requirement error: unsatisfied condition: cuda>=11.4")).diagnosis.root_causes
    assert "cuda>=11.4" in root.message


def test_the_fix_for_podman_is_its_own() -> None:
    (root,) = judged("Error: unresolvable CDI devices nvidia.com/gpu=all").diagnosis.root_causes
    assert "cdi generate" in root.fixes[0].steps[1]


@pytest.mark.parametrize("code", [803, 804])
def test_an_image_that_names_a_driver_too_old_is_about_it_whatever_its_compat_library_answers(code: int) -> None:
    banner = "ERROR: This container was built for NVIDIA Driver Release 455.23 or later, but\n"
    detected = "       version 450.66 was detected and compatibility mode is UNAVAILABLE.\n"
    answer = f"       [[CUDA Driver UNAVAILABLE (cuInit(0) returned {code})]]\n"
    assert said(judged(banner + detected + answer)) == (["container-driver-too-old"], [])
    assert said(judged("       compatibility mode is UNAVAILABLE.\n" + answer))[0] != ["container-driver-too-old"]
    assert "container-driver-too-old" not in said(judged("In the container tensorflow fails:\n" + answer))[0]


IN_ONE = "$ docker run --gpus all --rm {image} nvidia-smi\n{answer}\n"
APART = "Failed to initialize NVML: Driver/library version mismatch"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (IN_ONE.format(image="nvidia/cuda:12.2.0-base-ubuntu22.04", answer=SMI) + IN_ONE.format(image="registry.example.org/team/trainer:7", answer=APART), "container-image-has-driver-files"),
        (IN_ONE.format(image="nvidia/cuda:12.2.0-base-ubuntu22.04", answer="") + "With ours it says:\n" + IN_ONE.format(image="-v /data:/data:ro team/trainer", answer=APART), "container-image-has-driver-files"),
        (IN_ONE.format(image="team/trainer:7", answer=APART) + "nvidia-smi is fine on the host\n", "container-image-has-driver-files"),
        (IN_ONE.format(image="team/trainer:7", answer=APART) + IN_ONE.format(image="nvidia/cuda:12.2.0-base-ubuntu22.04", answer=APART), "driver-library-mismatch"),
        (IN_ONE.format(image="team/trainer:7", answer=APART), "driver-library-mismatch"),
        (IN_ONE.format(image="team/trainer:7", answer=APART) + "I also tried\n" + IN_ONE.format(image="team/trainer:7", answer="nothing more"), "driver-library-mismatch"),
    ],
)  # fmt: skip
def test_an_image_that_brings_its_own_driver(text: str, cause: str) -> None:
    assert said(judged("It was good until yesterday\n" + text))[0] == [cause]
