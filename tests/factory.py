"""Facts of a healthy machine, for tests that change one of them."""

from __future__ import annotations

from typing import Any

import msgspec

from gpudoctor.diagnosis import judge
from gpudoctor.facts import (
    Build,
    CudaDevice,
    DeviceNode,
    Distribution,
    Driver,
    Environment,
    Facts,
    Gpu,
    GpuDevice,
    Libcuda,
    Libraries,
    LibraryFile,
    LibraryPick,
    LoaderObject,
    Measurement,
    Pci,
    PciDevice,
    Python,
    SearchStep,
    System,
    TensorFlow,
    TensorFlowDevice,
    Unread,
    Variable,
)
from gpudoctor.findings import Finding, Judgement

SITE = "/opt/venv/lib/python3.12/site-packages"
FRAMEWORK = f"{SITE}/tensorflow/libtensorflow_framework.so.2"
DRIVER = "580.159.04"
LIBCUDA = f"/usr/lib/x86_64-linux-gnu/libcuda.so.{DRIVER}"
WHEELS = {
    "libcudart.so.12": "cuda_runtime",
    "libcublas.so.12": "cublas",
    "libcublasLt.so.12": "cublas",
    "libcufft.so.11": "cufft",
    "libcusolver.so.11": "cusolver",
    "libcusparse.so.12": "cusparse",
    "libcudnn.so.9": "cudnn",
}
RUNPATH_OF = "RUNPATH of libtensorflow_framework.so.2"


def wheel(component: str) -> str:
    """The directory of an nvidia wheel beside TensorFlow."""
    return f"{SITE}/nvidia/{component}/lib"


def library_file(soname: str) -> LibraryFile:
    """A library as pip installs it."""
    directory = wheel(WHEELS[soname])
    return LibraryFile(name=soname, path=f"{directory}/{soname}", kind="wheel", owner=f"nvidia-{WHEELS[soname]}-cu12 1")


def healthy() -> Facts:
    """A machine with two H200 GPUs on which everything works."""
    gpus = [(0, "0000:00:06.0"), (1, "0000:00:07.0")]
    runpath = tuple(dict.fromkeys(wheel(c) for c in WHEELS.values()))
    return Facts(
        environment=Environment(variables=(Variable(name="PATH", value="/opt/venv/bin:/usr/bin"),)),
        system=System(
            system="Linux",
            kernel="6.8.0",
            machine="x86_64",
            cores=32,
            memory_total_bytes=1 << 38,
            distribution="ubuntu",
            user_id=1000,
            container=None,
            wsl=False,
            tegra=False,
        ),
        pci=Pci(
            devices=(
                PciDevice(address="0000:00:00.0", vendor=0x8086, device=0x1237, pci_class=0x060000, driver=None),
                *(
                    PciDevice(address=a, vendor=0x10DE, device=0x2335, pci_class=0x030200, driver="nvidia")
                    for _, a in gpus
                ),
            )
        ),
        driver=Driver(
            kernel_version=DRIVER,
            kernel_flavour="open",
            modules=("nvidia", "nvidia_uvm"),
            uvm_major=238,
            nodes=tuple(
                DeviceNode(path=p, exists=True, major=195, minor=m, open_errno=None)
                for p, m in (("/dev/nvidiactl", 255), ("/dev/nvidia-uvm", 0), ("/dev/nvidia0", 0), ("/dev/nvidia1", 1))
            ),
            daemons=(),
            libcuda=Libcuda(
                path=LIBCUDA,
                version=DRIVER,
                found_in=SearchStep(directory="/usr/lib/x86_64-linux-gnu", origin="ld.so.cache"),
                load_error=None,
                init_result=0,
                init_seconds=0.4,
                no_answer=None,
                api_version=13000,
                devices=tuple(
                    CudaDevice(
                        index=i,
                        name="NVIDIA H200",
                        uuid=f"GPU-0000000{i}-0000-4000-8000-000000000000",
                        pci_address=a,
                        compute_capability=(9, 0),
                        multiprocessors=132,
                    )
                    for i, a in gpus
                ),
                candidates=("/usr/lib/x86_64-linux-gnu/libcuda.so.1",),
                log="",
            ),
        ),
        gpu=Gpu(
            nvml_error=None,
            nvml_error_text=None,
            driver_version=DRIVER,
            devices=tuple(
                GpuDevice(
                    index=i,
                    name="NVIDIA H200",
                    uuid=f"GPU-0000000{i}-0000-4000-8000-000000000000",
                    pci_address=a,
                    compute_capability=(9, 0),
                    memory_total_bytes=150754820096,
                    fabric_state=3,
                )
                for i, a in gpus
            ),
        ),
        python=Python(
            chosen_because="VIRTUAL_ENV",
            executable="/opt/venv/bin/python3",
            version="3.12.3",
            implementation="CPython",
            prefix="/opt/venv",
            virtual_environment=True,
            conda=False,
            bits=64,
            libc="glibc 2.39",
            path=(SITE,),
            distributions=(Distribution(name="tensorflow", version="2.20.0", location=SITE),),
        ),
        libraries=Libraries(files=tuple(library_file(s) for s in WHEELS)),
        tensorflow=TensorFlow(
            directory=f"{SITE}/tensorflow",
            stray=(),
            distribution="tensorflow",
            version="2.20.0",
            build=Build(
                cuda=True, rocm=False, cuda_version="12.5.1", cudnn_version="9", compute_capabilities=("sm_80",)
            ),
            objects=(LoaderObject(path=FRAMEWORK, runpath=runpath, calls_dlopen=True),),
            loader_ok=True,
            libraries=tuple(LibraryPick(soname=s, picked=f"{wheel(c)}/{s}") for s, c in WHEELS.items()),
            loader_source="direct",
            import_error=None,
            import_seconds=9.0,
            devices=(
                TensorFlowDevice(name="/physical_device:CPU:0", type="CPU"),
                *(
                    TensorFlowDevice(
                        name=f"/physical_device:GPU:{i}", type="GPU", model="NVIDIA H200", compute_capability=(9, 0)
                    )
                    for i, _ in gpus
                ),
            ),
            log=(),
            events=(),
            loaded=tuple(f"{wheel(c)}/{s}" for s, c in WHEELS.items()),
            logical_devices=("/device:CPU:0", "/device:GPU:0", "/device:GPU:1"),
        ),
        measurements=tuple(
            Measurement(
                kernel="matmul",
                backend="tensorflow",
                device=f"GPU:{i}",
                device_name="NVIDIA H200",
                dtype="float32",
                size=(8192, 8192, 8192),
                unit="TFLOP/s",
                value=51.1,
                spread=0.05,
                samples=(51.0, 51.1, 51.2),
                seconds=4.0,
                verified=True,
                error=1e-7,
                tolerance=5e-6,
            )
            for i, _ in gpus
        ),
    )


