"""Containers that are not started: what a text tells; what hosts and containers show is in test_engines and test_container."""

from __future__ import annotations

import pytest

from tests.factory import healthy, outcome
from tests.logs.judged import judged, said
from tests.logs.test_containers import DECIDED
from tests.logs.test_places import CUINIT_303, host

CAUSES = (
    "container-toolkit-missing", "container-driver-too-old", "container-host-driver-broken", "container-cgroupv2-unsupported",
    "container-rootless-cgroups", "container-snap-docker", "container-ldconfig-path", "container-driver-root-wrong",
    "container-toolkit-too-old", "container-docker-desktop-linux", "container-runtime-not-default",
    "k8s-device-plugin-not-registered", "wsl-driver-toolkit-mismatch", "container-image-has-driver-files",
)  # fmt: skip


@pytest.mark.parametrize("cause", CAUSES)
def test_a_text_tells_it(cause: str) -> None:
    text = next(text for text, right in DECIDED if right == cause)
    assert said(judged(text)) == ([cause], [])
    assert outcome(healthy(), cause) in ("skipped", "passed")


@pytest.mark.parametrize("cause", ["container-host-driver-broken", "wsl-driver-toolkit-mismatch"])
def test_of_a_machine_the_driver_tells_it(cause: str) -> None:
    assert outcome(healthy(), cause) == "skipped"


def test_a_container_that_is_not_started() -> None:
    report = judged("docker: Error response from daemon: unknown flag: --gpus")
    assert "container-does-not-start" in report.diagnosis.candidates
    assert outcome(healthy(), "container-does-not-start") == "skipped"


def test_a_login_node() -> None:
    cause = "hpc-login-node"
    assert said(judged(CUINIT_303 + host("login02.cluster"))) == ([cause], [])
    assert outcome(healthy(), cause) == "skipped"
