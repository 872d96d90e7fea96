from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from gpudoctor import diagnosis, registry
from gpudoctor.diagnosis import judge
from gpudoctor.facts import DeviceNode, Facts, Libcuda, TensorFlow, Trial, UnknownFactError, Unread, known, unread_all
from gpudoctor.findings import EnvChange, Fix, Found, Level, NotApplicable, Stage, SymptomRank
from gpudoctor.registry import Check
from gpudoctor.trial import View, apply
from tests.checks.test_libraries import gap
from tests.factory import cu_init, healthy, lists_no_gpu, roots, with_, with_variable


def rule(
    code: str,
    cause: str,
    *found: Found,
    stage: Stage = Stage.DRIVER,
    explains: tuple[str, ...] = (),
    level: Level = Level.FAIL,
    rank: SymptomRank | None = None,
) -> Check:
    def body(facts: Facts) -> Iterator[Found]:
        """Something is wrong."""
        yield from found

    return Check(code, cause, stage, level, explains, rank, body)


def complain(error: Exception) -> Iterator[Found]:
    raise error


def failing(code: str, cause: str, error: Exception, explains: tuple[str, ...] = ()) -> Check:
    def body(facts: Facts) -> Iterator[Found]:
        """Something is wrong."""
        yield from complain(error)

    return Check(code, cause, Stage.DRIVER, Level.FAIL, explains, None, body)


def found(about: tuple[str, ...] = (), fixes: tuple[Fix, ...] = ()) -> Found:
    return Found(message="it is", about=about, fixes=fixes)


def env(value: str) -> Fix:
    return Fix(
        kind="env",
        risk="safe",
        summary="set it",
        steps=(f"export A={value}",),
        env=(EnvChange(name="A", op="set", value=value),),
    )


SYMPTOM = rule("GD900", "slow", found(), rank=SymptomRank.SLOW, stage=Stage.SPEED)


def test_a_healthy_machine_is_healthy() -> None:
    judged = judge(healthy())
    assert judged.diagnosis.verdict == "healthy"
    assert judged.findings == ()
    assert judged.unknown == ()


def test_a_cause_explains_its_symptom_and_other_causes() -> None:
    one = rule("GD901", "upper", found(), explains=("lower",))
    two = rule("GD902", "lower", found(), explains=("slow",))
    judged = judge(healthy(), (SYMPTOM, one, two))
    (root,) = judged.diagnosis.root_causes
    assert root.cause == "upper"
    assert root.explains == ("slow", "lower")
    assert judged.diagnosis.unexplained == ()


def test_a_case_may_be_less_bad_than_its_check_and_never_worse() -> None:
    lower = rule("GD901", "bites-nobody-yet", Found(message="it is", level=Level.INFO))
    higher = rule("GD902", "a-note", Found(message="it is", level=Level.FAIL), level=Level.INFO)
    bad = rule("GD903", "really-bad", found(), level=Level.WARN)
    judged = judge(healthy(), (lower, higher))
    assert [f.level for f in judged.findings] == ["info", "info"]
    assert judged.diagnosis.verdict == "healthy"
    assert [r.cause for r in judge(healthy(), (lower, bad)).diagnosis.root_causes] == ["really-bad", "bites-nobody-yet"]


def test_a_finding_explains_only_what_it_overlaps() -> None:
    symptom = rule("GD900", "slow", found(("gpu0", "gpu1")), found(("gpu2",)), rank=SymptomRank.SLOW)
    cause = rule("GD901", "link", found(("gpu2",)), explains=("slow",))
    judged = judge(healthy(), (symptom, cause))
    assert [u.symptom for u in judged.diagnosis.unexplained] == ["slow"]
    whole = rule("GD901", "link", found(), explains=("slow",))
    assert judge(healthy(), (symptom, whole)).diagnosis.unexplained == ()


def test_two_causes_of_one_symptom_are_both_roots_in_the_order_of_their_stages() -> None:
    late = rule("GD901", "late", found(), stage=Stage.LIBRARIES, explains=("slow",))
    early = rule("GD902", "early", found(), stage=Stage.BUS, explains=("slow",))
    assert [r.cause for r in judge(healthy(), (SYMPTOM, late, early)).diagnosis.root_causes] == ["early", "late"]


