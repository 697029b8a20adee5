"""What a Dockerfile asks for, as far as `strop.sandbox.machine` can give it: this computer, plus files and commands.

A jail has no image: its programs are this computer's. So FROM may name a plain system or a language that is installed
here, RUN what is installed here already or what writes below the machine's roots, and COPY files beside the Dockerfile.
All else is refused by name before anything starts. Deviations: USER, CMD, LABEL, EXPOSE, STOPSIGNAL and VOLUME change
nothing (a jail has one user, and runs what it is told), and a system's version is not compared.
"""

import re
import shlex
import shutil
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from strop.core.errors import NotStarted, UserError
from strop.sandbox.machine import Machine

_SYSTEMS = {"debian", "ubuntu", "buildpack-deps", "scratch"}
_LANGUAGES = {
    "python": "python3", "node": "node", "gcc": "gcc", "rust": "cargo", "golang": "go", "bash": "bash", "perl": "perl",
}  # fmt: skip
"""Images by the program that they are for."""
_IGNORED = {"USER", "CMD", "LABEL", "EXPOSE", "STOPSIGNAL", "VOLUME", "MAINTAINER"}
_TIDY = re.compile(
    r"(apt|apt-get)\s+(-\S+\s+)*(update|clean|autoremove|upgrade)\b|rm -rf /var/lib/apt/lists/|rm -rf /root/\.cache"
    r"|true$|set -|export DEBIAN"
)
"""Commands that change nothing that a task sees."""
_FETCH = {
    "curl", "wget", "git", "npm", "yarn", "pnpm", "cargo", "go", "gem", "conda", "apk", "yum", "dnf", "uv", "pipx",
    "add-apt-repository", "dpkg", "useradd", "adduser", "groupadd", "service", "systemctl",
}  # fmt: skip
"""Programs that need a network, or the rights of root."""
_PACKAGES = Path("/var/lib/dpkg/info")
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


@dataclass(frozen=True)
class ImagePlan:
    """How to make a machine that is what the Dockerfile describes."""

    workdir: str = ""
    """As WORKDIR has it in the end, or empty."""
    environment: dict[str, str] = field(default_factory=dict)
    steps: list[tuple[str, str, str]] = field(default_factory=list)
    """("copy", source, target) and ("run", command, its work directory), in order."""


def image_plan(text: str, image: str = "") -> ImagePlan:
    """The plan of a Dockerfile's text, or of an image by name where that is empty.

    Raises UserError that names the first instruction which needs more than this computer has.
    """
    plan = ImagePlan()
    workdir, environment = "", dict[str, str]()
    if not text.strip():
        if not image:
            raise UserError("it names no image and has no environment/Dockerfile")
        _base(image)
        return plan
    for name, value in _instructions(text):
        if name != "RUN":
            value = _filled(value, environment)
        match name:
            case "FROM":
                if plan.steps or workdir:
                    raise UserError(f"FROM {value}: a build of several stages needs a container")
                _base(value)
            case "WORKDIR":
                workdir = str(PurePosixPath("/", workdir, value))
            case "ENV":
                environment |= _variables(value)
            case "COPY" | "ADD":
                plan.steps.extend(_copies(name, value, workdir))
            case "RUN":
                if command := _command(value):
                    plan.steps.append(("run", command, workdir))
            case _ if name not in _IGNORED:
                raise UserError(f"{name} {value:.60}: this instruction needs a container")
    return ImagePlan(workdir, environment, plan.steps)


def furnish(
    machine: Machine, plan: ImagePlan, context: Mapping[str, bytes], programs: Collection[str] = ()
) -> None:
    """Takes the plan's steps; `context`: the files beside the Dockerfile, `programs` those of them that can be run.

    Raises UserError for a step that fails.
    """
    for kind, what, where in plan.steps:
        if kind == "run":
            try:
                done = machine.shell(what, cwd=where or None, environment=plan.environment)
            except NotStarted as error:
                raise UserError(f"RUN {what:.60}: {error}") from None
            if done.status:
                said = (done.stderr + done.stdout).decode(errors="replace").strip().splitlines()[-1:]
                raise UserError(
                    f"RUN {what:.60}: exit status {done.status} in the jail: {' '.join(said):.200}"
                )
            continue
        found = _matching(what, context)
        if not found:
            raise UserError(f"COPY {what}: no such file beside the Dockerfile")
        targets = {source: _target(what, source, where) for source in found}
        try:
            machine.put(
                {targets[source]: context[source] for source in found},
                executable=[targets[source] for source in found if source in programs],
            )
        except ValueError as error:
            raise UserError(f"COPY {what} {where}: {error}") from None


