"""What a text shows going wrong, where it does not tell why."""

from __future__ import annotations

import pytest

from tests.factory import healthy, outcome
from tests.logs.judged import judged

NONE = "ERROR: No matching distribution found for tensorflow\n"
SHOWN = {
    "nvidia-smi-fails": "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
    "driver-does-not-load": "modprobe: ERROR: could not insert 'nvidia': No such device\n",
    "install-fails": f"ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)\n{NONE}",
    "gpu-faults": "Unable to determine the device handle for GPU 0000:41:00.0: Unknown Error\n",
    "collective-fails": "NCCL: unhandled system error\n",
    "runs-slowly": "Training gets slower: thermal throttling\n",
    "op-fails": "Blas GEMM launch failed : a.shape=(32, 784)\n",
}


@pytest.mark.parametrize("symptom", SHOWN)
def test_it_has_candidates(symptom: str) -> None:
    diagnosis = judged(SHOWN[symptom]).diagnosis
    assert not diagnosis.root_causes
    assert list(diagnosis.candidates) == [symptom]


@pytest.mark.parametrize("symptom", [s for s in SHOWN if s != "op-fails"])
def test_only_a_text_shows_it(symptom: str) -> None:
    assert outcome(healthy(), symptom) == "skipped"
