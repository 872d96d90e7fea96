"""Jobs and hosted notebooks: the same as no GPU handed over, on those platforms."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from shlex import quote

from gpudoctor.checks._cuinit import NO_DEVICE
from gpudoctor.checks._handed_over import lists_nothing, nothing_here
from gpudoctor.checks._reasons import set_to, several
from gpudoctor.checks._said import left_open, lines, said
from gpudoctor.facts import READS_LIKE_A_FAULT, Facts, TextEvent, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, NotApplicable, Stage
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check

_NO_GPU = ("tf-lists-no-gpu", "cuinit-no-device", "libcuda-not-found")


@check(
    "GD605",
    "apptainer-no-nv",
    stage=Stage.CONTAINER,
    explains=(*_NO_GPU, "container-no-gpus-flag"),
)
def apptainer_no_nv(facts: Facts) -> Findings:
    """This Apptainer container was started without --nv.

    What it looks at: an Apptainer (Singularity) container on a host with the NVIDIA module, in which no libcuda.so.1
    was mounted from the host (--nv puts it into /.singularity.d/libs) and none can be loaded, or whose /dev
    has no NVIDIA nodes. In a pasted text: its prompt or its command without --nv, and neither library nor GPU.

    Why it matters: Apptainer shares /dev with the host, so that the nodes are there, and without --nv not the driver's
    libraries.

    How to fix: start it with --nv.

    Source: Apptainer user guide, 'GPU Support'.
    """
    if (never := facts.text.said("no-nv-said")) and not facts.text.said("gpus-asked"):
        yield Found(
            message="The container is started without --nv, as somebody says.",
            proof=lines(never),
            fixes=(_with_nv("apptainer", facts),),
            explains=(*_NO_GPU, "cuinit-fails", "nvidia-smi-fails", "libcuda-stub-loaded", READS_LIKE_A_FAULT),
        )
        return
    if workflow := _by_a_workflow(facts):
        yield Found(
            message="A workflow starts its Apptainer containers without --nv.",
            proof=lines(workflow),
            fixes=(_IN_THE_WORKFLOW,),
            explains=(*_NO_GPU, "cuinit-fails", "nvidia-smi-fails", "libcuda-stub-loaded", READS_LIKE_A_FAULT),
        )
        return
    container = known(facts.system.container)
    if container not in ("apptainer", "singularity"):
        raise NotApplicable("this is no Apptainer container")
    if facts.text.is_all:
        absent = nothing_here(facts)
        if not absent or facts.text.said("gpus-asked", "apptainer-no-files"):
            raise left_open()
        yield Found(
            message="Neither a GPU nor the driver's library is inside this container: it was started without --nv.",
            proof=lines((*facts.text.said("apptainer-run")[:1], *absent)),
            fixes=(_with_nv("apptainer", facts),),
            explains=(*_NO_GPU, "cuinit-fails", "nvidia-smi-fails", "libcuda-stub-loaded"),
        )
        return
    if known(facts.driver.kernel_version) is None:
        raise NotApplicable("the host's kernel has no NVIDIA module loaded")
    mounts = known(facts.container.driver_mounts)
    control = known(facts.driver.node("/dev/nvidiactl"))
    no_library = facts.driver.libcuda.path is None
    no_node = control is None or not known(control.exists)
    if any("libcuda" in m or m.startswith("/.singularity.d/libs") for m in mounts) or not (no_library or no_node):
        known(facts.driver.libcuda.path)
        return "libcuda or /dev/nvidiactl is in the container"
    yield Found(
        message="The host has an NVIDIA driver, and its libraries are not in this container: it was started without --nv.",
        proof=(
            Evidence(
                text=f"kernel module {facts.driver.kernel_version}, the host's", source="/proc/driver/nvidia/version"
            ),
            Evidence(text="no libcuda is mounted from the host", source="/proc/self/mountinfo"),
        ),
        fixes=(_with_nv(container, facts),),
    )


def _by_a_workflow(facts: Facts) -> tuple[TextEvent, ...]:
    """Nextflow or Snakemake runs Apptainer, its options are shown and without --nv, and there is no GPU."""
    said = facts.text.said
    by, options = said("apptainer-by-workflow"), said("workflow-options")
    given = any("--nv" in e.text for e in (*options, *said("gpus-asked")))
    none = nothing_here(facts) or said("no-cuda-driver", "says-no-gpu")
    if not by or not options or given or not (none or lists_nothing(facts)):
        return ()
    return (*by, *options[:1], *none[:1])


_IN_THE_WORKFLOW = Fix(
    kind="advice",
    risk="safe",
    summary="Add --nv to the options: singularity.runOptions = '--nv' in nextflow.config, --singularity-args '--nv' for Snakemake",
    steps=(),
)


def _with_nv(container: str, facts: Facts) -> Fix:
    """The image's file is what the container itself says."""
    told = [facts.environment.get(f"{tool}_CONTAINER") for tool in ("APPTAINER", "SINGULARITY")]
    image = next((quote(one) for one in told if isinstance(one, str) and one), "IMAGE")
    return Fix(
        kind="advice",
        risk="safe",
        summary=f"Start it with --nv: {container} exec --nv IMAGE python3 …",
        steps=(f"{container} exec --nv {image} python3 …",),
        verify=f"{container} exec --nv {image} nvidia-smi",
    )


