"""Sets up a machine as a Dockerfile describes it."""

import io
import tarfile
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from strop_verify.core.errors import NotStarted, UserError
from strop_verify.sandbox.dockerfile import CopyStep, FolderStep, ImagePlan, RunStep
from strop_verify.sandbox.machine import Machine

_TOOLS = "/logs/.image"
_APT = """\
#!/bin/sh
asked=
for word; do
    case $word in
    install) asked=yes ;;
    -*) ;;
    *) [ -z "$asked" ] || grep -qxF -- "${word%%=*}" "${0%/*}/packages" || command -v "${word%%=*}" >/dev/null ||
        { echo "$word is not installed on this machine" >&2; exit 100; } ;;
    esac
done
"""
_PIP = """\
#!/bin/sh
asked=
for word; do
    case $word in
    install) asked=yes ;;
    -* | strop | strop-* | strop[\\[=]* | pip | pip[=]*) ;;
    *) [ -z "$asked" ] || { echo "$word would have to be installed" >&2; exit 1; } ;;
    esac
done
"""
_RM = """\
#!/bin/sh
for word; do
    shift
    case $word in
    /var/lib/apt/* | /var/cache/* | /root/.cache | /root/.cache/*) ;;
    *) set -- "$@" "$word" ;;
    esac
done
exec /bin/rm "$@"
"""
_STAND_INS = {"apt": _APT, "apt-get": _APT, "pip": _PIP, "pip3": _PIP, "rm": _RM}
"""Replacements for programs that need more than a jail: they succeed if what they would install is there, else fail."""


def furnish(
    machine: Machine, plan: ImagePlan, context: Mapping[str, bytes], programs: Collection[str] = ()
) -> None:
    """Carries out a plan's steps. `context`: the files beside the Dockerfile, `programs`: the executable ones.

    Raises UserError for a step that fails.
    """
    tools = any(isinstance(step, RunStep) for step in plan.steps)
    if tools:
        packages = (PurePosixPath(name).stem.partition(":")[0] for name in _lists(machine, plan))
        files = {f"{_TOOLS}/{name}": text for name, text in _STAND_INS.items()}
        machine.put({**files, f"{_TOOLS}/packages": "\n".join([*packages, ""])}, executable=files)
    for step in plan.steps:
        match step:
            case RunStep():
                path = f"{_TOOLS}:{step.environment.get('PATH', '')}"
                _run(machine, f"RUN {step.argv[-1]:.60}", step, {**step.environment, "PATH": path})
            case FolderStep():
                _run(machine, f"WORKDIR {step.path}", RunStep(("mkdir", "-p", "--", step.path), "/", {}), {})
            case CopyStep():
                _copy(machine, step, context, programs)
    if tools:
        machine.run(["rm", "-rf", _TOOLS], cwd="/")


def _lists(machine: Machine, plan: ImagePlan) -> list[str]:
    """Names of dpkg's lists of installed packages."""
    if not plan.source:
        return [path.name for path in Path("/var/lib/dpkg/info").glob("*.list")]
    told = machine.run(["ls", "/var/lib/dpkg/info"], cwd="/").stdout.decode(errors="replace")
    return [name for name in told.split() if name.endswith(".list")]


def _run(machine: Machine, shown: str, step: RunStep, environment: Mapping[str, str]) -> None:
    later = machine.environment.keys() - {*environment, "TMPDIR"}
    argv = ["/usr/bin/env", *(f"-u{name}" for name in later), *step.argv]
    try:
        done = machine.run(argv, cwd=step.workdir, environment=environment)
    except NotStarted as error:
        raise UserError(f"{shown}: {error}") from None
    if done.status:
        said = (done.stderr + done.stdout).decode(errors="replace").strip().split("\n")[-1]
        raise UserError(f"{shown}: exit status {done.status} in the jail: {said:.200}")


def _copy(machine: Machine, step: CopyStep, context: Mapping[str, bytes], programs: Collection[str]) -> None:
    shown = f"COPY {' '.join(step.sources)} {step.target}"
    for name in (".dockerignore", "Dockerfile.dockerignore"):
        if any(line.strip() and not line.startswith(b"#") for line in context.get(name, b"").split(b"\n")):
            raise UserError(f"{shown}: {name} needs a container")
    found: dict[str, str] = {}
    for source in step.sources:
        into = step.target.endswith("/") or machine.run(["test", "-d", step.target], cwd="/").status == 0
        matches = list(_matching(source, context))
        alone = [name for name, rest in matches if not rest]
        if not matches:
            raise UserError(f"{shown}: {source or '.'} is not a file beside the Dockerfile")
        if len(alone) > 1 and not into:
            raise UserError(f"{shown}: several files match, but the target is not a folder; end it with /")
        for name, rest in matches:
            below = rest or (PurePosixPath(name).name if into else "")
            found[str(PurePosixPath(step.target, below))] = name
    if step.unpacks and (archive := next((name for name in found.values() if _archive(context[name])), "")):
        raise UserError(f"ADD {archive}: an archive that Docker unpacks needs a container")
    run = [to for to, name in found.items() if (name in programs if step.mode is None else step.mode & 0o111)]
    try:
        machine.put({to: context[name] for to, name in found.items()}, executable=run)
    except ValueError as error:
        raise UserError(f"{shown}: {error}") from None


def _matching(pattern: str, context: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """(name, path below the matching folder, or empty if the file itself matches) of files, as Go's filepath.Match."""
    wanted = [part.replace("[^", "[!") for part in pattern.split("/")] if pattern else []
    if "\\" in pattern:
        raise UserError(f"COPY {pattern}: a pattern with a backslash needs a container")
    for name in context:
        parts = name.split("/")
        if len(parts) >= len(wanted) and all(map(fnmatchcase, parts, wanted)):
            yield name, "/".join(parts[len(wanted) :])


def _archive(data: bytes) -> bool:
    try:
        return tarfile.is_tarfile(io.BytesIO(data))
    except (OSError, EOFError, ValueError):
        return True
