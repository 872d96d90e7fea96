"""What each fact counts for in a comparison, as data. A fact that is not here is compared and of middle importance."""

from __future__ import annotations

import functools
import re

from .model import Importance

GROUPS = (
    "driver",
    "GPUs",
    "kernel and system",
    "container",
    "Python and packages",
    "TensorFlow",
    "libraries",
    "variables",
    "NCCL and network",
    "bus and topology",
    "several processes",
    "measurements",
)
"""In the order in which they are shown."""

_GROUP = (
    (r"driver\b", "driver"),
    (r"gpu\.(driver_version|cuda_driver|nvml)", "driver"),
    (r"gpu\.pairs", "bus and topology"),
    (r"gpu\b", "GPUs"),
    (r"pci\b", "bus and topology"),
    (r"system\.(container)", "container"),
    (r"system\.(numa|memory_nodes)", "bus and topology"),
    (r"(system|process)\b", "kernel and system"),
    (r"container\b", "container"),
    (r"python\b", "Python and packages"),
    (r"tensorflow\.(libraries|simulated)", "libraries"),
    (r"tensorflow\b", "TensorFlow"),
    (r"libraries\b", "libraries"),
    (r"environment\b", "variables"),
    (r"nccl\b", "NCCL and network"),
    (r"cluster\b", "several processes"),
    (r"measurements\b", "measurements"),
)

_OF_THE_MOMENT = (
    r"system\.(uptime_seconds|memory_available_bytes|shm_free_bytes|oom_kills\w*|kernel_log\w*|suspends|jit_cache)(?=:)",
    r"driver\.libcuda\.(init_seconds|log|load_error)(?=:)|driver\.mps\.processes|driver\.build_log",
    r"gpu\.devices\.(memory_(used|free|reserved)_bytes|processes|clock_(graphics|sm|memory)_mhz|clock_event_reasons)(?=:)",
    r"gpu\.devices\.(power_draw_w|temperature_c|utilisation_\w+|pcie_generation|pcie_replays)(?=:)",
    r"pci\.devices\.(link_speed_gt_per_s|power_state|aer_correctable)(?=:)",
    r"tensorflow\.(import_seconds|log|events|loaded|logical_devices|simulated)\b",
    r"process\.(pid|device_nodes|working_directory)(?=:)|process\.libraries",
    r"cluster\.tf_config\.(tasks\.(connection|resolved)|port_holders)",
    r"environment\.\w+(\.value)?:(JPY_PARENT_PID|SLURM_(JOB|STEP)_ID|SLURM_(PROC|LOCAL)ID|OMPI_COMM_WORLD_(LOCAL_)?RANK)$",
    r"environment\.\w+(\.value)?:(PYTHONHASHSEED|KUBERNETES_SERVICE_PORT|JUPYTERHUB_SERVER_NAME)$",
    r"nccl\.interfaces\b.*:(veth|cali|tap|br-|flannel|lxc|docker_gw)",
    r"nccl\.interfaces\.speed_mbit_per_s:(lo|docker0)",
    r"nccl\.files\.path(?=:)",
    r"python\.(chosen_because|passed_over)",
    r"measurements\b(?!\.(library|library_version|transport|channels|load\.pcie_(generation|width)):)",
    r"(run|text|trials)\b",
)
"""Another one on every run: no change. It is put back with what it follows from."""

_NAMES_A_MACHINE = (
    r"system\.(hostname|user_name|user_id|home|groups)(?=:)|gpu\.devices\.(uuid|serial|board_id)(?=:)",
    r"driver\.(gpus|all_devices|libcuda\.devices)\.uuid(?=:)|nccl\.interfaces\.addresses|gpu\.devices\.mig_devices\.uuid",
)
"""Another one on every machine: no change where two are compared."""

