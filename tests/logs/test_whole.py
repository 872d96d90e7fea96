"""The model of whole reports: what a text reads like as a whole goes before what its lines leave open, and contests what they show."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from gpudoctor.facts import NOTHING_WRONG, Alike, Facts, Unread
from gpudoctor.logs import alike, reader
from gpudoctor.render import log as render
from gpudoctor.textual import likeness
from tests.logs.judged import judged, said

DRIVER, TOO_OLD, MISSING = "driver-missing", "driver-too-old", "cuda-libs-missing"


def reads(shares: Mapping[str, float]) -> Facts:
    """Facts of a text that reads so."""
    facts = judged("hello\n").facts
    whole = tuple(Alike(cause=cause, share=share) for cause, share in shares.items())
    return msgspec.structs.replace(facts, text=msgspec.structs.replace(facts.text, whole=whole))


@pytest.mark.parametrize(
    ("shares", "symptom", "fits", "open_", "out", "first"),
    [
        pytest.param({DRIVER: 0.3}, "nvidia-smi-fails", (TOO_OLD, DRIVER), {TOO_OLD, DRIVER}, (), DRIVER, id="what fits"),
        pytest.param({DRIVER: 0.3}, "nvidia-smi-fails", (TOO_OLD,), {TOO_OLD, DRIVER}, (), DRIVER, id="what is open"),
        pytest.param({NOTHING_WRONG: 0.5, DRIVER: 0.3}, "nvidia-smi-fails", (TOO_OLD,), {DRIVER}, (), DRIVER, id="a fault"),
        pytest.param({DRIVER: 0.3}, "nvidia-smi-fails", (TOO_OLD,), (), (), TOO_OLD, id="not open"),
        pytest.param({DRIVER: 0.8}, "nvidia-smi-fails", (TOO_OLD,), (), (), DRIVER, id="not open and very clear"),
        pytest.param({DRIVER: 0.9}, "nvidia-smi-fails", (TOO_OLD,), (), (DRIVER,), TOO_OLD, id="ruled out"),
        pytest.param({DRIVER: 0.09}, "nvidia-smi-fails", (TOO_OLD, DRIVER), {DRIVER}, (), TOO_OLD, id="faint"),
        pytest.param({DRIVER: 0.3, TOO_OLD: 0.1}, "nvidia-smi-fails", (TOO_OLD, DRIVER), {DRIVER}, (), TOO_OLD, id="both"),
        pytest.param({MISSING: 0.5}, "cuinit-fails", (TOO_OLD,), {MISSING}, (), TOO_OLD, id="its code tells what fits"),
        pytest.param({MISSING: 0.5}, "cuinit-fails", (TOO_OLD, MISSING), {MISSING}, (), MISSING, id="of what its code tells"),
        pytest.param({DRIVER: 0.9}, "install-fails", (TOO_OLD, DRIVER), {DRIVER}, (), TOO_OLD, id="versions tell"),
        pytest.param({}, "nvidia-smi-fails", (TOO_OLD,), {TOO_OLD}, (), TOO_OLD, id="nothing"),
    ],
)  # fmt: skip
def test_what_is_meant_goes_first(
    shares: Mapping[str, float], symptom: str, fits: tuple[str, ...], open_: set[str], out: tuple[str, ...], first: str
) -> None:
    meant = likeness.meant(reads(shares), symptom, fits, open_, out)
    assert meant[0] == first
    assert set(meant) == {*fits, first}


def test_where_nothing_fits_what_is_meant_is_named() -> None:
    assert likeness.meant(reads({DRIVER: 0.2}), "op-fails", (), (), (DRIVER,)) == (DRIVER,)
    assert likeness.meant(reads({DRIVER: 0.05}), "op-fails", (), {DRIVER}, ()) == ()


@pytest.mark.parametrize(
    ("shares", "shown", "other"),
    [
        ({DRIVER: 0.9, TOO_OLD: 0.01}, [TOO_OLD], DRIVER),
        ({DRIVER: 0.9}, [TOO_OLD, MISSING], DRIVER),
        ({DRIVER: 0.5}, [TOO_OLD], None),
        ({DRIVER: 0.7, TOO_OLD: 0.1}, [TOO_OLD], None),
        ({DRIVER: 0.9}, [TOO_OLD, DRIVER], None),
        ({NOTHING_WRONG: 0.9, DRIVER: 0.05}, [TOO_OLD], None),
        ({}, [TOO_OLD], None),
    ],
)
def test_what_contests_a_line(shares: Mapping[str, float], shown: list[str], other: str | None) -> None:
    assert likeness.another(reads(shares), shown) == other


REPORT = """No cublas handle since the upgrade of Monday

