from __future__ import annotations

from tests.factory import found, healthy, outcome, roots, with_


def test_tf_not_installed() -> None:
    facts = with_(healthy(), tensorflow__directory=None, measurements=())
    assert roots(facts) == ["tf-not-installed"]
    assert found(facts)["tf-not-installed"].fixes[0].steps == (
        "/opt/venv/bin/python3 -m pip install 'tensorflow[and-cuda]'",
    )


def test_a_directory_that_is_only_called_tensorflow_is_named() -> None:
    facts = with_(healthy(), tensorflow__directory=None, tensorflow__stray=("/work/tensorflow",))
    assert "/work/tensorflow" in " ".join(e.text for e in found(facts)["tf-not-installed"].proof)


def test_an_installed_tensorflow_is_no_fault() -> None:
    assert outcome(healthy(), "tf-not-installed") == "passed"