_ALLOCATED = ("SLURM_JOB_GPUS", "SLURM_STEP_GPUS")
_EXPLAINED = (
    *(*_NO_GPU, "container-no-gpus-flag"),
    *("device-node-permission", "no-nvidia-gpu"),
)


@check(
    "GD606",
    "slurm-no-gpu-allocated",
    stage=Stage.CONTAINER,
    explains=(*_EXPLAINED, "cuda-visible-devices-empty"),
)
def slurm_no_gpu_allocated(facts: Facts) -> Findings:
    """This Slurm job did not ask for a GPU.

    What it looks at: SLURM_JOB_ID without any of the variables with which Slurm tells of GPUs (SLURM_JOB_GPUS,
    SLURM_STEP_GPUS, SLURM_GPUS…), and that no GPU can be used: cuInit finds none, the nodes refuse to be opened, or
    the machine has no NVIDIA driver.

    Why it matters: Slurm hides GPUs that a job did not ask for, or puts the job onto a machine without one.

    How to fix: ask for one: sbatch, salloc or srun with --gres=gpu:1 (or --gpus=1), in a partition that has GPUs.

    Source: Slurm documentation, 'Generic Resource (GRES) Scheduling'.
    """
    if facts.text.is_all:
        yield Found(
            message="This job has no GPU: none was asked for.",
            proof=lines(_none_allocated(facts)),
            fixes=(_ASK_FOR_ONE,),
            explains=(*_EXPLAINED, "cuinit-fails", "cuda-visible-devices-empty", "cuda-visible-devices-wrong"),
        )
        return
    job = facts.environment.known("SLURM_JOB_ID")
    if job is None:
        raise NotApplicable("this is no Slurm job")
    for variable in known(facts.environment.variables):
        if variable.name in _ALLOCATED and variable.value:  # indices: '0' is a GPU
            return set_to(variable.name, variable.value)
        if variable.name.startswith("SLURM_GPU") and variable.value not in ("", "0"):
            return set_to(variable.name, variable.value)
    everything = facts.driver.all_devices
    if not isinstance(everything, Unread) and everything:
        return f"CUDA lists {several(len(everything), 'GPU')}"
    seen = _unusable(facts)
    if seen is None:
        return "nothing shows that this job may use no GPU"
    value = facts.environment.known("CUDA_VISIBLE_DEVICES")
    by_slurm = value is None or value == "NoDevFiles"  # what Slurm itself sets; else a person did
    yield Found(
        message=f"Slurm job {job} has no GPU: none was asked for.",
        proof=(
            Evidence(
                text="neither SLURM_JOB_GPUS nor SLURM_GPUS… is set", source="environment of the examined process"
            ),
            seen,
        ),
        fixes=(_ASK_FOR_ONE,),
        explains=None if by_slurm else _EXPLAINED,
    )


_ASK_FOR_ONE = Fix(
    kind="advice",
    risk="safe",
    summary="Ask for a GPU, in a partition that has some (sinfo -o '%P %G' lists them); a batch script says #SBATCH --gres=gpu:1",
    steps=("srun --gres=gpu:1 --pty bash",),
    verify="srun --gres=gpu:1 nvidia-smi -L",
)


_ASKS = Pattern(r"^(?!.*\b(?:docker|podman)\b).*\s?--gpus(?:-per-\w{2,6})?[= ](?:\w{1,20}:)?\d")
"""In a line of its own, of a command that goes on."""


