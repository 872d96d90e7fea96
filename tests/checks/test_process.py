from __future__ import annotations

from gpudoctor.facts import MappedFile, Process, Unread
from tests.factory import found, healthy, outcome, with_

LIBCUDA = "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04"


def process(**fields: object) -> Process:
    return Process(pid=4711, **fields)  # type: ignore[arg-type]


def test_a_library_that_was_replaced() -> None:
    held = process(libraries=(MappedFile(path=LIBCUDA, deleted=True), MappedFile(path="/opt/libcudart.so.12")))
    one = found(with_(healthy(), process=held))["process-holds-replaced-library"]
    assert "libcuda.so.580.159.04" in one.message
    assert "libcudart" not in one.message
    assert one.level == "warn"


def test_silence() -> None:
    assert outcome(healthy(), "process-holds-replaced-library") == "skipped"
    fine = process(libraries=(MappedFile(path=LIBCUDA),))
    assert outcome(with_(healthy(), process=fine), "process-holds-replaced-library") == "passed"
    hidden = process(libraries=Unread(why="Permission denied"))
    assert outcome(with_(healthy(), process=hidden), "process-holds-replaced-library") == "unknown"


def test_a_library_of_another_package() -> None:
    cudnn = "/opt/env/lib/python3.12/site-packages/torch/lib/libcudnn.so.9"
    one = found(with_(healthy(), process=process(libraries=(MappedFile(path=cudnn),))))[
        "cuda-lib-preloaded-by-other-package"
    ]
    assert "libcudnn.so.9" in one.message
    assert cudnn in one.proof[0].text
    own = next(p.picked for p in healthy().tensorflow.libraries if p.soname == "libcudnn.so.9")  # type: ignore[union-attr]
    for mine in (own, f"{own}.10.2"):
        same = with_(healthy(), process=process(libraries=(MappedFile(path=str(mine)),)))
        assert outcome(same, "cuda-lib-preloaded-by-other-package") == "passed"
    gone = with_(healthy(), process=process(libraries=(MappedFile(path=cudnn, deleted=True),)))
    assert outcome(gone, "cuda-lib-preloaded-by-other-package") == "passed"
    assert outcome(healthy(), "cuda-lib-preloaded-by-other-package") == "skipped"