_IMPORTANCE: tuple[tuple[str, Importance], ...] = (
    (r"driver\.(kernel_version|kernel_flavour|libcuda\.(version|path|init_result|no_answer))(?=:)", "high"),
    (r"driver\.(blacklisted|switched_off|fabric_manager)", "high"),
    (r"driver\.(gpus|libcuda\.devices|all_devices)(\.(pci_address|name|compute_mode|excluded))?:", "high"),
    (r"driver\.(nodes|libcuda\.devices\.index)", "middle"),
    (r"driver\.(loaded|modules|parameters|daemons|mps)", "middle"),
    (r"driver\b", "low"),
    (r"gpu\.(driver_version|nvml_error)(?=:)", "high"),
    (r"gpu\.devices:", "high"),
    (
        r"gpu\.devices\.(nvml_error|name|pci_address|uuid|power_limit_w|compute_mode|mig_mode|ecc_mode|virtualization_mode):",
        "high",
    ),
    (
        r"gpu\.devices\.(row_remap_\w+|ecc_\w+_uncorrected|rows_remapped_uncorrectable|recovery_action|vgpu_licensed):",
        "high",
    ),
    (r"gpu\.devices\.(pcie_width|pcie_width_max|pcie_generation_\w*max|memory_total_bytes|clock_\w+_max_mhz):", "high"),
    (r"gpu\.devices\.(nvlinks|fabric_)", "high"),
    (r"gpu\.devices\.(minor_number|nvml_error_text|ecc_\w+_corrected|display_attached|gsp_version)", "low"),
    (r"gpu\.pairs\.(read|nvlink)", "high"),
    (r"gpu\.(nvml_error_text|nvml_version|cuda_driver_version)", "low"),
    (r"pci\.devices\.(driver|max_link_\w+|link_width|numa_node|acs\S*|iommu_type):gpu", "high"),
    (r"pci\.devices:gpu", "high"),
    (r"pci\.devices\.(max_link_\w+|link_width|acs\S*)", "middle"),
    (r"pci\b", "low"),
    (
        r"system\.(kernel|distribution|container|shm_total_bytes|cores_usable|cpu_quota_cores|machine|wsl|tegra)(?=:)",
        "high",
    ),
    (
        r"system\.(memory_limit_bytes|limit_\w+|kernel_parameters|lockdown|secure_boot|selinux|seccomp|numa_nodes\S*)",
        "high",
    ),
    (r"system\.(user_name|home|groups|apparmor_profile|cpu_flags)", "low"),
    (r"container\.(driver_mounts|evidence|tools|packages)", "low"),
    (r"python\.(version|executable|implementation|bits)(?=:)", "high"),
    (r"python\.distributions.*\(shadowed\)", "low"),
    (r"python\.distributions(\.version)?:(tensorflow|tf-|tf_|nvidia-|keras|numpy|horovod|jax|torch)", "high"),
    (
        r"python\.(distributions(\.version)?|conda_packages\S*|overlaps|damaged|keras_backend|virtual_environment|conda):?",
        "middle",
    ),
    (r"python\b", "low"),
    (r"tensorflow\.(version|distribution|loader_ok|import_error|devices|build\.cuda|build\.rocm|directory)\b", "high"),
    (r"tensorflow\.libraries(\.picked)?:", "high"),
    (r"tensorflow\.(libraries|objects)", "low"),
    (r"libraries\.files\.(version|flaw)", "middle"),
    (r"libraries\.toolkits", "middle"),
    (r"libraries\b", "low"),
    (r"environment\S*:(CUDA_|NCCL_|LD_|NVIDIA_|TF_|XLA_)", "high"),
    (r"environment\S*:PATH$", "low"),
    (r"nccl\.(version|files\S*)", "high"),
    (r"nccl\.(library|interfaces\.addresses|interfaces:)", "low"),
    (r"measurements\.load\.pcie", "high"),
    (r"measurements\.(transport|channels)", "middle"),
    (r"measurements", "low"),
)

