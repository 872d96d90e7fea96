"""What limits a job from outside, and what tools say that look for faults from outside."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, shown

TOP = "|   1  GeForce RTX 308...  Off  | 00000000:41:00.0 Off |                  N/A |\n"
EACH = "Each start takes 12 minutes until the first step.\nTensorFlow 2.2, CUDA 10.1, RTX 3090\n"
STAT = "nr_periods {periods}\nnr_throttled {throttled}\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # the memory of a job
        ("slurmstepd: error: Detected 2 oom_kill events in StepId=77.0. Some of the step tasks have been OOM Killed.\n", "cgroup-memory-limit"),
        ("slurmstepd: error: Detected 0 oom_kill events in StepId=77.0.\n", None),
        ("slurmstepd: error: Exceeded job memory limit at some point.\n", "cgroup-memory-limit"),
        ("[88.1] Memory cgroup out of memory: Killed process 4242 (python3) total-vm:71000000kB\n", "cgroup-memory-limit"),
        ("[88.1] Out of memory: Killed process 4242 (python3) total-vm:71000000kB\n", None),
        ("[88.1] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=job_7,task=python3\n", "cgroup-memory-limit"),
        ("[88.1] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,global_oom,task=python3\n", None),
        ("77.batch    batch   OUT_OF_ME+   0:125\n", "cgroup-memory-limit"),
        ("77.batch    batch   COMPLETED    0:0\n", None),
        ("TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\n", "cgroup-memory-limit"),
        ("=>> PBS: job killed: mem 8391000kb exceeded limit 8388608kb\n", "cgroup-memory-limit"),
        ("Slurm's oom-kill event is in the log.\nThe memory keeps growing with every epoch.\n", None),
        ('"OOMKilled": true,\n', "cgroup-memory-limit"),
        ('"OOMKilled": false,\n', None),
        # its processors
        (STAT.format(periods=9000, throttled=7200), "cgroup-cpu-quota"),
        (STAT.format(periods=9000, throttled=90), None),
        (STAT.format(periods=12, throttled=12), None),
        ("cpu.stat: nr_periods 5000 nr_throttled 4100 throttled_time 77\n", "cgroup-cpu-quota"),
        ("cpu.stat: nr_periods 0 nr_throttled 0 throttled_time 0\n", None),
        # a card that computes wrongly
        ("Tested 2 GPUs:\n\tGPU 0: OK\n\tGPU 1: FAULTY\n", "gpu-wrong-result"),
        ("Tested 2 GPUs:\n\tGPU 0: OK\n\tGPU 1: OK\n", None),
        ("12.0%  proc'd: 8000 (9001 Gflop/s)   errors: 71  (WARNING!)  temps: 66 C\n", "gpu-wrong-result"),
        ("12.0%  proc'd: 8000 (9001 Gflop/s)   errors: 0   temps: 66 C\n", None),
        ("I think that GPU 1 is faulty.\n", None),
        # Xids, as monitoring has them
        ("DCGM_FI_DEV_XID_ERRORS = 119\n", "xid119-gsp-timeout"),
        ('DCGM_FI_DEV_XID_ERRORS{gpu="3",UUID="GPU-1",Hostname="n7"} 79\n', "xid79-fell-off-bus"),
        ('DCGM_EXP_XID_ERRORS_COUNT{gpu="3",Hostname="n7",xid="119"} 2\n', "xid119-gsp-timeout"),
        ('DCGM_FI_DEV_XID_ERRORS{gpu="3",UUID="GPU-1",Hostname="n7"} 0\n', None),
        ("expr: DCGM_FI_DEV_XID_ERRORS == 119\n", None),
        ("expr: DCGM_FI_DEV_XID_ERRORS > 78\n", None),
        # a GPU that nvidia-smi's table calls lost
        (TOP + "|ERR!  ERR! ERR!    N/A / ERR! |      GPU is lost  / N/A |     ERR!      ERR! |\n", "xid79-fell-off-bus"),
        (TOP + "| 66%   ERR! P2     N/A / ERR! |      GPU is lost        |     ERR!      ERR! |\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n", "xid79-fell-off-bus"),
        (TOP + "|ERR!  ERR! ERR!    N/A / ERR! |    10MiB / 10018MiB |     ERR!      ERR! |\n", None),
        # code that is compiled at each start
        (EACH + "  readOnlyRootFilesystem: true\n", "jit-cache-unwritable"),
        (EACH + "docker run --gpus all --read-only image\n", "jit-cache-unwritable"),
        (EACH + "env: HOME=/nonexistent\n", "jit-cache-unwritable"),
        (EACH + "mkdir: cannot create directory '/.nv': Permission denied\n", "jit-cache-unwritable"),
        (EACH + "  readOnlyRootFilesystem: false\n", None),
        (EACH + "  readOnlyRootFilesystem: true\n  CUDA_CACHE_PATH=/cache\n", None),
        (EACH.replace("RTX 3090", "GTX 1080") + "  readOnlyRootFilesystem: true\n", None),
        (EACH.replace("Each start takes", "The job took") + "  readOnlyRootFilesystem: true\n", None),
    ],
)  # fmt: skip
def test_what_is_decided(text: str, cause: str | None) -> None:
    roots, _ = shown(judged(text))
    assert roots[:1] == ([cause] if cause else []), (roots, text)


def test_a_configuration_file_of_nccl_hangs_nowhere() -> None:
    setting = "NCCL INFO NCCL_MAX_NCHANNELS set by environment to 1.\n"
    assert shown(judged(setting + "nccl.conf is there since a deadlock on another cluster\n"))[0] == [
        "nccl-channels-limited"
    ]
    assert shown(judged(setting + "NCCL is in a deadlock\n"))[0] != ["nccl-channels-limited"]
