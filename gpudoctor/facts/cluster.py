"""Training over several processes: TF_CONFIG, Horovod, and what a launcher tells its processes."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class ClusterTask(Fact, frozen=True, kw_only=True):
    """One task of TF_CONFIG's cluster, and how its address looks from here."""

    role: str
    index: int
    address: str
    """As written: 'node7:2222'."""
    resolved: tuple[str, ...] | Unread | None = NOT_RECORDED
    """The addresses of its host; None: its name leads to none."""
    here: bool | Unread = NOT_RECORDED
    """One of these is an address of this machine, its loopback included."""
    loopback: bool | Unread = NOT_RECORDED
    """All of these are loopback addresses: they are another machine on every machine."""
    connection: str | Unread | None = NOT_RECORDED
    """How a TCP connection to it ended: 'accepted', 'refused' (its host answers, and nobody listens yet), 'timed out', or an errno
    ('EHOSTUNREACH'). None: not tried, as it is this task's own."""
    proxy_variable: str | Unread | None = NOT_RECORDED
    """'http_proxy': the variable by which TensorFlow's gRPC sends what is for it to a proxy; None: none does."""

    @property
    def name(self) -> str:
        """'worker 1'."""
        return f"{self.role} {self.index}"

    @property
    def host(self) -> str | None:
        """What stands before the port; None where there is no port."""
        return split(self.address)[0]

    @property
    def port(self) -> int | None:
        """The port; None where there is none."""
        return split(self.address)[1]


class PortHolder(Fact, frozen=True, kw_only=True):
    """Who listens on a port of this machine."""

    pid: int | Unread = NOT_RECORDED
    """Unread: its owner's processes can't be looked into."""
    command: str | Unread = NOT_RECORDED
    """The program's name."""
    same_config: bool | Unread = NOT_RECORDED
    """It was started with the TF_CONFIG that is examined: it is this task itself."""


class TfConfig(Fact, frozen=True, kw_only=True):
    """The variable TF_CONFIG."""

    flaws: tuple[str, ...] = ()
    """Why it can't be read as TensorFlow reads it, a clause each."""
    tasks: tuple[ClusterTask, ...] = ()
    """Every task of its cluster, as far as it could be read."""
    task_type: str | None = None
    """The role of this process."""
    task_index: int | None = None
    port_holders: tuple[PortHolder, ...] | Unread = NOT_RECORDED
    """Who listens on this task's port on this machine; nothing where nobody does, and where the task is not of this cluster."""

    def mine(self) -> ClusterTask | None:
        """This process's task; None where the cluster has none such."""
        return next((t for t in self.tasks if (t.role, t.index) == (self.task_type, self.task_index)), None)

    def count(self, role: str) -> int:
        """How many tasks the cluster has of a role."""
        return sum(t.role == role for t in self.tasks)

    @property
    def has_parameter_servers(self) -> bool:
        """It is for ParameterServerStrategy."""
        return self.count("ps") > 0

    def hosts(self) -> tuple[str, ...]:
        """The hosts of the cluster as written, each once."""
        return tuple(dict.fromkeys(t.host for t in self.tasks if t.host is not None))


class Horovod(Fact, frozen=True, kw_only=True):
    """An installed Horovod."""

    directory: str
    built_for: tuple[str, ...] | Unread = NOT_RECORDED
    """'tensorflow', 'torch', 'mxnet': those whose compiled part is there."""


class Launched(Fact, frozen=True, kw_only=True):
    """What a launcher tells the processes that it starts."""

    by: str
    """'Horovod', 'Open MPI', 'Slurm'."""
    rank: int | None = None
    size: int | None = None
    local_rank: int | None = None
    local_size: int | None = None
    """How many processes it started on this machine."""


class Cluster(Fact, frozen=True, kw_only=True):
    """What decides how processes of one training find each other."""

    tf_config: TfConfig | Unread | None = NOT_RECORDED
    """None: TF_CONFIG is not set."""
    horovod: Horovod | Unread | None = NOT_RECORDED
    """None: it is not installed."""
    launched: Launched | Unread | None = NOT_RECORDED
    """None: no launcher's variables are set."""


def split(address: str) -> tuple[str | None, int | None]:
    """Host and port of 'node7:2222' or '[fd00::1]:2222'; (None, None) where it is none such."""
    host, colon, port = address.rpartition(":")
    number = int(port) if port.isascii() and port.isdigit() and len(port) < 6 else 0
    bracketed = host.startswith("[") and host.endswith("]")
    bare = host[1:-1] if bracketed else host
    fits = colon and bare and 0 < number < 65536 and not any(c.isspace() or c in "/@" for c in bare)
    return (bare, number) if fits and (bracketed or ":" not in bare) else (None, None)
