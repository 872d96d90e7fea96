"""The scan of wheels that are made here: real ELF objects, real loader code, fat binaries."""

from __future__ import annotations

import mmap
import random
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from gpudoctor import compat
from gpudoctor.compat.files import text_of
from gpudoctor.compat.records import Build, BuildObject, Kernels, LibraryWheel, Matrix, Ptx, WheelLibrary
from gpudoctor.compat.scan import fatbin, loader_code, objects, ptx, reach
from gpudoctor.compat.scan.__main__ import main
from gpudoctor.compat.scan.wheel import BadWheel
from gpudoctor.loader import elf
from tests.building import Workshop
from tests.compat import wheels

OBJECT = "tensorflow/libtensorflow_framework.so.2"
BUILD_INFO = "tensorflow/python/platform/build_info.py"


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    """A matrix.json that knows the libraries and no wheel."""
    path = tmp_path / "matrix.json"
    path.write_text(text_of(msgspec.structs.replace(compat.matrix(), builds=(), library_wheels=())))
    return path


def tensorflow_wheel(
    workshop: Workshop,
    directory: Path,
    *,
    kernels: bytes = b"",
    cc: bytes | None = None,
    tag: str = "cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64",
    extra: Sequence[str] | None = wheels.EXTRA,
    form: str = "in place",
    directories: Sequence[str] = wheels.DIRECTORIES,
) -> Path:
    """A TensorFlow wheel: the loader's object, libtensorflow_cc with the kernels, one more object."""
    framework = wheels.loader_object(workshop, form=form, directories=directories)
    plain = workshop.stub("libtensorflow_cc.so.2", rpath=("$ORIGIN/../nvidia/nccl/lib",)).read_bytes()
    files: dict[str, bytes | str] = {
        "tensorflow/__init__.py": "raise SystemExit('a scan runs nothing')",
        BUILD_INFO: wheels.BUILD_INFO,
        OBJECT: framework,
        "tensorflow/libtensorflow_cc.so.2": (cc or plain) + kernels,
        "tensorflow/python/_pywrap_a.so": workshop.stub("_pywrap_a.so", rpath=("$ORIGIN/..",)).read_bytes(),
        "tensorflow/include/empty.so": b"",
        "tensorflow/include/script.so": "GROUP ( libc.so.6 )",
    }
    return wheels.wheel(directory, files, tag=tag, requires=wheels.REQUIRES, extra=extra)


def printed(capsys: pytest.CaptureFixture[str], matrix: Path, *words: str | Path) -> Build:
    assert main(["--matrix", str(matrix), *map(str, words)]) == 0
    return msgspec.json.decode(capsys.readouterr().out, type=Build)


def test_every_field_of_a_build(
    workshop: Workshop, tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernels = (
        wheels.kernel((60, 80), "8.3", "sm_90a")
        + wheels.kernel((60, 80), "8.3", "sm_90a")
        + random.Random(1).randbytes(4000)
        + struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 99)  # the magic number by chance
        + wheels.kernel((60, 80, 90), "8.1", "sm_90")
        + wheels.fat_binary(wheels.entry("elf", 52, b"", kind_number=8))
    )
    read = printed(capsys, matrix, tensorflow_wheel(workshop, tmp_path, kernels=kernels))
    assert read == Build(
        source="wheel tensorflow 9.9.0 (manylinux, x86_64): METADATA, build_info.py, dynamic sections, fat binaries; "
        "sonames from the machine code of the loader in libtensorflow_framework.so.2",
        distribution="tensorflow",
        version="9.9.0",
        platform="linux-x86_64",
        glibc="2.17",
        requires_python=">=3.9",
        requires={'h5py; python_version < "3.13"': ">=3.11.0", "keras": ">=3.5.0", "numpy": "<2.2,>=1.26.0"},
        redirects=('tensorflow-intel==9.9.0; platform_system == "Windows"',),
        extra=dict.fromkeys(sorted(wheels.EXTRA), ""),
        is_cuda=True,
        cuda="12.5.1",
        cudnn="9",
        compute_capabilities=("sm_60", "sm_80", "compute_90"),
        complete=("sm_60", "sm_80"),
        partial=("sm_90",),
        kernels=(
            Kernels(machine_code=("sm_60", "sm_80"), ptx=(Ptx(isa="8.3", target="sm_90a"),), count=2),
            Kernels(machine_code=("sm_60", "sm_80", "sm_90"), ptx=(Ptx(isa="8.1", target="sm_90"),), count=1),
        ),
        minimum_compute_capability="6.0",
        sonames=wheels.FIRST_SONAMES,
        optional_sonames=("libcupti.so.12", "libnccl.so.2", "libnvinfer.so"),
        objects=(
            BuildObject(name="libtensorflow_cc.so.2", loader=False, runpath=("nvidia/nccl/lib",)),
            BuildObject(
                name="libtensorflow_framework.so.2",
                loader=True,
                runpath=tuple(f"nvidia/{d}/lib" for d in wheels.DIRECTORIES),
            ),
        ),
        out_of_reach=(),
    )


