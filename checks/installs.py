"""Packages that can't be installed, or not as a build with CUDA, on this platform."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.checks import _installs, _stated, _told
from gpudoctor.checks._builds_said import pinned
from gpudoctor.checks._said import left_open, lines, said
from gpudoctor.facts import Facts, TextEvent, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, NotApplicable, Stage
from gpudoctor.registry import check

_LIST = "TF_CPP_MIN_LOG_LEVEL=0 python3 -c \"import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))\""
_WSL = Fix(
    kind="advice",
    risk="safe",
    summary="Install TensorFlow inside WSL2 (wsl --install, then in Ubuntu: python3 -m pip install 'tensorflow[and-cuda]'); or "
    "stay with the last release that has CUDA on Windows: pip install 'tensorflow==2.10.1' under Python 3.7 to 3.10, with "
    "CUDA 11.2 and cuDNN 8.1",
    steps=(),
    verify="python -c \"import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))\"",
)


@check("GD420", "tensorflow-gpu-package-removed", stage=Stage.PYTHON, explains=("install-fails", "tf-not-installed"))
def tensorflow_gpu_package_removed(facts: Facts) -> Findings:
    """The package tensorflow-gpu is gone: what is left on the index only raises an error.

    What it looks at: in a pasted text, the words of that empty package, its file (tensorflow-gpu-2.12.0.tar.gz), and a
    release of tensorflow-gpu that was asked for and never existed.

    Why it matters: requirements and guides still name it. From 2.1 to 2.11 it was the same as tensorflow.

    How to fix: install tensorflow[and-cuda] (2.14 and newer, on Linux) or tensorflow, and take tensorflow-gpu out of the
    requirements.

    Source: https://pypi.org/project/tensorflow-gpu; release notes of TensorFlow 2.12.
    """
    told = facts.text.said("tensorflow-gpu-stub")
    if facts.text.is_all and not told:
        told = tuple(e for e in facts.text.said("no-version") if _never_existed(e) or _ends_with_it(e))
    named = facts.text.said("gpu-package") or [e for e in facts.text.said("setup-failed") if "tensorflow-gpu" in e.text]
    if facts.text.is_all and not told and any(_of_gpu(e) for e in facts.text.said("installed", "installed-now")):
        return "tensorflow-gpu is installed"
    if facts.text.is_all and not told and not named:
        raise NotApplicable("nobody asks for tensorflow-gpu")
    if not told:
        told = said(facts, "tensorflow-gpu-stub", settle="python3 -m pip install tensorflow-gpu")
    yield Found(
        message="tensorflow-gpu is an empty package that raises an error: it was merged into tensorflow.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Install tensorflow; on Linux with its CUDA libraries",
                steps=("python3 -m pip install 'tensorflow[and-cuda]'",),
                verify="python3 -c \"import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))\"",
            ),
        ),
    )


def _of_gpu(row: TextEvent) -> bool:
    return bool(
        re.search(r"tensorflow[-_]gpu(?:[ =-]|$)", f"{row.values.get('name', '')} {row.values.get('names', '')}")
    )


def _ends_with_it(event: TextEvent) -> bool:
    """pip lists a tensorflow-gpu before the one that is asked for, and the empty one after it: it is not the Python's matter."""
    listed = _installs.offered(event) or ()
    asked = re.match(r"==(2\.\d+)", event.values.get("spec", ""))
    if _installs.distribution(event) != "tensorflow-gpu" or asked is None or "2.12.0" not in listed:
        return False
    return _installs.at_least(asked[1], "2.11") is True and any(v.startswith("2.10.") for v in listed)


def _never_existed(event: TextEvent) -> bool:
    """A tensorflow-gpu that was asked for after its end."""
    if _installs.distribution(event) != "tensorflow-gpu" or not event.values.get("spec"):
        return False
    wanted = _installs.asked_for(event, name="tensorflow")
    return (
        bool(wanted) and not _installs.asked_for(event) and all(_installs.at_least(r.version, "2.12") for r in wanted)
    )


