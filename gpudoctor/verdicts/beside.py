"""TensorFlow's figures beside those of the same work without a framework, and why TensorFlow's is less."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from ..facts import Facts, Measurement, Unread
from .places import places

LOW = 0.8
"""Of the native figure. Measured on healthy H200 hosts: matrix products 0.92 to 1.03, all-reduce 0.7 to 0.9, copies 0.12 to 0.28."""
_SAME = {
    "matmul": "matmul-float32",
    "matmul-tf32": "matmul-tf32",
    "matmul-float16": "matmul-float16",
    "matmul-bfloat16": "matmul-bfloat16",
    "host-to-device": "copy-host-to-device",
    "device-to-host": "copy-device-to-host",
    "dataset-to-device": "copy-host-to-device",
    "dataset-to-device-prefetch": "copy-host-to-device",
    "all-reduce": "all-reduce",
    "all-reduce-nccl": "all-reduce",
    "all-reduce-hierarchical": "all-reduce",
    "all-reduce-two-workers": "all-reduce",
}
"""TensorFlow's kernel -> the one without a framework."""
_PAGEABLE = {
    "host-to-device": "copy-host-to-device-pageable",
    "device-to-host": "copy-device-to-host-pageable",
    "dataset-to-device": "copy-host-to-device-pageable",
    "dataset-to-device-prefetch": "copy-host-to-device-pageable",
}


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of TensorFlow's and the native one."""

    kernel: str
    """TensorFlow's."""
    native: str
    device: str
    """'GPU:0', 'GPU:0,GPU:1'."""
    unit: str
    in_tensorflow: float
    without: float
    ratio: float
    """in_tensorflow / without."""
    why: str | None
    """Why it is low, by what was measured; None: it is not low."""


def beside(facts: Facts) -> tuple[Beside, ...]:
    """A row for each right figure of TensorFlow's that has a native one on the same GPU, in their order."""
    right = [m for m in facts.measurements if isinstance(m.value, float) and m.value > 0 and m.verified is True]
    found = []
    for one in right:
        if one.in_tensorflow and (other := _native(facts, one, right, _SAME.get(one.kernel))) is not None:
            assert isinstance(one.value, float)
            assert isinstance(other.value, float)
            ratio = one.value / other.value
            found.append(
                Beside(
                    kernel=one.kernel,
                    native=other.kernel,
                    device=one.device,
                    unit=one.unit if isinstance(one.unit, str) else "",
                    in_tensorflow=one.value,
                    without=other.value,
                    ratio=ratio,
                    why="; ".join(_reasons(facts, one, other, right)) if ratio < LOW else None,
                )
            )
    return tuple(found)


def _native(facts: Facts, one: Measurement, right: Sequence[Measurement], kernel: str | None) -> Measurement | None:
    """The native measurement of `kernel` on the same GPUs; of several sizes the nearest. Matrices must be of one size."""
    at = _addresses(facts, one)
    alike = [
        m for m in right if not m.in_tensorflow and m.kernel == kernel and at is not None and _addresses(facts, m) == at
    ]
    if kernel is not None and kernel.startswith("matmul"):
        alike = [m for m in alike if m.size == one.size]
    return min(alike, key=lambda m: abs(math.log(_bytes(m) / _bytes(one))), default=None)


def _addresses(facts: Facts, one: Measurement) -> tuple[str, ...] | None:
    """Of its GPUs on the bus; their order is of no meaning. None: not known."""
    if isinstance(one.pci_addresses, tuple):
        return tuple(sorted(one.pci_addresses))
    found = [p.cuda.pci_address for p in places(facts, one) if p.cuda is not None]
    names = [a for a in found if isinstance(a, str)]
    return tuple(sorted(names)) if len(names) == one.device.count(",") + 1 else None


def _bytes(one: Measurement) -> float:
    if isinstance(one.size, Unread) or not one.size:
        return 1.0
    return float(max(1, one.size[0] * (4 if one.dtype in ("float32", "tf32") else 1)))


# ----------------------------------------------------------------------------- why it is less