def _instructions(text: str) -> list[tuple[str, str]]:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\[ \t]*\n", " ", "\n".join(lines))
    if "<<" in joined:
        raise UserError("a Dockerfile with a here-document needs a container")
    words = (line.strip().partition(" ") for line in joined.splitlines() if line.strip())
    return [(name.upper(), " ".join(rest.split())) for name, _, rest in words]


def _base(image: str) -> None:
    """Raises UserError unless this computer can stand for the image."""
    name, _, tag = image.split(" ")[0].partition("@")[0].partition(":")
    name = name.removeprefix("docker.io/").removeprefix("library/")
    program = _LANGUAGES.get(name, "")
    if name not in _SYSTEMS and not program:
        raise UserError(f"image {image!r:.80}: what is in it is not known here; it needs a container")
    if program and not shutil.which(program, path="/usr/local/bin:/usr/bin:/bin"):
        raise UserError(f"image {image!r:.80} needs {program}, which is not installed on this machine")
    wanted = re.match(r"(\d+)\.(\d+)", tag)
    if name == "python" and wanted and (have := _python()) < (int(wanted[1]), int(wanted[2])):
        raise UserError(f"image {image!r:.80}: this machine's python3 is {have[0]}.{have[1]}")


def _python() -> tuple[int, int]:
    """The version of the system's python3, by the names beside it."""
    real = Path(shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin") or "").resolve().name
    found = re.search(r"(\d+)\.(\d+)$", real)
    return (int(found[1]), int(found[2])) if found else sys.version_info[:2]


def _variables(value: str) -> dict[str, str]:
    if "=" not in value.split(" ")[0]:
        name, _, rest = value.partition(" ")
        return {name: rest}
    return dict(word.split("=", 1) for word in _words(f"ENV {value}")[1:] if "=" in word)


def _filled(text: str, environment: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: environment.get(found[1], found[0]), text)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UserError(f"{line:.60}: {error}") from None


def _copies(name: str, value: str, workdir: str) -> list[tuple[str, str, str]]:
    words = [word for word in _words(value) if not word.startswith(("--chown=", "--chmod=", "--link"))]
    if words[:1] and words[0].startswith("["):
        words = [word.strip("[],") for word in words]
    if any(word.startswith("--") or "://" in word for word in words) or len(words) < 2:
        raise UserError(
            f"{name} {value:.60}: only files beside the Dockerfile can be copied without a container"
        )
    *sources, target = words
    place = str(PurePosixPath("/", workdir, target)) + (
        "/" if target == "." or target.endswith(("/", "/.")) or len(sources) > 1 else ""
    )
    return [("copy", source, place) for source in sources]


def _matching(pattern: str, context: Mapping[str, bytes]) -> list[str]:
    wanted = str(PurePosixPath("/", pattern))[1:]
    return [
        name
        for name in context
        if name not in ("Dockerfile", ".dockerignore")
        and (not wanted or name == wanted or name.startswith(wanted + "/") or fnmatchcase(name, wanted))
    ]


def _target(pattern: str, source: str, place: str) -> str:
    wanted = str(PurePosixPath("/", pattern))[1:]
    if source.startswith(wanted + "/") or not wanted:
        return str(PurePosixPath(place, source.removeprefix(wanted).lstrip("/")))
    return place + PurePosixPath(source).name if place.endswith("/") else place


def _command(value: str) -> str:
    """What is left to run of a RUN, or empty. Raises UserError."""
    left = []
    for part in re.split(r"\s*&&\s*|\s*;\s*", value):
        if not part or _TIDY.match(part):
            continue
        words = _words(part)
        while words and "=" in words[0]:
            words = words[1:]
        if words[:2] in (["apt-get", "install"], ["apt", "install"]) or (
            words[:1] in (["apt-get"], ["apt"]) and "install" in words
        ):
            _installed([w for w in words[1:] if not w.startswith("-") and w != "install"])
        elif words[:2] in (["pip", "install"], ["pip3", "install"]) or words[1:4] == ["-m", "pip", "install"]:
            asked = [w for w in words[words.index("install") + 1 :] if not w.startswith("-")]
            if others := [w for w in asked if re.split(r"[\[=<>~!]", w)[0] not in ("strop", "pip")]:
                raise UserError(
                    f"RUN {part:.80}: {others[0]} would have to be installed; it needs a container"
                )
        elif words and PurePosixPath(words[0]).name in _FETCH and words[:2] != ["git", "init"]:
            raise UserError(f"RUN {part:.80}: this needs a container")
        else:
            left.append(part)
    return " && ".join(left)


def _installed(packages: list[str]) -> None:
    """Raises UserError for the first that is not on this computer."""
    for package in packages:
        name = package.partition("=")[0]
        lists = (f"{name}.list", f"{name}:*.list")
        if not shutil.which(name) and not any(any(_PACKAGES.glob(pattern)) for pattern in lists):
            raise UserError(f"RUN apt-get install {name}: it is not installed on this machine")
