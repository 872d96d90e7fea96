"""Which fact follows from which, as data: after an upgrade many facts differ, and one of them is what was done.

A row says: a difference in a fact on the left is brought about by a difference in one on the right, where there is one. It says nothing
where there is none: then it stands for itself.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Hashable, Iterable, Sequence

from .policy import named
from .walk import Difference

_LOADER_VARIABLES = r"environment\S*:LD_(LIBRARY_PATH|PRELOAD)"
_GPU_VARIABLES = r"environment\S*:(CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|NVIDIA_VISIBLE_DEVICES)"
_SEARCHED = r"environment\S*:(VIRTUAL_ENV|CONDA_PREFIX|PYTHON(PATH|HOME))"
_INTERPRETER = r"python\.(version|executable|prefix)"
_TENSORFLOW = r"python\.distributions(\.version)?:(tensorflow|tf-nightly)"
_WHEELS = r"python\.distributions(\.version)?:(nvidia-|tensorflow|tf-nightly)"
_KERNEL_SIDE = r"driver\.(kernel_version|kernel_flavour|parameters|modules|loaded|blacklisted)|system\.kernel:|system\.kernel_parameters"
_THE_CARD = r"gpu\.devices:|pci\.devices:|driver\.gpus:"

FOLLOWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    # the interpreter and what is installed
    (r"python\.executable", (r"python\.version",)),
    (
        r"python\.(?!distributions(\.version)?:|version|executable|conda_packages|overlaps|damaged|keras_backend)",
        (_INTERPRETER, r"environment\S*:(VIRTUAL_ENV|CONDA_PREFIX|PATH|PYTHON\w*)"),
    ),
    (r"python\.distributions\.(?!version)", (r"python\.(version|executable)", r"python\.distributions\.version@same")),
    (r"python\.(overlaps|damaged)", (r"python\.distributions",)),
    # TensorFlow's files
    (r"tensorflow\.(version|distribution|directory|stray)", (_TENSORFLOW, r"python\.(version|executable)")),
    (r"tensorflow\.(build|objects)", (r"tensorflow\.(version|distribution|directory)", _TENSORFLOW, r"python\.(version|executable)")),
    # library files and who picks them
    (r"libraries\.files", (r"python\.distributions(\.version)?@owner", r"libraries\.toolkits", _LOADER_VARIABLES)),
    (r"libraries\.files", (r"python\.executable", _SEARCHED)),
    (r"python\.distributions.*\(shadowed\)|python\.modules", (_SEARCHED, r"python\.(version|executable)")),
    (r"libraries\.files\.(owner|package|real|size_bytes|flaw)", (r"libraries\.files\.version@same",)),
    (r"libraries\.cache", (r"libraries\.toolkits", r"system\.distribution")),
    (r"libraries\.toolkits", (r"environment\S*:CUDA_(HOME|PATH|ROOT)",)),
    (
        r"tensorflow\.libraries",
        (
            r"libraries\.files\S*@owner",
            r"python\.distributions(\.version)?@owner",
            r"tensorflow\.(version|distribution|objects|directory|build)",
            _LOADER_VARIABLES,
            r"libraries\.(cache|toolkits)",
            _INTERPRETER,
        ),
    ),
    (r"tensorflow\.libraries\.(?!picked)\w+:", (r"tensorflow\.libraries\.picked@same",)),
    (r"tensorflow\.(loader_ok|loader_source)", (r"tensorflow\.libraries", r"tensorflow\.(version|distribution|objects|build)", _LOADER_VARIABLES)),
    (r"nccl\.(library|version)", (r"python\.distributions(\.version)?:nvidia-nccl", r"libraries\.files\S*:\S*libnccl", _LOADER_VARIABLES)),
    # the driver
    (r"driver\.(kernel_version|kernel_flavour)@gone", (r"system\.kernel:",)),
    (r"driver\.(modules|loaded)", (r"driver\.(kernel_version|kernel_flavour|blacklisted|switched_off)", r"system\.kernel:")),
    (r"driver\.(parameters|majors|module_files|capabilities|uvm_major|kernels_on_disk|kernel_headers|dkms)", (r"driver\.(kernel_version|kernel_flavour)", r"system\.kernel:")),
    (r"driver\.libcuda\.(path|version)", (_LOADER_VARIABLES, r"driver\.kernel_version@alike")),
    (r"driver\.libcuda\.(path|found_in|candidates)", (r"driver\.libcuda\.version",)),
    (r"driver\.libcuda\.api_version|gpu\.cuda_driver_version", (r"driver\.libcuda\.(version|path)", r"driver\.kernel_version")),
    (r"gpu\.(driver_version|nvml_version)", (r"driver\.(kernel_version|libcuda\.version)",)),
    (r"gpu\.nvml_error", (_KERNEL_SIDE, r"driver\.libcuda\.version", r"driver\.nodes")),
    (r"driver\.gpus\.firmware|gpu\.devices\.gsp_version|gpu\.devices\.vbios_version", (r"driver\.kernel_version", r"gpu\.devices\.uuid@same")),
    (r"driver\.(nodes|other_nodes)", (_KERNEL_SIDE, _THE_CARD)),
    (r"pci\.devices\.(driver|enabled):", (_KERNEL_SIDE,)),
    (r"driver\.fabric_manager|driver\.daemons", (r"driver\.kernel_version",)),
    (
        r"driver\.libcuda\.(init_result|no_answer|devices|pairs|log|init_seconds|load_error)",
        (
            r"driver\.libcuda\.(version|path)",
            _KERNEL_SIDE,
            r"driver\.nodes",
            _THE_CARD,
            _GPU_VARIABLES,
            _LOADER_VARIABLES,
            r"environment\S*:CUDA_",
            r"gpu\.devices\.(nvml_error|mig_mode|compute_mode|fabric_state|fabric_status|recovery_action)",
            r"gpu\.devices\.pci_address@same",
            r"system\.limit_",
            r"container\.driver_mounts",
        ),
    ),
    (r"driver\.libcuda\.init_result", (r"driver\.libcuda\.no_answer",)),
    (r"driver\.libcuda\.devices", (r"driver\.libcuda\.init_result", r"driver\.all_devices")),
    (r"driver\.all_devices", (_KERNEL_SIDE, r"driver\.libcuda\.(version|path|init_result)", _THE_CARD, r"gpu\.devices\.(nvml_error|pci_address)")),
    # one GPU, by all who know it
    (r"driver\.gpus", (r"pci\.devices:", r"gpu\.devices\.pci_address", _KERNEL_SIDE)),
    (r"gpu\.devices:|driver\.(gpus|nodes):", (r"environment\S*:NVIDIA_VISIBLE_DEVICES",)),
    (r"gpu\.devices:", (r"pci\.devices:@same", r"driver\.gpus:@same", r"gpu\.nvml_error", _KERNEL_SIDE)),
    (r"gpu\.devices\.(index|minor\w*)", (r"gpu\.devices:", r"pci\.devices:gpu", r"gpu\.devices\.pci_address")),
    (r"driver\.(gpus|libcuda\.devices|all_devices)\.", (r"gpu\.devices:", r"pci\.devices:gpu", r"gpu\.devices\.(pci_address|uuid)@same")),
    (r"gpu\.devices\.(serial|board_id|vbios_version)", (r"gpu\.devices\.uuid@same",)),
    (r"pci\.devices", (r"gpu\.devices\.pci_address",)),
    (r"pci\.devices\.(?!driver)\w+:gpu", (r"gpu\.devices\.pci_address@same",)),
    (r"pci\.devices:", (r"gpu\.devices\.uuid",)),
    (r"gpu\.pairs|driver\.libcuda\.pairs", (_THE_CARD, r"gpu\.devices\.(nvlinks|pci_address)", r"pci\.devices\.(acs|iommu)", r"system\.kernel_parameters", r"driver\.parameters")),
    (r"driver\.libcuda\.pairs", (r"gpu\.pairs", _GPU_VARIABLES)),
    (r"pci\.devices\.iommu", (r"system\.kernel_parameters", r"system\.kernel:")),
    (r"gpu\.devices\.(pcie_width|pcie_width_max|pcie_generation_max|pcie_generation)", (r"pci\.devices\.(max_)?link_(width|speed\w+):gpu@same",)),
    (r"gpu\.devices\.fabric_", (r"driver\.(fabric_manager|daemons)", r"driver\.kernel_version")),
    (r"gpu\.devices\.recovery_action", (r"gpu\.devices\.(row_remap_\w+|ecc_\w+_uncorrected)@same",)),
    # TensorFlow at work
    (
        r"tensorflow\.(devices|events|log|loaded|logical_devices|import_error|import_seconds)",
        (
            r"tensorflow\.(libraries|loader_ok|version|distribution|build|objects|stray|directory)",
            r"python\.distributions(\.version)?:(tensorflow|tf-nightly|nvidia-|keras|numpy|protobuf|ml-dtypes)",
            _INTERPRETER,
            r"environment\S*:(CUDA_|NVIDIA_|LD_|TF_(?!CPP)|XLA_|PYTHON(PATH|HOME))",
            r"driver\.(kernel_version|libcuda|nodes|modules)",
            _THE_CARD,
            r"gpu\.(nvml_error|devices\.nvml_error|devices\.compute_mode|devices\.mig_mode)",
            r"system\.(kernel|limit_|container|memory_limit|machine)",
            r"container\.driver_mounts",
        ),
    ),
    (r"tensorflow\.import_error", (r"python\.(distributions|modules|overlaps|damaged)",)),
    (r"tensorflow\.(devices|logical_devices|events)", (r"tensorflow\.import_error",)),
    # what was measured
    (
        r"measurements",
        (
            r"gpu\.devices",
            r"driver\.(kernel_version|libcuda|parameters)",
            r"gpu\.pairs",
            r"pci\.devices\.(max_)?link_|pci\.devices\.(acs|iommu|numa)",
            r"environment\S*:(NCCL_|CUDA_|TF_|XLA_|NVIDIA_|OMP_)",
            r"nccl\.(files|version)",
            r"system\.(kernel|cores_usable|cpu_quota|numa|shm|memory_limit|cpus_usable)",
            r"python\.distributions(\.version)?:(nvidia-|tensorflow|tf-nightly)",
            r"tensorflow\.(version|devices|libraries)",
        ),
    ),
    (r"container\.driver_mounts", (r"driver\.(kernel_version|libcuda\.version)", r"system\.container")),
    (r"container\.(evidence|platforms|device_rules)", (r"system\.container",)),
    (r"system\.(hostname|apparmor_profile|seccomp|uptime)", (r"system\.container",)),
    (r"system\.(cpus_usable|cores_usable)", (r"system\.cores:", r"system\.cpu_quota_cores")),
    (r"cluster\.", (r"environment\S*:(TF_CONFIG|HOROVOD|SLURM|OMPI)",)),
    (r"nccl\.interfaces", (r"system\.container",)),
)  # fmt: skip
"""`@same`: of the same element; `@owner`: the package that owns the file, or the file itself; `@gone`: where the fact is not there any
more, or was not; `@alike`: where both have the same two values."""


@functools.cache
def _compiled() -> tuple[tuple[re.Pattern[str], str, tuple[tuple[re.Pattern[str], str], ...]], ...]:
    def split(pattern: str) -> tuple[re.Pattern[str], str]:
        text, _, relation = pattern.partition("@")
        return re.compile(text), relation

    return tuple((*split(effect), tuple(map(split, causes))) for effect, causes in FOLLOWS)


_MOST = 200
"""Of the differences in one row's facts that another one follows from."""


