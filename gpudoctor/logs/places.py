"""Where a text comes from: the inside of a container, a job of a cluster, a hosted notebook; and what was asked for there.

Prompts, host names, paths and commands tell it, and TensorFlow's own lines, which name the host.
"""

from __future__ import annotations

from .language import Kind, Language, Tell, Values
from .notebook import Notebook

_ID = r"[0-9a-f]{12}"
_POD = r"[a-z0-9][a-z0-9.-]{0,60}-(?=[a-z]{0,9}\d)[b-df-hj-np-tv-xz24-9]{8,10}-[a-z0-9]{5}"
_HOST = r"(?:\bhost(?:name)?: |this host \(|^(?:\(\w{1,20}\) ?)?\[?[\w.-]{1,32}@)"
"""Before the name of the host that a line comes from."""
_COMMAND = r"(?:^|[`$#>:] ?|\bsudo )"
NAMED, SEEN = 1, 2
"""How much a line weighs: a command that is named, a line from within."""


def inside(container: str, weight: int) -> Tell:
    """Writes down that it runs in such a container."""

    def tell(_values: Values, line: int, notes: Notebook) -> None:
        notes.tell("system.container", container, line, weight)

    return tell


def _colab(_values: Values, line: int, notes: Notebook) -> None:
    notes.tell("container.platforms", ("colab",), line)


