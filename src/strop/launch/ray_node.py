"""One node of a run's own Ray cluster: `python -m strop.launch.ray_node head|worker FILE`.

The head takes a free port and writes its address to FILE when it answers; a worker waits for FILE. Both offer all CPUs
allotted to them, and run until they are terminated.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from strop_verify.core import files
from strop_verify.core.errors import StropError, UserError

WAIT = 300.0
"""Seconds for the head to answer, and for a worker to find its address."""


class RayFailure(StropError):
    """A node of the Ray cluster did not start."""


def head(file: Path) -> int:
    """Runs the head and returns its exit code. Raises RayFailure if it does not answer within WAIT."""
    start = _start()
    from ray.util import get_node_ip_address

    host = str(get_node_ip_address())
    with socket.socket() as taken:
        taken.bind(("", 0))
        port = taken.getsockname()[1]
    process = subprocess.Popen(
        [*start, "--head", f"--node-ip-address={host}", f"--port={port}", "--include-dashboard=false"]
    )
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    end = time.monotonic() + WAIT
    while process.poll() is None and not _answers(host, port):
        if time.monotonic() > end:
            process.terminate()
            raise RayFailure(f"the Ray head did not answer on {host}:{port} within {WAIT:g} s")
        time.sleep(0.2)
    if process.poll() is None:
        with files.atomic(file) as out:
            out.write(f"{host}:{port}\n".encode())
    return process.wait()


def worker(file: Path) -> int:
    """Replaces this process with a verifying node. Raises RayFailure if there is no head within WAIT."""
    end = time.monotonic() + WAIT
    while not file.is_file():
        if time.monotonic() > end:
            raise RayFailure(f"no Ray head: {file} did not appear within {WAIT:g} s")
        time.sleep(0.5)
    command = [*_start(), f"--address={file.read_text().strip()}"]
    os.execv(command[0], command)


def _start() -> list[str]:
    """The `ray start` command with the options of head and workers. Raises UserError if Ray is missing."""
    beside = Path(sys.executable).with_name("ray")
    found = str(beside) if beside.is_file() else shutil.which("ray")
    if found is None:
        raise UserError("nodes that verify (launch.verifiers) need Ray: pip install 'strop[ray]'")
    cpus = os.environ.get("SLURM_CPUS_PER_TASK") or str(len(os.sched_getaffinity(0)))
    return [found, "start", "--block", "--disable-usage-stats", f"--num-cpus={cpus}", "--num-gpus=0"]


def _answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False


if __name__ == "__main__":
    try:
        sys.exit({"head": head, "worker": worker}[sys.argv[1]](Path(sys.argv[2])))
    except StropError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, UserError) else 1)