def _none_allocated(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines of a text that show it: Slurm's own value, or a job without a request, and no GPU in it."""
    if none := facts.text.said("slurm-gives-none"):
        return none
    job, absent = said(facts, "slurm-job"), nothing_here(facts)
    if not absent or facts.text.said("slurm-asked") or any(_ASKS.search(e.text) for e in facts.text.said("gpus-asked")):
        raise left_open()
    return (*job[:2], *absent)


def _unusable(facts: Facts) -> Evidence | None:
    """What shows that this process has no GPU."""
    if known(facts.driver.kernel_version) is None:
        return Evidence(text="this machine has no NVIDIA kernel module loaded", source="/proc/driver/nvidia/version")
    nodes = [n for n in known(facts.driver.nodes) if re.fullmatch(r"/dev/nvidia\d+", n.path) and n.exists is True]
    if nodes and all(n.open_errno == errno.EPERM for n in nodes):
        return Evidence(text=f"{nodes[0].path}: not permitted by the job's device rules", source="open()")
    lib = facts.driver.libcuda
    if lib.path is not None and known(lib.init_result) == NO_DEVICE:
        return Evidence(text="cuInit finds no device", source="libcuda, in a child process")
    return None


def _none_chosen(facts: Facts) -> tuple[TextEvent, ...]:
    """The setting of a hosted notebook by which its session has no GPU, in a text that lists none."""
    listed = facts.tensorflow.gpus()
    seen = not isinstance(listed, Unread) and listed
    hosted = facts.text.said("talks-of-colab", "in-colab", "kaggle-named") and not facts.text.said(
        "smi-works", "nvidia-smi"
    )
    return facts.text.said("accelerator-none") if facts.text.is_all and hosted and not seen else ()


@check(
    "GD607",
    "colab-cpu-runtime",
    stage=Stage.CONTAINER,
    explains=(
        "tf-lists-no-gpu",
        "cuinit-no-device",
        "cuinit-fails",
        "libcuda-not-found",
        "nvidia-smi-fails",
        "no-nvidia-gpu",
        "container-no-gpus-flag",
    ),
)
def colab_cpu_runtime(facts: Facts) -> Findings:
    """This Colab or Kaggle notebook runs on a machine without a GPU.

    What it looks at: Colab's variables, no NVIDIA kernel module, and no device node of a GPU. In a pasted text also Kaggle's
    and Colab's setting of an accelerator, where it says None, and Colab's own words where it gives none.

    Why it matters: a new notebook gets a CPU runtime. Nothing that is installed in it brings a GPU.

    How to fix: Runtime, Change runtime type, choose a GPU; then run every cell again.

    Where Colab refuses one: end other sessions, come back after some hours, or pay for it.

    Source: Google Colaboratory, frequently asked questions.
    """
    if refused := facts.text.said("accelerator-refused"):
        yield Found(
            message="Colab gives this session no GPU now: what its account may use is used up, or none is free.",
            proof=lines(refused[:2]),
            fixes=(_COME_BACK,),
            explains=(*_NO_GPU, "cuinit-fails", "nvidia-smi-fails", "runs-slowly", READS_LIKE_A_FAULT),
        )
        return
    if told := _none_chosen(facts):
        yield Found(
            message="This notebook's session was started without a GPU.",
            proof=lines(told),
            fixes=(_CHOOSE_A_GPU,),
            explains=(*_NO_GPU, "cuinit-fails", "nvidia-smi-fails", "runs-slowly", READS_LIKE_A_FAULT),
        )
        return
    if "colab" not in known(facts.container.platforms):
        raise NotApplicable("this is no Colab notebook")
    if facts.text.is_all and (absent := nothing_here(facts)):
        yield Found(
            message="This Colab runtime has no GPU.",
            proof=lines(absent),
            fixes=(_CHOOSE_A_GPU,),
            explains=(*_NO_GPU, "cuinit-fails", "nvidia-smi-fails", "container-no-gpus-flag", "libcuda-stub-loaded"),
        )
        return
    if known(facts.driver.kernel_version) is not None:
        return f"the kernel module {facts.driver.kernel_version} is loaded"
    if any(re.fullmatch(r"/dev/nvidia\d+", n.path) and known(n.exists) for n in known(facts.driver.nodes)):
        return "the device node of a GPU is there"
    yield Found(
        message="This Colab runtime has no GPU.",
        proof=(
            Evidence(text="the NVIDIA kernel module is not loaded", source="/proc/driver/nvidia/version"),
            Evidence(text="no /dev/nvidia0", source="/dev"),
        ),
        fixes=(_CHOOSE_A_GPU,),
    )


_COME_BACK = Fix(
    kind="advice",
    risk="safe",
    summary="End the sessions that are not used (Runtime, Manage sessions), come back after some hours, or pay for compute units; until then it runs without a GPU",
    steps=(),
    verify="!nvidia-smi, in a cell",
)
_CHOOSE_A_GPU = Fix(
    kind="advice",
    risk="safe",
    summary="In the notebook's menu: Runtime, Change runtime type (Colab), or Settings, Accelerator (Kaggle): choose a GPU; then run the cells again",
    steps=(),
    verify="!nvidia-smi, in a cell",
)


@check("GD633", "hpc-login-node", stage=Stage.CONTAINER, explains=(*_EXPLAINED, "cuinit-fails", "nvidia-smi-fails"))
def hpc_login_node(facts: Facts) -> Iterator[Found]:
    """This is the login node of a cluster, which has no GPU.

    What it looks at: in a pasted text, a host that is named as login nodes are, and that neither the driver's library
    nor a GPU is there.

    Why it matters: people log in there to submit jobs. The GPUs are in other machines, and nothing that is installed here
    brings one.

    How to fix: run it in a job that asks for a GPU.

    Source: Slurm documentation, 'Generic Resource (GRES) Scheduling'.
    """
    host, absent = said(facts, "on-a-login-node", settle="hostname; nvidia-smi -L"), nothing_here(facts)
    prompts = all("@" in e.text for e in host)  # a job that was submitted from there runs elsewhere
    if not absent or (prompts and facts.text.said("slurm-job")):
        raise left_open("hostname; nvidia-smi -L")
    yield Found(
        message=f"{host[0].values['host']} is a login node, and there is no GPU in it.",
        proof=lines((host[0], *absent)),
        fixes=(_ASK_FOR_ONE,),
    )
