"""Plans what a Dockerfile describes, as far as `strop_verify.sandbox.machine` can provide it.

Without an image on disk (`strop_verify.sandbox.image`) a jail's programs are this computer's. So FROM may name a plain
system or a language that is installed here; RUN may install what is already installed or write below the machine's
roots; COPY takes files beside the Dockerfile. Anything else is refused by name. BuildKit's own parser reads the text;
words are expanded as in Docker's reference (docs.docker.com/reference/dockerfile, "Environment replacement").
Deviations: USER, CMD, LABEL, EXPOSE, STOPSIGNAL and VOLUME have no effect (a jail has one user, and runs what it is
told), and a system's version is not compared.
"""

import platform
import posixpath
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from strop_verify.core.errors import UserError
from strop_verify.core.optional_packages import require
from strop_verify.sandbox.docker_words import expanded
from strop_verify.sandbox.image import KIND, check_image
from strop_verify.sandbox.machine import programs_path

_SYSTEMS = {"debian", "ubuntu", "buildpack-deps", "scratch"}
_LANGUAGES = {
    "python": "python3", "node": "node", "gcc": "gcc", "rust": "cargo", "golang": "go", "bash": "bash", "perl": "perl",
}  # fmt: skip
"""Images of languages, with the program that each needs."""
_EXPANDED = {"USER", "LABEL", "EXPOSE", "STOPSIGNAL", "VOLUME"}
_IGNORED = {*_EXPANDED, "CMD", "MAINTAINER", "ONBUILD"}
_OWN_ARGUMENTS = re.compile(r"(TARGET|BUILD)(PLATFORM|OS|ARCH|VARIANT|STAGE)|.*_proxy|.*_PROXY")
"""Build arguments that a builder sets itself."""
_FETCH = {
    "curl", "wget", "git", "npm", "yarn", "pnpm", "cargo", "go", "gem", "conda", "apk", "yum", "dnf", "uv", "pipx",
    "add-apt-repository", "dpkg", "useradd", "adduser", "groupadd", "service", "systemctl",
}  # fmt: skip
"""Programs that need a network or root."""
_OF_COPY = ("--chmod=", "--chown=", "--link")
_BEFORE = {"if", "then", "elif", "else", "while", "until", "do", "!", "{", "sudo", "exec", "time", "env"}
_DIRECTIVE = re.compile(r"#\s*(\w+)\s*=\s*(.+?)\s*$")
_HEREDOC = re.compile(r"\d*<<(-?)(['\"]?)(\w+)\2")
_PACKAGES = Path("/var/lib/dpkg/info")


@dataclass(frozen=True)
class RunStep:
    """A command of the build, its work directory and its whole environment."""

    argv: tuple[str, ...]
    workdir: str
    environment: Mapping[str, str]


@dataclass(frozen=True)
class CopyStep:
    """Files beside the Dockerfile to copy, as patterns. `target` ends with / if it must be a folder."""

    sources: tuple[str, ...]
    target: str
    mode: int | None = None
    """From --chmod; None = unchanged."""
    unpacks: bool = False
    """Whether archives are unpacked, as ADD does."""


@dataclass(frozen=True)
class FolderStep:
    """A folder that WORKDIR makes."""

    path: str


Step = RunStep | CopyStep | FolderStep


@dataclass
class ImagePlan:
    """How to make a machine as the Dockerfile describes it."""

    workdir: str = ""
    """The final WORKDIR, else that of the image on disk, else /; empty for an image by name."""
    environment: dict[str, str] = field(default_factory=dict)
    """The variables that ENV sets."""
    base: str = ""
    """The image named by FROM."""
    source: str = ""
    """Place of the base image (`image.open_image`); empty = this computer."""
    steps: list[Step] = field(default_factory=list)


def image_plan(text: str, image: str = "", path: str = "") -> ImagePlan:
    """The plan of a Dockerfile's text, or of an image by name if the text is empty. `path`: PATH of the image.

    An `image` that is a place (oci:FOLDER) replaces the image of the text's FROM.
    Raises UserError that names the first instruction that needs more than this computer, or the image, offers.
    """
    if image.startswith(KIND):
        found = check_image(image)
        begun = ImagePlan(workdir=found.workdir or "/", source=image)
        return _DockerfileReader(begun, found.variables).plan(text) if text.strip() else begun
    if text.strip():
        return _DockerfileReader(ImagePlan(workdir="/"), {"PATH": path or programs_path()}).plan(text)
    if not image:
        raise UserError("it names no image and has no environment/Dockerfile")
    _base(image)
    return ImagePlan()


def base_image(text: str) -> str:
    """The base image of a Dockerfile. Raises UserError for instructions that no image makes possible in a jail."""
    return _DockerfileReader(ImagePlan(workdir="/", source=KIND), {}).plan(text).base


