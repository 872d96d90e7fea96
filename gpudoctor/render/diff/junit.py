"""JUnit's XML of a comparison: a case for each finding that came or went, and for each figure that is slower or faster."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ..lines import clean
from . import view as told
from .view import View


def render(view: View) -> str:
    """A test suite, in ASCII."""
    return _written(ET.Element("testsuites", {"name": "gpudoctor"}), view)


def joined(report: str, view: View) -> str:
    """The suite beside that of a report."""
    return _written(ET.fromstring(report), view)  # noqa: S314 - made here


def _written(root: ET.Element, view: View) -> str:
    root.append(suite(view))
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(one.get(name, "0")) for one in root.findall("testsuite"))))
    ET.indent(root)
    made: bytes = ET.tostring(root, encoding="us-ascii", xml_declaration=True)
    return made.decode("ascii") + "\n"


def suite(view: View) -> ET.Element:
    """What is worse fails; what is better passes; where there is nothing one case passes."""
    one = view.comparison
    made = ET.Element("testsuite", {"name": "gpudoctor diff", "timestamp": clean(one.new.started_at)})
    properties = ET.SubElement(made, "properties")
    named = [("diff.verdict", view.verdict), ("diff.basis", one.basis), ("diff.exit_code", str(view.exit_code))]
    for name, value in (*named, *(("diff.new_finding", cause) for cause in view.causes)):
        ET.SubElement(properties, "property", {"name": name, "value": clean(value)})
    for new in one.new_findings:
        fixes = [line for fix in new.finding.fixes[:1] for line in (f"Fix: {fix.summary}", *fix.steps)]
        text = "\n".join([new.finding.message, told.because(new.explanation), *fixes])
        _failed(made, "new-finding", new.finding.cause, new.finding.code, new.finding.message, text)
    for change in one.lost:
        _failed(made, "lost", change.subject, "lost", told.changed(change), told.changed(change))
    for loss in one.losses:
        _failed(made, "measured", f"{loss.what} on {loss.where}", "slower", told.slower(loss), told.slower(loss))
    if not len(made.findall("testcase")) and one.is_worse:
        _failed(made, "verdict", "verdict", "worse", view.sentence, view.sentence)
    for gone in one.gone_findings:
        _case(made, "gone-finding", gone.cause, told.went(gone))
    for gain in one.gains:
        _case(made, "measured", f"{gain.what} on {gain.where}", told.slower(gain))
    if not len(made.findall("testcase")):
        _case(made, "verdict", "no-regression", view.sentence)
    text = "\n".join([view.head, *(told.changed(change) for change in one.changes), view.sentence])
    ET.SubElement(made, "system-out").text = clean(text)
    failures = len(made.findall("testcase/failure"))
    made.set("tests", str(len(made.findall("testcase"))))
    made.set("failures", str(failures))
    made.set("errors", "0")
    return made


def _case(made: ET.Element, kind: str, name: str, said: str) -> None:
    case = ET.SubElement(made, "testcase", {"name": clean(name), "classname": f"gpudoctor.diff.{kind}", "time": "0"})
    ET.SubElement(case, "system-out").text = clean(said)


def _failed(made: ET.Element, kind: str, name: str, type_: str, message: str, text: str) -> None:
    case = ET.SubElement(made, "testcase", {"name": clean(name), "classname": f"gpudoctor.diff.{kind}", "time": "0"})
    ET.SubElement(case, "failure", {"type": type_, "message": clean(message)}).text = clean(text)
