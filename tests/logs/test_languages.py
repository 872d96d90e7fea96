"""The languages of which a text holds a word are imported, and no others: the answer is as if all were."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from gpudoctor import pasted
from gpudoctor.logs import languages
from tests.logs import spoken

LOG = (
    "2021-05-14 14:54:43.022397: I tensorflow/stream_executor/platform/default/dso_loader.cc:53] Successfully opened dynamic library libcudnn.so.8\n"
    "2021-05-14 14:54:43.022432: W tensorflow/core/common_runtime/gpu/gpu_device.cc:1766] Cannot dlopen some GPU libraries. Please make sure the missing "
    "libraries mentioned above are installed properly if you would like to use GPU.\nSkipping registering GPU devices...\n"
)
SAID = (
    "My GPU is not found\nI installed CUDA 11.2 in a docker container, and nvidia-smi lists the card. What is wrong?\n"
)
ASKED = (
    "import io, sys; from gpudoctor import pasted; pasted.log(io.BytesIO(sys.argv[1].encode()));"
    "print(*(name.rpartition('.')[2] for name in sys.modules if name.startswith('gpudoctor.logs.')))"
)


def imported(text: str) -> set[str]:
    """The modules of logs/ that a text takes."""
    run = subprocess.run([sys.executable, "-c", ASKED, text], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_the_table_is_made_of_the_languages_as_they_are() -> None:
    assert Path(languages.TABLE).read_text(encoding="utf-8") == spoken.table(), "python -m tests.logs.spoken"


def test_each_place_is_named_once() -> None:
    assert len(set(languages.PLACES)) == len(languages.PLACES)
    assert list(dict.fromkeys(one.place for one in languages.known())) == list(languages.PLACES)


def test_a_log_takes_no_reader_of_what_people_say() -> None:
    of_people = {one.place.partition(".")[0] for one in languages.known() if one.foreign} - {
        one.place.partition(".")[0] for one in languages.known() if not one.foreign
    }
    always = imported("")
    assert imported(LOG) & of_people <= always
    assert imported(SAID) & of_people > always & of_people


def test_foreign_ones_hear_only_what_no_program_logged() -> None:
    word = "installed properly"
    assert all(not one.foreign for one in languages.of(f"{LOG}", ""))
    assert any(one.foreign for one in languages.of(word, word))


@pytest.mark.parametrize("text", [LOG, SAID, LOG + SAID, ""])
def test_the_answer_is_as_if_all_were_imported(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few = pasted.log(io.BytesIO(text.encode()))
    monkeypatch.setattr(languages, "of", lambda text, unlogged: languages.all_of_them())
    every = pasted.log(io.BytesIO(text.encode()))
    assert (few.facts, few.diagnosis) == (every.facts, every.diagnosis)