@check(
    "GD421",
    "tf-windows-native-cpu-only",
    stage=Stage.PYTHON,
    explains=("tf-cpu-only-package", "tf-lists-no-gpu", "tf-no-gpu-registered", "cuda-libs-missing"),
)
def tf_windows_native_cpu_only(facts: Facts) -> Findings:
    """On native Windows TensorFlow 2.11 and newer is built without CUDA.

    What it looks at: the system, and the release of TensorFlow (where it is not told, Python 3.11 and newer: there is no older
    release for it). In a pasted text, where TensorFlow lists no GPU, or somebody asks how to use one and nothing else is wrong.

    Why it matters: whatever driver, CUDA and cuDNN are installed, this build never looks for them.

    How to fix: WSL2, or TensorFlow 2.10.

    Source: https://www.tensorflow.org/install/pip#windows-native; release notes of 2.11.
    """
    if known(facts.system.system) != "Windows":
        raise NotApplicable("this is not Windows")
    proven = facts.text.said("native-windows-told") or any(
        e.values.get("system") == "Windows" for e in facts.text.said("runs-on")
    )
    if not proven and (facts.system.wsl is True or facts.text.said("says-elsewhere")):
        raise UnknownFactError(
            Unread(
                why="the text speaks of WSL or a container as well",
                settle="python -c 'import sys; print(sys.platform)'",
            )
        )
    listed = facts.tensorflow.gpus()
    if not isinstance(listed, Unread) and listed:
        raise NotApplicable("TensorFlow lists GPUs")
    if isinstance(facts.tensorflow.import_error, str):
        raise NotApplicable("TensorFlow can't be imported")
    if facts.tensorflow.build.cuda is True:
        raise NotApplicable("this build has CUDA")
    if facts.text.is_all and facts.text.said("lists-gpus"):
        raise left_open("python -c 'import sys; print(sys.executable)'")  # there is another environment
    new = _installs.at_least(facts.tensorflow.version, "2.11")
    if not new and facts.text.said("release-after-2.10", "release-left"):
        new = True
    named = _told.releases(facts) if facts.text.is_all and new is None and facts.tensorflow.build.cuda is False else ()
    if named and min(named) >= _WITHOUT_CUDA:  # in a question, too: it is what does not work
        new = True
    pins = [release for release, _, _ in pinned(facts)] if facts.text.is_all and new is None else []
    if pins and max(pins) < _WITHOUT_CUDA:
        return "up to 2.10 TensorFlow for Windows has CUDA"
    if new is None:
        new = _installs.at_least(_installs.minor(facts.python.version), "3.11") or None
    if new is None:
        known(facts.tensorflow.version)
    if not new:
        return "up to 2.10 TensorFlow for Windows has CUDA"
    refused = facts.text.said("device-not-available")
    refused = refused or facts.text.said("gpu-hardly-used")
    if facts.text.is_all and not _installs.shows_no_gpu(facts) and not _asks_for_a_gpu(facts) and not refused:
        known(facts.tensorflow.devices)
    told = facts.tensorflow.version
    version = told if isinstance(told, str) and _installs.at_least(told, "2.11") else "2.11 or newer"
    yield Found(
        message=f"TensorFlow {version} for Windows is built without CUDA: it computes on the CPU only.",
        proof=(Evidence(text=f"Windows, TensorFlow {version}", source="system and package"),),
        fixes=(_WSL,),
    )


_WITHOUT_CUDA = (2, 11)


def _asks_for_a_gpu(facts: Facts) -> bool:
    """Somebody wants one, has one, and nothing in the text fails."""
    return (
        bool(facts.text.said("wants-gpu") and facts.text.said("says-nvidia", "nvidia-gpu-named"))
        and not facts.text.shows_a_failure
    )


