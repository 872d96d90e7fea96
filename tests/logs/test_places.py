"""Where a text comes from, and GPUs that were not handed over there."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

TF = "2023-03-01 10:00:00.000001: "
CUDA = "tensorflow/compiler/xla/stream_executor/cuda/"
NO_LIBCUDA = f"{TF}W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file: No such file or directory"  # fmt: skip
CUINIT_303 = f"{TF}W {CUDA}cuda_driver.cc:265] failed call to cuInit: UNKNOWN ERROR (303)"
CUINIT_100 = f"{TF}E {CUDA}cuda_driver.cc:265] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"  # fmt: skip
STUB = f"{TF}E {CUDA}cuda_driver.cc:313] failed call to cuInit: UNKNOWN ERROR (-1)"
STUB_34 = f"{TF}E {CUDA}cuda_driver.cc:271] failed call to cuInit: UNKNOWN ERROR (34)"
SMI = "| NVIDIA-SMI 450.51.05    Driver Version: 450.51.05    CUDA Version: 11.0     |\n"
BANNER = "WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.\n   Use 'nvidia-docker run' to start this container; see\n"  # fmt: skip
CREATED = f"{TF}I tensorflow/core/common_runtime/gpu/gpu_device.cc:1613] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9652 MB memory:  -> device: 0, name: Tesla T4, pci bus id: 0000:00:04.0, compute capability: 7.5"  # fmt: skip


def host(name: str) -> str:
    return f"\n{TF}I {CUDA}cuda_diagnostics.cc:156] kernel driver does not appear to be running on this host ({name}): /proc/driver/nvidia/version does not exist"  # fmt: skip


ABSENT = f"\n{TF}I {CUDA}cuda_diagnostics.cc:163] no NVIDIA GPU device is present: /dev/nvidia0 does not exist"
RUN = "docker run -it --rm tensorflow/tensorflow:2.9.1-gpu bash\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (NO_LIBCUDA + "\n" + CUINIT_303 + host("0a1b2c3d4e5f"), "container-no-gpus-flag"),
        (RUN + CUINIT_303, "container-no-gpus-flag"),
        (RUN + STUB + ABSENT, "container-no-gpus-flag"),
        (f"{STUB_34}\n{TF}I {CUDA}cuda_diagnostics.cc:163] hostname: 0a1b2c3d4e5f{ABSENT}", "container-no-gpus-flag"),
        ("root@0a1b2c3d4e5f:/tf# python x.py\n" + NO_LIBCUDA, "container-no-gpus-flag"),
        ("[root@0a1b2c3d4e5f /]# nvidia-smi\nbash: nvidia-smi: command not found", "container-no-gpus-flag"),
        ("http://0a1b2c3d4e5f:8888/?token=x\n" + CUINIT_303, "container-no-gpus-flag"),
        ("tf-docker /app > python3\n" + CUINIT_303 + ABSENT, "container-no-gpus-flag"),
        ("FROM tensorflow/tensorflow:latest-gpu\n" + NO_LIBCUDA, "container-no-gpus-flag"),
        (NO_LIBCUDA + "; LD_LIBRARY_PATH: /usr/local/nvidia/lib:/usr/local/nvidia/lib64", "container-no-gpus-flag"),
        (BANNER, "container-no-gpus-flag"),
        (RUN + "Num GPUs Available:  0", "container-no-gpus-flag"),
        # with GPUs it works, and that was the other command
        (RUN + STUB + ABSENT + "\ndocker run --gpus all nvidia/cuda:10.0-base nvidia-smi\n" + SMI, "container-no-gpus-flag"),
        ("docker run --rm nvidia/cuda:10.0-base nvidia-smi\nexec: \"nvidia-smi\": executable file not found in $PATH", "container-no-gpus-flag"),
        ("root@0a1b2c3d4e5f:/# env\nNVIDIA_VISIBLE_DEVICES=none\n" + CUINIT_100, "container-visible-devices-wrong"),
        ("singularity exec tf.sif python train.py\n" + NO_LIBCUDA, "apptainer-no-nv"),
        ("Singularity> python train.py\n" + CUINIT_303, "apptainer-no-nv"),
        ("Apptainer> python train.py\n" + CUINIT_303 + host("gpu07"), "apptainer-no-nv"),
        ("$ srun python train.py\n" + CUINIT_100, "slurm-no-gpu-allocated"),
        ("#SBATCH --mem=8G\n" + NO_LIBCUDA, "slurm-no-gpu-allocated"),
        ("CUDA_VISIBLE_DEVICES=NoDevFiles", "slurm-no-gpu-allocated"),
        (CUINIT_303 + host("login02.cluster"), "hpc-login-node"),
        ("[me@uni-login1 ~]$ nvidia-smi\nbash: nvidia-smi: command not found", "hpc-login-node"),
        ("File \"/content/train.py\", line 3\n" + CUINIT_100 + host("0a1b2c3d4e5f"), "colab-cpu-runtime"),
        ("from google.colab import drive\n/bin/bash: nvidia-smi: command not found", "colab-cpu-runtime"),
    ],
)  # fmt: skip
def test_nothing_was_handed_over(text: str, cause: str) -> None:
    assert said(judged(text)) == ([cause], [])


@pytest.mark.parametrize(
    ("text", "first"),
    [
        # GPUs were asked for: something else is wrong
        ("docker run --gpus all -it tensorflow/tensorflow:latest-gpu bash\nroot@0a1b2c3d4e5f:/# python\n" + CUINIT_303, "container-capabilities-without-compute"),
        ("docker run --runtime=nvidia -it image bash\nroot@0a1b2c3d4e5f:/# python\n" + NO_LIBCUDA, "container-capabilities-without-compute"),
        ("deploy:\n  resources:\n    reservations:\n      devices:\n        - driver: nvidia\nroot@0a1b2c3d4e5f:/# python\n" + NO_LIBCUDA, "container-capabilities-without-compute"),
        ("docker run --gpus all nvcr.io/nvidia/x\n" + BANNER, "container-host-driver-broken"),
        (RUN + "docker run --gpus all -it tensorflow/tensorflow:latest-gpu bash\n" + CUINIT_303, "container-capabilities-without-compute"),
        # while an image is built there is no GPU anyway
        ("Step 4/9 : RUN python train.py\n ---> Running in 0a1b2c3d4e5f\nroot@0a1b2c3d4e5f:/# python\n" + CUINIT_303, "container-no-gpus-flag"),
        (STUB_34 + host("inference-5f7d446b77-bcdfg"), "container-no-gpus-flag"),
        ("#SBATCH --gres=gpu:1\n" + "#SBATCH --mem=8G\n" + NO_LIBCUDA, "slurm-no-gpu-allocated"),
        ("singularity exec --nv tf.sif python train.py\nSingularity> python\n" + NO_LIBCUDA, "driver-missing"),
        ("My google colab notebook: Found no NVIDIA driver on your system.", "colab-cpu-runtime"),
        # TensorFlow's lines name a host that is no container
        ("I also tried: docker run -it tensorflow/tensorflow bash\n" + CUINIT_303 + host("workstation"), "driver-missing"),
        (CUINIT_303 + host("workstation"), "driver-missing"),
        ("Start it by nvidia-docker, says https://github.com/NVIDIA/nvidia-docker\n" + CUINIT_303, "driver-missing"),
        ("[me@login01 ~]$ ls\n[me@login01 ~]$ sbatch --gres=gpu:1 job.sh\n$ sbatch x.sh\n" + CUINIT_303, "slurm-no-gpu-allocated"),
        ("[me@login01 ~]$ singularity exec --nv tf.sif python x.py\nSingularity> python\n" + CUINIT_303, "driver-missing"),
        ("RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU", "driver-missing"),
    ],
)  # fmt: skip
def test_it_may_be_another_cause(text: str, first: str) -> None:
    roots, candidates = said(judged(text))
    assert not roots
    assert candidates[0] == first


@pytest.mark.parametrize(
    "text",
    [
        RUN + "root@0a1b2c3d4e5f:/tf# python\n" + CREATED,
        "#SBATCH --mem=8G\n$ srun python train.py\n" + CREATED,
        "File \"/content/train.py\", line 3\n" + CREATED,
        "Singularity> python\n" + CREATED,
        "me@login01:~$ sbatch job.sh\n" + CREATED,
        "docker run hello-world",
        "NVIDIA_VISIBLE_DEVICES=void\n" + CREATED,
    ],
)  # fmt: skip
def test_where_it_works_the_place_says_nothing(text: str) -> None:
    assert said(judged(text)) == ([], [])


def test_a_stub_on_a_host_with_a_driver_is_the_stub() -> None:
    assert said(judged(SMI + STUB_34))[0] == ["libcuda-stub-loaded"]
    assert "libcuda-stub-loaded" in said(judged(STUB_34 + host("workstation")))[1]


def test_a_pod_may_miss_the_device_plugin() -> None:
    candidates = said(judged(STUB_34 + host("inference-5f7d446b77-bcdfg")))[1]
    assert {"k8s-device-plugin-not-registered", "container-runtime-not-default"} <= set(candidates)


def test_lxc_has_no_flag() -> None:
    roots, _ = said(judged("lxc.cgroup2.devices.allow: c 195:* rwm\n" + CUINIT_303))
    assert roots == []
    assert said(judged("in my LXC container\nFailed to initialize NVML: Unknown Error"))[0] == []
