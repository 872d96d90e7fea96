from __future__ import annotations

from gpudoctor.loader import trace

TEXT = """\
      3314:\tfind library=libcusolver.so.11 [0]; searching
      3314:\t search path=/x/glibc-hwcaps/x86-64-v3:/x\t\t(LD_LIBRARY_PATH)
      3314:\t  trying file=/x/glibc-hwcaps/x86-64-v3/libcusolver.so.11
      3314:\t  trying file=/x/libcusolver.so.11
W0000 something that the process says
      3314:\t search path=/s/tf/../nvidia/cublas/lib\t\t(RUNPATH from file /s/tf/libtensorflow_framework.so.2)
      3314:\t  trying file=/s/tf/../nvidia/cublas/lib/libcusolver.so.11
      3314:\t search cache=/etc/ld.so.cache
      3314:\t search path=/lib\t\t(system search path)
      3314:\t  trying file=/lib/libcusolver.so.11
      3314:\t
      3314:\tfind library=libm.so.6 [0]; searching
      3314:\t search cache=/etc/ld.so.cache
      3314:\t  trying file=/lib/libm.so.6
"""


def test_searches() -> None:
    first, second = trace.searches(TEXT)
    assert first.soname == "libcusolver.so.11"
    assert [(s.directory, s.origin) for s in first.steps] == [
        ("/x", "LD_LIBRARY_PATH"),
        ("/s/nvidia/cublas/lib", "RUNPATH of libtensorflow_framework.so.2"),
        ("/lib", "system"),
    ]
    assert first.last == "/lib/libcusolver.so.11"
    assert [(s.directory, s.origin) for s in second.steps] == [("/lib", "ld.so.cache")]


def test_sections_and_what_is_left() -> None:
    text = "noise\n@gpudoctor call Cufft\n" + TEXT + "@gpudoctor done Cufft\nmore noise\n"
    assert list(trace.sections(text)) == ["call Cufft"]
    assert len(trace.searches(trace.sections(text)["call Cufft"])) == 2
    assert trace.without_trace(text) == "noise\nW0000 something that the process says\nmore noise"


def test_nothing_in_nothing_out() -> None:
    assert trace.searches("") == []
    assert trace.sections("") == {}