@check(
    "GD422",
    "tf-macos-no-cuda",
    stage=Stage.PYTHON,
    explains=(
        "tf-cpu-only-package",
        "tf-lists-no-gpu",
        "tf-no-gpu-registered",
        "install-fails",
        "cuinit-no-device",
        "cuinit-fails",
        "libcuda-not-found",
    ),
)
def tf_macos_no_cuda(facts: Facts) -> Iterator[Found]:
    """On macOS TensorFlow has no CUDA.

    What it looks at: the system, and that TensorFlow lists no GPU, or that a build with CUDA was asked for (tensorflow-gpu,
    tensorflow[and-cuda]).

    Why it matters: no wheel for macOS since 1.2 is built with CUDA, and NVIDIA has no driver for macOS since 10.14.

    How to fix: on Apple silicon, and AMD GPUs, the plug-in tensorflow-metal; for CUDA, a Linux machine.

    Source: https://www.tensorflow.org/install/pip#macos; release notes of 1.2; https://developer.apple.com/metal/tensorflow-plugin/
    """
    if known(facts.system.system) != "Darwin":
        raise NotApplicable("this is not macOS")
    listed = facts.tensorflow.gpus()
    if not isinstance(listed, Unread) and listed:
        raise NotApplicable("TensorFlow lists GPUs")
    if isinstance(facts.tensorflow.import_error, str):
        raise NotApplicable("TensorFlow can't be imported")
    lost = facts.tensorflow.libraries
    of_cuda = not isinstance(lost, Unread) and any(one.soname.endswith(".dylib") for one in lost)
    if facts.tensorflow.build.cuda is True or of_cuda:
        raise UnknownFactError(Unread(why="this build has CUDA"))
    if facts.text.is_all and isinstance(facts.driver.libcuda.init_result, int):
        raise UnknownFactError(Unread(why="a driver of NVIDIA's answers: it is another machine's system that is named"))
    asked = tuple(e for e in facts.text.said("no-version") if e.values.get("name") == "tensorflow-gpu")
    wish = facts.text.said("gpu-package", "no-cuda-wheel") or asked
    if not wish and not facts.text.shows_a_failure and not facts.text.said("gpu-memory-short-said"):
        wish = facts.text.said("says-nvidia")
    if facts.text.is_all and not wish and not _installs.shows_no_gpu(facts):
        known(facts.tensorflow.devices)
    if _installs.at_least(facts.tensorflow.version, "1.2") is False:
        raise UnknownFactError(Unread(why="up to 1.1 there were builds with CUDA for macOS"))
    yield Found(
        message="TensorFlow for macOS is built without CUDA.",
        proof=lines(wish) or (Evidence(text="Darwin", source="platform.system()"),),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="On a Mac with Apple silicon or an AMD GPU: pip install tensorflow tensorflow-metal. For CUDA use Linux",
                steps=(),
            ),
        ),
    )


@check("GD423", "tf-aarch64-no-wheel", stage=Stage.PYTHON, explains=("install-fails", "tf-not-installed"))
def tf_aarch64_no_wheel(facts: Facts) -> Iterator[Found]:
    """This release of TensorFlow has no wheel for aarch64.

    What it looks at: in a pasted text, pip's 'no matching distribution' on aarch64 or Apple silicon (the system, the wheels that pip
    downloads, or the list of versions: no other platform's begins with 2.13), what was asked for, the version of Python, and the
    files of every release on the package index.

    Why it matters: before 2.10 nothing was published for aarch64, before 2.13 nothing for Apple silicon, and tensorflow-gpu never was.

    How to fix: a release that has a wheel (tensorflow-macos on Apple silicon before 2.13); else NVIDIA's container or, on Jetson,
    NVIDIA's own wheel for the JetPack.

    Source: the package index (compat/matrix.json, releases); NVIDIA, Installing TensorFlow for Jetson Platform.
    """
    told = facts.text.said("no-version") if facts.text.is_all else ()
    if not told and facts.text.is_all and facts.text.said("wheel-chosen") and not facts.text.shows_a_failure:
        told = () if facts.text.said("installed", "installed-now") else facts.text.said("tf-required")
    if not told:
        told = said(facts, "no-version", settle="uname -m; python3 --version")
    platform = _installs.arm_platform(facts)
    if facts.system.machine in ("x86_64", "AMD64", "i686") or (
        platform is None and facts.system.system in ("Windows", "Darwin")
    ):
        raise NotApplicable("this is neither Linux on aarch64 nor Apple silicon")
    if platform is None:
        known(facts.system.machine)
        raise NotApplicable("this is not aarch64")
    python = _installs.minor(facts.python.version)
    for event in told:
        wanted, name = _installs.asked_for(event), _installs.distribution(event)
        if platform != "linux-aarch64" and event.values.get("name", name).lower() not in (
            "tensorflow",
            "tensorflow-cpu",
        ):
            continue
        has = _installs.pythons(wanted, name, platform)
        if wanted and (
            not has or (python is not None and python not in has and python in _installs.pythons(wanted, name))
        ):
            yield Found(
                message=f"There is no wheel of {name}{event.values.get('spec', '')} for "
                f"{'aarch64' if platform == 'linux-aarch64' else 'Apple silicon'}"
                + (f" and Python {python}." if has else "."),
                proof=lines((event, *facts.text.said("apple-silicon")[:1])),
                fixes=(_ON_LINUX if platform == "linux-aarch64" else _ON_APPLES,),
            )
            return
    raise UnknownFactError(Unread(why="the text does not tell which Python asks", settle="python3 --version"))


