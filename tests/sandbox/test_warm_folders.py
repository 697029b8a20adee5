"""Folders of plays in jails that were used before: they are quick, and nothing of one play is there for the next."""

import json
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.processes import alive, family
from tests.sandbox.test_folder import traces
from tests.waiting import wait_until

from strop_verify.core.errors import SandboxError
from strop_verify.sandbox import Folder, Limits, jail_names, open_box
from strop_verify.sandbox.programs import PlayFolder, Programs

LIMITS = Limits(cpu_seconds=20, wall_seconds=60, memory_bytes=256 * 2**20, dir_bytes=2**21, file_bytes=2**20)
PYTHON = os.path.realpath(sys.executable)
READ = (os.path.dirname(os.path.dirname(PYTHON)),)
POISON = r"""
import ctypes, fcntl, mmap, os, signal, subprocess, sys, time
mark = sys.argv[1]
def dare(act, *args):
    try:
        return act(*args)
    except Exception:
        pass
def leave(top):
    for name in ("planted.py", "conftest.py", "sitecustomize.py", ".bashrc", ".pythonrc", "odd\n\xff"):
        dare(lambda: open(os.path.join(top, name), "w").write("print('poisoned')"))
for top in (".", "/tmp", "/dev/shm", "/var/tmp", "/run", "/usr/lib", os.path.expanduser("~"), "/box", "/"):
    leave(top)
here = os.getcwd()
deep = here
for n in range(70):
    deep = os.path.join(deep, "d")
    os.mkdir(deep)
os.symlink("/etc/passwd", "link"); os.symlink(here, "round"); os.mkfifo("fifo")
os.link("planted.py", "hard"); dare(os.mknod, "node")
os.mkdir("locked"); open("locked/x", "w"); os.chmod("locked", 0)
for name in ("user.note", "user.more"):
    dare(os.setxattr, ".", name, b"poisoned")
dare(lambda: fcntl.ioctl(os.open(".", os.O_RDONLY), 0x40086602, b"\x40\0\0\0\0\0\0\0"))  # chattr +d
os.utime(".", (1, 1))
libc = ctypes.CDLL(None, use_errno=True)
dare(lambda: libc.shmget(4324, 4096, 0o1666)); dare(lambda: libc.semget(4324, 1, 0o1666))
dare(lambda: libc.msgget(4324, 0o1666)); dare(lambda: libc.mq_open(b"/poison", 0o102, 0o666, None))
dare(lambda: libc.syscall(248, b"user", b"poison", b"poisoned", 8, -4))  # add_key, to the user's keyring
dare(lambda: os.open(".", os.O_RDWR | os.O_TMPFILE))
os.chmod(".", 0o1777)
for start in ("setsid sleep %s &", "(nohup setsid sh -c 'trap : TERM; sleep %s' &)", "(sh -c 'sleep %s & sleep %s' &)"):
    dare(lambda: subprocess.Popen(["sh", "-c", start.replace("%s", mark)], start_new_session=True))
if dare(os.fork) == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        fd = os.open("planted.py", os.O_RDWR)
        while True:
            time.sleep(0.01)
            leave(".")
    os._exit(0)
print("left")
"""
LOOK = r"""
import ctypes, fcntl, json, os, stat, struct, sys
libc = ctypes.CDLL(None)
flags = bytearray(8)
try:
    fcntl.ioctl(os.open(".", os.O_RDONLY), 0x80086601, flags)
except OSError:
    pass
def named(top):
    try:
        return sorted(n for n in os.listdir(top) if "planted" in n or "conftest" in n or "odd" in n)
    except OSError:
        return []
def others():
    try:
        return sum(1 for n in os.listdir("/proc") if n.isdigit() and os.stat("/proc/" + n).st_uid == os.getuid())
    except OSError:
        return 0
seen = {
    "files": sorted(os.listdir(".")),
    "elsewhere": [named(top) for top in ("/tmp", "/dev/shm", "/var/tmp", "/run")],
    "mode": stat.S_IMODE(os.stat(".").st_mode),
    "old": os.stat(".").st_mtime < 1000,
    "attributes": os.listxattr("."),
    "flags": bytes(flags).hex(),
    "memory": [libc.shmget(4324, 0, 0), libc.semget(4324, 0, 0), libc.msgget(4324, 0)],
    "queue": libc.mq_open(b"/poison", 0),
    "key": libc.syscall(249, b"user", b"poison", None, 0),
    "others": others(),
    "uid": os.getuid(),
    "environment": sorted(k for k in os.environ),
    "limits": __import__("resource").getrlimit(7),
    "free": os.statvfs(".").f_bfree == os.statvfs(".").f_blocks,
}
print(json.dumps(seen))
"""