TF 2.1.0 on Ubuntu 18.04, CUDA 10.1 of NVIDIA's repository, a GTX 1070 on which nothing else runs, 7.3 GB free, allow_growth is set.

Our server ran `apt upgrade` by itself. Each Dense layer ends so from then on:

2020-01-13 08:11:02.100128: I tensorflow/stream_executor/platform/default/dso_loader.cc:44] Successfully opened dynamic library libcublas.so.10
2020-01-13 08:11:02.400410: E tensorflow/stream_executor/cuda/cuda_blas.cc:238] failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED
tensorflow.python.framework.errors_impl.InternalError: Blas GEMM launch failed : a.shape=(64, 100), b.shape=(100, 10), m=64, n=10, k=100 [Op:MatMul]

$ dpkg -l | grep -E 'cublas|cudart'
ii  cuda-cudart-10-1    10.1.243-1      amd64
ii  libcublas10         10.2.2.89-1     amd64
"""


def test_neither_is_asserted_where_line_and_report_differ() -> None:
    report = judged(REPORT)
    roots, candidates = said(report)
    assert roots == []
    assert candidates[:2] == ["cublas-version-mismatch", "gpu-memory-handle-alloc"]
    assert report.diagnosis.combined_fix is None
    shown = render.plain(report)
    assert "Not decided by this text: cublas-version-mismatch, or gpu-memory-handle-alloc." in shown
    assert "failed to create cublas handle" in shown


def test_a_line_alone_is_not_contested() -> None:
    line = next(one for one in REPORT.split("\n") if "cuda_blas" in one)
    assert said(judged(f"{line}\n"))[0] == ["gpu-memory-handle-alloc"]


def test_a_sentence_or_two_are_no_report() -> None:
    assert judged("My GPU is not found\n").facts.text.whole == ()
    assert judged("\n".join(["My GPU is not found"] * 4)).facts.text.whole == ()
    assert judged(REPORT).facts.text.whole


def test_pairs_of_words_are_known() -> None:
    assert "gpu not" in alike.features(["GPU not", "seen"], pairs=True)
    assert "gpu not" not in alike.features(["GPU not", "seen"])
    assert alike.learnt(alike.REPORTS).word("could not") is not None
    assert alike.learnt(alike.SENTENCES).word("could not") is None


WISH = """[Feature request] total memory of a MIG slice in get_memory_info

**System information**
- TensorFlow version: 2.15
- Are you willing to contribute it (Yes/No): Yes

**Describe the feature and the current behavior/state.**
On our H100 in MIG mode each job sees its slice as GPU:0, which is right. get_memory_info('GPU:0') has 'current' and 'peak' of TensorFlow's allocator and no 'total', so our
scheduler parses the table of nvidia-smi.

**Will this change the current api? How?**
One key more in the dict.

**Who will benefit with this feature?**
Whoever shares cards by MIG.
"""


def test_what_reads_like_nothing_wrong_is_no_complaint(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(judged(WISH)) == ([], [])
    monkeypatch.setattr(reader, "_AS_IF_NOTHING", 2.0)
    assert said(judged(WISH))[1]


NO_ERRORS = """Two cards of eight drop out under load

They come back after a reboot, and it is never the same two. The kernel log has nothing that I understand.
I have looked at nvidia-smi -q: there are no ECC errors on any of them, the counters are all at zero, volatile and aggregate.
The machine has two power supplies of 2000 W, and eight A40. It began in summer.
What should I look at next? The vendor wants to see a log before they send anybody.
"""


@pytest.mark.parametrize("denied", [True, False])
def test_what_is_denied_is_meant_by_neither_model(denied: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    ecc = (Alike(cause="ecc-uncorrectable-error", share=0.9), Alike(cause="xid79-fell-off-bus", share=0.05))
    monkeypatch.setattr(alike, "alike", lambda _lines, _of=alike.SENTENCES: ecc)
    facts = judged(NO_ERRORS if denied else NO_ERRORS.replace("no ECC errors", "many ECC errors")).facts
    assert not isinstance(facts.text.whole, Unread)
    assert not isinstance(facts.text.alike, Unread)
    for found in (facts.text.whole, facts.text.alike):
        assert found
        assert ("ecc-uncorrectable-error" in [one.cause for one in found]) is not denied


def test_hello_and_thanks_around_a_log_are_no_report() -> None:
    log = (
        "2023-02-01 10:00:00.123456: I tensorflow/core/platform/cpu_feature_guard.cc:182] This TensorFlow binary is optimized for it\n"
        * 8
    )
    assert judged(f"Hello,\n\n{log}Thanks!\n").facts.text.whole == ()
