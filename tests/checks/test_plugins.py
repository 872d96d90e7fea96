from __future__ import annotations

from gpudoctor.facts import PluginFailure, Plugins
from tests.factory import found, healthy, outcome, roots, with_

INSTALLED = Plugins(installed=("acme-gpu-checks 1.2", "lab 3"), failed=())
BROKEN = PluginFailure(
    plugin="acme-gpu-checks 1.2", error="ImportError: no acme", where="acme/disk.py, line 3: import x"
)


def test_a_plugin_that_failed() -> None:
    assert outcome(healthy(), "plugin-failed") == "skipped"
    assert outcome(with_(healthy(), plugins=INSTALLED), "plugin-failed") == "passed"
    facts = with_(healthy(), plugins=INSTALLED, plugins__failed=(BROKEN,))
    assert roots(facts) == ["plugin-failed"]
    (one,) = [f for f in found(facts).values() if f.cause == "plugin-failed"]
    assert one.level == "warn"
    assert one.message == "The plug-in acme-gpu-checks 1.2 failed: ImportError: no acme"
    assert [(e.text, e.source) for e in one.proof] == [("ImportError: no acme", "acme/disk.py, line 3: import x")]
    assert "pip uninstall acme-gpu-checks;" in one.fixes[0].summary


def test_several_of_one_plugin_are_one_finding() -> None:
    again = PluginFailure(plugin="lab 3", check="LAB101", error="TypeError: 3")
    other = PluginFailure(plugin="lab 3", check="LAB102", error="KeyError: 'x'")
    facts = with_(healthy(), plugins=INSTALLED, plugins__failed=(again, other, BROKEN))
    from gpudoctor.diagnosis import judge

    messages = [f.message for f in judge(facts).findings]
    assert messages == [
        "LAB101, LAB102 of the plug-in lab 3 failed: TypeError: 3",
        "The plug-in acme-gpu-checks 1.2 failed: ImportError: no acme",
    ]