@pytest.fixture(params=jail_names() or ["minimal"])
def programs(request: pytest.FixtureRequest) -> Iterator[Programs]:
    before = traces()
    name = request.param
    made = Programs(
        lambda: open_box(jail=name),
        lambda **_: Folder(lambda: open_box(jail=name), limits=LIMITS, read=READ),
    )
    yield made
    made.close()
    assert traces() == before


def look(folder: PlayFolder) -> dict[str, object]:
    ran = folder.run([PYTHON, "-I", "-S", "-c", LOOK])
    assert ran.status == 0, ran
    return dict(json.loads(ran.output))


def test_nothing_of_a_hostile_play_is_there_for_the_next(programs: Programs) -> None:
    first = programs.folder()
    fresh = look(first)
    first.close()
    supervisors = family("strop_verify.sandbox.box_supervisor")
    for number in range(2):
        mark = f"77{number}.{os.getpid()}"
        hostile = programs.folder()
        hostile.put({"mine": "x"})
        ran = hostile.run([PYTHON, "-I", "-S", "-c", POISON, mark])
        assert ran.output == "left\n", ran
        assert not family(mark)
        hostile.close()
        after = programs.folder()
        assert after.files() == {}
        assert look(after) == fresh
        assert after.run(["cat", "planted.py", "mine"]).status != 0
        after.close()
        assert family("strop_verify.sandbox.box_supervisor") == supervisors  # it was the same jail


def test_a_play_that_is_over_does_not_reach_the_next_ones_folder(programs: Programs) -> None:
    one = programs.folder()
    one.put({"a": "1"})
    one.close()
    two = programs.folder()
    two.put({"b": "2"})
    for call in (one.files, lambda: one.put({"c": "3"}), lambda: one.run(["ls"]), lambda: one.read("b")):
        with pytest.raises(SandboxError, match="was closed"):
            call()
    one.close()
    assert two.files() == {"b": 1}
    two.close()


def test_a_folder_that_is_in_use_or_broken_is_no_ones_again(programs: Programs) -> None:
    with ThreadPoolExecutor(1) as thread:
        busy = programs.folder()
        busy.put({"a": "1"})
        pids = family("strop_verify.sandbox")
        running = thread.submit(busy.run, ["sh", "-c", "touch b; sleep 4324"], seconds=300)
        wait_until(lambda: family("sleep 4324"))
        busy.close()
        with pytest.raises(SandboxError):
            running.result()
    assert not any(alive(pid) for pid in pids)
    broken = programs.folder()
    broken.put({"a": "1"})
    for pid in family("strop_verify.sandbox"):
        os.kill(pid, 9)
    broken.close()
    after = programs.folder()
    assert after.files() == {} and after.run(["ls"]).status == 0
    after.close()


def test_no_more_jails_than_plays_at_the_same_time(programs: Programs) -> None:
    most, lock, open_now = 0, threading.Lock(), [0]

    def play(number: int) -> int:
        folder = programs.folder()
        with lock:
            open_now[0] += 1
        folder.put({f"{number}": "x"})
        found = len(folder.files())
        with lock:
            open_now[0] -= 1
        folder.close()
        return found

    with ThreadPoolExecutor(3) as threads:
        assert set(threads.map(play, range(24))) == {1}
    with lock:
        most = len(programs._idle)
    assert 1 <= most <= 3


def test_a_folder_given_back_after_the_end_is_closed(programs: Programs) -> None:
    late = programs.folder()
    late.put({"a": "1"})
    idle = programs.folder()
    idle.put({"b": "1"})
    idle.close()
    programs.close()
    late.close()
    assert not programs._idle and not list(Path("/dev/shm").glob(f"strop-{os.getpid()}-*"))