def test_the_record_is_printed_as_it_is_written(
    workshop: Workshop, tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tensorflow_wheel(workshop, tmp_path)
    assert main(["--matrix", str(matrix), str(path)]) == 0
    text = capsys.readouterr().out
    assert text == text_of(msgspec.json.decode(text, type=Build))
    other = tensorflow_wheel(workshop, tmp_path, tag="cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64")
    assert main(["--matrix", str(matrix), str(other)]) == 0
    assert capsys.readouterr().out == text


# --------------------------------------------------------------------------- what is out of reach


def test_a_library_that_the_loader_does_not_reach(
    workshop: Workshop, tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """TensorFlow 2.21.0: only libtensorflow_cc, which does not call dlopen, names nvidia/cusolver/lib."""
    fewer = [d for d in wheels.DIRECTORIES if d != "cusolver"]
    cc = workshop.stub("libtensorflow_cc.so.2", rpath=("$ORIGIN/../nvidia/cusolver/lib",)).read_bytes()
    path = tensorflow_wheel(workshop, tmp_path, cc=cc, directories=fewer)
    assert printed(capsys, matrix, path).out_of_reach == ("libcusolver.so.11",)


def test_a_library_that_no_wheel_of_the_extra_carries_is_nobodys_gap(
    workshop: Workshop, tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without = [e for e in wheels.EXTRA if "cusolver" not in e]
    path = tensorflow_wheel(workshop, tmp_path, extra=without, directories=[])
    lost = printed(capsys, matrix, path).out_of_reach
    assert lost == tuple(s for s in wheels.FIRST_SONAMES if "cusolver" not in s)


def test_without_an_extra_nothing_is_out_of_reach(
    workshop: Workshop, tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = printed(capsys, matrix, tensorflow_wheel(workshop, tmp_path, extra=None, directories=[]))
    assert (read.extra, read.out_of_reach) == (None, ())


def test_of_two_objects_with_the_loader_the_framework_counts(
    workshop: Workshop, tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = wheels.loader_object(workshop, "libtensorflow_cc.so.2")
    path = tensorflow_wheel(workshop, tmp_path, cc=whole, directories=["cublas", "cuda_runtime", "cufft", "cudnn"])
    read = printed(capsys, matrix, path)
    assert [o.name for o in read.objects if o.loader] == ["libtensorflow_cc.so.2", "libtensorflow_framework.so.2"]
    assert read.out_of_reach == ("libcusolver.so.11", "libcusparse.so.12")


LIBRARIES = compat.matrix().libraries
LOADER = reach.Loader(OBJECT, (), ("$ORIGIN/../nvidia/cusparse/lib", "$ORIGIN/../nvidia/nvjitlink/lib"))


def cusparse(version: str, runpath: tuple[str, ...]) -> LibraryWheel:
    """libcusparse, which needs libnvJitLink and looks for it in these directories."""
    library = WheelLibrary(
        soname="libcusparse.so.12",
        path="nvidia/cusparse/lib/libcusparse.so.12",
        needs=("libnvJitLink.so.12",),
        runpath=runpath,
        machine_code={},
        ptx={},
    )
    return LibraryWheel(
        source="a test",
        distribution="nvidia-cusparse-cu12",
        version=version,
        platform="linux-x86_64",
        requires=(),
        libraries=(library,),
    )


def test_what_a_library_needs_is_searched_by_its_own_runpath() -> None:
    extra = {"nvidia-cusparse-cu12": ">=12.5,<13", "nvidia-nvjitlink-cu12": ""}
    good, bad = cusparse("12.5.1", ("$ORIGIN", "$ORIGIN/../../nvjitlink/lib")), cusparse("12.6", ("$ORIGIN",))
    later = cusparse("13.0", ("$ORIGIN", "$ORIGIN/../../nvjitlink/lib"))

    def lost(*wheels: LibraryWheel) -> tuple[str, ...]:
        return reach.out_of_reach(LOADER, ["libcusparse.so.12"], extra, LIBRARIES, wheels)

    assert lost(good) == lost() == ()
    assert lost(good, bad, later) == ("libnvJitLink.so.12",)  # the newest that the extra admits counts


def test_a_library_that_is_loaded_already_is_found() -> None:
    extra = {"nvidia-cusparse-cu12": "", "nvidia-nvjitlink-cu12": ""}
    wheel = cusparse("12.5.1", ("$ORIGIN",))
    names = ["libnvJitLink.so.12", "libcusparse.so.12"]
    assert reach.out_of_reach(LOADER, names, extra, LIBRARIES, [wheel]) == ()


def test_the_runpath_of_the_loader_counts_as_glibc_reads_it() -> None:
    extra = {"nvidia-cusparse-cu12": ""}

    def lost(rpath: tuple[str, ...], runpath: tuple[str, ...] | None) -> tuple[str, ...]:
        loader = reach.Loader(OBJECT, rpath, runpath)
        return reach.out_of_reach(loader, ["libcusparse.so.12"], extra, LIBRARIES, [])

    there = ("${ORIGIN}/../nvidia/cusparse/lib",)
    assert lost((), there) == lost(there, None) == ()
    assert lost((), None) == lost((), ("$ORIGIN/../../nvidia/cusparse/lib",)) == ("libcusparse.so.12",)


def test_the_small_objects_are_elf_files(tmp_path: Path) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(reach.object_file("liba.so.1", ("libb.so.2",), runpath=("$ORIGIN", "/x")))
    read = elf.read(str(path))
    assert (read.soname, read.needed, read.runpath) == ("liba.so.1", ("libb.so.2",), ("$ORIGIN", "/x"))


# --------------------------------------------------------------------------- the loader's code


def image(path: Path) -> objects.Image:
    with path.open("rb") as f:
        return objects.Image(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ))


@pytest.mark.parametrize("room", ["tsl", "stream_executor"])
@pytest.mark.parametrize("form", wheels.FORMS)
def test_the_loaders_code_in_its_three_forms(workshop: Workshop, tmp_path: Path, form: str, room: str) -> None:
    path = tmp_path / "loader.so"
    path.write_bytes(wheels.loader_object(workshop, form=form, room=room))
    first, later = loader_code.sonames(image(path)) or ((), ())
    assert first == wheels.FIRST_SONAMES
    assert later == ("libcupti.so.12", "libnccl.so.2", "libnvinfer.so")  # neither the driver's nor ROCm's


def test_code_of_another_form_gives_no_answer(
    workshop: Workshop, tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wheels.FORMS["other"] = lambda _name, _version, _label: "vzeroupper\ncall get_dso_handle\nret"
    try:
        path = tensorflow_wheel(workshop, tmp_path, form="other")
    finally:
        del wheels.FORMS["other"]
    assert main(["--matrix", str(matrix), str(path)]) == 2
    assert "the loader's code in tensorflow/libtensorflow_framework.so.2 is of a form that" in capsys.readouterr().err


def test_the_real_loader(tensorflow_directory: Path) -> None:
    version = next(tensorflow_directory.parent.glob("tensorflow-*.dist-info")).name.split("-")[1].split(".dist")[0]
    recorded = compat.build(version)
    if recorded is None:
        pytest.skip(f"TensorFlow {version} has no record")
    found = loader_code.sonames(image(tensorflow_directory / "libtensorflow_framework.so.2"))
    assert found == (recorded.sonames, recorded.optional_sonames)


def test_before_there_was_a_loader_it_was_linked(
    workshop: Workshop, tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Up to 1.13; build_info.py says little, and GPU code is what tells a build for CUDA."""
    needed = ("libcudart.so.10.0", "libcudnn.so.7", "libcuda.so.1", "libm.so.6")
    linked = workshop.stub("_pywrap_tensorflow_internal.so", needed=needed).read_bytes()
    site = "tensorflow_gpu-1.13.2.data/purelib/"
    path = wheels.wheel(
        tmp_path,
        {
            site + "tensorflow/__init__.py": "",
            site + "tensorflow/python/platform/build_info.py": "is_cuda_build = True\n",
            site + "tensorflow/python/_pywrap_tensorflow_internal.so": linked + wheels.kernel((37, 61), "6.3", "sm_61"),
        },
        "tensorflow-gpu",
        "1.13.2",
        "cp37-cp37m-manylinux1_x86_64",
    )
    read = printed(capsys, matrix, path)
    assert (read.distribution, read.glibc, read.is_cuda) == ("tensorflow-gpu", "2.5", True)
    assert read.confidence == "inferred"
    assert (read.cuda, read.cudnn, read.compute_capabilities) == ("10.0", "7", ())
    assert (read.sonames, read.optional_sonames) == (("libcudart.so.10.0", "libcudnn.so.7"), ())
    assert (read.minimum_compute_capability, read.objects, read.extra) == ("3.7", (), None)


def test_a_build_for_the_cpu(tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"tensorflow/__init__.py": "", BUILD_INFO: "build_info = dict({'is_cuda_build': False})"}
    read = printed(capsys, matrix, wheels.wheel(tmp_path, files, "tensorflow-cpu", tag="cp312-cp312-linux_aarch64"))
    assert (read.is_cuda, read.cuda, read.minimum_compute_capability, read.sonames) == (False, None, None, ())
    assert (read.platform, read.glibc) == ("linux-aarch64", None)
    read = printed(capsys, matrix, wheels.wheel(tmp_path, {"tensorflow/__init__.py": ""}))
    assert read.is_cuda is None


# --------------------------------------------------------------------------- fat binaries and PTX


def read_all(data: bytes) -> list[list[tuple[str, int, tuple[str, str] | None]]]:
    return [
        [(e.kind, e.arch, fatbin.ptx_header(data, e) if e.kind == "ptx" else None) for e in binary]
        for binary in fatbin.fat_binaries(data)
    ]


def test_ptx_plain_and_compressed() -> None:
    plain = wheels.entry("ptx", 80, wheels.ptx("7.1", "sm_80"))
    packed = wheels.entry("ptx", 90, wheels.lz4(wheels.ptx("8.5", "sm_90a", before=5000)), "lz4")
    assert read_all(b"x" * 5 + wheels.fat_binary(plain, packed)) == [
        [("ptx", 80, ("7.1", "sm_80")), ("ptx", 90, None)]  # beyond what is read
    ]
    packed = wheels.entry("ptx", 90, wheels.lz4(wheels.ptx("8.5", "sm_90a", before=900)), "lz4")
    assert read_all(wheels.fat_binary(packed)) == [[("ptx", 90, ("8.5", "sm_90a"))]]


def test_ptx_compressed_with_zstd(monkeypatch: pytest.MonkeyPatch) -> None:
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.ZstdCompressor().compress(wheels.ptx("8.8", "sm_120"))
    data = wheels.fat_binary(wheels.entry("ptx", 120, packed, "zstd"))
    assert read_all(data) == [[("ptx", 120, ("8.8", "sm_120"))]]
    assert read_all(wheels.fat_binary(wheels.entry("ptx", 120, b"no frame", "zstd"))) == [[("ptx", 120, None)]]
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(BadWheel, match=r"pip install 'gpudoctor\[scan\]'"):
        read_all(data)


@pytest.mark.parametrize("text", [b"", b"\xff", b"\x10a\x09\x00", b"\xf0\xff\xff", b"\x1fa\x01\x00" + b"\xff" * 40])
def test_a_block_that_makes_no_sense_ends_early(text: bytes) -> None:
    assert ptx.header(ptx.lz4_head(text)) is None


def test_a_fat_binary_that_is_cut_off_is_none() -> None:
    whole = wheels.kernel((60, 80), "8.3", "sm_90")
    assert len(read_all(whole)) == 1
    for length in range(0, len(whole), 7):
        assert read_all(whole[:length]) == []
    assert len(read_all(whole[:-1] + whole)) <= 1
    assert len(read_all(whole + b"\0" * 3 + whole)) == 2


def test_the_magic_number_by_chance_is_none() -> None:
    noise = random.Random(2)
    magic = struct.pack("<I", 0xBA55ED50)
    assert read_all(b"".join(magic + noise.randbytes(200) for _ in range(500))) == []
    assert read_all(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 0)) == []
    assert read_all((magic + b"\1\0\x10\0" + bytes(8)) * 3 + wheels.kernel((60,), "8.3", "sm_90")) != []


# --------------------------------------------------------------------------- nvidia-*


def nvidia_wheel(workshop: Workshop, directory: Path, version: str = "12.5.1.3") -> Path:
    jit = ("libnvJitLink.so.12", "libm.so.6")
    library = workshop.stub("libcusparse.so.12", needed=jit, rpath=("$ORIGIN", "$ORIGIN/../../nvjitlink/lib"))
    code = wheels.kernel((60, 90), "8.5", "sm_90") + wheels.kernel((90,), "8.5", "sm_90")
    return wheels.wheel(
        directory,
        {
            "nvidia/cusparse/lib/libcusparse.so.12": library.read_bytes() + code,
            "nvidia/cusparse/lib/libhelper.so.1": workshop.stub("libhelper.so.1").read_bytes(),
            "nvidia/cusparse/lib/libkernels.so.1": workshop.stub("libkernels.so.1").read_bytes() + code,
            "nvidia/cusparse/lib/libnvJitLink.so.12": workshop.stub("libnvJitLink.so.12").read_bytes(),
        },
        "nvidia-cusparse-cu12",
        version,
        "py3-none-manylinux2014_x86_64",
        requires=("nvidia-nvjitlink-cu12",),
    )


def test_every_field_of_a_library_wheel(
    workshop: Workshop, tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--matrix", str(matrix), str(nvidia_wheel(workshop, tmp_path))]) == 0
    read = msgspec.json.decode(capsys.readouterr().out, type=LibraryWheel)
    counted = {"machine_code": {"sm_60": 1, "sm_90": 2}, "ptx": {"compute_90": 2}}
    directory = "nvidia/cusparse/lib/"
    assert read == LibraryWheel(
        source="wheel nvidia-cusparse-cu12 12.5.1.3 (linux-x86_64): METADATA, dynamic sections, fat binaries",
        distribution="nvidia-cusparse-cu12",
        version="12.5.1.3",
        platform="linux-x86_64",
        requires=("nvidia-nvjitlink-cu12",),
        libraries=(
            WheelLibrary(
                soname="libcusparse.so.12",
                path=directory + "libcusparse.so.12",
                needs=("libnvJitLink.so.12",),
                runpath=("$ORIGIN", "$ORIGIN/../../nvjitlink/lib"),
                **counted,
            ),
            WheelLibrary(soname="libkernels.so.1", path=directory + "libkernels.so.1", needs=(), runpath=(), **counted),
            WheelLibrary(
                soname="libnvJitLink.so.12",
                path=directory + "libnvJitLink.so.12",
                needs=(),
                runpath=(),
                machine_code={},
                ptx={},
            ),
        ),
    )


# --------------------------------------------------------------------------- --check, --write, bad input


def test_check_and_write(workshop: Workshop, tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built, library = tensorflow_wheel(workshop, tmp_path), nvidia_wheel(workshop, tmp_path)
    older = nvidia_wheel(workshop, tmp_path, "12.5.1.10")
    words = ["--matrix", str(matrix), str(built), str(older), str(library)]
    assert main([*words, "--check"]) == 1
    none = capsys.readouterr().out
    assert "tensorflow 9.9.0 (linux-x86_64): compat/matrix.json has no record of it\n" in none
    before = msgspec.json.decode(matrix.read_bytes(), type=Matrix)
    assert main([*words, "--write"]) == 0
    once = matrix.read_bytes()
    assert main([*words, "--write"]) == 0
    assert matrix.read_bytes() == once
    capsys.readouterr()
    assert main([*words, "--check"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "tensorflow 9.9.0: the same"

    after = msgspec.json.decode(once, type=Matrix)
    assert text_of(after).encode() == once
    assert [r.version for r in after.builds] == ["9.9.0"]
    assert [r.version for r in after.library_wheels] == ["12.5.1.3", "12.5.1.10"]
    assert msgspec.structs.replace(after, builds=(), library_wheels=()) == before

    matrix.write_bytes(once.replace(b'"glibc": "2.17"', b'"glibc": "2.28"'))
    assert main([*words, "--check"]) == 1
    out = capsys.readouterr().out
    assert "--- tensorflow 9.9.0 (linux-x86_64), recorded" in out
    assert '- "glibc": "2.28",\n+ "glibc": "2.17",' in out


def test_a_record_of_a_new_version_goes_to_its_place(
    workshop: Workshop, tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"tensorflow/__init__.py": "", BUILD_INFO: "is_cuda_build = False"}
    for name, version in (("tensorflow", "2.10.0"), ("tensorflow", "2.9.1"), ("tensorflow-gpu", "1.0")):
        made = wheels.wheel(tmp_path, files, name, version)
        assert main(["--matrix", str(matrix), str(made), "--write"]) == 0
    read = msgspec.json.decode(matrix.read_bytes(), type=Matrix)
    assert [r.version for r in read.builds] == ["2.9.1", "2.10.0", "1.0"]


def complaint(capsys: pytest.CaptureFixture[str], matrix: Path, *words: str | Path) -> str:
    assert main(["--matrix", str(matrix), *map(str, words)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    return err


def test_a_wheel_for_windows(tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its DLLs are no ELF objects: their GPU code is read, and what they open is not."""
    info = "build_info = dict({'is_cuda_build': True, 'cuda_version': '64_112', 'cudnn_version': '64_8'})"
    files: dict[str, bytes | str] = {
        "tensorflow/__init__.py": "",
        BUILD_INFO: info,
        "tensorflow/python/_pywrap_tensorflow_internal.pyd": b"MZ" + wheels.kernel((60, 80), "7.0", "sm_80"),
        "tensorflow/libtensorflow.dll": b"MZ" + bytes(200),
    }
    read = printed(capsys, matrix, wheels.wheel(tmp_path, files, tag="cp310-cp310-win_amd64"))
    assert (read.platform, read.glibc, read.cuda, read.cudnn) == ("windows-x86_64", None, "11.2", "8")
    assert [(k.machine_code, k.count) for k in read.kernels] == [(("sm_60", "sm_80"), 1)]
    assert (read.sonames, read.objects, read.out_of_reach) == ((), (), ())


def test_bad_input_is_one_line(
    workshop: Workshop, tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.whl"
    text.write_text("no wheel")
    assert "no wheel is named" in complaint(capsys, matrix)
    assert "No such file or directory" in complaint(capsys, matrix, tmp_path / "none.whl")
    assert "Is a directory" in complaint(capsys, matrix, tmp_path)
    assert "not a wheel, or cut off" in complaint(capsys, matrix, text)
    assert "no such file, and no requirement" in complaint(capsys, matrix, "!")
    assert "a file or a requirement" in complaint(capsys, matrix, "tensorflow @ https:x")
    assert "Is a directory" not in complaint(capsys, tmp_path / "none.json", text)

    whole = tensorflow_wheel(workshop, tmp_path, kernels=random.Random(3).randbytes(50000))
    data = whole.read_bytes()
    whole.write_bytes(data[: len(data) // 2])
    assert "not a wheel, or cut off" in complaint(capsys, matrix, whole)
    at = len(data) // 2
    whole.write_bytes(data[:at] + bytes(b ^ 0xFF for b in data[at : at + 64]) + data[at + 64 :])
    assert "libtensorflow_cc.so.2 is damaged" in complaint(capsys, matrix, whole)

    other = wheels.wheel(tmp_path, {"torch/__init__.py": ""}, "torch", "2.9.0")
    assert "torch 2.9.0 is no wheel of TensorFlow" in complaint(capsys, matrix, other)
    other = wheels.wheel(tmp_path, {"x/__init__.py": ""}, "tensorflow-datasets", "4.9.0", "py3-none-any")
    assert "is no wheel of TensorFlow" in complaint(capsys, matrix, other)
    other = wheels.wheel(tmp_path, {"tensorflow/__init__.py": ""}, tag="cp312-cp312-macosx_12_0_arm64")
    assert "only wheels for Linux and 64-bit Windows are read" in complaint(capsys, matrix, other)
    other = wheels.wheel(tmp_path, {"tensorflow/__init__.py": "", OBJECT: b"\x7fELF" + bytes(100)})
    assert "tensorflow/libtensorflow_framework.so.2: invalid ELF" in complaint(capsys, matrix, other)
    other = wheels.wheel(tmp_path, {"tensorflow/__init__.py": ""}, requires=("numpy >>= 1",))
    assert "tensorflow-9.9.0" in complaint(capsys, matrix, other)
    other = wheels.wheel(tmp_path, {"tensorflow/__init__.py": "", BUILD_INFO: "is_cuda_build = True"})
    assert "no object holds a loader" in complaint(capsys, matrix, other)


def test_one_bad_wheel_does_not_keep_the_others_from_being_read(
    tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = wheels.wheel(tmp_path, {"tensorflow/__init__.py": "", BUILD_INFO: "is_cuda_build = False"})
    assert main(["--matrix", str(matrix), "none.whl", str(good), "--write"]) == 2
    assert [r.version for r in msgspec.json.decode(matrix.read_bytes(), type=Matrix).builds] == ["9.9.0"]


# --------------------------------------------------------------------------- requirements, by pip from a directory


def test_a_requirement_is_fetched_and_nothing_is_kept(
    tmp_path: Path, matrix: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pip")
    index, temporary = tmp_path / "index", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    files = {"tensorflow/__init__.py": "", BUILD_INFO: "is_cuda_build = False"}
    wheels.wheel(index, files, tag="cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64")
    wheels.wheel(index, files, version="9.10.0", tag="cp312-cp312-manylinux_2_28_x86_64")
    assert printed(capsys, matrix, "tensorflow==9.9.0").version == "9.9.0"
    assert printed(capsys, matrix, "tensorflow").glibc == "2.28"
    assert printed(capsys, matrix, "tensorflow", "--python", "3.11").version == "9.9.0"
    assert "pip did not fetch it" in complaint(capsys, matrix, "tensorflow==9.9.0", "--python", "3.12")
    assert list(temporary.iterdir()) == []
    assert main(["--matrix", str(matrix), "tensorflow==9.10.0", "--write"]) == 0
    assert main(["--matrix", str(matrix), "--all", "--check"]) == 0
    assert capsys.readouterr().out == "tensorflow 9.10.0: the same\n"
