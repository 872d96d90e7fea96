"""What people say, and lists show, of packages: builds without CUDA by their names, wheels that are here, another interpreter."""

from __future__ import annotations

from .language import Kind, Language, Values, told
from .notebook import Notebook

_GUESSED = -2
"""Weighs less than what anybody says."""


def _release(values: Values, line: int, notes: Notebook) -> None:
    notes.tell("tensorflow.version", f"{values['major']}.{values['minor']}", line, _GUESSED)


ENVIRONMENT = Language(
    name="circumstances",
    words=("/tf", "\\tf", "/tensorflow", "\\tensorflow", "(tf", "(tensorflow"),
    kinds=(
        Kind(
            "environment-of-release",
            r"(?:[/\\](?:envs|virtualenvs|\.virtualenvs|venvs)[/\\]|^\()(?i:tf|tensorflow)(?:[-_]?gpu)?[-_]?(?P<major>2)[-_.]?(?P<minor>1\d|20)(?=[/\\)_-])",
            tell=_release,
            once=True,
        ),
    ),
)
"""An environment that is called after the release for which somebody made it."""

_TOLD = told(
    (
        (
            "cpu-build-said",
            ("cpu_", "mkl_", "eigen_", "cpu build", "CPU build", "build string", "cpuonly"),
            (
                r"(?i:(?<![\w.-])[\"'`(]?(?P<build>(?:cpu|mkl|eigen)_py\d{2,3}\w{0,12})\b"
                r"|\bbuild(?: string| number| column)?\b[^.\n]{0,30}\b(?:is|says|has|begins|starts|contains|with|shows)\b[^.\n]{0,20}[\"'`]?(?P<build2>cpu_|mkl_|eigen_)|\btensorflow(?:-base)?=[\d.*]{1,8}=(?P<build3>cpu|mkl|eigen))"
            ),
            False,
        ),
        (
            "cuda-build-said",
            ("cuda", "gpu_"),
            r"(?<![\w.-])[\"'`(=|]{0,2}(?:gpu|cuda\d{2,3})_?py\d{2,3}\w{0,20}\b|(?:tensorflow-base|tensorflow)-\d[\d.]{1,8}-(?:gpu|cuda\d{2,3})_?py\d{2,3}",
            True,
        ),
        (
            "cpu-package-named",
            ("ensorflow-cpu", "ensorflow_cpu"),
            r"(?i:^(?![^\n]{0,300}\b(?:not|no|never|un-?install\w*|remov\w+|instead of|rather than|or|if|should|could|would)\b)(?![^\n]{0,300}(?:n't\b|\?$))[^\n]{0,300}?(?<![\w.-])tensorflow[-_]cpu(?![-_\w]))|(?i:\btensorflow[-_]cpu-\d)",
            False,
        ),
        (
            "cpu-package-may-lie-over",
            ("tensorflow", "--no-dep", "version", "package", "build"),
            (
                r"^(?!Could not find a version)(?=[^\n]{0,400}(?<![\w/.@-])tensorflow(?![\w/.-]|\[))[^\n]{0,400}?(?i:\b(?:requir\w*|depend\w*|pull(?:s|ed)?|drags?|replac\w*|overrid\w*|overwr\w*|setup\.py|install_requires|beside|alongside|in place of(?! (?:the )?cpu\b)|conflict\w*|(?<!of )both(?! (?:\w+ )?(?:gpus?|cards?)\b)|also|automatically|again|over)\b)"
                r"|--no-dep|(?i:tensorflow[^\n]{0,200}\bdependenc(?:y|ies)\b|\bdependenc(?:y|ies)\b[^\n]{0,200}tensorflow)|(?i:\b(?:cpu|non-gpu)[- ](?:version|build|package|one)\b|\b(?:version|build|package) (?:for|of) (?:the )?cpus?\b)"
            ),
            True,
        ),
        (
            "distribution-cpu-package",
            ("python-tensorflow", "python3-tensorflow"),
            r"(?<![\w.-])(?:local/|extra/|community/)?(?P<name>python3?-tensorflow(?:-opt)?)(?![\w-])(?!\.)",
            True,
        ),
        (
            "distribution-cuda-package",
            ("tensorflow-cuda", "tensorflow-opt-cuda"),
            r"(?:^|[^\w])(?:local/|extra/|community/)(?:python-)?tensorflow(?:-opt)?-cuda \d|(?i:\binstalled\b[^.\n]{0,40}\bpython-tensorflow(?:-opt)?-cuda\b)",
            True,
        ),
        (
            "javascript-cpu-package",
            ("tfjs-node",),
            r"@tensorflow/tfjs-node(?!-gpu)(?=['\"@ /)]|$)|\btfjs-node(?!-gpu)\b[^.\n]{0,20}\b(?:npm|yarn|install)|\b(?:npm|yarn|pnpm) (?:i|install|add) (?:\S{1,30} ){0,3}@?(?:tensorflow/)?tfjs-node(?!-gpu)\b",
            True,
        ),
        (
            "javascript-gpu-package",
            ("tfjs-node-gpu",),
            r"(?:require\(|from |import |['\"])\(?['\"]?@tensorflow/tfjs-node-gpu\b",
            True,
        ),
        (
            "is-installed-elsewhere",
            (
                "satisfied",
                "sys.executable",
                "which python",
                "where python",
                "pip list",
                "pip freeze",
                "pip show",
                "conda list",
                "uccessful",
            ),
            (
                r"(?i:\b(?:pip|conda) (?:list|freeze|show)\b(?:(?!\b(?:not|no|nothing|without|neither)\b|n't\b)[^.\n]){0,60}?\b(?:installed|there|shows?|listed|lists?|see|sees|says|present|appears?|contains?|includes?)\b(?! (?:no|not|nothing|neither)\b)|(?<!n't )(?<!not )(?<!never )\b(?:see|shown|listed|there|appears?|present|included) (?:\w+ ){0,3}?(?:in|by|with|under) (?:the |my )?(?:pip|conda) (?:list|freeze|show)\b"
                r"|\binstall(?:ed|ation)\b(?<!paddle is installed)(?:(?!\b(?:not|n't)\b)[^.\n]){0,40}?\bsuccessful(?:ly)?\b|\bsuccessfully installed (?:tensorflow|it|tf)\b)|"
                r"(?i:^requirement already satisfied: tensorflow\b|\bsays?\b[^.\n]{0,30}\b(?:already satisfied|requirement already)|: requirement already satisfied\b"
                r"|\bsys\.executable\b[^\n]{0,160}\b(?:notebook|kernel|jupyter)\b[^\n]{0,200}\b(?:terminal|shell|prompt|venv|env)\b|\bsys\.executable\b[^\n]{0,160}\b(?:terminal|shell|prompt)\b[^\n]{0,200}\b(?:notebook|kernel|jupyter)\b)"
            ),
            True,
        ),
        (
            "iommu-is-off",
            ("IOMMU", "ACS", "VT-d", "AMD-Vi", "iommu"),
            (
                r"(?:\b(?i:iommu)|\bACS|\bVT-d|\bAMD-Vi)\b[^.\n]{0,30}\b(?:is|are|was|were)\b (?:\w+ ){0,2}?(?:off|disabled)\b(?![^.\n]{0,60}\b(?:works?|helps?|helped|solved?|fixed)\b)"
                r"|(?i:\b(?:already|tried|have) (?:\w+ )?(?:disabled|turned off|switched off) (?:the )?(?:iommu|acs)\b)"
            ),
            True,
        ),
    )
)
LANGUAGES = (ENVIRONMENT, *_TOLD)