class _DockerfileReader:
    """Builds a plan from instructions."""

    def __init__(self, begun: ImagePlan, variables: Mapping[str, str]) -> None:
        """`variables`: the image's environment."""
        self._made, self._given, self._global = begun, variables, dict[str, str]()
        self._variables: dict[str, str] | None = None
        """Variables of ENV and ARG; None before FROM."""
        self._shell: tuple[str, ...] = ("/bin/sh", "-c")

    def plan(self, text: str) -> ImagePlan:
        for command in _parsed(text):
            name, words = command.cmd.upper(), list(command.value)
            if self._variables is None and name not in ("FROM", "ARG"):
                raise UserError(f"{name} comes before FROM")
            if not words:
                raise UserError(f"{name} has no arguments")
            if command.heredocs and name != "RUN":
                raise UserError(f"{name} with a here-document needs a container")
            if other := next((flag for flag in command.flags if not flag.startswith(_options(name))), ""):
                raise UserError(f"{name} {other}: this option needs a container")
            self._take(name, words, command)
        if self._variables is None:
            raise UserError("the Dockerfile has no FROM")
        return self._made

    def _take(self, name: str, words: list[str], command: Any) -> None:
        match name:
            case "FROM":
                if self._variables is not None:
                    raise UserError(f"FROM {words[0]}: a build of several stages needs a container")
                if len(words) not in (1, 3) or (len(words) == 3 and words[1].upper() != "AS"):
                    raise UserError(f"FROM {' '.join(words)}: write FROM IMAGE or FROM IMAGE AS NAME")
                self._made.base = expanded(words[0], self._global)
                if not self._made.source:
                    _base(self._made.base)
                self._variables = dict(self._given)
            case "ARG":
                self._arguments(words)
            case "ENV":
                values = [self._word(word) for word in words]
                given = dict(zip(values[::2], values[1::2], strict=True))
                self._made.environment |= given
                self._known.update(given)
            case "WORKDIR":
                where = self._made.workdir = self._place(self._word(_only(name, words)))
                if where != "/":
                    self._made.steps.append(FolderStep(where))
            case "SHELL":
                if not command.json:
                    raise UserError('SHELL takes a list such as ["/bin/bash", "-c"]')
                self._shell = tuple(words)
            case "COPY" | "ADD":
                self._made.steps.append(self._copy(name, words, command.flags))
            case "RUN":
                argv = tuple(words) if command.json else (*self._shell, _script(_only(name, words), command))
                for line in [shlex.join(argv)] if command.json else [argv[-1]]:
                    _look(line, here=not self._made.source)
                self._made.steps.append(RunStep(argv, self._made.workdir, dict(self._known)))
            case _ if name not in _IGNORED:
                raise UserError(f"{name} {' '.join(words):.60}: this instruction needs a container")
            case _ if name in _EXPANDED and not command.json:
                for word in words:
                    self._word(word)

    @property
    def _known(self) -> dict[str, str]:
        return self._global if self._variables is None else self._variables

    def _word(self, word: str) -> str:
        return expanded(word, self._known)

    def _place(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self._made.workdir, path)).replace("//", "/")

    def _arguments(self, words: Sequence[str]) -> None:
        for word in words:
            name, given, value = word.partition("=")
            if given:
                self._known[name] = self._word(value)
            elif _OWN_ARGUMENTS.fullmatch(name):
                raise UserError(f"ARG {name}: its value is the builder's own")
            elif name in self._global:
                self._known[name] = self._global[name]

    def _copy(self, name: str, words: Sequence[str], flags: Sequence[str]) -> CopyStep:
        *sources, target = [self._word(word) for word in words]
        if not sources:
            raise UserError(f"{name} {target:.60}: it needs a source and a target")
        shown, folder = f"{name} {' '.join(words):.60}", target.endswith(("/", "/.")) or target in ("", ".")
        if any("://" in source or source.startswith("git@") for source in sources):
            raise UserError(f"{shown}: only files beside the Dockerfile can be copied without a container")
        if len(sources) > 1 and not folder:
            raise UserError(f"{shown}: several sources need a folder, whose name ends with /")
        mode = None
        for flag in flags:
            if flag.startswith("--chmod="):
                if not re.fullmatch(r"0?[0-7]{3}", bits := self._word(flag.partition("=")[2])):
                    raise UserError(f"{name} {flag}: a mode that is not an octal number needs a container")
                mode = int(bits, 8)
        place = self._place(target)
        place += "/" * (folder and place != "/")
        return CopyStep(
            tuple(posixpath.normpath(f"/{one}").lstrip("/") for one in sources), place, mode, name == "ADD"
        )


