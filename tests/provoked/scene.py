"""A machine with GPUs that is not there: this one's files under an overlay, in a mount namespace, with what gpudoctor looks at laid
out anew.

PCI tree, /proc/driver/nvidia, device nodes, the driver's libraries (fakes that answer by what the machine is like), a virtual
environment with TensorFlow's real loader object and stub CUDA libraries, and the commands that fixes name, which do to this
machine what they would do to a real one. `check()` runs `gpudoctor check` in it, `paste()` runs lines in bash as printed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.building import Workshop
from tests.running import COMMAND, MARK, ROOT, TOKEN

RELEASE = "580.159.04"
VERSION = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build  (x@y)  \nGCC version: gcc 13.3.0\n"
)
LIBRARIES = Path("/usr/lib") / f"{os.uname().machine}-linux-gnu"
BARE_ENV = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "GPUDOCTOR_TEST_MUTANT")
HERE = Path(__file__).parent
MARK_OF_A_SCENE = "/.gpudoctor-scene"
NO_SCENE = 97
ANEW = "/run/started-anew"
"""What commands/docker and commands/apptainer leave where they start a container anew: its variables."""


class Report:
    """What a check said."""

    def __init__(self, whole: dict[str, Any]) -> None:
        self.whole = whole
        self.diagnosis: dict[str, Any] = whole["diagnosis"]
        self.roots: list[dict[str, Any]] = self.diagnosis["root_causes"]
        self.causes = [r["cause"] for r in self.roots]

    def fixes(self, cause: str) -> list[dict[str, Any]]:
        """Of its first finding."""
        return next(list(f["fixes"]) for f in self.whole["findings"] if f["cause"] == cause)

    def found(self) -> list[str]:
        """Causes of findings of every level, those that others explain too."""
        return [f["cause"] for f in self.whole["findings"]]


class Scene:
    """The machine; of its own processes and mounts nothing is left when it is closed."""

    def __init__(self, place: Path, workshop: Workshop, site: Path, gpus: int = 2) -> None:
        self.place, self.workshop, self.gpus = place, workshop, gpus
        self.env: dict[str, str] = {k: os.environ[k] for k in BARE_ENV if k in os.environ}
        self.env |= {"HOME": str(place / "home"), "PATH": f"{place}/bin:{self.env['PATH']}", MARK: TOKEN}
        self.env["PYTHONPATH"] = os.pathsep.join([str(ROOT), self.env.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        self.as_user: tuple[str, ...] = ()
        self.before = ""
        """Shell lines that the program is started after: limits, groups."""
        self.pid: int | None = None
        """A running process that is examined in the place of the environment."""
        self._running: list[subprocess.Popen[str]] = []
        (place / "home").mkdir()
        self.python = self._environment(site)
        shutil.copytree(HERE / "commands", place / "bin")
        for command in (place / "bin").iterdir():
            command.chmod(0o755)
        self.process = self._started()
        try:
            self._lay_out()
        except BaseException:
            self.close()
            raise

    def _environment(self, site: Path) -> Path:
        made = self.place / "env"
        venv.create(made, with_pip=False, symlinks=True)
        packages = next((made / "lib").glob("python3*/site-packages"))
        for one in site.iterdir():
            shutil.move(one, packages / one.name)
        (packages / "nvidia/nccl/lib/libcusolver.so.11").symlink_to("../../cusolver/lib/libcusolver.so.11")
        self.site = packages
        return made / "bin/python"

    def _started(self) -> subprocess.Popen[str]:
        """A process that does nothing but to hold the namespace, with the machine's own root.

        What is done in a scene must never reach this machine's files: in the namespace they are read-only, it is ready only once
        the root is changed, and whatever enters looks for the mark of a scene first. The kernel's settings are read-only in it.
        """
        over, place = shlex.quote(str(self.place / "over")), shlex.quote(str(self.place))
        script = f"""
            mkdir -p {over}
            mount -t tmpfs scene {over}
            cd {over}
            mkdir up work root
            mount -t overlay scene -o lowerdir=/,upperdir=up,workdir=work root
            for one in /proc /sys; do mount --rbind $one root$one; done
            mount -o remount,bind,ro root/sys
            mount --bind /proc/sys root/proc/sys
            mount -o remount,bind,ro root/proc/sys
            mount --bind {place} root{place}
            mount -o remount,bind,ro /
            touch root{MARK_OF_A_SCENE}
            exec chroot root bash -c 'echo ready; exec sleep infinity'
        """
        started = subprocess.Popen(
            ["unshare", "-m", "--propagation", "private", "bash", "-ec", script],
            env={k: v for k, v in self.env.items() if k != MARK}, start_new_session=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert started.stdout is not None
        if started.stdout.readline() != "ready\n":
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()
            raise RuntimeError("no mount namespace could be laid out")
        return started

    def close(self) -> None:
        for one in self._running:
            one.kill()
            one.communicate()
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    # ------------------------------------------------------------------- the machine

    def _lay_out(self) -> None:
        lines = ["rm -rf /.dockerenv /run/.containerenv /run/systemd/container /etc/ld.so.conf.d/*{cuda,nvidia}*"]
        # whatever the path is, what would do something to this machine is not reached
        lines.append(f"""for one in {shlex.quote(str(self.place))}/bin/*; do
            for there in /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin; do
                [ ! -e $there/${{one##*/}} ] || cp --remove-destination "$one" $there/
            done
        done""")
        lines += ["mount -t tmpfs scene /proc/driver", "mount -t tmpfs scene /sys/bus/pci"]
        lines += ["mount -t tmpfs -o mode=755 scene /dev", "mkdir -m 1777 /dev/shm"]
        for name, numbers in {"null": "1 3", "zero": "1 5", "urandom": "1 9", "random": "1 8", "tty": "5 0"}.items():
            lines.append(f"mknod -m 666 /dev/{name} c {numbers}")
        lines += ["ln -s /proc/self/fd /dev/fd", "mount -t tmpfs scene /dev/shm", ": > /dev/kmsg"]
        lines.append(f"install -m 4755 {self.workshop.program('sudo.c')} /usr/bin/sudo")
        release, libcuda, nvml = RELEASE, self.fake("libcuda.c"), self.fake("libnvidia_ml.c")
        for made, name in ((libcuda, "libcuda"), (nvml, "libnvidia-ml")):
            lines += [
                f"cp {made} {LIBRARIES}/{name}.so.{release}",
                f"ln -sf {name}.so.{release} {LIBRARIES}/{name}.so.1",
            ]
        lines += [
            "ldconfig",
            "mkdir -p /opt/packages/driver",
            f"cp -a {LIBRARIES}/lib{{cuda,nvidia-ml}}.so.* /opt/packages/driver",
        ]
        lines += [
            "printf 'ID=ubuntu\\nVERSION_ID=\"24.04\"\\n' > /etc/os-release",
            "mkdir -p /etc/modprobe.d /run/lock",
        ]
        lines += [
            "mkdir -p /lib/modules/$(uname -r)/updates/dkms",
            ": > /lib/modules/$(uname -r)/updates/dkms/nvidia.ko",
        ]
        for index in range(self.gpus):
            lines.append(f"mkdir -p /proc/driver/fake/gpu{index}")
            lines += self._pci(f"0000:{index + 1:02x}:00.0", "0x10de", "0x2335", "0x030200", "nvidia")
        lines += ["mkdir -p /sys/bus/pci/drivers/nvidia /sys/bus/pci/drivers/vfio-pci", "modprobe nvidia"]
        self.do("\n".join(lines))

    def fake(self, source: str, *defines: str) -> Path:
        """One of the driver's libraries, which answers by this machine."""
        return self.workshop.fake(source, source.replace(".c", ".so.1").replace("_", "-"), "MACHINE", *defines)

    def _pci(self, address: str, vendor: str, device: str, kind: str, driver: str | None) -> list[str]:
        where = f"/sys/bus/pci/tree/pci0000:00/0000:00:0{int(address[5:7], 16)}.0/{address}"
        told = [f"DRIVER={driver}"] if driver else []
        told += [f"PCI_CLASS={kind[2:]}", f"PCI_ID={vendor[2:].upper()}:{device[2:].upper()}"]
        lines = [f"mkdir -p {where} /sys/bus/pci/devices", f"ln -sfn ..{where[12:]} /sys/bus/pci/devices/{address}"]
        lines.append(f"printf '{'|'.join(told)}|' | tr '|' '\\n' > {where}/uevent")
        files = {"vendor": vendor, "device": device, "class": kind, "numa_node": "0", "power_state": "D0"}
        files |= {"current_link_speed": "32.0 GT/s PCIe", "max_link_speed": "32.0 GT/s PCIe", "enable": "1"}
        files |= {"current_link_width": "16", "max_link_width": "16", "driver_override": "(null)"}
        return [*lines, *(f"echo '{text}' > {where}/{name}" for name, text in files.items())]

    def pci(self, address: str, vendor: str, device: str, kind: str, driver: str | None = None) -> None:
        """Put a device on the bus."""
        self.do("\n".join(self._pci(address, vendor, device, kind, driver)))

    # ------------------------------------------------------------------- what is done in it

    def inside(self, directory: Path, *words: str) -> list[str]:
        """The words that run a command in it; nothing is run where that is no scene."""
        enters = ["nsenter", f"--target={self.process.pid}", "--mount", "--root", f"--wdns={directory}"]
        return [*enters, "sh", "-c", f'[ -e {MARK_OF_A_SCENE} ] || exit {NO_SCENE}; exec "$@"', "sh", *words]

    def _enter(
        self, words: list[str], user: tuple[str, ...], env: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        inside = self.inside(self.place, *user, *words)
        return subprocess.run(inside, env=env, capture_output=True, text=True, timeout=120, check=False)

    def start(self, script: str) -> int:
        """A Python of its environment that has done this and runs meanwhile; it is the one that is examined then. Its PID."""
        words = self.inside(self.place, str(self.python), "-c", f"{script}\nprint('ready', flush=True)\ninput()")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._running.append(subprocess.Popen(words, env=self.env, text=True, **pipes))  # type: ignore[call-overload]
        out = self._running[-1].stdout
        assert out is not None
        assert out.readline() == "ready\n"
        self.pid = self._running[-1].pid
        return self.pid

    def do(self, lines: str, env: Mapping[str, str] | None = None) -> str:
        """Something happens to the machine; as root, and it must succeed."""
        done = self._enter(["bash", "-ec", lines], (), {**self.env, **(env or {})})
        assert done.returncode == 0, f"{done.stdout}{done.stderr}"
        return done.stdout

    def put(self, path: str, text: str) -> None:
        """A file with this text."""
        self.do(f"mkdir -p {shlex.quote(os.path.dirname(path))} && printf %s {shlex.quote(text)} > {shlex.quote(path)}")

    def gpu(self, index: int, **state: int) -> None:
        """What only the hardware of a GPU knows (tests/fakes/machine.h)."""
        for key, value in state.items():
            self.put(f"/proc/driver/fake/gpu{index}/{key}", str(value))

    def check(self, *arguments: str, lines: tuple[str, ...] = (), level: str = "quick") -> Report:
        """`gpudoctor check`, by the user of this scene, in a shell in which `lines` were pasted before."""
        words = [*COMMAND, "check", "--level", level, "--format", "json", "--no-redact"]
        words += ["--python", str(self.python)] if self.pid is None else ["--pid", str(self.pid)]
        begun = f"if [ -e {ANEW} ]; then . {ANEW}; else {self.before or ':'}; fi"
        script = "\n".join([begun, *lines, f"exec {shlex.join([*words, *arguments])}"])
        launch = [sys.executable, str(HERE / "launch.py"), "bash", "-c", script]
        done = self._enter(launch, self.as_user, self.env)
        assert done.returncode in (0, 1, 3), done.stderr
        return Report(json.loads(done.stdout))

    def paste(self, steps: list[str], *, must_succeed: bool = True) -> None:
        """Do what a fix says, exactly as it is printed, as the user of this scene; each line must succeed."""
        words = ["bash", *(["-e"] if must_succeed else []), "-c", "\n".join(steps)]
        done = self._enter(words, self.as_user, self.env)
        assert done.returncode == 0 or not must_succeed, f"{steps}\n{done.stdout}{done.stderr}"


@contextlib.contextmanager
def scene(place: Path, workshop: Workshop, site: Path, gpus: int = 2) -> Iterator[Scene]:
    made = Scene(place, workshop, site, gpus)
    try:
        yield made
    finally:
        made.close()
