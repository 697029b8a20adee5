import json
import subprocess
import sys

import pytest

from strop_verify.sandbox import kernel, seccomp

pytestmark = pytest.mark.skipif(
    not seccomp.supported(), reason="the system calls of this machine are not known"
)

CONFINED = """
import json, os, resource
from strop_verify.sandbox import kernel
from strop_verify.sandbox.confine import ChildConfinement
from strop_verify.sandbox.limits import Limits

kernel.no_new_privs()
near, far = os.pipe()
zero = os.open("/dev/zero", os.O_RDONLY)
leaf = ChildConfinement(Limits(cpu_seconds=3, open_files=7), {0: zero, 1: far, 2: far, 3: far}, tolerant=False)
child = os.fork()
if not child:
    leaf()
    found = {"fds": []}
    for fd in range(64):
        try:
            os.fstat(fd)
            found["fds"].append(fd)
        except OSError:
            pass
    found["zero"] = os.read(0, 2) == bytes(2)
    for name in ("CPU", "AS", "NOFILE", "FSIZE", "CORE"):
        found[name] = resource.getrlimit(getattr(resource, "RLIMIT_" + name))
    os.kill(os.getpid(), 0)
    def refused(call):
        try:
            call()
            return False
        except (PermissionError, ValueError):
            return True
    found["kill"] = refused(lambda: os.kill(os.getppid(), 0))
    found["fork"] = refused(os.fork)
    found["limit"] = refused(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5)))
    os.write(3, json.dumps(found).encode())
    os._exit(0)
os.close(far)
status = os.waitpid(child, 0)[1]
print(json.dumps({"status": status, **json.loads(os.read(near, 1 << 16) or b"{}")}))
"""

ORPHANED = """
import os, time
from strop_verify.sandbox import kernel
from strop_verify.sandbox.confine import ChildConfinement
from strop_verify.sandbox.limits import Limits

kernel.no_new_privs()
ready, told = os.pipe()
if not os.fork():
    leaf = ChildConfinement(Limits(), {0: 0, 1: 1, 2: 2, 3: told}, tolerant=False)
    if not os.fork():
        leaf()
        os.write(3, b"x")
        while True:
            time.sleep(60)
    os.read(ready, 1)
    os._exit(0)
os.close(told)
os.wait()
"""


def run(script: str) -> str:
    # Its output ends when the last process that holds it has ended.
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_confines_a_fork_of_its_maker() -> None:
    found = json.loads(run(CONFINED))
    assert found["status"] == 0 and found["zero"]
    assert found["fds"] == [0, 1, 2, 3]
    assert found["CPU"] == [5, 6] and found["AS"] == [2**29, 2**29 + 2**30] and found["NOFILE"] == [7, 7]
    assert found["FSIZE"] == [0, 0] and found["CORE"] == [1, 1]
    assert found["kill"] and found["fork"] and found["limit"]


def test_dies_with_its_maker() -> None:
    assert run(ORPHANED) == ""


def test_offsets_of_the_process_id(monkeypatch: pytest.MonkeyPatch) -> None:
    for machine in ("x86_64", "aarch64"):
        monkeypatch.setattr(kernel, "MACHINE", machine)
        program, places = seccomp.leaf_for_any()
        filled = bytearray(program)
        for place in places:
            filled[place : place + 4] = (4242).to_bytes(4, sys.byteorder)
        assert len(places) == 2 and bytes(filled) == seccomp.leaf(4242)
