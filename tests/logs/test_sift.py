"""Long texts: what tells something is found wherever it stands, in time and memory that do not run away."""

from __future__ import annotations

import io
import re

import pytest

from gpudoctor import api
from gpudoctor.logs import sift
from gpudoctor.logs.text import Binary
from tests.logs.judged import HERE, said, table, wrong

CUINIT = (
    b"E0000 00:00:1795203764.899155    4980 cuda_platform.cc:52] failed call to cuInit: CUDA_ERROR_STUB_LIBRARY: stub\n"
)
RIGHT = table()
NOISE = b"step 17 loss 0.53125 seconds 0.25\n"


def judged(data: bytes) -> tuple[list[str], list[str]]:
    return said(api.log(io.BytesIO(data)))


@pytest.mark.parametrize("before", [0, 1, 10, 20_000, 100_000])
def test_a_line_is_found_wherever_it_stands(before: int) -> None:
    data = NOISE * before + CUINIT + NOISE * (100_000 - before)
    report = api.log(io.BytesIO(data))
    assert said(report)[0] == ["libcuda-stub-loaded"]
    assert report.diagnosis.root_causes[0].proof[0].source == f"line {before + 1}"
    assert report.facts.text.lines == 100_001
    assert report.facts.text.left_out is None


def test_among_a_million_errors() -> None:
    noise = b"".join(b"RuntimeError: %d tensors on the GPU of worker %d\n" % (n, n * 7 % 1000) for n in range(60_000))
    other = b"".join(
        b"ValueError: the gpu %s is slow\n" % bytes([97 + n % 26, 97 + n // 26 % 26]) for n in range(60_000)
    )
    assert judged(noise + other + CUINIT + other + noise)[0] == ["libcuda-stub-loaded"]


def test_a_line_without_an_end() -> None:
    data = b"x" * (3 << 20) + b" " + CUINIT[:-1] + b" " + b"y" * (3 << 20)
    assert judged(data)[0] == ["libcuda-stub-loaded"]
    assert judged(data.replace(CUINIT[:-1], b"")) == ([], [])


def test_numbers_of_lines_after_a_long_middle() -> None:
    data = NOISE * 50_000 + CUINIT
    last = sift.read(io.BytesIO(data)).lines[-1]
    assert (last.number, last.text) == (50_001, CUINIT.decode().strip())


def test_utf_16() -> None:
    text = (NOISE * 30_000 + CUINIT + NOISE * 30_000).decode()
    assert judged(text.encode("utf-16"))[0] == ["libcuda-stub-loaded"]


def test_cut_within_a_character() -> None:
    data = "größe ".encode() * 100_000 + CUINIT
    assert judged(data[1:])[0] == ["libcuda-stub-loaded"]


def test_a_long_binary() -> None:
    with pytest.raises(Binary):
        sift.read(io.BytesIO(b"\x7fELF" + bytes(1 << 20)))


def test_words_as_a_tree() -> None:
    pattern = sift.words(["cuda", "cudnn", "cu", "GPU", "a.b"])
    for word in ("cuda", "cudnn", "cup", "GPU", "a.b"):
        assert pattern.search(word.encode())
    for word in ("axb", "gpu", "c", "GP"):
        assert not pattern.search(word.encode())
    assert isinstance(pattern, re.Pattern)


@pytest.mark.parametrize("name", RIGHT)
def test_in_the_middle_of_a_long_text(name: str) -> None:
    noise = NOISE * (sift.WHOLE // len(NOISE) + 50)
    data = noise + (HERE / name).read_bytes() + b"\n" + noise
    report = api.log(io.BytesIO(data))
    assert report.facts.text.lines == data.count(b"\n")
    assert wrong(report, RIGHT[name]) is None
