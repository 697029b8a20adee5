"""What any backend of the jail must hold, tried with real programs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import wait_until

from strop_verify.core.errors import SandboxError
from strop_verify.sandbox import (
    CommandResult,
    JailReport,
    Layer,
    Limits,
    jail_names,
    jails,
    open_box,
    probe,
    report,
    require_jail,
    users,
)
from strop_verify.sandbox import run_command as run_in_any_jail

LIMITS = Limits(cpu_seconds=0.5, wall_seconds=20, memory_bytes=256 * 2**20, file_bytes=2**20, dir_bytes=2**22)
PYTHON = os.path.realpath(sys.executable)
READ = (os.path.dirname(os.path.dirname(PYTHON)),)


@pytest.fixture(autouse=True, params=jail_names() or ["minimal"])
def jail(request: pytest.FixtureRequest) -> str:
    """Every test runs in every jail that this host offers."""
    global JAIL
    JAIL = request.param
    return JAIL


JAIL = "auto"


def run_command(argv: list[str], **options: object) -> CommandResult:
    return run_in_any_jail(argv, jail=JAIL, **options)  # type: ignore[arg-type]


def shell(script: str, **options: object) -> CommandResult:
    return run_command(["/bin/sh", "-c", script], limits=LIMITS, **options)  # type: ignore[arg-type]


def python(script: str, **options: object) -> CommandResult:
    return run_command([PYTHON, "-I", "-S", "-c", script], limits=LIMITS, read=READ, **options)  # type: ignore[arg-type]


def test_files_stdin_and_output() -> None:
    result = run_command(["cat", "a/b.txt", "-"], files={"a/b.txt": "file "}, stdin=b"stdin", limits=LIMITS)
    assert (result.status, result.stdout, result.expired, result.left) == (0, b"file stdin", "", 0)
    assert result.cpu_seconds > 0 and result.peak_bytes > 0


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", ""])
def test_file_names_stay_inside(name: str) -> None:
    with pytest.raises(ValueError, match="work directory"):
        run_command(["true"], files={name: "x"})


def test_unknown_program_is_an_error_of_ours() -> None:
    with pytest.raises(SandboxError, match="no-such-program"):
        run_command(["no-such-program"], limits=LIMITS)


@pytest.mark.parametrize("profile", ["run", "build"])
def test_host_files_are_out_of_reach(profile: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("SECRET")
    paths = [str(secret), "/etc/passwd", f"/proc/{os.getpid()}/environ", __file__]
    result = run_command(["cat", *paths], limits=LIMITS, profile=profile)  # type: ignore[arg-type]
    assert result.status != 0 and result.stdout == b"" and result.stderr.count(b"\n") == len(paths), result


def test_writes(tmp_path: Path) -> None:
    for profile in ("run", "build"):
        result = python(f"open({str(tmp_path / 'x')!r}, 'w').write('x')", profile=profile)
        assert result.status != 0 and re.search(b"PermissionError|FileNotFoundError", result.stderr)
    assert list(tmp_path.iterdir()) == []
    assert python("open('x', 'w')").status != 0
    assert python("open('x', 'w').write('x'); print(open('x').read())", profile="build").stdout == b"x\n"


REFUSED = [
    "socket.socket()",
    "socket.socket(socket.AF_UNIX)",
    "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "os.kill(PARENT, 0)",
    "os.kill(os.getppid(), 9)",
    "libc.ptrace(16, PARENT, 0, 0) and exit(1)",
    "libc.shmget(77, 100, 0o1666) < 0 and exit(1)",
    "libc.unshare(0x10000000) < 0 and exit(1)",
    "os.setuid(12345); os.chown('/tmp', 1, 1)",
]
REFUSED_WHEN_RUN = [
    "os.fork()",
    "os.posix_spawn('/bin/true', ['true'], {})",
    "os.chmod('/tmp', 0o777)",
    "os.memfd_create('x')",
]


def tried(attempts: list[str], refusals: str, profile: str) -> CommandResult:
    """Prints each attempt that does not end in one of the refusals, then "all"."""
    script = "import ctypes, os, socket\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    for attempt in (attempt.replace("PARENT", str(os.getpid())) for attempt in attempts):
        script += f"try:\n exec({attempt!r})\n print({attempt!r}, flush=True)\nexcept {refusals}: pass\n"
    return python(script + "print('all')", profile=profile)


@pytest.mark.parametrize("profile", ["run", "build"])
def test_refused_calls(profile: str) -> None:
    result = tried(REFUSED, "(Exception, SystemExit)", profile)
    assert (result.status, result.stdout) == (0, b"all\n"), result


def test_refused_in_the_run_profile() -> None:
    result = tried(REFUSED_WHEN_RUN, "PermissionError", "run")
    assert (result.status, result.stdout) == (0, b"all\n"), result


def test_threads_run_in_the_run_profile() -> None:
    result = python("import threading\nt = threading.Thread(target=print, args=('t',)); t.start(); t.join()")
    assert result.stdout == b"t\n", result


@pytest.mark.parametrize("profile", ["run", "build"])
def test_a_program_holds_three_descriptors(profile: str) -> None:
    script = """
