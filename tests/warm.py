"""`strop` in processes forked from one that holds torch and transformers: several seconds less for each call."""

import fcntl
import importlib
import multiprocessing
import os
import pty
import select
import socket
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["strop.cli", "strop.training.run"])
_Environment = Mapping[str, str] | None


def strop(
    *words: object, timeout: float = 300, cwd: Path | None = None, env: _Environment = None
) -> subprocess.CompletedProcess[str]:
    """Runs the command line to its end, in this process's folder and environment where no other is given."""
    done = strop_bytes(*words, timeout=timeout, cwd=cwd, env=env)
    encoding = (env or {}).get("PYTHONIOENCODING", "utf-8")
    out, err = (data.decode(encoding).replace("\r\n", "\n") for data in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def strop_bytes(
    *words: object, timeout: float = 300, cwd: Path | None = None, env: _Environment = None
) -> subprocess.CompletedProcess[bytes]:
    """The same; what it writes as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = _started([*map(str, words)], str(out), str(err), cwd, env)
        process.join(timeout)
        if process.is_alive():
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(words, timeout, out.read_bytes(), err.read_bytes())
        assert process.exitcode is not None
        return subprocess.CompletedProcess(words, process.exitcode, out.read_bytes(), err.read_bytes())


def on_terminal(*words: object, size: bytes, env: _Environment, timeout: float = 300) -> tuple[int, str, str]:
    """Exit code, what it writes to a terminal of that size (a `struct winsize`), and to stderr, which is a file."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
    with tempfile.TemporaryDirectory() as folder:
        err = Path(folder, "err")
        process = _started([*map(str, words)], os.ttyname(theirs), str(err), None, env)
        found, end = b"", time.monotonic() + timeout
        while True:
            ended = process.exitcode is not None  # before the last look at what it wrote
            if select.select([ours], [], [], 0 if ended else 0.02)[0]:
                found += os.read(ours, 1 << 16)
            elif ended:
                break
            assert time.monotonic() < end, found[-2000:]
        os.close(theirs)  # open until here: what is written to a terminal that nobody holds is lost
        os.close(ours)
        assert process.exitcode is not None
        return process.exitcode, found.decode(), err.read_text()


def in_ranks(count: int, work: Callable[..., None], *arguments: object, timeout: float = 900) -> None:
    """Calls a function of a test's module in `count` processes that torch.distributed knows; each must end well."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    processes = [
        _CONTEXT.Process(
            target=_ranked, args=({**place, "RANK": str(i), "LOCAL_RANK": str(i)}, work, arguments)
        )
        for i in range(count)
    ]
    for process in processes:
        process.start()
    end = time.monotonic() + timeout
    while any(process.exitcode is None for process in processes):
        if time.monotonic() > end or any(process.exitcode for process in processes):
            for process in processes:
                process.kill()
        time.sleep(0.02)
    assert [process.exitcode for process in processes] == [0] * count


def _ranked(place: dict[str, str], work: Callable[..., None], arguments: tuple[object, ...]) -> None:
    os.environ.update(place)
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    work(*arguments)


def _started(words: Sequence[str], out: str, err: str, cwd: Path | None, env: _Environment) -> BaseProcess:
    arguments = (words, out, err, str(cwd or os.getcwd()), dict(env or os.environ))
    process = _CONTEXT.Process(target=_run, args=arguments)
    process.start()
    return process


def _run(words: Sequence[str], out: str, err: str, folder: str, environment: dict[str, str]) -> None:
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    for path, number, name, faults in (
        (out, 1, "stdout", "strict"),
        (err, 2, "stderr", "backslashreplace"),
    ):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOCTTY, 0o600)
        os.dup2(file, number)
        os.close(file)
        buffering = 1 if number == 2 or os.isatty(number) else -1
        stream = open(number, "w", buffering, encoding=encoding, errors=faults, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv, sys.path = ["strop", *words], ["", *sys.path]
    from strop.cli import main

    main()
