"""docs/measuring.md tells of every kernel, and gives the numbers that the code has."""

from __future__ import annotations

import re

import pytest

from gpudoctor import registry
from gpudoctor.kernels import native, tensorflow
from gpudoctor.verdicts import SLOW, limits
from tests.running import ROOT

TEXT = (ROOT / "docs" / "measuring.md").read_text()


def section(title: str) -> str:
    return re.split(r"^## ", TEXT.split(f"## {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


@pytest.mark.parametrize(
    ("title", "kernels"),
    [
        ("Native kernels", {native.title(one) for one in (*native.STANDARD, *native.bench(5))}),
        ("Kernels through TensorFlow", set(tensorflow.ALL)),
    ],
)
def test_every_kernel_has_its_line_and_no_other_has(title: str, kernels: set[str]) -> None:
    lines = [line for line in section(title).splitlines() if line.startswith("| `")]
    assert sorted(name for line in lines for name in re.findall(r"`([^`]+)`", line.split("|")[1])) == sorted(kernels)


def test_sizes_are_those_of_the_plans() -> None:
    """'512 MiB, 16 x 5': each size in bytes, with what is queued and how often, stands in its kernel's line."""
    lines = {
        name: line
        for line in section("Native kernels").splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`([^`]+)`", line.split("|")[1])
    }
    lines["copy-device-to-host"] = lines["copy-both-ways"] = lines["copy-host-to-device"]  # 'the same'
    lines["matmul-float8"] = lines["matmul-float16"]
    for one in (*native.STANDARD, *native.bench(5)):
        told, p = lines[native.title(one)], one.parameters
        if "size" in p and one.name not in native.NO_FIGURE:
            amount = f"{p['size'] >> 30} GiB" if p["size"] >= 1 << 30 else f"{p['size'] >> 20} MiB"
            assert amount in told or f"{p['size'] >> 20} " in told, (one, amount)
        if "n" in p and one.name != "repeat-matmul":
            assert str(p["n"]) in told, one
        count = p.get("queued", p.get("iterations"))
        if count is not None:
            assert f"{count} x {p['samples']}" in told, one


def test_thresholds_are_those_of_the_code() -> None:
    told = " ".join(section("Limits, and what is said of a figure").split())
    assert f"less than {SLOW} of the median" in told
    assert f"by more than {limits.MARGIN - 1:.0%}" in told
    names = {c.cause for c in registry.all_checks()} | {*limits._LIMITS, *tensorflow.ALL}
    assert set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", told)) - names == set()
    usual = {
        "pinned": limits._PINNED,
        "both ways": limits._BOTH_WAYS,
        "inside": limits._INSIDE,
        "all-reduces": limits._RING,
    }
    for what, part in usual.items():
        assert re.search(rf"{part}( for)? {what}", told), what
    hopper = limits._USUAL_ON_HOPPER
    assert (
        f"{hopper['fp32']} float32, {hopper['tf32']} TF32, {hopper['fp16']} float16 and bfloat16, {hopper['fp8']} float8"
        in told
    )


def test_every_limit_has_its_place() -> None:
    """A kernel with a limit function is named in the table of limits, alone or with its kind."""
    table = section("Limits, and what is said of a figure")
    kinds = {"matmul": "products", "repeat-matmul": "products", "latency": "latencies"}
    for kernel in limits._LIMITS:
        kind = next((row for part, row in kinds.items() if kernel.startswith(part) or kernel.endswith(part)), None)
        host = "copies to and from the host" if "host" in kernel or kernel == "copy-both-ways" else kernel
        assert (kind or host) in table, kernel