import os
held = []
for fd in range(200):
    try: os.fstat(fd); held.append(fd)
    except OSError: pass
print(held)
"""
    assert python(script, profile=profile).stdout == b"[0, 1, 2]\n"


def test_environment_is_ours() -> None:
    os.environ["STROP_TEST_SECRET"] = "SECRET"
    result = run_command(["env"], limits=LIMITS, environment={"A": "b"})
    names = {line.split(b"=")[0] for line in result.stdout.split()}
    assert names == {b"PATH", b"HOME", b"TMPDIR", b"LANG", b"A"}


def test_limits() -> None:
    assert b"MemoryError" in python("x = bytearray(10**9)").stderr
    loop = shell("while :; do :; done")
    assert loop.expired == "cpu" and loop.status == -9 and loop.cpu_seconds < 1.5
    sleep = run_command(["sleep", "100"], limits=Limits(wall_seconds=0.5))
    assert sleep.expired == "wall" and sleep.seconds < 60
    flood = run_command(["yes"], limits=LIMITS)
    assert flood.expired == "output" and flood.truncated and len(flood.stdout) == LIMITS.output_bytes
    big = shell("exec dd if=/dev/zero of=big bs=64k count=100", profile="build")
    assert big.status != 0 and b"too large" in big.stderr


def test_work_directory_is_bounded_as_a_whole() -> None:
    script = "for i in range(9):\n open(f'f{i}', 'wb').write(bytes(900_000))"
    result = python(script, profile="build")
    if not result.sized:
        pytest.skip("no mount of our own here: the work directory has no size")
    assert b"No space left" in result.stderr


def test_daemons_are_reaped() -> None:
    mark = f"4321.{os.getpid()}"  # seconds that no other test sleeps
    script = f"(setsid sleep {mark} &); (setsid sh -c 'setsid sleep {mark} & : > up; sleep {mark}' &)"
    script += "; until [ -e up ]; do sleep 0.01; done; echo done"
    result = shell(script, profile="build")
    assert result.stdout == b"done\n" and result.left >= 3
    assert not running(mark)


def test_fork_bomb_is_ended() -> None:
    mark = f"bomb of {os.getpid()}"
    bomb = f"import os  # {mark}\nwhile True:\n  try: os.fork()\n  except OSError: pass"
    limits = Limits(cpu_seconds=0.3, wall_seconds=0.7, processes=16, memory_bytes=128 * 2**20)
    if os.getuid() == 0 and JAIL in ("minimal", "bubblewrap", "apptainer"):
        pytest.skip("RLIMIT_NPROC does not bind uid 0: the bomb is bounded by time only")
    result = run_command([PYTHON, "-I", "-S", "-c", bomb], limits=limits, read=READ, profile="build")
    assert result.expired and not running(mark)


def test_a_program_that_is_never_the_same_process_is_ended() -> None:
    """Each process lives for the time of one fork: nobody can find it in a list and kill it by its number."""
    if JAIL in ("minimal", "bubblewrap", "apptainer"):
        pytest.skip("neither a user id nor a process namespace to end it by")
    hop = "import os\nif os.fork(): os._exit(0)\nos.setsid()\nwhile True:\n  if os.fork(): os._exit(0)"
    limits = Limits(cpu_seconds=0.5, wall_seconds=20, processes=16, memory_bytes=128 * 2**20)
    argv = [PYTHON, "-I", "-S", "-c", hop]
    with open_box(jail=JAIL) as box, box.work() as work:
        first = work.run(argv, limits=limits, read=READ, profile="build")
        assert first.status == 0 and first.left
        assert work.run(["true"], limits=limits, read=READ, profile="build").left == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give workers a user id of their own")
def test_a_slot_is_cleared_when_its_worker_was_killed(jail: str) -> None:
    if jail != "slot-uid":
        pytest.skip("about user ids alone")
    slot = jails.take_slot()
    bomb = f"import os, resource\nos.setresuid(*[{slot.uid}] * 3)\nresource.setrlimit(resource.RLIMIT_NPROC, (16, 16))"
    bomb += "\nwhile True:\n  try: os.fork()\n  except OSError: pass"
    worker = subprocess.Popen([sys.executable, "-S", "-c", bomb])
    wait_until(lambda: len(users.processes_of(slot.uid)) >= 16, worker)
    with pytest.raises(OSError):
        jails.Slot(slot.uid)  # held
    worker.kill()
    worker.wait()
    assert users.processes_of(slot.uid)
    slot.release()
    assert not users.processes_of(slot.uid)
    jails.Slot(slot.uid).release()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give workers a user id of their own")
def test_user_ids_are_not_shared(jail: str) -> None:
    if jail != "slot-uid":
        pytest.skip("about user ids alone")
    taken = [jails.take_slot() for _ in range(20)]
    assert len({slot.uid for slot in taken}) == 20
    for slot in taken:
        slot.release()


OWNER = """
import tempfile
make = tempfile.mkdtemp
def noted(*args, **options):
    path = make(*args, **options)
    with open(NOTE, "a") as file:
        file.write(path + "\\n")
    return path