def test_the_worst_symptom_comes_before_the_stage() -> None:
    none = rule("GD903", "no-gpu", found(), rank=SymptomRank.NO_GPU)
    slow = rule("GD901", "link", found(), stage=Stage.BUS, explains=("slow",))
    hidden = rule("GD902", "hidden", found(), stage=Stage.VISIBILITY, explains=("no-gpu",))
    judged = judge(healthy(), (SYMPTOM, none, slow, hidden))
    assert [r.cause for r in judged.diagnosis.root_causes] == ["hidden", "link"]


def test_a_symptom_without_a_cause_has_candidates() -> None:
    unknown = failing("GD901", "maybe", UnknownFactError(Unread(why="no permission", settle="sudo look")), ("slow",))
    other = failing("GD902", "elsewhere", UnknownFactError(Unread(why="no permission")))
    judged = judge(healthy(), (SYMPTOM, unknown, other))
    (candidate,) = judged.diagnosis.candidates["slow"]
    assert (candidate.cause, candidate.unknown_because, candidate.settle) == ("maybe", "no permission", "sudo look")
    assert judged.diagnosis.root_causes == ()
    assert judged.diagnosis.verdict == "faulty"


def test_a_symptom_whose_causes_are_ruled_out_is_unexplained() -> None:
    out = rule("GD901", "not-it", explains=("slow",))
    (left,) = judge(healthy(), (SYMPTOM, out)).diagnosis.unexplained
    assert left.ruled_out == ("not-it",)


def test_a_skip_has_its_reason() -> None:
    (skipped,) = judge(healthy(), (failing("GD901", "x", NotApplicable("no NVLink on this product")),)).skipped
    assert skipped.reason == "no NVLink on this product"


def test_a_check_that_breaks_is_unknown_not_healthy() -> None:
    (unknown,) = judge(healthy(), (failing("GD901", "x", ZeroDivisionError("oops")),)).unknown
    assert "ZeroDivisionError: oops" in unknown.why


def test_a_finding_before_a_fact_that_is_unread_is_not_kept() -> None:
    def body(facts: Facts) -> Iterator[Found]:
        """Something is wrong."""
        yield found()
        known(Unread(why="later"))

    judged = judge(healthy(), (Check("GD901", "x", Stage.BUS, Level.FAIL, (), None, body),))
    assert judged.findings == ()
    assert [u.why for u in judged.unknown] == ["later"]


@pytest.mark.parametrize(
    ("level", "verdict"), [(Level.INFO, "healthy"), (Level.WARN, "warning"), (Level.FAIL, "faulty")]
)
def test_the_verdict_is_the_worst_level(level: Level, verdict: str) -> None:
    assert judge(healthy(), (rule("GD901", "x", found(), level=level),)).diagnosis.verdict == verdict


def test_several_roots_have_one_combined_fix() -> None:
    one = rule("GD901", "one", found(fixes=(env("1"),)), stage=Stage.VISIBILITY)
    two = rule("GD902", "two", found(fixes=(env("2"), env("3"))), stage=Stage.LIBRARIES)
    combined = judge(healthy(), (one, two)).diagnosis.combined_fix
    assert combined is not None
    assert combined.steps == ("export A=1", "export A=2")
    assert combined.causes == ("one", "two")


def path(op: str, value: str = "") -> Fix:
    line = {"set": f"export LD_LIBRARY_PATH={value}", "unset": "unset LD_LIBRARY_PATH"}.get(op, f"export P={value}")
    change = EnvChange(name="LD_LIBRARY_PATH", op=op, value=value)  # type: ignore[arg-type]
    return Fix(kind="env", risk="safe", summary="", steps=(line,), env=(change,))


@pytest.mark.parametrize(
    ("fixes", "steps"),
    [
        ((path("set", "/b:/c"), path("set", "/a:/c")), ("export LD_LIBRARY_PATH=/c",)),
        ((path("set", "/b"), path("set", "/a")), ("unset LD_LIBRARY_PATH",)),
        ((path("unset"), path("set", "/a")), ("unset LD_LIBRARY_PATH",)),
        ((path("prepend", "/x"), path("set", "/a")), ("export LD_LIBRARY_PATH=/a", "export P=/x")),
        ((env("1"), path("set", "/a")), ("export LD_LIBRARY_PATH=/a", "export A=1")),
    ],
)
def test_what_one_fix_takes_off_a_path_no_other_puts_back(fixes: tuple[Fix, Fix], steps: tuple[str, ...]) -> None:
    one = rule("GD901", "one", found(fixes=fixes[:1]), stage=Stage.VISIBILITY)
    two = rule("GD902", "two", found(fixes=fixes[1:]), stage=Stage.LIBRARIES)
    combined = judge(healthy(), (one, two)).diagnosis.combined_fix
    assert combined is not None
    assert combined.steps == steps
    changed = apply({"LD_LIBRARY_PATH": "/a:/b:/c"}, View().and_also(fixes[0].env, ()).and_also(fixes[1].env, ()).env)
    assert changed == apply({"LD_LIBRARY_PATH": "/a:/b:/c"}, combined.env)
    assert ("/x:" in changed.get("LD_LIBRARY_PATH", "")) == any(e.op == "prepend" for f in fixes for e in f.env)


