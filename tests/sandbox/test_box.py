# ruff: noqa: E501
"""Boxes: work directories one after another in one process, whatever the programs before have done to them."""

import os
import signal
import sys
from pathlib import Path
from typing import Literal

import pytest
from tests.scale import some
from tests.waiting import wait_until

from strop_verify.core.errors import NotStarted, SandboxError, UserError
from strop_verify.sandbox import Box, Limits, jail_names, open_box, require_jail
from strop_verify.sandbox.jails import choose

LIMITS = Limits(cpu_seconds=5, wall_seconds=20, memory_bytes=256 * 2**20)
PYTHON = os.path.realpath(sys.executable)
READ = (os.path.dirname(os.path.dirname(PYTHON)),)
NAMES = jail_names() or ["minimal"]


@pytest.fixture(params=NAMES)
def box(request: pytest.FixtureRequest) -> "Box":  # type: ignore[misc]
    with open_box(jail=request.param, read=READ) as opened:
        yield opened
    assert not [
        p
        for place in ("/dev/shm", "/tmp")
        for p in Path(place).glob(f"strop-{os.getpid()}-*")
        if str(p) == opened.path
    ]


def python(work, script: str, **options: object):  # type: ignore[no-untyped-def]
    return work.run([PYTHON, "-I", "-S", "-c", script], limits=LIMITS, profile="build", read=READ, **options)


def test_programs_of_one_work_share_files_and_the_next_work_has_none(box: Box) -> None:
    with box.work({"in/a.txt": "one"}) as work:
        assert work.run(["cp", "in/a.txt", "b.txt"], profile="build").status == 0
        work.put({"in/a.txt": b"two", "c": ""})
        assert work.run(["cat", "in/a.txt", "b.txt", "c"]).stdout == b"twoone"
        assert work.read("b.txt") == b"one"
        assert work.run(["pwd"]).stdout.decode().strip() == box.path
    with box.work() as work:
        assert work.run(["ls", "-A"]).stdout == b""
        with pytest.raises(FileNotFoundError):
            work.read("b.txt")


HOSTILE = """
import os
os.symlink('/etc/passwd', 'link'); os.symlink('/etc', 'dir'); os.mkfifo('fifo'); os.mkdir('folder')
os.symlink(os.path.abspath('folder'), 'inside'); open('folder/x', 'w').write('x'); open('big', 'wb').write(bytes(5000))
os.symlink('/tmp/strop-planted', 'out.txt')
for name in ('sealed', 'sealed/deeper'): os.mkdir(name)
open('sealed/deeper/file', 'w'); os.chmod('sealed/deeper', 0); os.chmod('sealed', 0)
top = os.getcwd()
for _ in range(3000): os.mkdir('d'); os.chdir('d')
"""


def test_hostile_leftovers_are_neither_followed_nor_kept(box: Box) -> None:
    with box.work() as work:
        result = python(work, HOSTILE)
        assert result.status == 0, result
        for name in ("link", "dir/passwd", "fifo", "folder", "inside/x"):
            with pytest.raises(ValueError):
                work.read(name)
        assert work.read("folder/x") == b"x"
        with pytest.raises(ValueError, match="longer than 4999"):
            work.read("big", limit=4999)
        work.put({"out.txt": "ours", "dir/passwd": "ours", "fifo": "ours"})
        assert work.run(["cat", "out.txt", "dir/passwd", "fifo"]).stdout == b"oursoursours"
        assert not os.path.exists("/tmp/strop-planted")
    with box.work() as work:
        assert work.run(["ls", "-A"]).stdout == b""


def test_what_cannot_be_started_ends_nothing_and_leaves_nothing(box: Box) -> None:
    with box.work({"a": "b"}) as work:
        for _ in range(2):
            with pytest.raises(NotStarted):
                work.run(["no-such-program"])
        assert box._supervisor is not None
        pid = box._supervisor.pid
        assert work.run(["cat", "a"]).stdout == b"b"
    with box.work({"c": "d"}) as work, pytest.raises(NotStarted):
        work.run(["no-such-program"])
    with box.work() as work:
        assert work.run(["ls", "-A"]).stdout == b"" and box._supervisor.pid == pid


