"""Hosts that refuse layers, played by a seccomp filter as containers have one: the jail degrades, and says so."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import needs

PROGRAM = """
import json, sys
from strop_verify.sandbox import kernel, seccomp
kernel.no_new_privs()
kernel.install_filter(seccomp.base(allow_exec=True, allow_metadata=True))  # among others no unshare, no mount
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.task import Task
from strop_verify.sandbox import jail_names, open_box, probe
from strop_verify.verification import open_verifier
task = Task(statement="s", check=CasesCheck(entry_point="f", cases=[Case(args=[1], expected=2)]))
with open_box() as box, box.work({"a": "b"}) as work:
    printed = work.run(["cat", "a"]).stdout.decode()
with open_verifier(workers=1) as verifier:
    verdicts = [verifier.verify(task, f"def f(x): return x + {n}").outcome for n in (1, 2)]
off = {row.name: row.detail for row in probe().layers if not row.active}
try:
    open_box(jail="namespaces")
except Exception as error:
    refused = f"{type(error).__name__}: {error}"
from strop.cli.doctor import _image_fault
print(json.dumps([jail_names(), printed, verdicts, off, refused, _image_fault()]))
"""


def test_without_namespaces_the_jail_is_weaker_and_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr
    names, printed, verdicts, off, refused, image = json.loads(done.stdout)
    assert set(names) <= {"minimal", "slot-uid"} and "minimal" in names
    assert printed == "b" and verdicts == ["passed", "failed"]
    assert "namespaces" in off and "not permitted" in off["namespaces"]
    assert "cannot have the image" in image and "\n" not in image
    assert refused.startswith(
        "SandboxError: sandbox.jail=namespaces does not work on this machine (namespaces: "
    )


WITHOUT_ADMIN = """
import ctypes, os, sys
assert ctypes.CDLL(None).prctl(24, 21, 0, 0, 0) == 0  # PR_CAPBSET_DROP, CAP_SYS_ADMIN
os.execv(sys.executable, [sys.executable, "-c", sys.argv[1]])
"""
EACH_JAIL = """
import json
from strop_verify.core.task import Task
from strop_verify.sandbox.jails import jail_names
from strop_verify.verification import open_verifier

check = {"kind": "cases", "entry_point": "f", "cases": [{"args": [1], "expected": 2}]}
task, found = Task.model_validate({"statement": "Add one.", "check": check}), {}
for jail in jail_names():
    with open_verifier(workers=1, jail=jail) as verifier:
        found[jail] = verifier.verify(task, "def f(x):\\n    return x + 1").outcome.value
print(json.dumps(found))
"""


@pytest.mark.jail
@pytest.mark.skipif(os.getuid() != 0, reason="only root has capabilities to lose")
def test_root_without_cap_sys_admin_is_offered_what_works() -> None:
    words = [sys.executable, "-c", WITHOUT_ADMIN, EACH_JAIL]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found and {*found.values()} == {"passed"}, found


CLOCKS = {
    "another day": "r = real(c, t); if (c == CLOCK_MONOTONIC) t->tv_sec += 1000; return r;",
    "a faster one": "r = real(c, t); if (c == CLOCK_MONOTONIC) t->tv_sec *= 3; return r;",
    "none to wait by": "return real(c, t);} int clock_nanosleep(clockid_t c, int f, const struct timespec *a, "
    "struct timespec *b) { return EINVAL;",
}  # fmt: skip


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_process_with_another_clock_is_told_so_before_any_verdict(clock: str, tmp_path: Path) -> None:
    """As libfaketime does it: its deadlines would have let answers time out."""
    needs.need("gcc")
    text = (
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <errno.h>\n#include <time.h>\n"
        "int clock_gettime(clockid_t c, struct timespec *t) { int r; int (*real)(clockid_t, struct timespec *) = "
        f'dlsym(RTLD_NEXT, "clock_gettime"); (void)r; {CLOCKS[clock]} }}\n'
    )
    (tmp_path / "clock.c").write_text(text)
    library = tmp_path / "clock.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, tmp_path / "clock.c", "-ldl"], check=True)
    done = subprocess.run(
        [sys.executable, "-m", "strop.cli", "doctor"], capture_output=True, text=True, timeout=300,
        env={**os.environ, "LD_PRELOAD": str(library)},
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: this process's clock differs from that of the programs it starts")
    assert str(library) in line
