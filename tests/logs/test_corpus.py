"""Every text of the corpus has its right answer, however it was pasted."""

from __future__ import annotations

import io

import pytest

from gpudoctor import api
from tests.logs.judged import HERE, table, wrong

RIGHT = table()


@pytest.mark.parametrize("name", RIGHT)
def test_the_answer(name: str) -> None:
    report = api.log(io.BytesIO((HERE / name).read_bytes()))
    assert wrong(report, RIGHT[name]) is None