_ON_LINUX = Fix(
    kind="advice",
    risk="safe",
    summary="On Jetson install NVIDIA's wheel for your JetPack; elsewhere use nvcr.io/nvidia/tensorflow",
    steps=(),
)
_ON_APPLES = Fix(
    kind="advice",
    risk="safe",
    summary="Ask for tensorflow 2.13 or newer; older releases for Apple silicon are in the package tensorflow-macos",
    steps=(),
    verify="python3 -c 'import platform; print(platform.machine())'",
)


@check(
    "GD424",
    "msvc-runtime-missing",
    stage=Stage.PYTHON,
    explains=("tf-import-broken", "tf-lists-no-gpu", "op-fails"),
)
def msvc_runtime_missing(facts: Facts) -> Iterator[Found]:
    """Microsoft's C++ runtime is missing on this Windows, or too old.

    What it looks at: in a pasted text, TensorFlow's own words for it ("Could not find the DLL(s) 'msvcp140_1.dll'") and those
    of Windows.

    Why it matters: TensorFlow's library needs msvcp140.dll, msvcp140_1.dll and vcruntime140_1.dll; without them the import ends
    with 'DLL load failed'.

    How to fix: install the current Visual C++ Redistributable for x64, and restart.

    Source: tensorflow/python/platform/self_check.py; https://www.tensorflow.org/install/pip#windows-native
    """
    told = said(facts, "msvc-runtime", settle=r"where msvcp140_1.dll vcruntime140_1.dll")
    yield Found(
        message="Microsoft's Visual C++ runtime is missing or too old.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="advice",
                risk="needs root",
                summary="Install https://aka.ms/vs/17/release/vc_redist.x64.exe and restart Windows",
                steps=(),
                verify='python -c "import tensorflow"',
            ),
        ),
    )


_PREVIEW = "2.0.0b1"
_LAST_BEFORE, _FIRST_AFTER = {"1.14.0", _PREVIEW}, {"1.15.0", "2.0.0"}
"""Of TensorFlow: the last releases whose Linux wheels are of manylinux1, the first of manylinux2010."""
_NOT_BUILT_FOR, _BUILT_FOR = ("3.3", "3.4"), ("2.7", "3.5", "3.6", "3.7")
"""Pythons that the releases of manylinux2010 left out, and those that 1.15.0 was built for."""


@check("GD426", "pip-too-old", stage=Stage.PYTHON, explains=("install-fails", "tf-not-installed"))
def pip_too_old(facts: Facts) -> Iterator[Found]:
    """This pip is older than the form of TensorFlow's wheels, and does not see them.

    What it looks at: in a pasted text, a list of versions that ends with 1.14.0 and 2.0.0b1 although a newer one is asked for,
    a manylinux2010 or newer wheel that is 'not supported on this platform', and what a pip before 8.1 prints.

    Why it matters: pip says that there is no such version; neither Python nor TensorFlow is the reason.

    How to fix: upgrade pip (8.1 knows manylinux1, 19.0 manylinux2010, 19.3 manylinux2014), then install again.

    Source: pip's changelog, 8.1, 19.0 and 19.3; the files of tensorflow 1.14.0, 1.15.0 and 2.0.0 on PyPI; PEP 513, 571 and 599.
    """
    if early := _knows_no_manylinux(facts):
        yield Found(
            message="This pip is older than 8.1, and finds no wheel for Linux.",
            proof=lines(early),
            fixes=(_UPGRADE_PIP,),
        )
        return
    python = _installs.minor(facts.python.version)
    told = tuple(e for e in facts.text.said("no-version") if _ends_early(e, python)) + tuple(
        e for e in facts.text.said("wheel-not-supported") if e.values.get("platform", "").startswith("manylinux20")
    )
    if not told or python in _NOT_BUILT_FOR or facts.system.machine in ("aarch64", "arm64"):
        said(facts, "", settle="python3 -m pip --version")
    fitting = (e for e in told if "platform" not in e.values or _installs.is_for(e, facts.python.version))
    if not (proof := tuple(fitting)):
        raise UnknownFactError(Unread(why="the text does not tell whether the wheel is for this Python"))
    yield Found(
        message="pip offers no wheel that is newer than manylinux1: it is older than 19.0.",
        proof=lines(proof),
        fixes=(_UPGRADE_PIP,),
    )


