"""A processor that lacks instructions: in the words of shells, debuggers and Windows, and in those of people."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

LACKS = "The TensorFlow library was compiled to use {} instructions, but these aren't available on your machine.\n"


@pytest.mark.parametrize(
    "text",
    [
        LACKS.format("FMA"),
        LACKS.format("SSE4.1"),
        LACKS.format("AVX AVX2"),
        "zsh: illegal hardware instruction  python3 train.py\n",
        "[1]    4242 illegal hardware instruction (core dumped)  python serve.py\n",
        "fish: Job 1, 'python a.py' terminated by signal SIGILL (Illegal instruction)\n",
        "Illegal Instruction\n",
        "Ungültiger Maschinenbefehl (Speicherabzug geschrieben)\n",
        "Instruction non permise (core dumped)\n",
        "Instrucción ilegal (`core' generado)\n",
        "非法指令 (核心已转储)\n",
        "명령어가 잘못됨 (core dumped)\n",
        "tagger_1 exited with code 132\n",
        "subprocess.CalledProcessError: Command '['python', 'a.py']' returned non-zero exit status 132.\n",
        "mpirun noticed that process rank 0 with PID 71 on node a exited on signal 4 (Illegal instruction).\n",
        "Exception code: 0xc000001d\n",
        "Process exited with code 3221225501\n",
        "stop reason = EXC_BAD_INSTRUCTION (code=EXC_I386_INVOP, subcode=0x0)\n",
        # what people say
        "Importing tensorflow crashes\nThe machine: Intel Core 2 Quad Q9400, 8 GB\n",
        "The labeller shows a TensorFlow error when it starts\nIntel(R) Core(TM)2 Duo CPU     E8400  @ 3.00GHz\n",
        "It ends with a TensorFlow exception, always\nProcessor: AMD E-450, Windows 10\n",
        "Loading tensorflow fails\nIntel(R) Xeon(R) CPU           X5650  @ 2.67GHz\n",
        "The tensorflow service crashes: the processor of this VM lacks AVX\n",
        "My CPU does not support AVX, which tensorflow needs, it seems\n",
    ],
)
def test_it_lacks_them(text: str) -> None:
    assert said(judged(text)) == (["cpu-no-avx"], [])


@pytest.mark.parametrize(
    "text",
    [
        "returned 132 rows\n",
        "worker exited with code 13\n",
        "exited with code 132.5\n",
        "Importing tensorflow crashes\nThe machine: Intel Core i7-8700, 8 GB\n",
        "Importing tensorflow crashes\nThe machine: Xeon E5-2687W v2, AMD E-450 in the other one\n",
        "A video that explains tensorflow\nIt was rendered on a Core 2 Duo\n",
        "tensorflow 1.4.0 shows an error\nIt is a Core 2 Duo\n",
        "tensorflow crashes\nI don't know whether the processor lacks AVX\n",
        "tensorflow crashes\nThis processor has AVX and AVX2\n",
        "tensorflow crashes, the processor has no AVX-512\n",
        "tensorflow fails on the Core 2 Duo\nModuleNotFoundError: No module named 'tensorflow'\n",
    ],
)
def test_it_does_not(text: str) -> None:
    assert "cpu-no-avx" not in said(judged(text))[0]


def test_which_are_lacking() -> None:
    (root,) = judged(LACKS.format("FMA")).diagnosis.root_causes
    assert "with FMA" in root.message
    assert root.fixes[0].verify == "grep -c fma /proc/cpuinfo"
    (root,) = judged(LACKS.format("AVX2 FMA")).diagnosis.root_causes
    assert "with AVX," in root.message