def test_a_path_to_read_comes_with_the_first_program(box: Box, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("seen")
    (tmp_path / "data").chmod(0o600)
    with box.work() as work:
        assert work.run(["cat", str(tmp_path / "data")]).status != 0
    with box.work({"x": "y"}) as work:
        assert work.run(["cat", "x", str(tmp_path / "data")], read=[str(tmp_path)]).stdout == b"yseen"
        assert work.run(["cat", "x"]).stdout == b"y"


def test_one_work_at_a_time(box: Box) -> None:
    with box.work(), pytest.raises(ValueError, match="in use"), box.work():
        pass


def test_a_killed_supervisor_is_an_error_of_ours_and_the_next_work_is_well() -> None:
    with open_box() as box:
        with box.work() as work:
            work.run(["true"])
            assert box._supervisor is not None
            family = [box._supervisor.pid, *children(box._supervisor.pid)]
            os.kill(family[-1], signal.SIGKILL)
            with pytest.raises(SandboxError, match="broke"):
                work.run(["true"])
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in family))
        with box.work({"a": "b"}) as work:
            assert work.run(["cat", "a"]).stdout == b"b"


def children(pid: int) -> list[int]:
    return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_memory_of_the_whole_tree_is_bounded() -> None:
    if "full" not in NAMES:
        pytest.skip("no cgroup here")
    script = "import os, time\nfor _ in range(6):\n  if os.fork() == 0:\n    x = bytearray(100 << 20); time.sleep(3); os._exit(0)\nfor _ in range(6): os.wait()"
    with open_box(jail="full", read=READ) as box, box.work() as work:
        limits = Limits(cpu_seconds=5, wall_seconds=20, memory_bytes=400 << 20, tree_bytes=200 << 20)
        result = work.run([PYTHON, "-I", "-S", "-c", script], limits=limits, profile="build", read=READ)
        assert result.out_of_memory
        assert not work.run(["true"]).out_of_memory
    ours = f"strop-{os.getpid()}-"
    assert not [n for _, names, _ in os.walk("/sys/fs/cgroup") for n in names if n.startswith(ours)]


def test_jails_are_chosen_by_name() -> None:
    assert choose("auto").name in NAMES and choose("minimal").name == "minimal"
    with pytest.raises(UserError, match="no such jail; choose auto, minimal"):
        choose("dungeon")
    if "apptainer" not in NAMES:
        with pytest.raises(SandboxError, match="does not work on this machine"):
            choose("apptainer")


def test_required_layers() -> None:
    require_jail(False, ["landlock", "seccomp"])
    with pytest.raises(UserError, match="no layer is called 'moat'"):
        require_jail(False, ["moat"])
    if "apptainer" not in NAMES:
        with pytest.raises(SandboxError, match="lacks layers of"):
            require_jail(True, ["apptainer"])


def test_a_program_holds_no_descriptor_of_the_supervisor(box: Box) -> None:
    script = "import os\nfor n in range(3, 64):\n try: os.fstat(n); print(n)\n except OSError: pass"
    with box.work() as work:
        result = python(work, script)
    assert (result.status, result.stdout) == (0, b"")


def test_a_program_that_reads_to_the_end_before_it_prints_sees_the_end(box: Box) -> None:
    with box.work() as work:
        result = python(work, "import sys; text = sys.stdin.read(); print(len(text))", stdin=b"three")
    assert (result.expired, result.stdout) == ("", b"5\n")


@pytest.mark.parametrize(
    ("profile", "script"),
    some(
        [
            ("run", "kill -STOP $$"),
            ("build", "kill -STOP $$"),
            ("build", "sleep 600 & kill -STOP $!; wait"),
            ("build", "sh -c 'sleep 600 & kill -STOP $!' & wait; sleep 600"),
        ],
        1,
    ),
)
def test_a_program_that_a_signal_stopped_is_not_waited_for(
    box: Box, profile: Literal["run", "build"], script: str
) -> None:
    limits = Limits(cpu_seconds=60, wall_seconds=600)
    with box.work() as work:
        result = work.run(["/bin/sh", "-c", script], limits=limits, profile=profile)
    assert result.expired == "wall" and result.seconds < 200
