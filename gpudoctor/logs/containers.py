"""docker, podman, nvidia-container-cli, Kubernetes: why a container with GPUs is not started, or gets none."""

from __future__ import annotations

from .language import Kind, Language, Values
from .notebook import Notebook

_NOT_STARTED = "container-does-not-start"
_CLI = r"(?:initialization|detection|driver|device|mount|container|requirement|ldcache|permission|input|mig-config|mig-monitor) error: "
_FAILED = 2
_SHELLS = r"(?:[Cc]ommand not found|[Uu]nknown command):? ['\"`]?"
"""How zsh, fish and scripts say that there is no such program."""


def _mismatch(_values: Values, line: int, notes: Notebook) -> None:
    """nvidia-container-cli asks NVML on the host."""
    notes.tell("gpu.nvml_error", 18, line, 1)
    notes.tell("gpu.nvml_error_text", "Driver/library version mismatch", line, 1)


def _answered(values: Values, line: int, notes: Notebook) -> None:
    """The entry point of NVIDIA's images calls cuInit."""
    notes.tell("driver.libcuda.init_result", int(values["code"]), line, _FAILED)


def _inside(_values: Values, line: int, notes: Notebook) -> None:
    notes.tell("system.container", "docker", line, 1)


def _no_driver(_values: Values, line: int, notes: Notebook) -> None:
    notes.tell("driver.libcuda.path", None, line, 1)
    notes.tell("driver.libcuda.load_error", "PyTorch finds no NVIDIA driver", line)


