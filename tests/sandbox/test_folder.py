"""Folders that last: in every jail of this host, over many programs, whatever these leave in them."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.processes import alive, family
from tests.waiting import wait_until

from strop_verify.core.errors import NotStarted, SandboxError
from strop_verify.sandbox import FileInfo, Folder, Limits, jail_names, open_box, workdir

LIMITS = Limits(cpu_seconds=20, wall_seconds=60, memory_bytes=256 * 2**20, dir_bytes=2**21, file_bytes=2**20)
PYTHON = os.path.realpath(sys.executable)
READ = (os.path.dirname(os.path.dirname(PYTHON)),)


@pytest.fixture(params=jail_names() or ["minimal"])
def folder(request: pytest.FixtureRequest) -> Iterator[Folder]:
    before = traces()
    with Folder(lambda: open_box(jail=request.param), limits=LIMITS, read=READ) as opened:
        yield opened
    assert traces() == before


def traces() -> object:
    """What a folder may leave: work directories, processes, threads, groups, descriptors."""
    places = [p for place in ("/dev/shm", "/tmp") for p in Path(place).glob(f"strop-{os.getpid()}-*")]
    threads = sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("folder"))
    ours = f"strop-{os.getpid()}-"  # other processes' groups may go while one looks, which glob does not bear
    groups = [name for _, names, _ in os.walk("/sys/fs/cgroup") for name in names if name.startswith(ours)]
    return sorted(places), family("strop_verify.sandbox"), threads, groups, len(os.listdir("/proc/self/fd"))


def python(folder: Folder, script: str) -> bytes:
    result = folder.run([PYTHON, "-I", "-S", "-c", script])
    assert result.status == 0, result
    return result.stdout


def test_files_last_from_program_to_program(folder: Folder) -> None:
    assert folder.files() == {}
    folder.put({"a/b.txt": "one\n", "c": b"\xff"})
    assert folder.run(["cp", "a/b.txt", "d.txt"]).status == 0
    assert (
        folder.run(
            ["sh", "-c", "cat >> d.txt; echo $NAME >> d.txt"], stdin="two\n", environment={"NAME": "x"}
        ).status
        == 0
    )
    folder.put({"a/b.txt": "another"})
    assert folder.read("d.txt") == b"one\ntwo\nx\n" and folder.read("a//b.txt") == b"another"
    assert folder.files() == {
        "a/b.txt": FileInfo(7, False),
        "c": FileInfo(1, False),
        "d.txt": FileInfo(10, False),
    }
    folder.remove(["a", "d.txt"])
    assert list(folder.files()) == ["c"] and folder.run(["ls"]).stdout == b"c\n"


def test_a_file_is_a_program_if_it_is_said_so(folder: Folder) -> None:
    script = "#!/bin/sh\necho ran\n"
    folder.put({"tools/run": script, "text": script}, executable=["tools/run"])
    assert folder.run(["./tools/run"]).stdout == b"ran\n"
    with pytest.raises(NotStarted):
        folder.run(["./text"])
    assert folder.run(["chmod", "+x", "text"]).status == 0
    assert folder.run(["./text"]).stdout == b"ran\n"
    assert {name: info.executable for name, info in folder.files().items()} == {
        "text": True,
        "tools/run": True,
    }
    with pytest.raises(ValueError, match="'other', which is not among"):
        folder.put({"x": ""}, executable=["other"])


def test_what_was_asked_for_wrongly_costs_nothing(folder: Folder) -> None:
    folder.put({"kept": "x"})
    for argv in ([], ["no-such-program"], ["./kept"], ["a\0b"]):
        with pytest.raises(NotStarted):
            folder.run(argv)
    for name in ("/etc/x", "../x", "a/../../x", "", "a\0b"):
        for call in (lambda n: folder.put({n: "x"}), folder.read, lambda n: folder.remove([n])):
            with pytest.raises(ValueError, match="leaves the work directory"):
                call(name)
    with pytest.raises(ValueError, match="name too long"):
        folder.put({"before": "x", "n" * 300: bytes(1 << 18), "after": bytes(1 << 18)})
    for call in (folder.read, lambda n: folder.remove([n])):
        with pytest.raises(FileNotFoundError, match="absent/file"):
            call("absent/file")
    assert folder.run(["cat", "kept", "before"]).stdout == b"xx"


LINKS = """
import os
os.symlink('/etc/passwd', 'link'); os.symlink('/etc', 'dir'); os.mkfifo('fifo'); os.mkdir('folder')
os.symlink(os.path.abspath('folder'), 'inside'); open('folder/x', 'w').write('xyz'); os.symlink('.', 'folder/round')
os.mkdir('sealed'); open('sealed/y', 'w'); os.chmod('sealed', 0); open(b'odd\\xff', 'w').write('odd')
"""


def test_links_are_neither_listed_nor_followed(folder: Folder) -> None:
    python(folder, LINKS)
    assert list(folder.files()) == ["folder/x", "odd\udcff", "sealed/y"]
    assert folder.read("odd\udcff") == b"odd"
    for name in ("link", "dir/passwd", "fifo", "folder", "inside/x", "folder/round/x"):
        with pytest.raises(ValueError):
            folder.read(name)
    for name in ("dir/passwd", "inside/x"):
        with pytest.raises(ValueError):
            folder.remove([name])
    folder.remove(["link", "dir", "inside"])
    assert Path("/etc/passwd").exists() and folder.read("folder/x") == b"xyz"


def test_a_folder_goes_whole_when_it_is_removed_or_in_the_way(folder: Folder) -> None:
    python(
        folder,
        "import os\nfor top in 'ab':\n for n in range(3): os.makedirs(f'{top}/{n}/deep'); open(f'{top}/{n}/f', 'w')",
    )
    folder.put({"a": "file"})
    folder.remove(["b"])
    assert list(folder.files()) == ["a"] and folder.run(["ls", "-A"]).stdout == b"a\n"


def test_it_holds_no_more_than_it_may(folder: Folder) -> None:
    folder.put({"mine": bytes(1000)})
    for files in ({"big": bytes(2**21 + 1)}, {str(n): bytes(2**19) for n in range(5)}):
        with pytest.raises(ValueError, match="may hold 2097152 bytes, not"):
            folder.put(files)
    filling = (
        "for n in range(9):\n try: open(f'f{n}', 'wb').write(bytes(2**19))\n except OSError as e: print(e)"
    )
    result = folder.run([PYTHON, "-I", "-S", "-c", filling])
    if result.sized:
        assert b"No space left" in result.stdout
    else:
        with pytest.raises(NotStarted, match="remove files"):
            folder.run(["true"])
    with pytest.raises(ValueError):
        folder.put({"more": bytes(2**19)})
    folder.remove([name for name in folder.files() if name != "mine"])
    folder.put({"more": bytes(2**19)})
    assert folder.run(["ls"]).stdout == b"mine\nmore\n"


def test_it_lists_no_more_than_it_may(folder: Folder) -> None:
    many = "import os\nos.mkdir('d')\ntry:\n for n in range(17000): open(f'd/{n}', 'w')\nexcept OSError: pass"
    sized = folder.run([PYTHON, "-I", "-S", "-c", many]).sized
    if sized:
        assert 1000 < len(folder.files()) < workdir.ENTRIES
    else:
        with pytest.raises(ValueError, match="more than 16384 files"):
            folder.files()
    folder.remove(["d"])
    python(folder, "import os\nfor n in range(70): os.mkdir('d'); os.chdir('d')")
    with pytest.raises(ValueError, match="more than 64 folders"):
        folder.files()
    folder.remove(["d"])
    assert folder.files() == {}


def test_closing_ends_what_runs(folder: Folder) -> None:
    mark = f"4323.{os.getpid()}"
    with ThreadPoolExecutor(2) as threads:
        running = threads.submit(folder.run, ["sh", "-c", f"(setsid sleep {mark} &); sleep {mark}"])
        waiting = threads.submit(folder.files)
        wait_until(lambda: len(family(mark)) >= 2)
        folder.close()
        assert not family(mark)
        for future in (running, waiting):
            with pytest.raises(SandboxError):
                future.result(timeout=60)
    folder.close()
    with pytest.raises(SandboxError, match="closed"):
        folder.put({"a": "b"})


def test_a_folder_whose_process_died_is_lost_not_empty(folder: Folder) -> None:
    folder.put({"a": "b"})
    for pid in family("strop_verify.sandbox"):
        os.kill(pid, signal.SIGKILL)
    for _ in range(2):
        with pytest.raises(SandboxError, match="the folder is lost"):
            folder.files()
    with pytest.raises(SandboxError, match="the folder is lost"):
        folder.run(["true"])


def test_it_outlives_the_thread_that_used_it_first(folder: Folder) -> None:
    thread = threading.Thread(target=lambda: folder.put({"a": "b"}))
    thread.start()
    thread.join()
    assert folder.run(["cat", "a"]).stdout == b"b"


def test_a_toolchain_is_readable(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\necho built > out\n")
    (tmp_path / "tool").chmod(0o755)
    for name in jail_names():
        with Folder(lambda name=name: open_box(jail=name), read=[str(tmp_path)]) as folder:  # type: ignore[misc]
            folder.put({"first": ""})
            assert folder.run([str(tmp_path / "tool")]).status == 0
            assert folder.read("out") == b"built\n"
        with Folder(lambda name=name: open_box(jail=name)) as folder, pytest.raises(NotStarted):  # type: ignore[misc]
            folder.run([str(tmp_path / "tool")])


def test_nothing_starts_before_the_first_use() -> None:
    opened = list[int]()

    def open_one():  # type: ignore[no-untyped-def]
        opened.append(1)
        return open_box()

    before = traces()
    with Folder(open_one):
        assert not opened and traces() == before
    with Folder(open_one) as folder:
        folder.files()
    assert len(opened) == 1 and traces() == before


def test_a_forgotten_folder_ends() -> None:
    folder = Folder(limits=LIMITS)
    folder.put({"a": "b"})
    pids = family("strop_verify.sandbox")
    assert pids
    del folder
    wait_until(lambda: not any(alive(pid) for pid in pids))


OWNER = """
import sys, time
from strop_verify.sandbox import Folder, open_box
folder = Folder(lambda: open_box(jail=sys.argv[1]))
folder.put({"a": "b"})
print("ready", flush=True)
folder.run(["sh", "-c", "(setsid sleep MARK &); sleep MARK"])
"""


@pytest.mark.parametrize("jail", jail_names() or ["minimal"])
def test_a_killed_owner_leaves_nothing(jail: str) -> None:
    before, mark = traces(), f"4324.{os.getpid()}"
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER.replace("MARK", mark), jail], stdout=subprocess.PIPE
    )
    started = [owner.pid]
    wait_until(lambda: len(family(mark, owner.pid)) >= 2, owner)
    started += family("", owner.pid)
    owner.kill()
    owner.communicate()
    wait_until(lambda: not any(alive(pid) for pid in started) and traces() == before)
