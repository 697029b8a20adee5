"""Dockerfiles: read as BuildKit reads them, or refused; and what they describe is made."""

import gzip
import io
import json
import posixpath
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.scale import some

from strop_verify.core.errors import UserError
from strop_verify.sandbox.dockerfile import CopyStep, FolderStep, ImagePlan, RunStep, image_plan
from strop_verify.sandbox.furnish import furnish
from strop_verify.sandbox.machine import Machine

READ = Path(__file__).with_name("dockerfiles") / "read_by_buildkit.jsonl.gz"
"""BuildKit's own test files, and texts drawn from a grammar, as `read.go` beside it read them."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CONTEXT = {
    name: name.encode()
    for name in ("Dockerfile", "a.txt", "b.txt", "run.sh", "dir/c.txt", "dir/sub/d.txt", "dir/sub/.hidden")
}


def shown(plan: ImagePlan) -> list[dict[str, Any]]:
    """A plan's steps as `read.go` writes them."""
    found: list[dict[str, Any]] = []
    for step in plan.steps:
        match step:
            case RunStep(argv, workdir, environment):
                found.append({"run": list(argv), "cwd": workdir, "environment": dict(environment)})
            case FolderStep(path):
                found.append({"folder": path})
            case CopyStep(sources, target, mode, unpacks):
                rest = {"target": target, "mode": -1 if mode is None else mode, "unpack": unpacks}
                found += [{"copy": f"/{source}", **rest} for source in sources]
    return found


def tidy(step: dict[str, Any]) -> dict[str, Any]:
    """A step of BuildKit's with its folders spelled one way."""
    if "cwd" in step:
        return {**step, "cwd": posixpath.normpath(step["cwd"])}
    return (
        {**step, "target": step["target"].removesuffix(".")}
        if step.get("target", "").endswith("/.")
        else step
    )


@pytest.mark.unit
def test_dockerfiles_are_read_as_by_docker_or_refused() -> None:
    rows, taken = [json.loads(line) for line in gzip.decompress(READ.read_bytes()).split(b"\n") if line], 0
    for row in some(rows, 150):
        text = row["dockerfile"]
        try:
            plan = image_plan(text, path=PATH)
        except UserError:
            continue
        taken += 1
        assert "error" not in row, (text, row["error"])
        assert shown(plan) == [tidy(step) for step in row["steps"]], text
        assert {"PATH": PATH, **plan.environment} == row["environment"], text
        assert plan.workdir == posixpath.normpath(row["workdir"] or "/"), text
    assert taken > 30


@pytest.mark.unit
@pytest.mark.parametrize(
    ("lines", "named"),
    [
        ("RUN x\nFROM debian", "RUN comes before FROM"),
        ("FROM debian\nFROM debian", "several stages"),
        ("FROM debian AS", "FROM"),
        ("# escape=`\nFROM debian", "escape=`"),
        ("FROM debian\nENV A=${B#x}", "${B#x}"),
        ("FROM debian\nENV A='x", "a quote is not closed"),
        ("FROM debian\nCOPY <<E /app/x\n1\nE", "COPY with a here-document"),
        ("FROM debian\nRUN <<E\n#!/bin/x\nE", "names its own program"),
        ("FROM debian\nRUN <<E\nx", "unterminated heredoc"),
        ("FROM debian\nRUN --mount=type=tmpfs,target=/x ls", "--mount"),
        ("FROM debian\nCOPY --chmod=u+x a /app/", "--chmod=u+x"),
        ("FROM debian\nADD https://example.org/x /app/", "beside the Dockerfile"),
        ("FROM debian\nRUN a | (cd x; FOO=1 curl y)", "RUN curl y"),
        ("FROM debian\nRUN python3 -m pip install x", "-m pip"),
        ("FROM debian\nARG TARGETARCH", "TARGETARCH"),
        ("FROM debian\nENV A=\udc80", "cannot be read"),
        ("FROM debian\nFOO", "FOO"),
        ("# a comment", "cannot be read"),
    ],
)
def test_what_is_not_read_is_named(lines: str, named: str) -> None:
    with pytest.raises(UserError) as caught:
        image_plan(lines)
    assert named in str(caught.value) and "\n" not in str(caught.value)


def made(lines: str, look: str, context: dict[str, bytes] = CONTEXT) -> str:
    """What a command prints in the machine that the lines describe."""
    plan = image_plan(f"FROM debian:12\nWORKDIR /app\n{lines}\n")
    with Machine(workdir=plan.workdir, environment=plan.environment) as machine:
        furnish(machine, plan, context, ["run.sh"])
        return machine.shell(look).stdout.decode()