_LABELS = {
    "driver.kernel_version": "version of the kernel module",
    "driver.kernel_flavour": "kind of the kernel module",
    "driver.libcuda.version": "version of libcuda",
    "driver.libcuda.path": "libcuda that is loaded",
    "driver.libcuda.found_in": "where libcuda was found",
    "driver.libcuda.init_result": "answer of cuInit",
    "driver.libcuda.api_version": "CUDA version of libcuda",
    "driver.libcuda.candidates": "libcuda files on this machine",
    "driver.modules": "loaded modules",
    "driver.gpus": "known to the kernel module",
    "driver.libcuda.devices": "listed by CUDA",
    "driver.all_devices": "listed by CUDA without CUDA_VISIBLE_DEVICES",
    "driver.nodes": "device node",
    "driver.other_nodes": "device node",
    "driver.nodes.open_errno": "errno of opening it",
    "gpu.devices": "listed by NVML",
    "gpu.devices.index": "number with nvidia-smi",
    "driver.libcuda.devices.index": "number with CUDA",
    "gpu.devices.pci_address": "slot",
    "gpu.devices.uuid": "UUID, of another board",
    "gpu.devices.vbios_version": "VBIOS",
    "gpu.devices.nvlinks": "NVLinks",
    "gpu.devices.nvlinks.active": "active",
    "gpu.devices.power_limit_w": "power limit",
    "gpu.devices.pcie_width": "PCIe width",
    "gpu.devices.pcie_width_max": "PCIe width at most",
    "gpu.devices.pcie_generation_max": "PCIe generation at most",
    "gpu.devices.row_remap_pending": "row to be remapped at the next reset",
    "gpu.devices.row_remap_failure": "a row could not be remapped",
    "gpu.devices.mig_mode": "MIG mode",
    "gpu.devices.ecc_mode": "ECC",
    "gpu.driver_version": "driver that NVML names",
    "gpu.nvml_error": "NVML's error",
    "gpu.pairs": "pair",
    "driver.libcuda.pairs": "pair",
    "gpu.pairs.read": "peer access",
    "gpu.pairs.nvlink": "peer access over NVLink",
    "gpu.pairs.topology": "where their paths meet",
    "pci.devices": "on the bus",
    "pci.devices.driver": "kernel driver",
    "pci.devices.numa_node": "NUMA node",
    "pci.devices.link_width": "PCIe lanes",
    "pci.devices.max_link_width": "PCIe lanes at most",
    "pci.devices.max_link_speed_gt_per_s": "PCIe speed at most",
    "system.kernel": "kernel",
    "system.distribution": "distribution",
    "system.shm_total_bytes": "size of /dev/shm",
    "system.container": "container",
    "system.cores_usable": "usable processors",
    "system.cpus_usable": "which processors",
    "system.numa_nodes": "NUMA node",
    "system.limit_memlock_bytes": "limit of locked memory",
    "system.hostname": "host name",
    "python.version": "version",
    "python.executable": "interpreter",
    "python.distributions": "package",
    "python.distributions.version": "version",
    "python.conda_packages.version": "version",
    "tensorflow.version": "version",
    "tensorflow.distribution": "package that TensorFlow is of",
    "tensorflow.directory": "directory",
    "tensorflow.build.cuda": "built with CUDA",
    "tensorflow.build.cuda_version": "CUDA that it was built with",
    "tensorflow.build.cudnn_version": "cuDNN that it was built with",
    "tensorflow.loader_ok": "its loader finds every library",
    "tensorflow.libraries.picked": "file that the loader picks",
    "tensorflow.libraries": "asked for",
    "tensorflow.devices": "listed by TensorFlow",
    "tensorflow.import_error": "error of the import",
    "tensorflow.objects.runpath": "RUNPATH",
    "libraries.files": "file",
    "libraries.files.version": "version",
    "libraries.files.owner": "package that owns it",
    "libraries.files.size_bytes": "size",
    "libraries.files.flaw": "why the loader refuses it",
    "environment.variables": "variable",
    "environment.variables.value": "variable",
    "nccl.version": "version of NCCL",
    "nccl.library": "NCCL library",
    "nccl.files.settings": "setting",
    "nccl.files.settings.value": "setting",
    "measurements.library": "library file",
    "measurements.library_version": "version of the library",
    "measurements.transport": "how NCCL reaches the other GPUs",
    "measurements.channels": "NCCL's channels",
    "measurements.load.pcie_width": "PCIe width under load",
    "measurements.load.pcie_generation": "PCIe generation under load",
}

_SUBJECTS = {
    "driver": "the driver",
    "gpu": "NVML",
    "pci": "the bus",
    "system": "the system",
    "container": "the container",
    "process": "the process",
    "python": "Python",
    "tensorflow": "TensorFlow",
    "libraries": "the libraries",
    "environment": "the environment",
    "nccl": "NCCL",
    "cluster": "the cluster",
    "measurements": "measured",
}
_UNITS = ("_w", "_mhz", "_khz", "_bytes", "_c", "_s", "_gt_per_s", "_mb_per_s", "_mbit_per_s", "_percent", "_seconds")


def named(fact: str, keys: tuple[str, ...] = ()) -> str:
    """What the tables know a fact by: 'gpu.devices.power_limit_w:gpu-1'."""
    return f"{fact}:{' '.join(keys)}"


@functools.lru_cache(4096)
def of_the_moment(name: str, *, other_machine: bool) -> bool:
    """Whether it says nothing that it is another one; `name` as `named` makes it."""
    every = _OF_THE_MOMENT + (_NAMES_A_MACHINE if other_machine else ())
    return any(re.match(pattern, name) for pattern in every)


@functools.lru_cache(4096)
def importance(name: str) -> Importance:
    """Of a fact."""
    return next((word for pattern, word in _IMPORTANCE if re.match(pattern, name)), "middle")


@functools.lru_cache(1024)
def group(fact: str) -> str:
    """Under which heading it is shown."""
    return next((word for pattern, word in _GROUP if re.match(pattern, fact)), "kernel and system")


def label(fact: str) -> str:
    """What a fact is called."""
    if fact in _LABELS:
        return _LABELS[fact]
    last = fact.rpartition(".")[2]
    unit = next((u for u in sorted(_UNITS, key=len, reverse=True) if last.endswith(u)), "")
    return last.removesuffix(unit).replace("_", " ")


def subject(fact: str) -> str:
    """What a fact is about where it is not of one of several."""
    return _SUBJECTS.get(fact.partition(".")[0], "the machine")
