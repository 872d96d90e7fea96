"""Which TensorFlow works where: cases with known answers, and properties that hold for every case."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement

from gpudoctor import compat
from gpudoctor.compat.code import fit
from gpudoctor.compat.records import Kernels, Platform, Ptx
from gpudoctor.compat.rules import Case, Gpu, Machine, minimum, overlap, reasons
from gpudoctor.compat.solve import Answer, answer, best, build_of, command, requirements, solve
from gpudoctor.compat.versions import NotAVersion, admits, architecture, capability, driver_branch, version

LINUX: Platform = "linux-x86_64"


def machine(
    driver: str | None = None,
    gpu: str | None = None,
    python: str | None = None,
    platform: Platform = LINUX,
    *,
    windows_driver: bool = False,
) -> Machine:
    return Machine(
        platform=platform,
        driver=driver,
        python=python,
        gpus=(compat.gpu_named(gpu),) if gpu else (),
        windows_driver=windows_driver,
    )


def judged(release: str, on: Machine, distribution: str | None = None) -> Answer:
    return answer(compat.releases_like(release)[0], on, distribution)


def why(one: Answer) -> str:
    return one.reason.text if one.reason is not None else ""


# ------------------------------------------------------------------------------- known answers


def test_the_documented_floor_is_met_and_the_ptx_is_not() -> None:
    one = judged("2.21.0", machine("525.60.13", "H100", "3.11"))
    assert one.verdict == "fails"
    assert one.reason is not None
    assert one.reason.rule == "ptx"
    assert "PTX 8.5" in why(one)
    assert "R555" in why(one)
    assert not [r for r in one.reasons if r.rule == "driver"], (
        "CUDA 12 runs from 525.60.13 on: minor-version compatibility"
    )
    assert judged("2.21.0", machine("555.42.02", "H100", "3.11")).verdict == "works"
    assert judged("2.21.0", machine("525.60.13", "A100", "3.11")).verdict == "works", "machine code needs no compiler"
    assert judged("2.16.2", machine("525.60.13", "H100", "3.11")).verdict == "works", "PTX 8.0 is of CUDA 12.0"


def test_a_volta_needs_an_older_cudnn_than_pip_would_choose() -> None:
    on = machine("580.65.06", "V100", "3.11")
    one = judged("2.21.0", on)
    assert one.verdict == "works"
    assert one.pins == ("nvidia-cudnn-cu12<9.11",)
    assert "'nvidia-cudnn-cu12<9.11'" in command(one, on)
    assert judged("2.19.1", on).pins == (), "2.19 pins a cuDNN that knows Volta"
    with_newest = Machine(platform=LINUX, driver="580.65.06", gpus=on.gpus, packages={"nvidia-cudnn-cu12": "9.28.0.42"})
    found = [r for r in judged("2.21.0", with_newest).reasons if r.rule == "cudnn"]
    assert [r.pins for r in found] == [("nvidia-cudnn-cu12<9.11",)]


def test_volta_and_a_driver_that_dropped_it() -> None:
    one = judged("2.21.0", machine("595.45.04", "V100"))
    assert one.verdict == "fails"
    assert "R580 is the last driver for Volta" in why(one)


def test_blackwell() -> None:
    on = machine("580.65.06", "RTX 5090", "3.11")
    old, new = judged("2.17", on), judged("2.21.0", on)
    assert old.verdict == "fails"
    assert "no code that" in why(old)
    assert new.verdict == "works"
    assert any("compiled from PTX" in r.text for r in new.reasons)
    assert "needs a driver R570" in why(judged("2.21.0", machine("550.54.14", "RTX 5090")))
    assert best(solve(on, compat.releases())).version == "2.21.0"  # type: ignore[union-attr]


def test_kepler() -> None:
    for release in compat.newest_patches():
        if version(release.version) >= version("2.15"):
            assert answer(release, machine("470.256.02", "K80")).verdict == "fails", release.version
        assert answer(release, machine("535.161.08", "K80")).verdict == "fails", "R470 is the last driver for Kepler"
    assert judged("2.14.1", machine("470.256.02", "K80", "3.10")).verdict == "works"
    assert "tensorrt" in why(judged("2.14.1", machine("470.256.02", "K80", "3.11"))), "pip can't install its extra"
    chosen = best(solve(machine("470.256.02", "K80")))
    assert chosen is not None
    assert version(chosen.version) < version("2.15")


def test_pascal() -> None:
    on = machine("535.161.08", "GTX 1080", "3.9")
    for release in ("2.10", "2.15"):
        assert judged(release, on).verdict == "works", release
    one = judged("2.21.0", machine("580.65.06", "GTX 1080", "3.11"))
    assert one.verdict == "works"
    assert one.pins == ("nvidia-cudnn-cu12<9.11",)


def test_python_3_13() -> None:
    on = machine("580.65.06", "H100", "3.13")
    assert judged("2.21.0", on).verdict == "works"
    one = judged("2.19", on)
    assert one.verdict == "fails"
    assert "no file for Python 3.13" in why(one)


def test_native_windows() -> None:
    on = machine("566.36", "RTX 3080", "3.10", "windows-x86_64", windows_driver=True)
    one = judged("2.11", on)
    assert one.verdict == "fails"
    assert "without CUDA" in why(one)
    ten = judged("2.10", on)
    assert ten.verdict == "works", why(ten)
    assert not [r for r in ten.reasons if r.effect == "fails"]
    assert any("CUDA 11.2" in r.text for r in ten.reasons)


def test_wsl2_counts_windows_drivers() -> None:
    on = machine("528.33", "RTX 3080", "3.11", windows_driver=True)
    assert judged("2.15", on).verdict == "works"
    assert judged("2.15", machine("522.30", "RTX 3080", "3.11", windows_driver=True)).verdict == "fails"


@pytest.mark.parametrize("platform", ["macos-arm64", "macos-x86_64", "linux-aarch64"])
def test_where_only_the_cpu_computes(platform: Platform) -> None:
    for one in solve(
        machine(python="3.11", platform=platform),
        [r for r in compat.releases() if version(r.version) >= version("2.0")],
    ):
        assert one.verdict == "fails", one.version


def test_the_error_stub() -> None:
    one = judged("2.12.0", machine("535.161.08", "A100", "3.10"), "tensorflow-gpu")
    assert one.verdict == "fails"
    assert "can't be installed" in why(one)
    assert judged("2.12.0", machine("535.161.08", "A100", "3.10")).verdict == "works"


@pytest.mark.parametrize("driver", ["999.10", "547.12", "99.1", "601.01"])
def test_a_driver_that_nobody_has_heard_of(driver: str) -> None:
    for one in solve(machine(driver, "A100", "3.11"), [r for r in compat.releases() if build_of(r.version, LINUX)]):
        assert one.verdict == "unknown" or (
            one.reason is not None and one.reason.rule.startswith(("files", "hazard"))
        ), (
            one.version,
            why(one),
        )


def test_an_unknown_gpu_is_named_with_what_to_write() -> None:
    with pytest.raises(NotAVersion, match="no GPU 'RTX 9090' is known here"):
        compat.gpu_named("RTX 9090")
    one = judged("2.21.0", machine("580.65.06", "13.7"))
    assert one.verdict == "unknown"


def test_what_was_not_told_is_a_condition() -> None:
    one = judged("2.21.0", machine(gpu="H100"))
    assert one.verdict == "depends"
    assert {r.rule for r in one.reasons if r.effect == "depends"} == {"files", "driver", "ptx"}


def test_the_gap_of_2_21_costs_a_step() -> None:
    on = machine("580.65.06", "H200", "3.12")
    one = judged("2.21.0", on)
    assert [r.rule for r in one.needs] == ["loader"]
    assert "libcusolver.so.11" in one.needs[0].text
    assert "nvidia/cusolver/lib" in command(one, on)
    chosen = best(solve(on))
    assert chosen is not None
    assert chosen.version == "2.20.0", "it works as pip installs it"


def test_the_command_names_the_interpreter() -> None:
    on = machine("580.65.06", "H200", "3.12")
    assert command(judged("2.20.0", on), on) == "python3.12 -m pip install 'tensorflow[and-cuda]==2.20.0'"
    assert command(judged("2.20.0", on), on, "/opt/my env/bin/python").startswith("'/opt/my env/bin/python' -m pip")


# ------------------------------------------------------------------------------- properties

BRANCHES = sorted(b.branch for b in compat.matrix().driver_branches)
CAPABILITIES = sorted({c for a in compat.matrix().architectures for c in a.compute_capabilities}, key=capability)
PYTHONS = ["3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14"]

drivers = st.builds(lambda b, minor: f"{b}.{minor:02d}", st.sampled_from(BRANCHES), st.integers(0, 250))
capabilities = st.sampled_from(CAPABILITIES)
releases = st.sampled_from(compat.releases())


def on(driver: str | None, has: str | None, python: str | None = None) -> Machine:
    gpus = (Gpu(name="GPU", compute_capability=has),) if has else ()
    return Machine(platform=LINUX, driver=driver, gpus=gpus, python=python)


@given(releases, drivers, drivers, capabilities, st.sampled_from([None, *PYTHONS]))
@settings(max_examples=400)
def test_a_newer_driver_removes_nothing_but_by_a_record(release, one, other, has, python) -> None:  # type: ignore[no-untyped-def]
    older, newer = sorted((one, other), key=version)
    before, after = answer(release, on(older, has, python)), answer(release, on(newer, has, python))
    if before.verdict in ("works", "depends") and after.verdict not in ("works", "depends"):
        assert after.reason is not None
        kind = architecture(has)
        assert kind is not None
        by_generation = kind.last_branch is not None and version(newer).major > kind.last_branch
        assert by_generation or after.reason.rule.startswith("hazard"), after.reason


@given(
    releases, st.integers(1, 2000).filter(lambda n: n not in BRANCHES), capabilities, st.sampled_from([None, *PYTHONS])
)
@settings(max_examples=200)
def test_an_unknown_driver_is_never_called_anything(release, number, has, python) -> None:  # type: ignore[no-untyped-def]
    one = answer(release, on(f"{number}.10", has, python))
    assert one.verdict in ("unknown", "fails")
    for reason in one.reasons:
        assert reason.effect != "fails" or reason.rule not in ("driver", "ptx", "generation"), reason
    if one.verdict == "fails":
        without = answer(release, on(None, has, python))
        assert without.verdict == "fails", "something else than the driver decides"


@given(releases, drivers, st.tuples(st.integers(13, 99), st.integers(0, 9)))
def test_an_unknown_gpu_is_never_called_anything(release, driver, has) -> None:  # type: ignore[no-untyped-def]
    one = answer(release, on(driver, f"{has[0]}.{has[1]}"))
    assert one.verdict in ("unknown", "fails")
    assert all(r.rule.startswith(("files", "driver", "hazard")) for r in one.reasons if r.effect == "fails")


@given(releases, drivers, capabilities, st.sampled_from(PYTHONS))
@settings(max_examples=400)
def test_an_answer_never_contradicts_the_matrix(release, driver, has, python) -> None:  # type: ignore[no-untyped-def]
    one, build = answer(release, on(driver, has, python)), build_of(release.version, LINUX)
    files = [f for f in release.files if f.platform == LINUX and python in f.python and f.cuda is not False]
    cuda = build.cuda if build is not None and build.cuda else release.cuda
    kind, branch = architecture(has), driver_branch(driver)
    assert kind is not None
    assert branch is not None
    stands = [
        not files,
        cuda is not None and (floor := minimum(cuda)[0]) is not None and version(driver) < version(floor),
        kind.last_branch is not None and branch.branch > kind.last_branch,
        build is not None
        and build.minimum_compute_capability is not None
        and capability(has) < capability(build.minimum_compute_capability),
        build is not None and bool(build.kernels) and fit(build.kernels, has).useless > 0,
    ]
    if any(stands):
        assert one.verdict == "fails", stands
    if one.verdict == "works":
        assert build is not None, "without a wheel that was read nothing is certain"
    assert one.verdict == "works" or one.reason is not None
    assert all(r.source.strip() for r in one.reasons)


@given(st.lists(st.integers(0, 700), min_size=1, max_size=4), st.lists(st.integers(0, 700), min_size=1, max_size=4))
def test_versions_compare_by_number(one: list[int], other: list[int]) -> None:
    padded = max(len(one), len(other))
    first, second = (".".join(map(str, n)) for n in (one, other))
    by_number = [*one, *[0] * (padded - len(one))], [*other, *[0] * (padded - len(other))]
    assert (version(first) < version(second)) == (by_number[0] < by_number[1])
    assert admits(f">={second}", first) == (by_number[0] >= by_number[1])


@given(st.text(max_size=12))
def test_no_text_breaks_a_comparison(text: str) -> None:
    for ask in (version, capability, compat.gpu_named, driver_branch, compat.releases_like):
        with contextlib.suppress(NotAVersion):
            ask(text)


# ------------------------------------------------------------------------------- the parts


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (">=9.3,<10", ">=9.11", True),
        ("==8.9.7.29", ">=9.11", False),
        ("<2", ">=2", False),
        (">=1.26.0", ">=2", True),
        ("<=1.24.3,>=1.22", "<1.23", True),
        ("", ">=2", True),
        ("!=4.21.0,<5,>=3.20.3", ">=4", True),
        ("<5.0.0dev,>=3.20.3", "==7.*", False),
    ],
)
def test_overlap(one: str, other: str, expected: bool) -> None:
    assert overlap(one, other) is expected


def kernels(*groups: tuple[str, str, int]) -> tuple[Kernels, ...]:
    return tuple(
        Kernels(
            machine_code=tuple(code.split()),
            ptx=tuple(Ptx(isa=p.split(":")[0], target=p.split(":")[1]) for p in ptx.split()),
            count=count,
        )
        for code, ptx, count in groups
    )


@pytest.mark.parametrize(
    ("has", "expected"),
    [
        ("7.0", (0, 0, 10, None)),
        ("8.0", (10, 0, 0, None)),
        ("8.6", (10, 0, 0, None)),  # machine code of a lower minor version
        ("8.9", (10, 0, 0, None)),
        ("9.0", (4, 6, 0, "8.0")),
        ("12.0", (0, 4, 6, "8.5")),  # sm_90a is compiled for 9.0 only
    ],
)
def test_fit(has: str, expected: tuple[int, int, int, str | None]) -> None:
    built = kernels(("sm_80 sm_90", "8.5:sm_90", 4), ("sm_80", "8.0:sm_90a", 6))
    how = fit(built, has)
    assert (how.native, how.compiled, how.useless, how.isa) == expected
    assert how.total == 10


def test_code_for_newer_gpus_was_not_made_for_this_one() -> None:
    built = kernels(("sm_80", "8.0:sm_80", 9), ("", "8.3:sm_90", 3))
    assert (fit(built, "8.0").native, fit(built, "8.0").useless) == (9, 0)
    assert fit(built, "9.0").compiled == 12
    assert fit(built, "7.0").useless == 12, "nothing at all is for it"


def test_relocatable_code_counts_by_its_link() -> None:
    built = kernels(("sm_80", "8.0:sm_90", 9), ("", "8.3:sm_90", 3), ("sm_80 sm_90", "", 1))
    assert (fit(built, "9.0").total, fit(built, "9.0").isa) == (10, "8.0")
    assert fit(built, "12.0").isa == "8.3"
    assert (fit(built, "12.0").compiled, fit(built, "12.0").useless) == (12, 0), "compiled and linked anew"


def test_a_target_of_one_architecture_runs_there_only() -> None:
    assert fit(kernels(("sm_90a", "", 1)), "9.0").native == 1
    assert fit(kernels(("sm_90a", "", 1)), "10.0").useless == 1


def test_rules_speak_in_their_order() -> None:
    case = Case(release=compat.releases_like("2.19")[0], build=None, machine=machine("470.1", "H100", "3.13"))
    assert [r.rule for r in reasons(case)][:1] == ["files"]


# ------------------------------------------------------------------------------- what a review has found


@pytest.mark.parametrize("release", compat.releases(), ids=lambda r: r.version)
def test_no_command_names_a_distribution_twice(release) -> None:  # type: ignore[no-untyped-def]
    for python in ("3.7", "3.10", "3.11", "3.12"):
        on_it = machine("580.65.06", "V100", python)
        one = answer(release, on_it)
        if one.verdict != "fails":
            names = [Requirement(r).name for r in requirements(one, on_it)]
            assert len(names) == len(set(names)), names


@pytest.mark.parametrize("text", ["2.17.0rc1", "2.17+nv24.8", "1!2.17", "2.21.0.dev20260308"])
def test_a_build_of_another_version_is_not_that_release(text: str) -> None:
    assert compat.releases_like(text) == []


def test_a_cuda_older_than_the_gpu_is_not_known_to_work() -> None:
    for release in ("1.12.3", "2.10.1", "2.13.1", "2.15.1"):
        assert judged(release, machine("580.95.05", "RTX 5090")).verdict in ("unknown", "fails"), release
    assert judged("2.15.1", machine("580.95.05", "H200", "3.11")).verdict == "works", "seen on H200"
    chosen = best(solve(machine("580.95.05", "RTX 5090", "3.11")))
    assert chosen is not None
    assert chosen.version == "2.21.0"


def test_a_link_of_nccl_alone_condemns_no_gpu() -> None:
    one = judged("2.10.1", machine("535.161.08", "H100", "3.10"))
    assert one.verdict != "fails"
    built = kernels(("sm_60 sm_80", "7.0:sm_80", 9), ("sm_60", "", 1))
    assert (fit(built, "9.0").useless, fit(built, "9.0").linked) == (0, 1)


def test_only_the_branch_of_a_driver() -> None:
    one = judged("2.17", machine("525", "A100", "3.11"))
    assert one.verdict == "depends"
    assert judged("2.17", machine("520", "A100", "3.11")).verdict == "fails"


def test_the_command_prompt_of_windows() -> None:
    on_it = machine("566.36", "RTX 3080", "3.10", "windows-x86_64", windows_driver=True)
    assert command(judged("2.10", on_it), on_it) == 'py -3.10 -m pip install "tensorflow==2.10.1" "numpy<2"'


def test_a_hazard_of_newer_pythons_is_not_told_to_older_ones() -> None:
    assert not any("numpy 2" in r.text for r in judged("2.10", machine("535.161.08", "A100", "3.7")).reasons)
    assert judged("2.10", machine("535.161.08", "A100", "3.10")).pins == ("numpy<2",)


def test_cuda_11_0_has_an_older_floor_than_11() -> None:
    assert judged("2.4", machine("450.51.06", "A100", "3.8")).verdict != "fails"
    assert judged("2.5", machine("450.51.06", "A100", "3.8")).verdict == "fails"
