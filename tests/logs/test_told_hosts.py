"""Containers, clusters and virtual machines: what programs and people say of what was handed over there; and where they tell nothing."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

GONE = "Error: {said}\n"
LIBRARY = "/usr/lib64/libnvidia-ml.so.555.58.02"
RUNC = 'runc create failed: unable to start container process: error during container init: error mounting "{file}" to rootfs at "{file}": stat {file}: no such file or directory: unknown'
NO_DRIVER = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver\n"
LOST = "Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file: No such file or directory\n"
POD = "containers:\n- name: w\n  resources:\n    limits:\n      nvidia.com/gpu: {count}\n"
NOT_INSIDE = (
    'OCI runtime create failed: runc create failed: exec: "nvidia-smi": executable file not found in $PATH: unknown\n'
)
MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\n"
SMI = "$ docker run --rm {how} {image} nvidia-smi\n"
CURED = "After every upgrade of the driver podman gives no GPU to my containers\nsudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml\n{then}\n"
WRITE = (
    "docker: nvidia-container-cli: mount error: write error: /sys/fs/cgroup/devices/docker/3e1f/devices.allow{end}\n"
)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # a description of the GPUs that names files of an older driver
        (GONE.format(said=f"crun: cannot stat `{LIBRARY}`: No such file or directory: OCI runtime attempted to invoke"), "cdi-spec-stale"),
        (GONE.format(said=f"crun: error stat'ing file `{LIBRARY}`: No such file or directory"), "cdi-spec-stale"),
        (GONE.format(said=f"failed to fulfil mount request: open {LIBRARY}: no such file or directory"), "cdi-spec-stale"),
        (GONE.format(said=RUNC.format(file=LIBRARY)), "cdi-spec-stale"),
        (GONE.format(said="podman run --gpus all x\ncrun: cannot stat `/usr/lib/libEGL_nvidia.so.555.58.02`: No such file or directory"), "cdi-spec-stale"),
        (GONE.format(said=RUNC.format(file="/srv/data/model.so.1.2")), None),
        (GONE.format(said="crun: cannot stat `/usr/lib/aarch64-linux-gnu/tegra/libnvidia-eglcore.so.32.7.1`: No such file or directory"), None),
        (CURED.format(then="and all is well, they work again"), "cdi-spec-stale"),
        (CURED.format(then="which did not help, it never works again"), None),
        # programs that are not there, as the shells say it
        ("[ERROR] Command not found: nvidia-container-cli, see https://github.com/NVIDIA/libnvidia-container\n", "container-toolkit-missing"),
        ("zsh: command not found: nvidia-ctk\n", "container-toolkit-missing"),
        ("fish: Unknown command: nvidia-ctk\n", "container-toolkit-missing"),
        ("Error: crun: executable file `nvidia-container-runtime-hook` not found in $PATH: No such file or directory\n", "container-toolkit-missing"),
        ("fish: Unknown command: nvidia-settings\n", None),
        # device rules that may not be written
        (WRITE.format(end=": operation not permitted"), "container-rootless-cgroups"),
        (WRITE.format(end=": no space left on device"), None),
        # a pod that gets GPUs from the scheduler, and not from the engine
        (POD.format(count=1) + NOT_INSIDE, "container-runtime-not-default"),
        (POD.format(count=1) + "runtimeClassName: nvidia\n" + NOT_INSIDE, None),
        ("Pods see no GPU unless I make nvidia the default runtime in containerd\n", "container-runtime-not-default"),
        ("My pods work, and nvidia is the default runtime in containerd\n", None),
        # a driver that is not the library\'s
        (SMI.format(how="--gpus all", image="lab/train:3") + MISMATCH, "driver-library-mismatch"),
        ("$ nvidia-smi\n" + MISMATCH, "driver-library-mismatch"),
        ("$ nvidia-smi\n" + MISMATCH + "\nBefore that I have run\n" + SMI.format(how="--gpus all", image="lab/train:3"), "driver-library-mismatch"),
        # Slurm
        ("$ srun \\\n  --nodes=1 --cpus-per-task=4 \\\n  --pty bash\n" + NO_DRIVER, "slurm-no-gpu-allocated"),
        ("$ srun \\\n  --nodes=1 --gpus=1 \\\n  --pty bash\n" + NO_DRIVER, None),
        # virtual machines that hand over no GPU
        ("I want to train inside VirtualBox\n" + NO_DRIVER, "no-nvidia-gpu"),
        ("The guest is a VMware Workstation VM with Ubuntu, the host has a GTX 1070\n" + NO_DRIVER, "no-nvidia-gpu"),
        ("It is not in VirtualBox, it is a real machine\n" + NO_DRIVER, None),
        ("An ESXi guest with a card that is passed through\n" + NO_DRIVER, None),
        ("I use VirtualBox 7 with Debian as guest, and CUDA finds no GPU\n", "no-nvidia-gpu"),
        ("I use VirtualBox 7 with Debian as guest, and the build stops\n", None),
        ("Writing it by hand is a nuisance\n`nvidia-ctk cdi generate` should run whenever the driver is updated. This helps users.\n", None),
        ("The GPU isn't seen\nOn machines without GPU it is started without --nv\n", None),
        ("/dev/nvidia0 not created on boot of my server\nAfter nvidia-smi as root it is there.\n", "device-nodes-missing"),
        ("The service does not start\nIf the GPU device files are missing after a reboot, it says so\n", None),
        # what somebody says that helped
        ("No GPU in docker\nIt turned out that I had not installed the nvidia-container-toolkit.\n", "container-toolkit-missing"),
        ("No GPU in docker\nInstalling nvidia-docker2 and a restart of docker fixed it.\n", "container-toolkit-missing"),
        ("No GPU in docker\nHow do I know that nvidia-docker2 was not installed?\n", None),
        ("No GPU in docker\nI installed nvidia-docker2, and nvidia-smi works in it.\n", None),
        ("No containers start any more\nThe driver was updated over night. Rebooting the server fixed it.\n", "driver-library-mismatch"),
        ("No containers start any more\nThe driver was updated over night. A reboot did not help, nothing fixed it.\n", None),
        ("It stops in the night\nI have updated the driver already. Only a reboot helps, then it works again.\n", None),
        ("After a reboot /dev/nvidia0 does not exist\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", None),
        ("slurmd: fatal: can't stat gres.conf file /dev/nvidia0: No such file or directory\nnvidia 35274752 1 nvidia_uvm, Live 0x0000000000000000\n", "device-nodes-missing"),
        ("$ podman run --device nvidia.com/gpu=all x nvidia-smi\nError: crun: executable file `nvidia-smi` not found in $PATH: No such file or directory\n", None),
        (LOST + "image: x\nenvironment: NVIDIA_DRIVER_CAPABILITIES=utility,video\n", "container-capabilities-without-compute"),
        (LOST + "image: x\nenvironment: NVIDIA_DRIVER_CAPABILITIES=utility,compute\n", None),
        # what has the GPU, what is not there
        ("The GPU is claimed by vfio-pci as soon as it boots\nThe screen stays black.\n", "gpu-bound-to-vfio"),
        ("The GPU is not found on the host\nThe RTX 3060 is passed through to a VM by vfio-pci, here nvidia-smi can't work\nUnable to locate package nvidia-driver\n", "gpu-bound-to-vfio"),
        ("The GPU is not bound to vfio-pci, how can I do that?\n", None),
        ("slurmd does not start after a reboot\nThe GPU device files are not there yet when it wants them.\n", "device-nodes-missing"),
        ("After a reboot the app shows an error\nIn the container the GPU device files are not there.\n", None),
        ("The GPU isn't seen by the module's container\nIts wrapper doesn't pass --nv to singularity\n", "apptainer-no-nv"),
        ("The GPU isn't seen by the module's container\nIt is the same with and without --nv\n", None),
    ],
)  # fmt: skip
def test_it_is_decided(text: str, cause: str | None) -> None:
    roots, _ = said(judged(text))
    assert roots == ([cause] if cause else [])


@pytest.mark.parametrize(
    ("text", "cause", "first"),
    [
        ("When I run it on the head node there is none\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n", "hpc-login-node", True),
        ("It works on the head node, but in the job\nfailed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n", "hpc-login-node", False),
        ("$ srun --gres=gpu:1 singularity run t.sif\n" + LOST, "apptainer-no-nv", True),
        ("$ srun --gres=gpu:1 singularity run --nv t.sif\n" + LOST, "apptainer-no-nv", False),
        ('$ kubectl exec -it w -- nvidia-smi\nOCI runtime exec failed: exec failed: exec: "nvidia-smi": executable file not found in $PATH: unknown\n', "container-runtime-not-default", True),
        ('$ docker exec -it w nvidia-smi\nOCI runtime exec failed: exec failed: exec: "nvidia-smi": executable file not found in $PATH: unknown\n', "container-runtime-not-default", False),
        ("Failed to initialize NVML: Insufficient Permissions\nIt works with --security-opt=label=disable\n", "lsm-denied", True),
        ("Failed to initialize NVML: Insufficient Permissions\nIt works with --privileged\n", "lsm-denied", False),
        ("slurmd: fatal: can't stat gres.conf file /dev/nvidia0: No such file or directory\n", "device-nodes-missing", True),
        ("Singularity tf.sif:~/w> nvidia-smi\nbash: nvidia-smi: command not found\n", "apptainer-no-nv", True),
        ("root@box:~/w> nvidia-smi\nbash: nvidia-smi: command not found\n", "apptainer-no-nv", False),
        ("retrieving CUDA diagnostic information for host: uan02\n" + LOST, "hpc-login-node", True),
        ("retrieving CUDA diagnostic information for host: duane02\n" + LOST, "hpc-login-node", False),
        ("$ nix-shell -p python3Packages.tensorflowWithCuda\n" + LOST, "driver-libcuda-not-on-path", True),
        ("/nix/store/7g3hkb1zl0ii6pmh0dmvqh4z1z1c5m5x-python3-3.9.6-env\n" + LOST, "driver-libcuda-not-on-path", True),
        ("In a `nix develop` shell it is lost\n" + LOST, "driver-libcuda-not-on-path", True),
        ("$ python3 gpu.py\n" + LOST, "driver-libcuda-not-on-path", False),
        ("ImportError: /usr/lib/libcuda.so.1: file too short\n", "driver-library-damaged", True),
        ("ImportError: /usr/lib/libcudart.so.10.0: file too short\n", "driver-library-damaged", False),
        ("In the container it is not found unless I run ldconfig there\n" + LOST, "container-ldconfig-path", True),
        ("In the container it is not found, ldconfig does not help\n" + LOST, "container-ldconfig-path", False),
        ("With enroot there is none\n$ srun --gpus=1 --container-image=me+img python t.py\n" + NO_DRIVER, "container-visible-devices-wrong", True),
        ("There is none\n$ srun --gpus=1 python t.py\n" + NO_DRIVER, "container-visible-devices-wrong", False),
        ("bash-4.2$ jsrun -n 2 ./solve\nno CUDA-capable device is detected\n", "slurm-no-gpu-allocated", True),
        ("bash-4.2$ ./solve\nno CUDA-capable device is detected\n", "slurm-no-gpu-allocated", False),
        ("train.sh: line 18:    36 Killed                  python3 net.py 2>&1\n", "cgroup-memory-limit", True),
        ("zsh: killed     python net.py\n", "cgroup-memory-limit", True),
        ("Training process finished. Exit code: 137\n", "cgroup-memory-limit", True),
        ("Training process finished. Exit code: 0, 137 files\n", "cgroup-memory-limit", False),
        ("I have killed the other program with Ctrl+C, now all is well\n", "cgroup-memory-limit", False),
    ],
)  # fmt: skip
def test_it_goes_first(text: str, cause: str, first: bool) -> None:
    roots, left = said(judged(text))
    assert ([*roots, *left][:1] == [cause]) is first, (roots, left)


@pytest.mark.parametrize("line", ["zsh: command not found: nvidia-smi", "fish: Unknown command: nvidia-smi", "FileNotFoundError: [Errno 2] No such file or directory: 'nvidia-smi'"])  # fmt: skip
def test_there_is_no_nvidia_smi(line: str) -> None:
    assert "smi-not-found" in {e.kind for e in judged(line + "\n").facts.text.understood()}
