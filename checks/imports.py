"""Why `import tensorflow` fails: packages of another generation beside it."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from gpudoctor.checks import _fit
from gpudoctor.checks._installs import at_least
from gpudoctor.checks._pip import pip
from gpudoctor.checks._said import lines, said
from gpudoctor.facts import Facts, LogEvent, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, NotApplicable, Stage
from gpudoctor.registry import check

_BRINGS = ("tf-import-broken", "tf-lists-no-gpu", "op-fails")


def _said(facts: Facts, kind: str) -> tuple[LogEvent, ...]:
    """The events of a kind, where the import failed: beside one that works they are somebody else's."""
    if facts.tensorflow.directory is None:
        raise NotApplicable("TensorFlow is not installed")
    if known(facts.tensorflow.import_error) is None:
        return ()
    return known(facts.tensorflow.said(kind))


def _installed(facts: Facts, name: str) -> str | None:
    found = facts.python.distributions
    if isinstance(found, Unread):
        return None
    return next((d.version for d in found if d.name == name and not d.shadowed), None)


def _pip(facts: Facts, *wanted: str) -> str:
    python = quote(facts.python.executable) if isinstance(facts.python.executable, str) else "python3"
    return f"{python} -m pip install {' '.join(quote(w) for w in wanted)}"


def _same_tensorflow(facts: Facts) -> str | None:
    """'tensorflow==2.15.1': pip then takes the versions that it asks for."""
    name, version = facts.tensorflow.distribution, facts.tensorflow.version
    return f"{name}=={version}" if isinstance(name, str) and isinstance(version, str) else None


def _older_than(facts: Facts, version: str) -> bool | None:
    newer = at_least(facts.tensorflow.version, version)
    return None if newer is None else not newer


def _no_complaint(facts: Facts, name: str) -> str:
    if facts.tensorflow.import_error is not None:
        return f"the error of the import does not speak of {name}"
    version = _installed(facts, name)
    return "TensorFlow imports" + (f" with {name} {version}" if version else "")


def _proof(facts: Facts, events: tuple[LogEvent, ...], name: str) -> tuple[Evidence, ...]:
    words = tuple(Evidence(text=e.text, source="import tensorflow") for e in events[:2])
    version = _installed(facts, name)
    return (*words, Evidence(text=f"{name} {version}", source="installed distributions")) if version else words


def _by_release(facts: Facts, package: str) -> Iterator[Found]:
    """What compat/ knows of this release and the version that is installed, where the import was not tried."""
    known_of = _fit.breaks_import(facts, package)
    if known_of is None:
        return
    has = known_of.installed
    name, version = facts.tensorflow.distribution, facts.tensorflow.version
    yield Found(
        message=f"{package} {has} is installed, and TensorFlow {version} can't be imported with it.",
        proof=(
            Evidence(
                text=f"{name if isinstance(name, str) else 'tensorflow'} {version}, {package} {has}",
                source="installed distributions",
            ),
            Evidence(text=known_of.text, source=known_of.source),
        ),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary=f"Install the {package} that this TensorFlow takes",
                steps=pip(facts, "install", *(quote(p) for p in known_of.pins)),
            ),
        ),
    )


def _in_text(facts: Facts, package: str) -> Iterator[Found]:
    """The package's own words. Where TensorFlow was imported all the same, they are somebody else's."""
    told = said(
        facts, f"{package}-message", f"{package}-abi", f"{package}-mismatch", settle=f"python3 -m pip show {package}"
    )
    if facts.tensorflow.import_error is None:
        return
    old, same = _older_than(facts, "2.18"), _same_tensorflow(facts)
    limit = f"{package}<2" if package == "numpy" else "protobuf<3.21"
    wanted = (
        (limit,)
        if old or not isinstance(facts.tensorflow.version, str)
        else ("--upgrade", package, *([same] if same else []))
    )
    yield Found(
        message=f"The {package} that is installed does not fit this TensorFlow, or what was compiled for it.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary=f"Install the {package} that this TensorFlow takes",
                steps=(_pip(facts, *wanted),),
                verify="python3 -c 'import tensorflow'",
            ),
        ),
    )


@check("GD521", "numpy-abi-break", stage=Stage.PYTHON, explains=_BRINGS)
def numpy_abi_break(facts: Facts) -> Findings:
    """TensorFlow, or a package that it imports, was compiled for another generation of numpy.

    What it looks at: numpy's own words in the failed import: 'compiled using NumPy 1.x', 'numpy.core.multiarray failed to
    import', 'numpy.dtype size changed', '_ARRAY_API not found'; where the import was not tried, the installed numpy against
    what is known of this release.

    Why it matters: import tensorflow fails. TensorFlow before 2.18 is compiled for numpy 1 and can't use numpy 2.

    How to fix: install the generation of numpy that this TensorFlow was compiled for.

    Source: NumPy 2.0 migration guide; TensorFlow 2.18 release notes.
    """
    if facts.text.is_all:
        yield from _in_text(facts, "numpy")
        return
    if by_release := list(_by_release(facts, "numpy")):
        yield from by_release
        return
    events = _said(facts, "numpy-abi")
    if not events:
        return _no_complaint(facts, "numpy")
    old, same = _older_than(facts, "2.18"), _same_tensorflow(facts)
    wanted = ["numpy<2"] if old else ["--upgrade", "numpy"]
    yield Found(
        message=f"numpy {_installed(facts, 'numpy') or '(version unknown)'} is of another generation than what was "
        "compiled for it.",
        proof=_proof(facts, events, "numpy"),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Install the numpy that this TensorFlow takes",
                steps=(_pip(facts, *wanted, *([same] if same else [])),),
            ),
        ),
    )


@check("GD522", "protobuf-mismatch", stage=Stage.PYTHON, explains=_BRINGS)
def protobuf_mismatch(facts: Facts) -> Findings:
    """The installed protobuf does not fit this TensorFlow.

    What it looks at: protobuf's own words in the failed import: 'Descriptors cannot be created directly', 'cannot import
    name … from google.protobuf', 'Detected incompatible Protobuf Gencode/Runtime versions'; where the import was not
    tried, the installed protobuf against what is known of this release.

    Why it matters: import tensorflow fails. Other packages often bring another major version of protobuf.

    How to fix: install the protobuf that this TensorFlow asks for; pip knows which, from TensorFlow's own metadata.

    Source: https://protobuf.dev/support/cross-version-runtime-guarantee/; public reports.
    """
    if facts.text.is_all:
        yield from _in_text(facts, "protobuf")
        return
    if by_release := list(_by_release(facts, "protobuf")):
        yield from by_release
        return
    events = _said(facts, "protobuf-mismatch")
    if not events:
        return _no_complaint(facts, "protobuf")
    same = _same_tensorflow(facts)
    steps = (_pip(facts, same),) if same else ()
    yield Found(
        message=f"protobuf {_installed(facts, 'protobuf') or '(version unknown)'} does not fit this TensorFlow.",
        proof=_proof(facts, events, "protobuf"),
        fixes=(
            Fix(
                kind="command" if steps else "advice",
                risk="safe",
                summary="Let pip put the protobuf beside it that this TensorFlow asks for",
                steps=steps,
            ),
        ),
    )