tempfile.mkdtemp = noted
from strop_verify.sandbox import *
script = "(setsid sleep MARK &); sleep MARK"
run_command(["/bin/sh", "-c", script], profile="build", limits=Limits(wall_seconds=600))
"""


def test_a_killed_parent_leaves_nothing(tmp_path: Path) -> None:
    mark, note = f"4322.{os.getpid()}", tmp_path / "made"
    code = OWNER.replace("MARK", mark).replace("NOTE", repr(str(note)))
    owner = subprocess.Popen([sys.executable, "-c", code])
    wait_until(lambda: len(running(f"sleep\0{mark}")) >= 2, owner)
    owner.kill()
    owner.wait()
    made = [Path(line) for line in note.read_text().splitlines()] if note.exists() else []
    wait_until(lambda: not running(mark) and not any(path.exists() for path in made))


def running(mark: str) -> list[str]:
    """Processes with the mark in their command line."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                command = Path(f"/proc/{entry}/cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in command:
                found.append(entry)
    return found


def test_probe_names_every_layer() -> None:
    found = probe()
    assert {row.name for row in found.layers} >= {"landlock", "seccomp", "rlimits", "namespaces", "cgroup"}
    assert all(row.detail for row in found.layers)
    assert all(row.leaves_open for row in found.layers if not row.active)
    with pytest.raises(KeyError):
        found.layer("moat")


def test_a_host_without_a_jail_is_refused_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = JailReport(tuple(Layer(n, False, "not here", "everything") for n in ("landlock", "seccomp")))
    monkeypatch.setattr(report, "probe", lambda: bare)
    with pytest.raises(SandboxError, match=r"sandbox\.allow_unsafe=true"):
        require_jail(False)
    assert require_jail(True) is bare


@pytest.mark.parametrize("name", ["cpu_seconds", "memory_bytes", "output_bytes"])
def test_limits_are_above_zero(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: 0})  # type: ignore[arg-type]
