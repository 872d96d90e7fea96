from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpudoctor.facts import (
    NOT_RECORDED,
    Driver,
    Fact,
    Facts,
    Libcuda,
    Measurement,
    Pci,
    TensorFlow,
    UnknownFactError,
    Unread,
    known,
    unread_all,
)
from tests.factory import healthy


def all_facts(kind: type[Fact] = Fact) -> list[type[Fact]]:
    return [kind, *(k for sub in kind.__subclasses__() for k in all_facts(sub))]


def test_known() -> None:
    assert known(3) == 3
    assert known(None) is None
    with pytest.raises(UnknownFactError) as caught:
        known(Unread(why="no permission", settle="sudo ls"))
    assert caught.value.unread.settle == "sudo ls"


def test_facts_survive_being_written_and_read() -> None:
    facts = healthy()
    assert msgspec.json.decode(msgspec.json.encode(facts), type=Facts) == facts


def test_what_is_not_recorded_stays_so() -> None:
    again = msgspec.json.decode(b'{"is": "facts"}', type=Facts)
    assert again == Facts()
    assert again.driver.libcuda.init_result is NOT_RECORDED or again.driver.libcuda.init_result == NOT_RECORDED
    assert msgspec.json.decode(msgspec.json.encode(Facts()), type=Facts) == Facts()


def test_none_and_unread_are_told_apart() -> None:
    for path in (None, "/usr/lib/libcuda.so.1", Unread(why="?")):
        lib = Libcuda(path=path)
        assert msgspec.json.decode(msgspec.json.encode(lib), type=Libcuda) == lib


def test_fields_of_a_newer_schema_are_passed_over() -> None:
    assert msgspec.json.decode(b'{"is": "pci", "devices": [], "speed_of_light": 1}', type=Pci) == Pci(devices=())


def test_a_value_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"is": "libcuda", "init_result": "eight"}', type=Libcuda)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"is": "pci", "devices": {"is": "driver"}}', type=Pci)


def test_unread_all() -> None:
    why = Unread(why="hidden")
    assert all(
        getattr(unread_all(Driver, why), f) == why for f in Driver.__struct_fields__ if f not in ("libcuda", "mps")
    )


@pytest.mark.parametrize("kind", all_facts(), ids=lambda k: k.__name__)
def test_the_house_rules_of_every_fact(kind: type[Fact]) -> None:
    config: Any = kind.__struct_config__
    assert config.frozen
    assert config.tag is not None
    tags = [k.__struct_config__.tag for k in all_facts()]
    assert tags.count(config.tag) == 1


def test_facts_are_keyword_only() -> None:
    with pytest.raises(TypeError):
        Measurement("matmul", "tensorflow", "GPU:0")  # type: ignore[call-arg]


def test_a_subject_that_could_not_be_read_is_unread_all_the_way_down() -> None:
    why = Unread(why="nobody answered")
    assert unread_all(TensorFlow, why).build.cuda == why
    assert unread_all(Driver, why).libcuda.path == why
    assert unread_all(Driver, why).nodes == why