_UPGRADE_PIP = Fix(
    kind="command",
    risk="safe",
    summary="Upgrade pip, then install again",
    steps=("python3 -m pip install --upgrade pip",),
    verify="python3 -m pip --version",
)


def _knows_no_manylinux(facts: Facts) -> tuple[TextEvent, ...]:
    """pip finds no version of TensorFlow or of what it needs, and what it prints, or its number, is that of a pip before 8.1."""
    lacks = facts.text.said("no-version", "other-no-version")
    early = facts.text.said("pip-before-wheels")
    on_linux = facts.system.system not in ("Windows", "Darwin")
    return (*early[:1], *lacks[:1]) if early and lacks and on_linux else ()


def _ends_early(event: TextEvent, python: str | None) -> bool:
    """pip lists the last releases of manylinux1, and none of those that came after them. Where it lists no previews, as the last one is, the
    Python must be one for which the next release was built."""
    offered = set(event.values.get("versions", "").replace(" ", "").split(","))
    last = _LAST_BEFORE if python not in _BUILT_FOR else _LAST_BEFORE - {_PREVIEW}
    return offered >= last and not offered & _FIRST_AFTER


@check("GD427", "windows-long-path", stage=Stage.PYTHON, explains=("install-fails", "tf-not-installed"))
def windows_long_path(facts: Facts) -> Iterator[Found]:
    """TensorFlow's files have longer paths than this Windows allows, so that pip can't write them.

    What it looks at: in a pasted text, pip's hint at it, or that it can't write one of TensorFlow's headers, whose paths are the
    longest.

    Why it matters: the installation ends half-way, with 'No such file or directory' for a file that pip itself wants to write.

    How to fix: allow long paths (as administrator), or put the environment into a directory near the drive's root.

    Source: pip's documentation, 'Enable long paths'; Microsoft, 'Maximum Path Length Limitation': 260 characters.
    """
    told = said(
        facts,
        "path-too-long",
        settle="reg query HKLM\\SYSTEM\\CurrentControlSet\\Control\\FileSystem /v LongPathsEnabled",
    )
    yield Found(
        message="pip can't write a file of TensorFlow's: its path is longer than Windows allows.",
        proof=lines(told[:2]),
        fixes=(
            Fix(
                kind="command",
                risk="needs root",
                summary="Allow long paths, in a PowerShell as administrator, then install again in a new prompt",
                steps=(
                    "Set-ItemProperty -Path HKLM:\\SYSTEM\\CurrentControlSet\\Control\\FileSystem -Name LongPathsEnabled -Value 1",
                ),
            ),
            Fix(
                kind="advice", risk="safe", summary="Make the environment in a short path: py -m venv C:\\tf", steps=()
            ),
        ),
    )


_MODULE_NOT_FOUND = "126"
_NEEDS_ZLIB, _HAS_ZLIB = (8, 3), (9,)


@check("GD425", "zlibwapi-missing", stage=Stage.LIBRARIES, explains=("op-fails", "tf-lists-no-gpu"))
def zlibwapi_missing(facts: Facts) -> Iterator[Found]:
    """zlibwapi.dll is missing, which cuDNN 8.3 and newer needs on Windows.

    What it looks at: in a pasted text, cuDNN's words for it; or that Windows can't load a part of cuDNN for want of what it
    needs (error code 126), where a cuDNN from 8.3 to 8.9 is named.

    Why it matters: the first convolution ends the program; nothing says so before.

    How to fix: put zlibwapi.dll beside cuDNN's DLLs, or into a directory of PATH.

    Source: NVIDIA cuDNN installation guide 8.3 to 8.9, 'Installing zlib' on Windows.
    """
    parts = [e for e in facts.text.said("cudnn-part-on-windows") if e.values.get("code") == _MODULE_NOT_FOUND]
    alone = facts.text.said("single-dll-fetched-said")  # others of cuDNN are not there
    if parts and not alone and any(_NEEDS_ZLIB <= cudnn < _HAS_ZLIB for cudnn in _stated.named(facts, "cudnn")):
        told = (*facts.text.said("zlibwapi"), *parts)
    else:
        told = said(facts, "zlibwapi", settle="where zlibwapi.dll")
    yield Found(
        message="cuDNN can't find zlibwapi.dll.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Copy zlibwapi.dll (zlib 1.2.3, 64 bits; Nsight Systems brings one) into the directory of cudnn64_8.dll",
                steps=(),
                verify="where zlibwapi.dll",
            ),
        ),
    )