def _reasons(facts: Facts, one: Measurement, other: Measurement, right: Sequence[Measurement]) -> Iterator[str]:
    if one.kernel.startswith("matmul"):
        reasons = _of_matmul(facts, one, other)
    elif one.kernel.startswith("all-reduce"):
        reasons = _of_all_reduce(one, other)
    else:
        reasons = _of_copy(facts, one, right)
    found = list(reasons)
    yield from found or ["why is not known"]


def _of_copy(facts: Facts, one: Measurement, right: Sequence[Measurement]) -> Iterator[str]:
    """`one` is from tf.data, or a copy of a tensor."""
    pageable = _native(facts, one, right, _PAGEABLE[one.kernel])
    through = "TensorFlow copies pageable memory"
    if pageable is not None:
        through += f", which without TensorFlow is {pageable.value:.3g} GB/s, too"
    if not one.kernel.startswith("dataset"):
        yield through
        return
    source = next((m for m in right if m.kernel == "dataset" and m.in_tensorflow), None)
    copying = next((m for m in right if m.kernel == "host-to-device" and m.device == one.device), None)
    made = f" at {source.value:.3g} GB/s" if source is not None else ""
    if one.kernel == "dataset-to-device":
        yield f"each batch is made{made}, then copied, one after the other: .prefetch() does both at a time"
    elif source is not None and copying is not None and _value(source) < _value(copying):
        yield f"the input pipeline makes batches{made} only, less than a copy takes: starved input"
    yield through


def _value(one: Measurement) -> float:
    return one.value if isinstance(one.value, float) else 0.0


_OFF = ("0", "false")


def _of_matmul(facts: Facts, one: Measurement, other: Measurement) -> Iterator[str]:
    if one.kernel == "matmul-tf32" and facts.environment.get("NVIDIA_TF32_OVERRIDE") == "0":
        yield "NVIDIA_TF32_OVERRIDE=0 switches TF32 off"
    wide = facts.environment.get("TF_FP16_MATMUL_USE_FP32_COMPUTE")
    if one.kernel == "matmul-float16" and isinstance(wide, str) and wide.lower() in _OFF:
        yield f"TF_FP16_MATMUL_USE_FP32_COMPUTE={wide}: sums in float16"
    yield from _other_library(one, other, "cuBLAS")


_BETWEEN_PROCESSES = (
    "between processes MultiWorkerMirroredStrategy adds up over gRPC, in rings through the host, where nothing else is said; "
    "communication_options=tf.distribute.experimental.CommunicationOptions("
    "implementation=tf.distribute.experimental.CommunicationImplementation.NCCL) goes from GPU to GPU"
)
"""TensorFlow, collective_param_resolver_local.cc: NCCL only where the communication hint says so. 2x H200: 0.29 of 285 GB/s."""


def _of_all_reduce(one: Measurement, other: Measurement) -> Iterator[str]:
    if one.kernel == "all-reduce-hierarchical":
        yield "it copies from GPU to GPU in turn, without NCCL"
        return
    if one.kernel == "all-reduce-two-workers":
        yield _BETWEEN_PROCESSES
        return
    if isinstance(one.operation, str) and one.operation.startswith("no collective"):
        yield f"TensorFlow uses no collective ({one.operation.partition(': ')[2] or 'sums on one GPU'})"
        return
    yield from _other_library(one, other, "NCCL")
    ways = () if isinstance(other.transport, Unread) else other.transport
    if ways and not any(way.startswith(("P2P", "NVLS")) for way in ways):
        yield f"NCCL goes through {', '.join(ways)}, with TensorFlow and without"
    if _bytes(one) != _bytes(other):
        yield f"the native one is of {_bytes(other) / (1 << 20):.4g} MiB, TensorFlow's of {_bytes(one) / (1 << 20):.4g}"
    yield "TensorFlow starts each all-reduce from the processor, after the one before"


def _other_library(one: Measurement, other: Measurement, name: str) -> Iterator[str]:
    mine, theirs = one.library_version, other.library_version
    if isinstance(mine, str) and isinstance(theirs, str) and mine != theirs:
        yield f"{name} {mine} in TensorFlow, {theirs} without"