LANGUAGE = Language(
    name="containers",
    words=(
        "device driver", "nvidia-", "root = ", "nvidia.com/gpu", "nvidia_driver", "unsatisfied condition", "nsatisfied", "requirement error", "not met", "&&driver", "nvml error",
        "NVIDIA Driver", "NVIDIA driver", "CUDA Driver", "compatibility mode", "libnvidia", "cgroup", "devices.allow", "device rules", "nsufficient GPU", "on this host", "ully assigned", "nsufficient gpu",
        "BPF_CGROUP", "ldcache", "ldconfig", " error: ", "CDI", "untime", "NVML", "libdxcore", "detect NVIDIA", "mount destination", "strategy detected", "platform detected",
        "Nvml", "No devices found", "[[gpu", " hook", "container process", "driver not loaded", "root failed", "root directory",
        "WSL ", "--gpus", "is_available", "able to use GPU", "is not available", "is unavailable", "device plugin", "prestart", "device filter", "mount request", "custom device", "Auto-detected", "MOFED", "dxcore", "kernel modules", "inheritable", "github.io/", "runc", "nable to ", "No match for", "No package", "Package ",
        "nv files", "in this version of the container", "by this container", "run this container", "SHMEM", "CUDA version: driver", "no-gpu-has", "GPU node", "dditional propert", "No help topic", "config option", "crun: cannot", "crun: error stat", "error mounting", "nvc_info.c", "load kernel module", "Error: invalid device", "context canceled", "/run/nvidia/driver",
    ),
    kinds=(
        Kind(
            "container-unsatisfied",
            r"(?:(?i:unsatisfied condition|requirement error: requirements not met)\b|requirement error(?!: (?:inval|unsatisfied condition\b|requirements not met\b)))(?:: {0,2}(?P<condition>[a-z]{2,8} {0,2}[<>=!]{1,2} {0,2}[\w.]{1,20}))?"
            r"|unsupported CUDA version: driver \d{1,2}\.\d < image \d|^(?P<condition2>cuda>=\d{1,2}\.\d)\|\|brand=\w{1,20}&&driver[<>=]",
            _NOT_STARTED,
        ),
        Kind(
            "ngc-driver-too-old",
            r"(?:version (?P<driver>[\d.]{3,20}) was detected and )?compatibility mode is UNAVAILABLE",
            tell=_inside,
        ),
        Kind("ngc-gpu-too-new", r"GPU, which (?:is not|may not) yet (?:be )?supported in this version of the container", "op-fails"),
        Kind("ngc-gpu-unsupported", r"GPU, which is not supported by this container|No supported GPU\(s\) detected to run this container", "op-fails"),
        Kind("benign-ngc-shm", r"The SHMEM allocation limit is set to the default of"),
        Kind("ngc-cuinit", r"CUDA Driver UNAVAILABLE \(cuInit\(0\) returned (?P<code>\d{1,4})\)", tell=_answered),
        Kind("ngc-no-driver", r"The NVIDIA Driver was not detected", _NOT_STARTED, _inside),
        # what nvidia-container-cli, which starts the driver on the host, says of it
        Kind("container-driver-not-loaded", r"nvml error: driver not loaded|(?:^|^[a-z ]{0,12}rror: )driver not loaded(?:\\\\n|: unknown)", _NOT_STARTED),
        Kind("container-no-nvml", r"load library failed: libnvidia-ml\.so", _NOT_STARTED),
        Kind("container-libraries-differ", r"nvml error: driver/library version mismatch", _NOT_STARTED, _mismatch),
        Kind("container-compat", r"cuda error: forward compatibility was attempted", _NOT_STARTED),
        Kind(
            "container-driver-root",
            r"change root failed|failed to change root directory|chroot: failed to run command \W?nvidia-smi|/run/nvidia/driver/[\w/.-]{1,80}: no such file",
            _NOT_STARTED,
        ),
        Kind("driver-root-lacks-files", r"/driver-root \([^)\n]{1,60} on host\): nvidia-smi: not found, libnvidia-ml\.so\.1: not found", "driver-does-not-load"),
        Kind("container-wsl-no-adapter", r"(?i:WSL environment detected but no ad[ao]pters)", _NOT_STARTED),
        Kind("container-no-dxcore", r"libdxcore\.so\W{1,4}(?:cannot open|not found|no such file)", _NOT_STARTED),
        Kind("container-detects-none", r"failed to detect NVIDIA devices"),
        Kind("container-driver-timeout", r"driver (?:rpc )?(?:error|service): timed out", _NOT_STARTED),
        Kind("container-driver-request", r"driver (?:rpc )?error: failed to process request", _NOT_STARTED),
        Kind("container-nvml-refused", r"nvml error: insufficient permissions", _NOT_STARTED),
        Kind("container-driver-answers", r"error: (?:nvml|cuda) error: (?P<error>[a-z][a-z -]{3,60})", _NOT_STARTED),
        # control groups
        Kind("container-cgroup-v2", r"cgroup subsystem devices not found|/sys/fs/cgroup/devices/\S{0,200}devices\.allow: no such file", _NOT_STARTED),
        Kind(
            "container-cgroup-mount",
            r"mountpoint for (?:cgroups?|devices) not found|cgroup mountpoint (?:not found|does not exist)|[Cc]annot find cgroup mount destination"
            r"|no cgroup mount found in mountinfo",
            _NOT_STARTED,
        ),
        Kind(
            "container-rules-refused",
            r"devices\.allow: (?:permission denied|operation not permitted)"
            r"|write error: /sys/fs/cgroup/devices/[^\s:]{1,300}(?=$|: (?:permission denied|operation not permitted))"
            r"|BPF_CGROUP_DEVICE\) failed: operation not permitted|[Dd]evice cgroup rules are not supported in rootless",
            _NOT_STARTED,
        ),
        Kind(
            "container-rules-refused",
            r"device filters program: load program: (?:operation not permitted|permission denied)",
            _NOT_STARTED,
        ),
        Kind(
            "container-cgroup-program",
            r"new device filters? program|device filters program: load program",
            _NOT_STARTED,
        ),
        Kind(
            "container-rules-fail",
            r"failed to add device rules|no cgroup filesystem mounted|failed to get device cgroup|no device cgroup path found",
            _NOT_STARTED,
        ),
        # the rest of what it does
        Kind(
            "container-ldconfig",
            r"ldcache error: open failed|ldconfig[\w.]{0,8} failed with error code: 127|could not start \S{0,60}ldconfig",
            _NOT_STARTED,
        ),
        Kind("container-ldcache", r"ldcache error", _NOT_STARTED),
        Kind("container-shared-out", r"unknown device id: no-gpu-has|\bno-gpu-has-\d{1,9}MiB-to-run", _NOT_STARTED),
        Kind(
            "container-unknown-device",
            r"device error: (?:unknown device|(?P<device>[^\s:]{1,90}(?::\d{1,3}){0,2}): unknown device|invalid device)"
            r"|^(?:nvidia-docker \| )?(?:[\d/ :]{8,22} )?Error: invalid device: (?P<device2>\S{1,60})$",
            _NOT_STARTED,
        ),
        Kind(
            "container-has-driver-files",
            r"(?:file creation|mount operation) failed: /(?!(?:run|dev|proc)/)\S{0,300}/(?P<library>(?!libcudnn|libnvinfer|libcublas)[\w.-]{1,60}): file exists",
            _NOT_STARTED,
        ),
        Kind(
            "container-toolkit-old",
            r"No help topic for '(?:prestart|cdi)'|requirement error: invalid expression|nvidia_driver_?[\d.]{0,12}: no such volume"
            r"|no such volume: ?nvidia_driver|nvidia-container-\w{1,12}(?: configure| info| list)?: (?:unrecognized option|symbol lookup error)",
            _NOT_STARTED,
        ),
        Kind("k8s-plugin-refused", r"Could not register device plugin|Failed to (?:register|start) (?:the )?(?:nvidia )?(?:device )?plugin[^\n]{0,120}(?:kubelet|rpc error)", _NOT_STARTED),
        Kind("container-mount-uvm", r"(?:mount|container) error: [^\n]{0,80}/dev/nvidia-uvm\S{0,40}: no such file", _NOT_STARTED),
        Kind("container-mount-wsl", r"mount error: [^\n]{0,200}/proc/driver/nvidia/gpus/", _NOT_STARTED),
        Kind("container-cli", rf"nvidia-container-cli(?:\.real)?: {_CLI}(?P<error>[^\\\n]{{1,100}})", _NOT_STARTED),
        # engines
        Kind(
            "toolkit-absent",
            r"nvidia-(?:container-(?:runtime(?:-hook|\.\w{2,8})?|toolkit|cli)|ctk)\\{0,7}['\"]?:? "
            r"(?:executable file not found|no such file or directory|command not found|not found)"
            r"|executable file [`'\"]nvidia-container-[\w-]{3,20}[`'\"] not found in \$PATH"
            rf"|{_SHELLS}nvidia-(?:container-(?:runtime|toolkit|cli)|ctk)\b"
            r"|error while loading shared libraries: libnvidia-container",
            _NOT_STARTED,
        ),
        Kind(
            "toolkit-not-fetched",
            r"nvidia\.github\.io/(?:libnvidia-container|nvidia-container-runtime|nvidia-docker)\b[^\n]{0,160}(?:\b40[34]\b|does not have a Release file|is not signed)"
            r"|(?:Unable to locate package|No match for argument:|Unable to find a match:|No package) ['\"]?nvidia-(?:container-(?:toolkit|runtime)|docker2)\b"
            r"|Package ['\"]?nvidia-(?:container-(?:toolkit|runtime)|docker2)['\"]? (?:has no installation candidate|is not available)",
            _NOT_STARTED,
        ),
        Kind("no-gpu-device-driver", r"could not select device driver\b|capabilities\b[^\n]{0,12}\[\[gpu\]\]", _NOT_STARTED),
        Kind("no-gpu-runtime", r"(?i:unknown (?:or invalid )?runtime (?:specified|name):?) \"?nvidia|default OCI runtime \"?nvidia\"? not found", _NOT_STARTED),
        Kind("torch-lacks-gpu", r"\bcuda\.is_available(?:\(\))?[\W_]{1,8}False\b|(?:\bcuda\.|(?<![\w.]))(?:is_|(?<=cuda\.))available(?:\(\))?[`'\"]{0,2}\)?:?(?: is| comes back(?: as)?| was| returns?| returned| gives?| gave| prints?| shows?| says?| yields?| evaluates to| equals| still says| ==?| ->| =>| #| gibt| liefert| ist| devuelve| da| es| retorna| renvoie| donne| \u0432\u043e\u0437\u0432\u0440\u0430\u0449\u0430\u0435\u0442| \u0432\u044b\u0434\u0430[\u0435\u0451]\u0442|(?: ?(?:\u6253\u5370|\u7ed3\u679c|\u8fd4\u56de|\u8f93\u51fa|\u663e\u793a|\u4e00\u76f4|\u603b|\u5374|\u7684|\u662f|\u4e3a|\uff1a)){1,4}|\u304c|\u306f|\uac00|\ub294)?:?(?: me)? ?[`'\"]?[Ff]alse\b|\b(?:Assertion|Runtime|Value)Error: (?:(?:CUDA|GPU|cuda) is (?:not available|unavailable)|Torch is not able to use GPU)", "tf-lists-no-gpu"),
        Kind("torch-no-driver", r"Found no NVIDIA driver on your system", tell=_no_driver),
        Kind("nvidia-smi-not-found", rf"\bnvidia-smi: (?:command )?not found|\bnvidia-smi[`'\"]? ?(?:就|则|会)?(?:提示|报错?|显示)[^\n]{{0,10}}command not found|{_SHELLS}nvidia-smi\b|(?i:\b(?:inside|in)\b[^.\n]{{0,40}}\bcontainer\b[^.\n]{{0,20}}\bnvidia-smi['\"`]? (?:is|was)(?:n't| not) (?:supported|available|there|present|recogni[sz]ed|known|installed))"),
        Kind("nvidia-smi-not-inside", r"exec: \\{0,7}\"nvidia-smi\\{0,7}\": executable file not found|executable file [`'\"]nvidia-smi[`'\"] not found in \$PATH", _NOT_STARTED),
        Kind("hook-called-directly", r"invoking the NVIDIA Container Runtime Hook directly", _NOT_STARTED),
        Kind("nvidia-docker-absent", rf"\bnvidia-docker: (?:command )?not found|{_SHELLS}nvidia-docker\b|'nvidia-docker' is not a docker command", _NOT_STARTED),
        Kind("nvidia-docker-plugin-down", r"nvidia-docker\.sock/", _NOT_STARTED),
        Kind(
            "compose-too-old",
            r"(?:Additional propert(?:y|ies)|Unsupported config option)[^\n]{0,60}(?:\bgpus\b|'devices'|'runtime')",
            _NOT_STARTED,
        ),
        Kind("cdi-spec-not-made", r"failed to generate CDI spec|failed to create device CDI specs", _NOT_STARTED),
        Kind("cdi-unresolved", r"unresolvable CDI devices? (?P<device>[^\s:]{1,100})", _NOT_STARTED),
        Kind("cdi-no-vendor", r"failed to discover GPU vendor from CDI|no known GPU vendor found", _NOT_STARTED),
        Kind("cdi-unsupported", r"nvidia\.com/gpu=\w{1,60}\"?: no such file or directory", _NOT_STARTED),
        Kind(
            "cdi-file-gone",
            r"failed to stat CDI host device|(?:crun: (?:cannot stat|error stat'ing file) [`'\"]|failed to fulfil mount request: open |error mounting \\{0,3}\")"
            r"(?P<file>/(?![^\s`'\"]{0,200}/(?:tegra|nvidia/driver)/)(?:[^\s/`'\"]{1,60}/){1,8}(?:lib(?:nvidia|cuda|nvcuvid|nvoptix)|lib(?:EGL|GLX|GLESv[12]\w{0,4})_nvidia)[\w.-]{0,40}\.so\.\d+\.[\d.]+)\b[^\n]{0,400}?(?i:no such file)"
            r"|crun: (?:cannot stat|error stat'ing file) [`'\"][^`'\"\n]{0,200}(?:nvidia|libcuda)|failed to fulfil mount request: open \S{0,200}(?:nvidia|libcuda)",
            _NOT_STARTED,
        ),
        Kind("device-node-not-given", r"adding custom device \\{0,3}\"?/dev/nvidia", _NOT_STARTED),
        Kind("no-gpus-option", r"unknown flag: --gpus", _NOT_STARTED),
        Kind("k8s-no-runtime", r"no runtime for \\{0,3}\"?nvidia\\{0,3}\"? is configured", _NOT_STARTED),
        Kind(
            "k8s-plugin-no-nvml",
            r"could not load NVML library|did you (?:set the docker default runtime|configure the NVIDIA Container Toolkit)"
            r"|Incompatible (?:strategy|platform) detected|non-NVML platform|invalid device discovery strategy"
            r"|(?:initialize NVML|Nvml init failed|error starting plugins: nvml): ERROR_LIBRARY_NOT_FOUND",
            _NOT_STARTED,
        ),
        Kind("k8s-plugin-no-devices", r"No devices found\. Waiting indefinitely", _NOT_STARTED),
        Kind("pod-scheduled", r"^Normal +Scheduled\b[^\n]{0,80}\bSuccessfully assigned \S{1,120} to \S"),
        Kind("k8s-insufficient", r"\b0/(?P<nodes>\d{1,4}) nodes are available: (?:[^\n]{0,200}?[, ])??(?P<without>\d{1,4}) Insufficient nvidia\.com/gpu", _NOT_STARTED),
        Kind("k8s-insufficient", r"devices unavailable for nvidia\.com/gpu|(?i:insufficient (?:nvidia\.com/gpu|gpus?\b)|\b(?:no|zero) nvidia\.com/gpu\b(?! (?:limit|request|resource)))", _NOT_STARTED),
        Kind("k8s-capacity", r"(?i:\b(?:allocatable|capacity)\b[^\n]{0,40}nvidia\.com/gpu\W{1,6}[1-9])|^\s{0,8}nvidia\.com/gpu {2,}[1-9]\d{0,2} {2,}[1-9]"),
        Kind("k8s-no-capacity", r"^\s{0,8}nvidia\.com/gpu: {1,20}\"?0\"?$"),
        Kind(
            "runc-gives-none",
            r"\brunc\b[^\n]{0,200}(?:nvidia\.com/gpu\W{1,8}0\b|\b(?:0|no|zero) (?:GPUs?|devices?|graphics cards?|cards)\b)",
        ),
        Kind("apptainer-no-files", r"(?i:could not find any (?:nv files|nvidia (?:files|binaries|libraries)) on this host)", "driver-does-not-load"),
        Kind("runtime-program-absent", r"\bwhich nvidia-container-runtime\b\W{0,3} ?(?:finds|prints|gives|returns|shows|says) nothing|\bnvidia-container-runtime: (?:command )?not found|\bno nvidia-container-runtime\b"),
        Kind("driver-root-set", r"using root /run/nvidia/driver|^root ?= ?\"(?:/run/nvidia/driver|[^\"\n]{0,40}/opt/nvidia/)"),
        Kind("container-hook-failed", r"running (?:prestart )?hook\b|error executing hook [`'\"]?\S{0,80}nvidia-container|start(?:ing)? container process$", _NOT_STARTED),
        Kind("no-cgroups-set", r"(?<!#)(?<!# )\bno-cgroups ?= ?true"),
        # notes
        Kind("benign-container-mode", r"Auto-detected mode as"),
        Kind("benign-ngc-network", r"MOFED driver for multi-node communication was not detected"),
        Kind("benign-ngc-compat", r"compatibility mode is ENABLED"),
        Kind(
            "benign-container-cli",
            r"dxcore initialization failed|attempting to load dxcore|skipping kernel modules load|failed to set inheritable|could not load kernel module nvidia_modeset"
            r"|nvc_info\.c:\d{1,4}\] missing (?:compat32 library|binary|firmware path|ipc path|library (?!libcuda\.so|libnvidia-ml))",
        ),
    ),
    foreign=True,
)  # fmt: skip
