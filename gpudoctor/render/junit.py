"""JUnit's XML: a test case for each check, for what shows test results.

A finding of level fail is a failure. A warning is a case that passes, with its text as output: there is no better place, since
readers of this format know no warnings. What could not be decided is skipped, and so never passes; so is what is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from ..findings import Finding
from . import lines
from .lines import clean
from .view import Outcome, View


def render(view: View) -> str:
    """A test suite, in ASCII: so it is the same wherever it is printed."""
    ends = [one.ended for one in view.outcomes]
    failures = sum(_failed(one) for one in view.outcomes)
    skipped = sum(ends.count(end) for end in ("skipped", "unknown", "ignored"))
    counts = {"tests": str(len(ends)), "failures": str(failures), "errors": "0"}
    took = {} if view.took_s is None else {"time": f"{view.took_s:.3f}"}
    root = ET.Element("testsuites", {"name": "gpudoctor", **counts, **took})
    stamp = clean(view.report.started_at)
    suite = ET.SubElement(
        root, "testsuite", {"name": "gpudoctor", **counts, "skipped": str(skipped), "timestamp": stamp, **took}
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(view):
        ET.SubElement(properties, "property", {"name": name, "value": clean(value)})
    for one in view.outcomes:
        _case(suite, one, view.where)
    ET.SubElement(suite, "system-out").text = clean(view.sentence)
    ET.indent(root)
    made: bytes = ET.tostring(root, encoding="us-ascii", xml_declaration=True)
    return made.decode("ascii") + "\n"


def _properties(view: View) -> Iterable[tuple[str, str]]:
    yield "gpudoctor.version", view.report.tool.version
    yield "verdict", view.verdict
    yield "exit_code", str(view.exit_code)
    for root in view.causes:
        yield "root_cause", root.cause
    if view.ignored is not None:
        yield "ignored", view.ignored


def _failed(one: Outcome) -> bool:
    return one.ended == "found" and one.level == "fail"


def _case(suite: ET.Element, one: Outcome, where: str) -> None:
    """Judging takes no time that three digits could show."""
    case = ET.SubElement(suite, "testcase", {"name": one.cause, "classname": f"gpudoctor.{one.subject}", "time": "0"})
    if one.ended == "found":
        text = "\n\n".join(_told(finding, where) for finding in one.findings)
        if _failed(one):
            message = clean(one.findings[0].message)
            ET.SubElement(case, "failure", {"type": one.code, "message": message}).text = text
        else:
            ET.SubElement(case, "system-out").text = f"{one.code}, {one.level}: {text}"
    elif one.ended == "unknown":
        settle = f"; settle it with: {one.settle}" if where == "here" else f"; the report says: {one.settle}"
        _skip(case, "unknown", f"could not be decided: {one.why}{settle if one.settle else ''}")
    elif one.ended == "ignored":
        _skip(case, "ignored", f"found, and ignored {one.why}")
    elif one.ended == "skipped":
        _skip(case, "not applicable", f"does not apply here: {one.why}")


def _skip(case: ET.Element, kind: str, message: str) -> None:
    """Jenkins shows the attribute, GitLab the text."""
    ET.SubElement(case, "skipped", {"type": kind, "message": clean(message)}).text = clean(message)


def _told(finding: Finding, where: str) -> str:
    told = [f"{finding.title}.", finding.message, "Proof", *(one.plain for one in lines.evidence(finding.proof))]
    for fix in finding.fixes:
        told += [one.plain for one in lines.mended(fix, "Fix", where)]
    return clean("\n".join(told))
