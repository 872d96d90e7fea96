"""NCCL's lines, and what is said of collectives."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said, shown

N = "node3:811:902 [0] "
FULL = N + "include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device"
SYSTEM_ERROR = "tensorflow.python.framework.errors_impl.UnknownError: ncclCommInitRank failed: unhandled system error"
NVLS = N + "transport/nvls.cc:254 NCCL WARN Cuda failure 401 'the operation cannot be performed in the present state'"
P2P_OFF = N + "NCCL INFO NCCL_P2P_DISABLE set by environment to 1"
SHM_OFF = N + "NCCL INFO NCCL_SHM_DISABLE set by environment to 1."
VIA_SHM = N + "NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"
VIA_P2P = N + "NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM"
NO_OP = "InvalidArgumentError: No OpKernel was registered to support Op 'NcclAllReduce' used by {{node Adam/NcclAllReduce}}with these attrs: [T=DT_FLOAT]"
PEERS = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:847] Peer access not supported between device ordinals"
APART = "\n".join(f"{PEERS} {a} and {b}" for a, b in ((0, 2), (2, 0), (0, 3), (3, 0), (1, 2), (2, 1), (1, 3), (3, 1)))
HANGS = "MirroredStrategy hangs with two GPUs"
TOPOLOGY = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-31\nGPU1\tNV18\t X \t0-31"
CAUSES = [
    (FULL, "nccl-shm-too-small"),
    (f"{FULL}\n{SYSTEM_ERROR}", "nccl-shm-too-small"),
    (f"{P2P_OFF}\n{FULL}", "nccl-shm-too-small"),
    (
        "misc/shmutils.cc:88 NCCL WARN Error: failed to extend /dev/shm/nccl-Ab12 to 9637892 bytes, error: No space left on device (28)",
        "nccl-shm-too-small",
    ),
    (
        "include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-recv-12ab-1-2-3 (size 9637888)",
        "nccl-shm-too-small",
    ),
    ("bootstrap.cc:115 NCCL WARN Bootstrap : no socket interface found", "nccl-wrong-interface"),
    ("include/socket.h:371 WARN Socket creation failed : Address family not supported by protocol", None),
    (N + "NCCL WARN NET/Socket : No usable listening interface found", "nccl-wrong-interface"),
    (
        N + "NCCL WARN socketStartConnect: Connect to 172.17.0.2<38847> failed : Software caused connection abort",
        "nccl-wrong-interface",
    ),
    (
        N + "include/socket.h:395 NCCL WARN Connect to 10.1.2.3<4711> failed : No route to host",
        "nccl-wrong-interface",
    ),
    (
        f"{N}NCCL INFO Bootstrap : Using docker0:172.18.0.1<0>\n{N}NCCL WARN Connect to 10.1.2.3<4711> failed : Connection refused",
        "nccl-wrong-interface",
    ),
    (
        "[n4][[9281,1],1][btl_tcp_endpoint.c:796:mca_btl_tcp_endpoint_complete_connect] connect() to 192.168.1.9 failed: Connection refused",
        "nccl-wrong-interface",
    ),
    (NVLS, "nccl-nvls-fabric-manager"),
    (
        "RuntimeError: NCCL error: unhandled cuda error\n"
        + N
        + "transport/nvls.cc:98 NCCL WARN Cuda failure 1 'invalid argument'",
        "nccl-nvls-fabric-manager",
    ),
    (
        N + "enqueue.cc:1 NCCL WARN Cuda failure 'no kernel image is available for execution on the device'",
        "nccl-too-old-for-gpu",
    ),
    (f'  File "C:\\Users\\me\\train.py", line 3\n{NO_OP}', "nccl-unavailable-windows"),
    (NO_OP, "nccl-unavailable-windows"),
    (
        "NotFoundError: Op type not registered 'NcclAllReduce' in binary running on DESKTOP-1A. Make sure",
        "nccl-unavailable-windows",
    ),
    (
        'NotImplementedError: Using RTX 4000 series doesn\'t support faster communication broadband via P2P or IB. Please set `NCCL_P2P_DISABLE="1"`',
        "p2p-unsupported-geforce",
    ),
    ("we have 4x RTX 4090, without P2P of course", "p2p-unsupported-geforce"),
    (f"{HANGS}\nDMAR: [DMA Write] Request device [02:00.0] fault addr cd139000", "nccl-p2p-iommu-acs"),
    (f"{HANGS}\n  ACSCtl: SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+", "nccl-p2p-iommu-acs"),
    (f"{HANGS}. With NCCL_P2P_DISABLE=1 it works", "nccl-p2p-iommu-acs"),
    (f"{HANGS}\nsolved: booted with intel_iommu=off", "nccl-p2p-iommu-acs"),
    (P2P_OFF, "nccl-p2p-disabled-by-env"),
    (N + "NCCL INFO NCCL_P2P_LEVEL set by environment to LOC", "nccl-p2p-disabled-by-env"),
    (N + "NCCL INFO NCCL_MAX_NCHANNELS set by environment to 1.", "nccl-channels-limited"),
    (APART, "multi-gpu-topology-no-p2p"),
    (f"{VIA_SHM}\n{TOPOLOGY}", "p2p-not-used"),
]


@pytest.mark.parametrize(("text", "cause"), [c for c in CAUSES if c[1]])
def test_a_line_that_decides(text: str, cause: str) -> None:
    assert said(judged(text)) == ([cause], [])


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (SYSTEM_ERROR, "nccl-shm-too-small"),
        ("ncclUnhandledCudaError: Call to CUDA function failed.", "nccl-nvls-fabric-manager"),
        ("NCCL: invalid usage (run with NCCL_DEBUG=WARN for details)", "nccl-p2p-iommu-acs"),
        (HANGS, "nccl-p2p-iommu-acs"),
        ("NCCL error, and /dev/shm is too small", "nccl-shm-too-small"),
        ("NCCL fails as the container has not enough shared memory", "nccl-shm-too-small"),
        ("the container's shared memory isn't sufficient for tensor parallel", "nccl-shm-too-small"),
        ("insufficient shm in the pod: nccl ends", "nccl-shm-too-small"),
        ("NCCL报错 是因为容器的共享内存不足", "nccl-shm-too-small"),
        ("共享内存只有64MB NCCL出错", "nccl-shm-too-small"),
        ("--shm-size=1g solves the nccl error", "nccl-shm-too-small"),
        ("the nccl error: what helped was --shm-size 2g", "nccl-shm-too-small"),
        ("UnavailableError: Collective ops is aborted by: Socket closed", "nccl-p2p-iommu-acs"),
        ("training on multiple GPUs is stuck at the first step", "nccl-p2p-iommu-acs"),
        (f"{HANGS}, and with NCCL_P2P_DISABLE=1 it still does not work", "nccl-p2p-iommu-acs"),
        (f"{HANGS}\nWe switched the IOMMU off, and it still hangs", "nccl-p2p-iommu-acs"),
        (f"{HANGS}\nKernel command line: BOOT_IMAGE=/vmlinuz ro iommu=pt", "nccl-p2p-iommu-acs"),
        (N + "NCCL WARN Cuda failure 802 'system not yet initialized'", "fabric-manager-not-running"),
        (N + "NCCL WARN Cuda failure 'out of memory'", "gpu-memory-held-by-other-process"),
        (N + "NCCL WARN failed to open CUDA IPC handle : 217 peer access is not supported between these two devices", "p2p-unsupported-geforce"),
        (N + "NCCL WARN Connect to 10.1.2.3<4711> failed : Connection refused", "nccl-wrong-interface"),
        (N + "NCCL WARN Net : No interface found in the same subnet as remote address 10.1.2.3<4711>", None),
        (N + "NCCL WARN Error while attaching to shared memory segment /dev/shm/nccl-a (size 9), error: No such file or directory (2)", "nccl-shm-too-small"),
        ("MirroredStrategy example fails on windows", "nccl-unavailable-windows"),
        ('  File "/home/me/train.py", line 3\nNotFoundError: Op type not registered \'NcclAllReduce\' in binary /home/me', "nccl-unavailable-windows"),
        (f"{NO_OP}\nRegistered devices: [CPU, XLA_CPU]", "tf-no-gpu-registered"),
    ],
)  # fmt: skip
def test_a_line_that_does_not_decide(text: str, first: str | None) -> None:
    roots, candidates = said(judged(text))
    if first is None:
        assert roots == ["nccl-wrong-interface"]
    else:
        assert not roots
        assert candidates[0] == first


@pytest.mark.parametrize(
    "text",
    [
        VIA_P2P,
        f"{VIA_P2P}\n{TOPOLOGY}",
        VIA_SHM,
        f"{N}NCCL INFO Bootstrap : Using lo:127.0.0.1<0>",
        f"{N}NCCL INFO NET/IB : No device found.",
        N + "NCCL INFO NCCL_MAX_NCHANNELS set by environment to 16.",
        N + "NCCL INFO NCCL_NVLS_ENABLE set by environment to 0.",
        N + "NCCL INFO NCCL_P2P_DISABLE set by environment to 0",
        SHM_OFF,
        f"{PEERS} 0 and 1\n{PEERS} 1 and 0",
        f"{PEERS} 0 and 2",
        "Command line: BOOT_IMAGE=/vmlinuz iommu=pt",
        "the image hangs on the wall on Windows 10",
        "the installation of two packages",
        "tmpfs 65536 0 65536 0% /dev/shm",
    ],
)
def test_nothing_wrong(text: str) -> None:
    roots, candidates = shown(judged(text))
    assert not roots
    assert not candidates


def test_both_ways_are_off() -> None:
    assert said(judged(f"{P2P_OFF}\n{SHM_OFF}")) == (["nccl-p2p-disabled-by-env", "nccl-shm-disabled-by-env"], [])


def test_a_setting_that_was_tried_is_no_cause_of_a_failure() -> None:
    roots, candidates = said(
        judged(f"{P2P_OFF}\n{SHM_OFF}\n{N}NCCL INFO NCCL_MAX_NCHANNELS set by environment to 1.\n{SYSTEM_ERROR}")
    )
    assert not roots
    assert candidates[0] == "nccl-shm-too-small"
    assert said(judged(f"{APART}\n{SYSTEM_ERROR}"))[0] == []
    assert said(judged(f"{VIA_SHM}\n{TOPOLOGY}\n{SYSTEM_ERROR}"))[0] == []


def test_geforce_cards_have_no_direct_access() -> None:
    cards = "GPU 0: NVIDIA GeForce RTX 4090 (UUID: GPU-1111aaaa)\nGPU 1: NVIDIA GeForce RTX 4090 (UUID: GPU-2222bbbb)"
    refused = "transport/p2p.cc:238 NCCL WARN failed to open CUDA IPC handle : 217 peer access is not supported between these two devices"
    assert said(judged(f"{cards}\n{refused}")) == (["p2p-unsupported-geforce"], [])
    assert said(judged(f"{cards}\n{P2P_OFF}")) == ([], [])
    assert said(judged(f"{cards}\n{HANGS}. With NCCL_P2P_DISABLE=1 it works"))[0] == []


def test_what_direct_access_is_turned_off_by() -> None:
    assert said(judged(f"{P2P_OFF}\n{VIA_SHM}\n{TOPOLOGY}")) == (["nccl-p2p-disabled-by-env"], [])


def test_nccl_says_its_version() -> None:
    assert judged("NCCL version 2.19.4+cuda12.2").facts.nccl.version == "2.19.4"