def test_what_only_slows_is_not_in_the_way_of_what_fails() -> None:
    one = rule("GD901", "one", found(fixes=(env("1"),)), stage=Stage.VISIBILITY)
    two = rule("GD902", "two", found(fixes=(env("2"),)), stage=Stage.LIBRARIES)
    slow = rule("GD903", "slow", found(fixes=(env("3"),)), stage=Stage.SPEED, level=Level.WARN)
    other = rule("GD904", "other", found(fixes=(env("4"),)), stage=Stage.SPEED, level=Level.WARN)
    combined = judge(healthy(), (one, two, slow)).diagnosis.combined_fix
    assert combined is not None
    assert combined.causes == ("one", "two")
    assert judge(healthy(), (one, slow, other)).diagnosis.combined_fix is None
    combined = judge(healthy(), (slow, other)).diagnosis.combined_fix
    assert combined is not None
    assert combined.causes == ("slow", "other")


def test_to_look_at_something_mends_nothing() -> None:
    look = Fix(kind="advice", risk="safe", summary="See what holds it back", steps=("nvidia-smi",))
    one = rule("GD901", "one", found(fixes=(env("1"),)))
    two = rule("GD902", "two", found(fixes=(look,)))
    assert judge(healthy(), (one, two)).diagnosis.combined_fix is None


def test_no_combined_fix_where_one_cause_has_none() -> None:
    one = rule("GD901", "one", found(fixes=(env("1"),)))
    two = rule("GD902", "two", found())
    assert judge(healthy(), (one, two)).diagnosis.combined_fix is None
    assert judge(healthy(), (one,)).diagnosis.combined_fix is None


def test_a_fix_that_was_seen_to_fail_comes_last_and_is_not_combined() -> None:
    trials = (
        Trial(cause="two", steps=("export A=2",), worked=False, outcome="no"),
        Trial(cause="two", steps=("export A=3",), worked=True, outcome="yes"),
    )
    one = rule("GD901", "one", found(fixes=(env("1"),)), stage=Stage.VISIBILITY)
    two = rule("GD902", "two", found(fixes=(env("2"), env("3"))), stage=Stage.LIBRARIES)
    diagnosed = judge(with_(healthy(), trials=trials), (one, two)).diagnosis
    assert [f.steps for f in diagnosed.root_causes[1].fixes] == [("export A=3",), ("export A=2",)]
    assert diagnosed.combined_fix is not None
    assert diagnosed.combined_fix.steps == ("export A=1", "export A=3")


def test_a_trial_of_other_steps_is_not_taken_for_this_fix() -> None:
    trials = (Trial(cause="one", steps=("export A=9",), worked=True, outcome="yes"),)
    one = rule("GD901", "one", found(fixes=(env("1"),)))
    (root,) = judge(with_(healthy(), trials=trials), (one,)).diagnosis.root_causes
    assert root.fixes[0].trial is None


def test_the_gap_and_a_hidden_gpu_are_both_roots_with_one_fix() -> None:
    facts = cu_init(with_variable(gap(), "CUDA_VISIBLE_DEVICES", "-1"), 100)
    diagnosed = judge(facts).diagnosis
    assert [r.cause for r in diagnosed.root_causes] == ["cuda-visible-devices-empty", "tf-wheel-runpath-gap"]
    assert diagnosed.combined_fix is not None
    assert diagnosed.combined_fix.steps[0] == "unset CUDA_VISIBLE_DEVICES"


