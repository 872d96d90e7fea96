"""Facts of a healthy machine, for tests that change one of them."""

from __future__ import annotations

from typing import Any

import msgspec

from gpudoctor.diagnosis import judge
from gpudoctor.facts import (
    ALL_REDUCE,
    Build,
    BuildLog,
    CachedLibrary,
    Container,
    CudaDevice,
    CudaPair,
    DeviceNode,
    Distribution,
    DkmsBuild,
    Driver,
    DriverGpu,
    Environment,
    Facts,
    Gpu,
    GpuDevice,
    GpuPair,
    KernelEvent,
    KernelModule,
    Libcuda,
    Libraries,
    LibraryFile,
    LibraryPick,
    LoaderObject,
    Major,
    Measurement,
    ModuleFile,
    ModulePlace,
    Mps,
    Nccl,
    NcclFile,
    NetworkInterface,
    NumaNode,
    NvLink,
    Parameter,
    Pci,
    PciBar,
    PciDevice,
    Process,
    Python,
    SearchStep,
    System,
    TensorFlow,
    TensorFlowDevice,
    Unread,
    Variable,
)
from gpudoctor.findings import Finding, Judgement, RuledOut
from tests.figures import ADDRESSES, NATIVE_OF_SEVERAL, NATIVE_RATES, native

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
SKIPPED = Measurement(
    kernel="numpy-to-tensor",
    backend="tensorflow",
    device="GPU:1",
    device_name="NVIDIA H200",
    value=Unread(why="it is the host's own work: measured with the first GPU", chosen=True),
    verified=Unread(why="it is the host's own work: measured with the first GPU", chosen=True),
)
"""What every machine with two GPUs has: a kernel with nothing to do on the second one."""
RUNPATH_OF = "RUNPATH of libtensorflow_framework.so.2"


def wheel(component: str) -> str:
    """The directory of an nvidia wheel beside TensorFlow."""
    return f"{SITE}/nvidia/{component}/lib"


def library_file(soname: str) -> LibraryFile:
    """A library as pip installs it."""
    path = f"{wheel(WHEELS[soname])}/{soname}"
    return LibraryFile(
        name=soname,
        path=path,
        kind="wheel",
        real=path,
        owner=f"nvidia-{WHEELS[soname]}-cu12 1",
        package=None,
        soname=soname,
        version="1",
        size_bytes=1 << 20,
        flaw=None,
        other_processor=None,
    )


def interface(name: str, **changes: Any) -> NetworkInterface:
    """A network interface that is up."""
    whole = NetworkInterface(
        name=name,
        up=True,
        state="up",
        loopback=False,
        virtual=False,
        mtu=1500,
        speed_mbit_per_s=None,
        addresses=("192.0.2.2",),
        pci_address=None,
    )
    return msgspec.structs.replace(whole, **changes)


def gpu_device(index: int, address: str = "0000:00:06.0", **changes: Any) -> GpuDevice:
    """An idle H200 as NVML reports it."""
    whole = GpuDevice(
        index=index,
        nvml_error=None,
        nvml_error_text=None,
        name="NVIDIA H200",
        uuid=f"GPU-0000000{index}-0000-4000-8000-000000000000",
        pci_address=address,
        compute_capability=(9, 0),
        minor_number=index,
        serial=f"165000000000{index}",
        board_id=6 + index,
        vbios_version="96.00.A5.00.1A",
        gsp_version=DRIVER,
        numa_node=None,
        memory_total_bytes=150754820096,
        memory_used_bytes=0,
        memory_free_bytes=150108766208,
        memory_reserved_bytes=646053888,
        bar1_bytes=1 << 38,
        processes=(),
        compute_mode="default",
        persistence_mode=True,
        display_attached=True,
        virtualization_mode="pass-through",
        vgpu_licensed=None,
        mig_mode=False,
        mig_mode_pending=False,
        mig_devices=None,
        clock_graphics_mhz=345,
        clock_sm_mhz=345,
        clock_memory_mhz=3201,
        clock_graphics_max_mhz=1980,
        clock_sm_max_mhz=1980,
        clock_memory_max_mhz=3201,
        clock_event_reasons=("idle",),
        power_draw_w=78.629,
        power_limit_w=700.0,
        power_default_w=700.0,
        power_min_w=200.0,
        power_max_w=700.0,
        temperature_c=37,
        temperature_slowdown_c=89,
        temperature_shutdown_c=95,
        utilisation_gpu_percent=0,
        utilisation_memory_percent=0,
        ecc_mode=True,
        ecc_mode_pending=True,
        ecc_volatile_corrected=0,
        ecc_volatile_uncorrected=0,
        ecc_aggregate_corrected=0,
        ecc_aggregate_uncorrected=0,
        rows_remapped_correctable=0,
        rows_remapped_uncorrectable=0,
        row_remap_pending=False,
        row_remap_failure=False,
        retired_pages_single_bit=None,
        retired_pages_double_bit=None,
        retired_pages_pending=None,
        recovery_action="none",
        pcie_generation=5,
        pcie_generation_max=5,
        pcie_generation_gpu_max=5,
        pcie_width=16,
        pcie_width_max=16,
        pcie_replays=0,
        nvlinks=tuple(
            NvLink(index=i, active=True, version=6, remote="switch", remote_address=None, speed_mb_per_s=26562)
            for i in range(18)
        ),
        c2c=False,
        fabric_state=3,
        fabric_status=0,
        fabric_health=None,
    )
    return msgspec.structs.replace(whole, **changes)