@pytest.mark.parametrize(
    ("lines", "tree"),
    [
        ("COPY a.txt b.txt ./", "a.txt b.txt"),
        ("COPY a.txt /app", "a.txt"),  # a folder that is there
        ("COPY a.txt new", "new"),
        ("COPY a.txt new/", "new/a.txt"),
        ("COPY dir new", "new/c.txt new/sub/.hidden new/sub/d.txt"),
        ("COPY dir/ .", "c.txt sub/.hidden sub/d.txt"),
        ("COPY di*/* .", ".hidden c.txt d.txt"),  # what a folder holds, not the folder
        ("COPY *.txt .", "a.txt b.txt"),  # a star does not stand for a slash
        ("COPY [^a].txt .", "b.txt"),
        ("COPY ../dir/../a.txt .", "a.txt"),
        ("COPY . .", "Dockerfile a.txt b.txt dir/c.txt dir/sub/.hidden dir/sub/d.txt run.sh"),
        ("WORKDIR x\nWORKDIR ..\nCOPY a.txt x", "x/a.txt"),  # WORKDIR has made it
        ("COPY --chmod=755 a.txt run.sh .\nRUN [ -x a.txt ] && rm run.sh", "a.txt"),
        ("COPY --chmod=644 run.sh .\nRUN [ ! -x run.sh ]", "run.sh"),
        ("COPY run.sh .\nRUN [ -x run.sh ]", "run.sh"),
    ],
)
def test_copy(lines: str, tree: str) -> None:
    assert made(lines, "find . -type f | cut -c3- | LC_ALL=C sort").split() == tree.split()


@pytest.mark.parametrize(
    ("lines", "look", "told"),
    [
        ("ENV A=1\nRUN echo $A > x\nENV A=2", "cat x; echo $A", "1\n2\n"),
        ("RUN echo ${A-unset} > x\nENV A=2", "cat x; echo $A", "unset\n2\n"),
        ("ARG A=1\nRUN echo $A > x", "cat x; echo $A", "1\n\n"),
        ("RUN echo 'a  \\n  b' > x", "cat x", "a  \n  b\n"),  # the shell is sh
        ('SHELL ["/bin/bash", "-c"]\nRUN echo ${BASH_VERSION:+bash} > x', "cat x", "bash\n"),
        ('RUN ["sh", "-c", "echo $0 > x", "$A;"]', "cat x", "$A;\n"),
        ("RUN <<E\nfor i in 1 2; do\n\techo $i  \ndone > x\nE", "cat x", "1\n2\n"),
        ("RUN cat <<E > x && cat <<'F' >> x\n$PWD\nE\n$PWD\nF", "cat x", "/app\n$PWD\n"),
        ("RUN false || if true; then echo a; else echo b; fi > x", "cat x", "a\n"),
        ("RUN apt-get update && apt-get install -y bash && rm -rf /var/lib/apt/lists/* && echo a > x", "cat x", "a\n"),
        ("RUN pip install --no-cache-dir strop && echo a > x; ls /logs > y", "cat x; ls -A /logs | wc -l", "a\n3\n"),
        ("ENV PATH=/app/bin:$PATH", "ls / | grep -c app; echo ${PATH%%:*}", "1\n/app/bin\n"),
        ("RUN touch b && echo . > .x", "echo $PATH | grep -c image", "0\n"),
    ],
)  # fmt: skip
def test_commands_run_as_docker_runs_them(lines: str, look: str, told: str) -> None:
    assert made(lines, look) == told


def test_a_machines_root_is_listed_and_not_read() -> None:
    with Machine() as machine:
        assert "app" in machine.roots  # and tmp, unless Strop itself lies there
        assert {"usr", *machine.roots} <= set(machine.shell("ls /").stdout.decode().split())
        for path in ("/proc/1/environ", "/proc/1/cmdline", "/proc/cpuinfo", "/proc/self/status"):
            refused = machine.run(["cat", path])
            assert refused.status and b"Permission denied" in refused.stderr, path
        assert machine.run(["touch", "/x"]).status and machine.run(["mkdir", "/usr/x"]).status


@pytest.mark.parametrize(
    ("lines", "further", "named"),
    [
        ("RUN P=no-such-package; apt-get install -y $P", {}, "no-such-package is not installed"),
        ("RUN for p in numpy; do pip install $p; done", {}, "numpy would have to be installed"),
        ("RUN exit 3", {}, "exit status 3"),
        ("WORKDIR /usr/src\nWORKDIR /app", {}, "WORKDIR /usr/src"),
        ("COPY c.txt .", {}, "c.txt is not a file"),
        ("COPY *.txt new", {}, "the target is not a folder"),
        ("COPY . .", {".dockerignore": b"*.txt\n"}, ".dockerignore"),
        ("ADD x .", {"x": b""}, "unpacks"),
    ],
)
def test_a_step_that_fails_is_named(lines: str, further: dict[str, bytes], named: str) -> None:
    if "x" in further:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            archive.addfile(tarfile.TarInfo("inner"))
        further = {"x": packed.getvalue()}
    with pytest.raises(UserError) as caught:
        made(lines, "true", {**CONTEXT, **further})
    assert named in str(caught.value) and "\n" not in str(caught.value)
