from __future__ import annotations

import shlex

from gpudoctor.facts import Distribution, Facts, LogEvent, Unread
from tests.factory import SITE, found, healthy, outcome, roots, with_


def breaks(kind: str, error: str, version: str = "2.15.1") -> Facts:
    installed = tuple(
        Distribution(name=n, version=v, location=SITE)
        for n, v in (("tensorflow", version), ("numpy", "2.1.0"), ("protobuf", "6.30.0"))
    )
    return with_(
        healthy(),
        tensorflow__version=version,
        tensorflow__import_error=error,
        tensorflow__devices=Unread(why="import tensorflow failed"),
        tensorflow__events=(LogEvent(kind=kind, text=error),),
        python__distributions=installed,
        measurements=(),
    )


def test_numpy_abi_break() -> None:
    facts = breaks("numpy-abi", "ImportError: numpy.core.multiarray failed to import")
    assert roots(facts) == ["numpy-abi-break"]
    finding = found(facts)["numpy-abi-break"]
    assert "numpy 2.1.0" in finding.message
    assert shlex.split(finding.fixes[0].steps[0])[-2:] == ["numpy<2", "tensorflow==2.15.1"]
    assert {"tf-import-broken", "tf-lists-no-gpu"} <= set(found(facts))
    newer = found(breaks("numpy-abi", "ImportError: numpy._core", "2.18.0"))["numpy-abi-break"]
    assert "numpy<2" not in newer.fixes[0].steps[0]


def test_protobuf_mismatch() -> None:
    facts = breaks("protobuf-mismatch", "TypeError: Descriptors cannot be created directly.")
    assert roots(facts) == ["protobuf-mismatch"]
    (step,) = found(facts)["protobuf-mismatch"].fixes[0].steps
    assert step.endswith("-m pip install tensorflow==2.15.1")
    assert "protobuf 6.30.0" in found(facts)["protobuf-mismatch"].message


def test_words_beside_an_import_that_works_are_somebody_elses() -> None:
    for kind, cause in (("numpy-abi", "numpy-abi-break"), ("protobuf-mismatch", "protobuf-mismatch")):
        facts = with_(healthy(), tensorflow__events=(LogEvent(kind=kind, text="words"),))
        assert outcome(facts, cause) == "passed"
        assert outcome(with_(facts, tensorflow__import_error=Unread(why="?")), cause) == "unknown"
        assert outcome(with_(facts, tensorflow__directory=None), cause) == "skipped"
        broken = with_(breaks(kind, "words"), tensorflow__events=Unread(why="?"))
        assert outcome(broken, cause) == "unknown"