def _parsed(text: str) -> Sequence[Any]:
    """The instructions, read by BuildKit's parser. Raises UserError."""
    purpose = "reading a Dockerfile"
    parser = require(
        "dockerfile", package="dockerfile", extra="terminal", purpose=purpose, part="strop-verify"
    )
    for line in text.removeprefix("\ufeff").split("\n"):
        found = _DIRECTIVE.match(line)
        if found is None or found[1].lower() not in ("escape", "syntax", "check"):
            break
        name, value = found[1].lower(), found[2]
        if (name == "escape" and value != "\\") or (
            name == "syntax" and not value.removeprefix("docker.io/").startswith("docker/dockerfile:1")
        ):
            raise UserError(f"# {name}={value:.60}: this directive needs a container")
    try:
        text.encode()  # lone surrogates would crash the parser's process
        return list(parser.parse_string(text))
    except (parser.GoParseError, ValueError) as error:
        raise UserError(f"the Dockerfile cannot be read: {' '.join(str(error).split()):.200}") from None


def _options(instruction: str) -> tuple[str, ...]:
    """Prefixes of options that are supported as in Docker."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), "")
    known = {"FROM": (f"--platform=linux/{machine}",), "COPY": _OF_COPY, "ADD": _OF_COPY}
    return known.get(instruction, ("\0",))


def _only(name: str, words: Sequence[str]) -> str:
    if len(words) != 1:
        raise UserError(f"{name} {' '.join(words):.60}: it takes one argument")
    return words[0]


def _script(value: str, command: Any) -> str:
    """The shell script of a RUN with its here-documents."""
    if not command.heredocs:
        return value
    first, found = command.heredocs[0].content, _HEREDOC.fullmatch(value)
    if found is None:
        return "".join([value, *(f"\n{one.content}{one.name}" for one in command.heredocs)])
    if first.startswith("#!"):
        raise UserError(f"RUN {value}: a here-document that names its own program needs a container")
    return re.sub(r"(?m)^\t+", "", first) if found[1] else str(first)


def _base(image: str) -> None:
    """Raises UserError unless this computer can replace the image."""
    name, _, tag = image.partition("@")[0].partition(":")
    name = name.removeprefix("docker.io/").removeprefix("library/")
    program = _LANGUAGES.get(name, "")
    if name not in _SYSTEMS and not program:
        raise UserError(f"image {image!r:.80}: its contents are unknown here; it needs a container")
    if program and not shutil.which(program, path="/usr/local/bin:/usr/bin:/bin"):
        raise UserError(f"image {image!r:.80} needs {program}, which is not installed on this machine")
    wanted = re.match(r"(\d+)\.(\d+)", tag)
    if name == "python" and wanted and (have := _python()) < (int(wanted[1]), int(wanted[2])):
        raise UserError(f"image {image!r:.80}: this machine's python3 is {have[0]}.{have[1]}")


def _python() -> tuple[int, int]:
    """The version of the system's python3, from the name that it links to."""
    real = Path(shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin") or "").resolve().name
    found = re.search(r"(\d+)\.(\d+)$", real)
    return (int(found[1]), int(found[2])) if found else sys.version_info[:2]


def _look(script: str, *, here: bool) -> None:
    """Raises UserError for what a RUN needs and a jail lacks. What the text does not show, running it will, including
    what apt installs if the programs are not this computer's (`here`).
    """
    for words in _commands(script):
        program, said = PurePosixPath(words[0]).name, f"RUN {' '.join(words):.80}"
        rest = words[words.index("install") + 1 :] if "install" in words else []
        asked = [word for word in rest if not word.startswith("-") and "$" not in word]
        if program in ("apt-get", "apt"):
            if here and (missing := [one for one in asked if not installed(one)]):
                raise UserError(f"RUN {program} install {missing[0]}: it is not installed on this machine")
        elif program in ("pip", "pip3"):
            if others := [
                one
                for one in asked
                if re.split(r"[\[=<>~!]", one)[0] not in ("strop", "strop-verify", "strop-tasks", "pip")
            ]:
                raise UserError(f"{said}: {others[0]} would have to be installed; it needs a container")
        elif (program in _FETCH and words[:2] != ["git", "init"]) or words[1:3] == ["-m", "pip"]:
            raise UserError(f"{said}: this needs a container")


def _commands(script: str) -> Iterator[list[str]]:
    """The simple commands of a shell script, without leading variables and keywords."""
    lexer = shlex.shlex(script, posix=True, punctuation_chars=";&|()\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    words: list[str] = []
    try:
        for token in [*lexer, ";"]:
            if token.strip(";&|()\n"):
                if words or not (token in _BEFORE or re.match(r"\w+=", token)):
                    words.append(token)
            elif words:
                yield words
                words = []
    except ValueError:  # unbalanced quotes in a here-document
        return


def installed(package: str) -> bool:
    """Whether this computer has an apt package, or a program, of that name."""
    name = package.partition("=")[0]
    lists = (f"{name}.list", f"{name}:*.list")
    return bool(shutil.which(name)) or any(any(_PACKAGES.glob(pattern)) for pattern in lists)