def with_gpu(facts: Facts, index: int, **changes: Any) -> Facts:
    """`facts` with fields of one GPU changed."""
    devices = facts.gpu.devices
    assert isinstance(devices, tuple)
    changed = tuple(msgspec.structs.replace(d, **changes) if d.index == index else d for d in devices)
    return with_(facts, gpu__devices=changed)


def measured(facts: Facts, kernel: str, device: str, **changes: Any) -> Facts:
    """`facts` with every native measurement of `kernel` on `device` changed; `value` changes its samples, too."""
    if "value" in changes and "samples" not in changes:
        changes = {"samples": (changes["value"],) * 3, "spread": 0.0, **changes}
    new = tuple(
        msgspec.structs.replace(m, **changes) if (m.kernel, m.device, m.backend) == (kernel, device, "native") else m
        for m in facts.measurements
    )
    assert new != facts.measurements
    return with_(facts, measurements=new)


def healthy() -> Facts:
    """A machine with two H200 GPUs on which everything works."""
    gpus = list(enumerate(ADDRESSES))
    runpath = tuple(dict.fromkeys(wheel(c) for c in WHEELS.values()))
    return Facts(
        environment=Environment(
            variables=(Variable(name="PATH", value="/opt/venv/bin:/usr/bin"),),
            changed=(),
            dropped_by_sudo=None,
            dropped_libraries=None,
        ),
        system=System(
            system="Linux",
            kernel="6.8.0",
            machine="x86_64",
            distribution="ubuntu",
            container=None,
            wsl=False,
            tegra=False,
            hostname="gpu-host",
            user_id=1000,
            user_name="user",
            home="/home/user",
            groups=(44, 1000),
            cpu_model="Intel(R) Xeon(R) Platinum 8480C",
            cpu_flags=("sse4_1", "sse4_2", "avx", "f16c", "fma", "avx2", "avx512f"),
            hypervisor=True,
            machine_vendor="QEMU",
            machine_product="Standard PC",
            cores=32,
            cores_usable=32,
            cpus_usable="0-31",
            numa_nodes=(NumaNode(index=0, cpus="0-31", memory_total_bytes=1 << 38, distances=(10,)),),
            memory_nodes_usable="0",
            cpu_quota_cores=None,
            memory_total_bytes=1 << 38,
            memory_available_bytes=1 << 37,
            memory_limit_bytes=None,
            oom_kills=0,
            oom_kills_during=0,
            shm_total_bytes=1 << 37,
            shm_free_bytes=1 << 37,
            limit_memlock_bytes=None,
            limit_address_space_bytes=None,
            limit_open_files=20000,
            limit_processes=1031184,
            limit_stack_bytes=8 << 20,
            limit_data_bytes=None,
            selinux=None,
            apparmor_profile="unconfined",
            lockdown="none",
            seccomp=0,
            secure_boot=False,
            kernel_parameters=("pci=realloc=off",),
            uptime_seconds=3600.0,
            suspends=0,
            jit_cache="/home/user/.nv/ComputeCache",
            jit_cache_writable=True,
            kernel_log=(
                KernelEvent(
                    kind="nvrm", text=f"NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  {DRIVER}", seconds=0.5
                ),
            ),
            kernel_log_during=(),
        ),
        container=Container(
            evidence=(),
            platforms=(),
            driver_mounts=(),
            device_rules=None,
            user_namespace=False,
            rootless=False,
            tools=(),
            docker_snap=False,
            docker_runtimes=None,
            docker_default_runtime=None,
            containerd_runtimes=None,
            containerd_default_runtime=None,
            toolkit_settings=None,
            cdi_specs=(),
            packages=(),
            control_groups=2,
            docker_server=None,
            docker_snap_runtimes=None,
            rootless_docker=(),
            podman_hooks=(),
            toolkit_paths=None,
            kubelet_plugins=None,
            kubelet_resources=None,
            kubelet_runtimes=None,
        ),
        pci=Pci(
            devices=(
                PciDevice(address="0000:00:00.0", vendor=0x8086, device=0x1237, pci_class=0x060000, driver=None),
                *(
                    PciDevice(
                        address=a,
                        vendor=0x10DE,
                        device=0x2335,
                        pci_class=0x030200,
                        driver="nvidia",
                        parent=None,
                        subsystem_vendor=0x10DE,
                        subsystem_device=0x18BF,
                        driver_override=None,
                        enabled=True,
                        numa_node=None,
                        local_cpus="0-31",
                        power_state="D0",
                        link_speed_gt_per_s=32.0,
                        link_width=16,
                        max_link_speed_gt_per_s=32.0,
                        max_link_width=16,
                        bars=(
                            PciBar(index=0, size_bytes=1 << 24, possible_bytes=None),
                            PciBar(index=2, size_bytes=1 << 38, possible_bytes=None),
                            PciBar(index=4, size_bytes=1 << 25, possible_bytes=None),
                        ),
                        physical_function=None,
                        iommu_group=None,
                        iommu_type=None,
                        acs=None,
                        aer_fatal=None,
                        aer_nonfatal=None,
                        aer_correctable=None,
                    )
                    for _, a in gpus
                ),
            )
        ),
        driver=Driver(
            kernel_version=DRIVER,
            kernel_flavour="open",
            modules=("nvidia", "nvidia_uvm"),
            uvm_major=238,
            loaded=tuple(
                KernelModule(name=n, version=DRIVER, source_version="0123456789ABCDEF", taint="O")
                for n in ("nvidia", "nvidia_uvm")
            ),
            parameters=(
                Parameter(name="ModifyDeviceFiles", value="1"),
                Parameter(name="DeviceFileMode", value="438"),
                Parameter(name="RegistryDwords", value=""),
            ),
            gpus=tuple(
                DriverGpu(
                    pci_address=a,
                    model="NVIDIA H200",
                    uuid=f"GPU-0000000{i}-0000-4000-8000-000000000000",
                    minor=i,
                    excluded=False,
                    firmware=DRIVER,
                )
                for i, a in gpus
            ),
            capabilities=True,
            majors=tuple(
                Major(name=n, number=m)
                for n, m in (("nvidia", 195), ("nvidiactl", 195), ("nvidia-uvm", 238), ("nvidia-caps", 241))
            ),
            kernels_on_disk=("6.8.0",),
            module_files=(ModuleFile(kernel="6.8.0", path="/lib/modules/6.8.0/updates/dkms/nvidia.ko.zst"),),
            kernel_headers=True,
            dkms=(DkmsBuild(version=DRIVER, kernel="6.8.0"),),
            build_log=BuildLog(
                path=f"/var/lib/dkms/nvidia/{DRIVER}/6.8.0/x86_64/log/make.log", version=DRIVER, kernel="6.8.0"
            ),
            blacklisted=("nouveau",),
            switched_off=None,
            nodes=tuple(
                DeviceNode(
                    path=p, exists=True, major=major, minor=m, open_errno=None, mode=0o666, user_id=0, group_id=0
                )
                for p, major, m in (
                    ("/dev/nvidiactl", 195, 255),
                    ("/dev/nvidia-uvm", 238, 0),
                    ("/dev/nvidia0", 195, 0),
                    ("/dev/nvidia1", 195, 1),
                )
            ),
            other_nodes=(
                DeviceNode(
                    path="/dev/nvidia-uvm-tools", exists=True, major=238, minor=1, mode=0o666, user_id=0, group_id=0
                ),
            ),
            daemons=(),
            fabric_manager=None,
            mps=Mps(directory="/tmp/nvidia-mps", directory_errno=2, listens=None, processes=()),
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
                        clock_khz=1980000,
                        memory_clock_khz=3201000,
                        memory_bus_bits=6016,
                        memory_total_bytes=150754820096,
                        l2_bytes=60 << 20,
                        compute_mode=0,
                        integrated=False,
                        unified_addressing=True,
                        multi_gpu_board=False,
                        concurrent_managed_access=True,
                        cooperative_launch=True,
                        virtual_memory_management=True,
                        gpu_direct_rdma=True,
                    )
                    for i, a in gpus
                ),
                pairs=tuple(
                    CudaPair(
                        device=a,
                        peer=b,
                        can_access=True,
                        performance_rank=0,
                        access_supported=True,
                        native_atomics=True,
                    )
                    for a, b in ((0, 1), (1, 0))
                ),
                candidates=("/usr/lib/x86_64-linux-gnu/libcuda.so.1",),
                log="",
            ),
        ),
        gpu=Gpu(
            nvml_error=None,
            nvml_error_text=None,
            nvml_version=f"13.{DRIVER}",
            driver_version=DRIVER,
            cuda_driver_version=13000,
            devices=tuple(gpu_device(i, a) for i, a in gpus),
            pairs=(GpuPair(first=0, second=1, read="ok", nvlink="ok", topology="PHB"),),
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
            glibc="2.39",
            extension_suffix=".cpython-312-x86_64-linux-gnu.so",
            path=(SITE,),
            isolated=False,
            user_site=False,
            pip=True,
            externally_managed=False,
            made_by_uv=False,
            keras_backend="tensorflow",
            distributions=tuple(
                Distribution(
                    name=name,
                    version=version,
                    location=SITE,
                    real_location=SITE,
                    form="dist-info",
                    installer="pip",
                    editable=None,
                    tags=("cp312-cp312-manylinux_2_17_x86_64",) if name == "tensorflow" else (),
                )
                for name, version in (("keras", "3.11.0"), ("numpy", "2.1.3"), ("tensorflow", "2.20.0"))
            ),
            conda_packages=(),
            overlaps=(),
            damaged=(),
            modules=tuple(
                ModulePlace(name=name, path=f"{SITE}/{name}", form="package" if name != "nvidia" else "namespace")
                for name in ("tensorflow", "keras", "numpy", "nvidia")
            ),
            kernels=(),
            others=(),
        ),
        libraries=Libraries(
            files=tuple(library_file(s) for s in WHEELS),
            cache=(CachedLibrary(soname="libcuda.so.1", path="/usr/lib/x86_64-linux-gnu/libcuda.so.1"),),
            toolkits=(),
        ),
        tensorflow=TensorFlow(
            directory=f"{SITE}/tensorflow",
            stray=(),
            distribution="tensorflow",
            version="2.20.0",
            build=Build(
                cuda=True,
                rocm=False,
                cuda_version="12.5.1",
                cudnn_version="9",
                compute_capabilities=("sm_60", "sm_70", "sm_80", "sm_89", "compute_90"),
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
        process=Process(pid=None),
        nccl=Nccl(
            library=f"{SITE}/nvidia/nccl/lib/libnccl.so.2",
            version="2.27.7",
            files=(
                NcclFile(path="/home/user/.nccl.conf", exists=False, settings=()),
                NcclFile(path="/etc/nccl.conf", exists=False, settings=()),
            ),
            interfaces=(
                interface("docker0", up=True, virtual=True, state="down"),
                interface("eth0"),
                interface("lo", loopback=True, virtual=True, state="unknown"),
            ),
            rdma_ports=(),
            peer_memory=False,
            gdrcopy=False,
        ),
        measurements=(
            *(
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
            SKIPPED,
            *(native(one[0], f"GPU:{i}") for one in NATIVE_RATES for i, _ in gpus),
            *(native(one[0], one[1], size=one[3]) for one in NATIVE_OF_SEVERAL),
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


def reduced(facts: Facts, rate: float, way: str = "P2P/CUMEM", channels: int = 24) -> Facts:
    """`facts` with native all-reduces of this rate, through this transport of NCCL's."""
    changed = tuple(
        msgspec.structs.replace(m, value=rate, samples=(rate,) * 3, transport=(way,), channels=channels)
        if m.kernel == ALL_REDUCE and not m.in_tensorflow
        else m
        for m in facts.measurements
    )
    return with_(facts, measurements=changed)


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


MOST_OF_A_REASON = 110
"""Characters: one line, beside the cause's name."""


def reason_of(one: RuledOut) -> str:
    """Why a cause is ruled out on a machine: each pass has its reason, of one line."""
    assert one.reason, f"{one.code} {one.cause} passes without a reason"
    assert len(one.reason) <= MOST_OF_A_REASON, one
    assert one.reason.isprintable(), one
    assert "Unread(" not in one.reason, one
    assert "None" not in one.reason, one
    return one.reason


def found(facts: Facts) -> dict[str, Finding]:
    """What is found, by cause."""
    return {f.cause: f for f in judge(facts).findings}


def roots(facts: Facts) -> list[str]:
    """The root causes, in order."""
    return [r.cause for r in judge(facts).diagnosis.root_causes]


def outcome(facts: Facts, cause: str) -> str:
    """'found', 'unknown', 'skipped' or 'passed', which on a machine has its reason."""
    judgement: Judgement = judge(facts)
    for word, names in (
        ("found", [f.cause for f in judgement.findings]),
        ("unknown", [u.cause for u in judgement.unknown]),
        ("skipped", [s.cause for s in judgement.skipped]),
        ("passed", [r.cause for r in judgement.diagnosis.ruled_out]),
    ):
        if cause in names:
            if word == "passed" and not facts.text.is_all:
                reason_of(next(r for r in judgement.diagnosis.ruled_out if r.cause == cause))
            return word
    raise AssertionError(f"no check is called {cause}")