LANGUAGE = Language(
    name="places",
    words=(
        "host", "http", "File ", "@", "docker", "podman", "nerdctl", "gpus:", "ontainer", "ingularity", "pptainer", "lxc", "LXC", "LXD", "pct ", "olab", "ollab", "/content/",
        "srun", "sbatch", "salloc", "SBATCH", "SLURM", "slurm", "NoDevFiles", "--gpus", "--runtime", "--nv", "LD_LIBRARY_PATH", "nvidia", "WSL", "wsl",
        "icrosoft", "snap", "Desktop", "desktop", "daemon-reload", "Step ", "Running in", "FROM ", "NVIDIA_VISIBLE", "NVIDIA_DISABLE", "capabilities",
        "Windows", "windows", "darwin", "kubectl", "rootless", "ccelerator", "untime type", "ackend", "ack-end", "currently connect", "\u540e\u7aef", "\u52a0\u901f\u5668", "\u8fde\u63a5\u5230", "\u30d0\u30c3\u30af", "\ubc31\uc5d4\ub4dc",
    ),
    kinds=(
        # what was asked for; these stand behind prompts, too
        Kind("slurm-asked", r"(?:\b(?:srun|sbatch|salloc)\b|#SBATCH)[^\n]{0,200}?(?:--gres|--gpus|(?<!-p )(?<!-p)(?<!partition=)(?<!partition )(?<![\w.-])gpus?\b|(?<=[=:,])(?<!partition=)gpu|-G ?\d)|^--gres[= ]gpu|\bjsrun\b[^\n]{0,200} (?:-g ?[1-9]|--gpu_per_rs)"),
        Kind(
            "gpus-asked-too-late",  # what stands after the image is its command's
            r"\b(?:docker|podman) (?:container )?run(?: (?:-[dit]{1,3}|--rm|--privileged|--\w[\w-]{0,30}=\S{1,200})){0,12} [^-\s]\S{0,200} (?:[^\n]{0,200} )?--(?:gpus|runtime)\b",
            tell=inside("docker", NAMED),
        ),
        Kind(
            "run-without-gpus",
            r"(?i:^(?![^\n]{0,300}(?:\b(?:with (?:and|or) without|both|even without|works?|worked|or without)\b|\?$))[^\n]{0,300}?\b(?:without|forg[eo]t(?:ten)?(?: to (?:add|pass|use|set))?|omit(?:s|ted)?|left out|(?:did(?:n't| not)|do(?:n't| not)|never) (?:add|pass|use|set)|(?:can(?:'t|not| not)|unable to|impossible to|no (?:way|option) to|(?:does(?:n't| not)|do(?:n't| not)) let (?:me|us|you)) (?:add|pass|use|set|give|specify)) (?:the |any )?[`'\"]?--gpus\b)",
            tell=inside("docker", NAMED),
        ),
        Kind("zero-gpus-asked", r"\b(?:docker|podman) [^\n]{0,400}?--gpus[= ](?P<quote>['\"]?)0(?P=quote)(?=\s|$)", tell=inside("docker", NAMED)),
        Kind(
            "gpus-asked",
            r"(?:--gpus\b|--hooks?-dir\b|--runtime[= ]nvidia|(?<!Use ')\bnvidia-docker2? run\b|--device[= ]\"?(?:nvidia\.com/gpu|/dev/nvidia)"
            r"|\b(?:singularity|apptainer)\b[^\n]{0,80}\s--nv(?:ccli)?\b|\"default-runtime\": ?\"nvidia\"|capabilities: ?\[\[?\"?gpu"
            r"|\b(?:driver|runtime) ?: [\"']?nvidia\b|^gpus: ?[\"']?(?:all\b|[1-9])|^--nv(?:ccli)?(?: |$)|nvidia\.com/gpu: [\"']?[1-9])"
            r"(?:[^\n]{0,400}?\bnvidia/cuda(?:gl)?:(?P<image>\d{1,2}\.\d{1,2}))?",
        ),
        Kind("in-a-pod", rf"{_HOST}{_POD}(?:[):\s]|$)", tell=inside("kubernetes", SEEN)),
        Kind("in-a-container", rf"{_HOST}{_ID}(?:[):\s\]]|$)", tell=inside("docker", SEEN)),
        Kind("in-a-container", rf"^tf-docker |https?://{_ID}:\d|You are running this container as", tell=inside("docker", NAMED)),
        Kind("in-apptainer", r"^(?:Singularity|Apptainer)(?:>|\s[\w./:~-]{1,80}>)|/\.singularity\.d/", tell=inside("apptainer", 3)),
        Kind("in-a-container", r"LD_LIBRARY_PATH[=:] ?\S{0,200}/usr/local/nvidia/lib\b", tell=inside("docker", NAMED)),
        Kind("in-apptainer", r"(?i:\bversion of (?:singularity|apptainer)\b)", tell=inside("apptainer", NAMED)),
        Kind("in-lxc", r"\blxc\.(?:cgroup|mount|idmap|apparmor)|\bpct (?:enter|exec|start) ", tell=inside("lxc", SEEN)),
        Kind("in-lxc", r"\b(?:in|inside) (?:an? |the |my )?(?:\w{1,15} ){0,2}(?:LXC|LXD)\b", tell=inside("lxc", NAMED)),
        Kind(
            "accelerator-refused",
            r"(?i:\b(?:connect\w*|conect\w*|verbind\w*|\u043f\u043e\u0434\u043a\u043b\u044e\u0447\w*)\b[^.\n]{0,40}\bGPU\b[- ]?back-?ends?\b|\b(?:connect\w*|conect\w*)\b[^.\n]{0,30}\bback-?end\b[^.\n]{0,8}\bGPU\b"
            r"|\bcannot currently connect to a GPU\b|\bruntime with no accelerator\b"
            r"|(?:\u65e0\u6cd5|\u4e0d\u80fd)[^\n\u3002]{0,12}GPU ?\u7684?\u540e\u7aef|\u4e0d\u5e26\u52a0\u901f\u5668\u7684\u8fd0\u884c\u65f6|\u76ee\u524d\u65e0\u6cd5\u8fde\u63a5\u5230 ?GPU"
            r"|GPU ?\u30d0\u30c3\u30af\u30a8\u30f3\u30c9\u306b\u63a5\u7d9a\u3067\u304d|GPU ?\ubc31\uc5d4\ub4dc\uc5d0 \uc5f0\uacb0\ud560 \uc218 \uc5c6)",
            "tf-lists-no-gpu",
        ),
        Kind("in-colab", r"(?:^|[\s'\"(!=:])/content/|\bgoogle\.colab\b|\]\(https://localhost:8080/#\)", tell=_colab),
        Kind("talks-of-colab", r"(?i:(?<!//)(?:\b|(?<=_))colab(?:_\w{1,30}|code)?\b|\bgg?oo?gg?le[- ]collab)"),
        Kind(
            "accelerator-none",
            r"(?i:(?<![(,.\w] )(?<![(,.\w])\b(?:hardware accelerator|accelerator|runtime type)['\"]?(?::| is| is set to|:? set to)? ['\"\u201c]?(?:none|cpu)\b(?![^.\n]{0,40}(?:\bchanged?\b|\bchosen\b|\bto gpu\b|\?)))",
        ),
        Kind("slurm-gives-none", r"CUDA_VISIBLE_DEVICES\"?[=:] ?[\"']?NoDevFiles"),
        Kind("slurm-job", rf"{_COMMAND}(?:srun|salloc|sbatch|jsrun) |\b(?:used?|using|with|via|by|through|ran|run) [`'\"]?(?:srun|salloc|sbatch) -|#SBATCH |\bSLURM_JOB_?ID\b|\bslurmstepd: "),
        Kind("daemon-reload", r"\bdaemon-reload\b"),
        Kind("builds-an-image", rf"^Step \d+/\d+ ?:|-> Running in {_ID}|^#\d{{1,3}} \d+\.\d+ |\bnvidia-docker2? build\b"),
        Kind(
            "run-without-gpus",
            r"\b(?:docker|podman|nerdctl) (?:container )?(?:run|create) (?=[^\n]{0,400}(?:gpu|cuda|nvcr\.io|pytorch/pytorch))(?![^\n]{0,2000}\\$)",
            tell=inside("docker", NAMED),
        ),
        Kind(
            "container-run",
            r"\b(?:docker|podman|nerdctl) (?:container )?(?:run|exec|create) (?![^\n]{0,200}hello-world)|\bdocker[- ]compose [^\n]{0,60}\b(?:up|run|exec)\b"
            r"|^FROM (?:tensorflow/|nvidia/|nvcr\.io/)",
            tell=inside("docker", NAMED),
        ),
        Kind("apptainer-run", r"\b(?:singularity|apptainer) (?:-\w+ )?(?:exec|run|shell) ", tell=inside("apptainer", SEEN)),
        Kind("on-a-login-node", rf"{_HOST}(?P<host>[\w-]{{0,30}}(?:login|headnode|head-node|front-?end|submit-?\d|uan\d)[\w.-]{{0,30}})"),
        Kind("on-a-host", r"(?:\bhost(?:name)?: |this host \()[\w.-]{1,60}\)?:?(?:$| )|File \"(?:/home/[\w.-]{1,40}/\.?(?:ana|mini)|C:)"),
        Kind("in-a-pod", r"\bkubectl exec\b", tell=inside("kubernetes", NAMED)),
        Kind("require-disabled-said", r"\bNVIDIA_DISABLE_REQUIRE(?:=|: ?)[\"']?(?:1|true|yes|on)\b", once=True),
        Kind("none-is-visible", r"NVIDIA_VISIBLE_DEVICES(?:=|: ?)[\"']?(?P<value>none|void)\b"),
        Kind("toolkit-looks-for-wsl", r"load dxcore to see if|assuming a non-WSL environment"),
        Kind("on-windows", r"microsoft-standard|/usr/lib/wsl|/mnt/wsl|(?<!without )(?<!w/o )(?i:\bwsl ?[12]?\b)|windows/amd64|\bPS C:\\|\b(?i:windows|win) ?(?:\w{1,10} ){0,3}1[01]\b"),
        Kind("on-a-mac", r"\bdarwin/(?:amd64|arm64)|\bmac ?OS\b"),
        Kind("talks-of-a-container", r"(?i:\b(?:in|inside|within) (?:[a-z]{1,10} ){0,3}(?:docker|containers?)\b)"),
        Kind("rootless", r"(?i:\brootless\b)|/run/user/\d+/docker\.sock|unix:///run/user/"),
    ),
)  # fmt: skip
ENGINES = Language(
    name="places",
    words=("snap", "Snap", "anonical", "esktop", "docker.dockerd", "docker.nvidia", "nstaller", "installation", "setup"),
    kinds=(
        Kind(
            "docker-of-snap",
            r"snap (?:install|services|start|restart|refresh|connect|list|info|logs) docker\b|^docker\.(?:dockerd|nvidia-container-toolkit) {2,}(?:enabled|disabled)|/snap[./](?:bin/)?docker\b|(?i:(?<!no )(?<!not )\bsnap[- ](?:packaged |installed |version of |package of )?docker\b)|^docker +\d[\w.-]* +\d+ +\S+ +canonical|\bdocker [\d.+-]+ from Canonical"
            r"|(?i:docker\b(?:(?!\b(?:not|no|never)\b|n't\b)[^\n.]){0,40}\b(?:via|with|by|using|through|from|as an?) (?:the )?(?:ubuntu )?[`'\"]?snap\b)"
            r"|(?i:^(?![^\n]{0,400}\b(?:docker[- ]desktop|windows|not|n't|pip|yast)\b)[^\n]{0,400}?\b(?:ticked|selected|chose|chosen|checked|marked|picked|enabled|took)\b[^\n.]{0,24}?[`'\"]?\bdocker\b[^\n.]{0,50}\b(?:installer|(?:server|ubuntu|os) (?:setup|install(?:ation)?)|during (?:the )?(?:ubuntu |server |os )?(?:setup|install(?:ation)?))\b"
            r"|\binstaller\b[^.\n]{0,60}\b(?:ticked|selected|chose|checked|marked|picked)\b[^\n.]{0,30}\bdocker\b)",
        ),
        Kind("docker-desktop", r"(?i:docker[ -]desktop)|\bdesktop-linux\b|/\.docker/desktop"),
    ),
)  # fmt: skip
"""Which docker it is, whatever else a line tells."""