def test_an_empty_list_of_which_nothing_is_known_names_no_cause() -> None:
    blank = Facts()
    facts = with_(blank, tensorflow=lists_no_gpu(healthy()).tensorflow)
    facts = with_(facts, tensorflow__libraries=Unread(why="not in this text"), tensorflow__loader_ok=Unread(why="?"))
    diagnosed = judge(facts).diagnosis
    assert diagnosed.root_causes == ()
    causes = {c.cause for c in diagnosed.candidates["tf-lists-no-gpu"]}
    assert {"no-nvidia-gpu", "driver-missing", "cuda-visible-devices-empty", "tf-wheel-runpath-gap"} <= causes


def test_no_node_of_any_kind_is_a_cause_of_its_own() -> None:
    facts = cu_init(with_(healthy(), driver__nodes=(DeviceNode(path="/dev/nvidiactl", exists=False),)), 100)
    assert judge(facts).diagnosis.unexplained == ()
    assert roots(facts) == ["device-nodes-missing"]


def test_explaining_goes_round_in_no_circle() -> None:
    edges = {c.cause: c.explains for c in registry.all_checks()}

    def reach(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"{' -> '.join(path)} -> {name}"
        for other in edges.get(name, ()):
            reach(other, (*path, name))

    for name in edges:
        reach(name, ())


def test_every_name_that_is_explained_is_a_check() -> None:
    names = {c.cause for c in registry.all_checks()}
    for check in registry.all_checks():
        assert set(check.explains) <= names, check.code


def test_judging_is_pure() -> None:
    assert judge(gap()) == judge(gap())
    assert diagnosis.judge(healthy()) == judge(healthy())


def test_checks_are_plain_data() -> None:
    one = registry.all_checks()[0]
    assert isinstance(one, msgspec.Struct)
    with pytest.raises(AttributeError, match="immutable"):
        setattr(one, "cause", "another")  # noqa: B010


def test_unread_is_not_healthy() -> None:
    assert judge(Facts()).diagnosis.verdict == "unknown"
    hung = with_(healthy(), tensorflow__devices=Unread(why="listing the devices did not end within 30 s"))
    assert judge(hung).diagnosis.verdict == "unknown"


def test_what_nobody_asked_for_leaves_a_machine_healthy() -> None:
    quick = Unread(why="TensorFlow is not imported at the quick level", chosen=True)
    facts = with_(healthy(), tensorflow__devices=quick, tensorflow__import_error=quick, measurements=())
    assert judge(facts).diagnosis.verdict == "healthy"
    blind = with_(facts, tensorflow__libraries=Unread(why="the loader crashed"))
    assert judge(blind).diagnosis.verdict == "unknown"


def test_a_cause_that_is_unknown_is_no_matter_where_tensorflow_lists_its_gpus() -> None:
    assert judge(with_(healthy(), pci__devices=Unread(why="/sys is hidden"))).diagnosis.verdict == "healthy"


def test_a_case_may_explain_less_than_its_check() -> None:
    less = Found(message="it is", explains=("fewer",))
    cause = rule("GD901", "cause", less, explains=("slow", "fewer"))
    judged = judge(healthy(), (SYMPTOM, cause))
    assert [u.symptom for u in judged.diagnosis.unexplained] == ["slow"]
    assert judged.diagnosis.root_causes[0].explains == ()


def test_nothing_is_combined_with_a_reboot() -> None:
    reboot = Fix(kind="command", risk="needs reboot", summary="reboot", steps=("sudo reboot",))
    one = rule("GD901", "one", found(fixes=(reboot,)))
    two = rule("GD902", "two", found(fixes=(env("2"),)))
    assert judge(healthy(), (one, two)).diagnosis.combined_fix is None


def test_without_tensorflow_and_without_a_gpu_every_check_comes_to_an_end() -> None:
    """A bare interpreter on a machine without a GPU: nothing is left open but what nobody could read."""
    absent = Unread(why="TensorFlow is not installed")
    cuda = msgspec.structs.replace(
        unread_all(Libcuda, Unread(why="no libcuda.so.1")), path=None, load_error="no such file", no_answer=None
    )
    bare = msgspec.structs.replace(
        healthy(),
        tensorflow=msgspec.structs.replace(unread_all(TensorFlow, absent), directory=None, stray=()),
        measurements=(),
    )
    bare = with_(bare, driver__libcuda=cuda, driver__kernel_version=None, gpu__nvml_error=12)
    assert [(u.cause, u.why) for u in judge(bare).unknown if "itself failed" in u.why] == []
    assert {u.cause for u in judge(bare).unknown} <= {"driver-missing", "driver-libcuda-not-on-path"}
