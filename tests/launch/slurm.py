"""A real SLURM of virtual nodes on this machine, for whoever runs the tests: no root, no munge, nothing left behind."""

import os
import pwd
import re
import shutil
import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.waiting import wait_until

NODES, GPUS = 2, 8


class Slurm:
    """A controller and `NODES` nodes, with commands that talk to them alone."""

    def __init__(self, folder: Path) -> None:
        ours = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{os.environ['PATH']}:/usr/sbin"}
        others = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_"))}
        self.folder, self.environment = folder, others | ours
        self._daemons: list[subprocess.Popen[bytes]] = []
        nodes = [f"n{number + 1}" for number in range(NODES)]
        for name in ("ctld", "log", *nodes):
            (folder / name).mkdir(parents=True, exist_ok=True)
        control, *ports = _free_ports(1 + NODES)
        host, user = socket.gethostname(), pwd.getpwuid(os.geteuid()).pw_name
        lines = [
            "ClusterName=t", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={control}",
            f"SlurmUser={user}", f"SlurmdUser={user}",
            "SlurmdParameters=config_overrides", "AuthType=auth/none", "CredType=cred/none",
            "AuthInfo=cred_expire=5", f"StateSaveLocation={folder}/ctld", f"SlurmdSpoolDir={folder}/%n",
            f"SlurmctldPidFile={folder}/ctld/pid", f"SlurmdPidFile={folder}/%n/pid",
            f"SlurmctldLogFile={folder}/log/ctld", f"SlurmdLogFile={folder}/log/%n",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
            "JobAcctGatherType=jobacct_gather/none", "MpiDefault=none",
            "AccountingStorageType=accounting_storage/none", "JobCompType=jobcomp/none",
            "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU_Memory", "DefMemPerCPU=100",
            "SchedulerParameters=sched_interval=2,bf_interval=2", "KillWait=5", "ReturnToService=2",
            "MinJobAge=300", "GresTypes=gpu", "InactiveLimit=0", "TCPTimeout=30", "MessageTimeout=60",
            *(f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=64 RealMemory=400000 "
              f"Gres=gpu:{GPUS}" for name, port in zip(nodes, ports, strict=True)),
            f"PartitionName=main Nodes={','.join(nodes)} Default=YES MaxTime=600",
        ]  # fmt: skip
        (folder / "slurm.conf").write_text("\n".join(lines) + "\n")
        (folder / "gpu").mkdir(exist_ok=True)
        self.gives_devices = os.geteuid() == 0
        """Whether steps are told which GPUs are theirs; otherwise SLURM only counts them."""
        for number in range(GPUS):
            kind = stat.S_IFCHR if self.gives_devices else stat.S_IFREG
            os.mknod(folder / "gpu" / f"tty{number}", kind | 0o600, os.makedev(1, 3))
        (folder / "gres.conf").write_text(
            "".join(f"NodeName={name} Name=gpu File={folder}/gpu/tty[0-{GPUS - 1}]\n" for name in nodes)
        )
        self._nodes = nodes

    def start(self) -> None:
        """Begins, and returns when both nodes wait for work."""
        self._start("slurmctld", "-D", "-c")
        for name in self._nodes:
            self._start("slurmd", "-D", "-N", name)
        wait_until(self._ready)

    def _start(self, *command: str) -> None:
        program = shutil.which(command[0], path=self.environment["PATH"]) or command[0]
        with (self.folder / "log" / "said").open("ab") as file:
            self._daemons.append(
                subprocess.Popen(
                    [program, *command[1:]],
                    env=self.environment,
                    stdout=file,
                    stderr=file,
                    start_new_session=True,
                )
            )

    def _ready(self) -> bool:
        assert all(daemon.poll() is None for daemon in self._daemons), (
            self.folder / "log" / "said"
        ).read_text()
        return self.run("sinfo", "-h", "-o", "%D %t", check=False).strip() == f"{NODES} idle"

    def run(self, *command: str, check: bool = True) -> str:
        """What a command prints."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=120)
        assert not check or done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def job(self, number: str) -> dict[str, str]:
        """What SLURM knows of a job."""
        return dict(re.findall(r"(\S+?)=(\S*)", self.run("scontrol", "-o", "show", "job", number)))

    def ended(self, number: str) -> dict[str, str]:
        """A job after its end."""
        over = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")
        return wait_until(lambda: job if (job := self.job(number))["JobState"] in over else None)  # type: ignore

    def stop(self) -> None:
        """Ends every job, then every daemon. Where a daemon has ended, jobs cannot be asked about."""
        if all(daemon.poll() is None for daemon in self._daemons):
            self.run("scancel", "--me", check=False)
            wait_until(lambda: not self.run("squeue", "-h", check=False).strip())
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in self._daemons:
            daemon.wait(60)

    def assert_nothing_left(self) -> None:
        """No process was started for it that still runs."""
        mine = f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                assert mine not in (entry / "environ").read_bytes().split(b"\0"), entry


@contextmanager
def slurm_in(folder: Path) -> Iterator[Slurm]:
    """One that is stopped at the end."""
    slurm = Slurm(folder)
    try:
        slurm.start()
        yield slurm
    finally:
        slurm.stop()


def _free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
