from __future__ import annotations

import pytest

from gpudoctor.facts import DeviceNode, Unread
from tests.factory import cu_init, found, healthy, outcome, roots, with_

NONE = (DeviceNode(path="/dev/nvidiactl", exists=False, open_errno=Unread(why="it does not exist")),)


@pytest.mark.parametrize(
    ("container", "how"), [("docker", "--gpus all"), ("kubernetes", "nvidia.com/gpu"), ("lxc", "lxc config")]
)
def test_container_no_gpus_flag(container: str, how: str) -> None:
    facts = cu_init(with_(healthy(), system__container=container, driver__nodes=NONE), 100)
    assert roots(facts) == ["container-no-gpus-flag"]
    assert how in found(facts)["container-no-gpus-flag"].fixes[0].summary


def test_without_the_library_too() -> None:
    facts = with_(
        healthy(),
        system__container="docker",
        driver__nodes=NONE,
        driver__libcuda__path=None,
        driver__libcuda__load_error="cannot open shared object file",
        driver__libcuda__candidates=(),
        driver__libcuda__init_result=Unread(why="no libcuda"),
        driver__libcuda__devices=Unread(why="no libcuda"),
    )
    assert roots(facts) == ["container-no-gpus-flag"]
    assert "neither /dev/nvidiactl nor libcuda.so.1" in found(facts)["container-no-gpus-flag"].message


def test_where_it_does_not_apply() -> None:
    bare = cu_init(with_(healthy(), driver__nodes=NONE), 100)
    assert outcome(bare, "container-no-gpus-flag") == "skipped"
    inside = with_(healthy(), system__container="docker")
    assert outcome(inside, "container-no-gpus-flag") == "passed"
    no_driver = with_(inside, driver__nodes=NONE, driver__kernel_version=None)
    assert outcome(no_driver, "container-no-gpus-flag") == "skipped"
    assert outcome(with_(inside, driver__nodes=Unread(why="?")), "container-no-gpus-flag") == "unknown"