def with_(facts: Facts, **changes: Any) -> Facts:
    """`facts` with fields of subjects changed: with_(facts, tensorflow__version='2.21.0')."""
    for path, value in changes.items():
        *subjects, field = path.split("__")
        chain: list[Any] = [facts]
        for subject in subjects:
            chain.append(getattr(chain[-1], subject))
        new: Any = msgspec.structs.replace(chain.pop(), **{field: value})
        for subject, parent in zip(reversed(subjects), reversed(chain), strict=True):
            new = msgspec.structs.replace(parent, **{subject: new})
        facts = new
    return facts


def with_variable(facts: Facts, name: str, value: str) -> Facts:
    """`facts` of a process that was started with one more variable."""
    variables = facts.environment.variables
    assert isinstance(variables, tuple)
    return with_(facts, environment__variables=(*variables, Variable(name=name, value=value)))


def lists_no_gpu(facts: Facts) -> Facts:
    """TensorFlow lists its CPU only, and nothing was measured on a GPU."""
    return with_(
        facts, tensorflow__devices=(TensorFlowDevice(name="/physical_device:CPU:0", type="CPU"),), measurements=()
    )


def cannot_open(facts: Facts, soname: str, searched: tuple[str, ...], **more: Any) -> Facts:
    """TensorFlow's loader looked for `soname` in the directories `searched`, and did not open it."""
    picks = facts.tensorflow.libraries
    assert isinstance(picks, tuple)
    steps = tuple(SearchStep(directory=d, origin=RUNPATH_OF) for d in searched)
    failed = tuple(
        LibraryPick(soname=soname, picked=None, searched=steps, **more) if p.soname == soname else p for p in picks
    )
    return lists_no_gpu(with_(facts, tensorflow__libraries=failed, tensorflow__loader_ok=False))


def cu_init(facts: Facts, result: int, path: str = LIBCUDA, **libcuda: Any) -> Facts:
    """cuInit answers `result`, and so TensorFlow lists nothing."""
    changed = msgspec.structs.replace(
        facts.driver.libcuda, init_result=result, path=path, devices=Unread(why=f"cuInit answered {result}"), **libcuda
    )
    return lists_no_gpu(with_(facts, driver__libcuda=changed))


def found(facts: Facts) -> dict[str, Finding]:
    """What is found, by cause."""
    return {f.cause: f for f in judge(facts).findings}


def roots(facts: Facts) -> list[str]:
    """The root causes, in order."""
    return [r.cause for r in judge(facts).diagnosis.root_causes]


def outcome(facts: Facts, cause: str) -> str:
    """'found', 'unknown', 'skipped' or 'passed'."""
    judged: Judgement = judge(facts)
    for word, names in (
        ("found", [f.cause for f in judged.findings]),
        ("unknown", [u.cause for u in judged.unknown]),
        ("skipped", [s.cause for s in judged.skipped]),
        ("passed", [r.cause for r in judged.diagnosis.ruled_out]),
    ):
        if cause in names:
            return word
    raise AssertionError(f"no check is called {cause}")