def causes(changed: Sequence[Difference], owners: Sequence[set[str]]) -> list[set[int]]:
    """Of each difference, which others bring it about: by their places in `changed`. `owners`: the packages and files behind each."""
    names = [named(one.fact, one.keys) for one in changed]
    found: list[set[int]] = [set() for _ in changed]
    for effect, condition, rows in _compiled():
        effects = [i for i, name in enumerate(names) if effect.match(name) and _holds(changed[i], condition)]
        for cause, relation in rows if effects else ():
            ones = _by_relation(changed, owners, relation, [i for i, name in enumerate(names) if cause.match(name)])
            for i in effects:
                for what in _relation(changed[i], owners[i], relation):
                    found[i].update(ones.get(what, ()))
    for i, of in enumerate(found):
        of.discard(i)
    return found


def _by_relation(
    changed: Sequence[Difference], owners: Sequence[set[str]], relation: str, ones: list[int]
) -> dict[Hashable, list[int]]:
    """The causes by what relates an effect to them."""
    made: dict[Hashable, list[int]] = {}
    for i in ones:
        for what in _relation(changed[i], owners[i], relation):
            if len(of := made.setdefault(what, [])) < _MOST:
                of.append(i)
    return made


def _relation(one: Difference, owners: set[str], relation: str) -> Iterable[Hashable]:
    if relation == "same":
        return one.keys[:1]
    if relation == "owner":
        return owners
    if relation == "alike":
        return (f"{one.old!r} {one.new!r}",)
    return ("",)


def _holds(effect: Difference, condition: str) -> bool:
    return condition != "gone" or effect.old is None or effect.new is None
