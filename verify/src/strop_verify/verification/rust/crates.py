"""Compiles third-party crates for answers, once, from a folder of vendored sources.

The folder has the layout of `cargo vendor`: one folder per crate with its Cargo.toml and .cargo-checksum.json (Debian's
librust-*-dev packages fill /usr/share/cargo/registry that way). cargo itself selects versions and features and runs
build scripts and procedural macros, in the jail, without a network. The result is kept for the life of this process and
linked with every answer that names the crates.

The sources are trusted: whoever provides the folder vouches for them. An answer can do whatever an offered crate lets
safe code do.
"""

import json
import re
import shlex
import struct
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from strop_verify.code.trees import parse, walk
from strop_verify.core.errors import WorkerDied
from strop_verify.sandbox import Work
from strop_verify.verification.rust.compiler import COMPILE, Compiler
from strop_verify.verification.rust.names import leaves, plain

_BUILD = replace(COMPILE, cpu_seconds=600.0, wall_seconds=900.0, output_bytes=16 << 20)
_LARGEST = 256 << 20
_FOLDER = "target/debug/deps"
_BEFORE_MAIN = ("ctor", "inventory", "linkme", "static_init", "small_ctor")
_RESERVED = ("test", "std", "core", "alloc", "proc_macro")
_UNCLEAR = "cargo failed"
"""Prefix of a reason that may not recur when tried again."""
_lock = threading.Lock()
_known: dict[tuple[str, str, tuple[str, ...]], "CompiledCrates"] = {}


@dataclass(frozen=True)
class CompiledCrates:
    """A check's `crates`, compiled."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    """Compiled crates and their dependencies, by path in the work directory."""
    externs: Mapping[str, str] = field(default_factory=dict)
    """Files of the offered crates, by their name in code."""
    names: frozenset[str] = frozenset()
    """Names of all crates in `files`; the paths of their types start with these."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Why a crate cannot be used, by its name in code."""
    constructors: int = 0
    """Number of functions that a program with all of these crates, but no answer, runs before `main`."""

    def arguments(self, used: Sequence[str]) -> tuple[str, ...]:
        """rustc's arguments for code that names the crates `used`."""
        links = [x for name in used for x in ("--extern", f"{name}={self.externs[name]}")]
        return ("-L", f"dependency={_FOLDER}", *links)


NONE = CompiledCrates()


def code_name(entry: str) -> str:
    """The name that code uses for an entry of `RustCheck.crates`."""
    return entry.partition("=")[0].strip().strip("\"'").replace("-", "_")


def crates_named(text: str, names: Collection[str]) -> set[str]:
    """The `names` that the text uses as crates: at the start of a path, in a use or extern crate declaration."""
    found: set[str] = set()
    if not any(name in text for name in names):
        return found
    root = parse(text)
    for node in walk(root):
        if node.type in ("use_declaration", "extern_crate_declaration"):
            found |= {plain(leaf) for leaf in leaves(node)}
    tokens = [plain(leaf) for leaf in leaves(root)]
    for number, token in enumerate(tokens):
        after = tokens[number + 1] if number + 1 < len(tokens) else ""
        before = tokens[number - 1] if number else ""
        if after == "::" or before in ("use", "crate"):
            found.add(token)
    return found & set(names)


def private_part(text: str) -> str:
    """A name in a path to what crates reserve for their own macros (`krate::__name`), or empty."""
    tokens = [plain(leaf) for leaf in leaves(parse(text))]
    return next((b for a, b in pairwise(tokens) if a == "::" and b.startswith("__")), "")


def manifest(name: str, edition: str, crates: Sequence[str]) -> str:
    """A package's Cargo.toml."""
    lines = "".join(f"{crate}\n" if "=" in crate else f'{crate} = "*"\n' for crate in crates)
    return f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "{edition}"\n\n[dependencies]\n{lines}'


def source_config(vendor: Path) -> str:
    """cargo's configuration that replaces crates.io with a folder."""
    return (
        '[source.crates-io]\nreplace-with = "vendored"\n\n'
        f"[source.vendored]\ndirectory = {json.dumps(str(vendor))}\n"
    )


def offer(work: Work, compiler: Compiler, vendor: Path | None, crates: Sequence[str]) -> CompiledCrates:
    """Compiles the crates; the work directory cannot be used afterwards. Raises SandboxError, WorkerDied.

    A crate that does not build, or has no matching version in the folder, is in `missing`; the others are usable.
    """
    if vendor is None:
        remedy = "set sandbox.rust_vendor to a folder of vendored crates that has it"
        why = f"no folder of crates is configured; {remedy}"
        return CompiledCrates(missing={code_name(crate): why for crate in crates})
    key = (compiler.installation.identity, str(vendor), tuple(crates))
    with _lock:  # other threads wait: they need the same, and compiling is expensive
        found = _known.get(key) or _build(work, compiler, vendor, crates)
        if not any(reason.startswith(_UNCLEAR) for reason in found.missing.values()):
            _known[key] = found
        return found


def _build(work: Work, compiler: Compiler, vendor: Path, crates: Sequence[str]) -> CompiledCrates:
    missing = {name: _refused(name) for name in map(code_name, crates) if _refused(name)}
    wanted = [crate for crate in crates if code_name(crate) not in missing]
    built = _cargo(work, compiler, vendor, wanted) if wanted else Built()
    if built.fault and len(wanted) > 1:
        alone = {crate: _cargo(work, compiler, vendor, [crate]) for crate in wanted}
        missing |= {code_name(crate): one.fault for crate, one in alone.items() if one.fault}
        wanted = [crate for crate, one in alone.items() if not one.fault]
        built = _cargo(work, compiler, vendor, wanted) if wanted else Built()
    if built.fault:
        return CompiledCrates(missing=missing | {code_name(crate): built.fault for crate in wanted})
    files = {name: work.read(name, limit=_LARGEST) for name in built.files}
    found = CompiledCrates(files, built.externs, built.names, missing)
    return replace(found, constructors=_constructors(work, compiler, found) if built.files else 0)


def _refused(name: str) -> str:
    if name in _BEFORE_MAIN:
        return "it runs code before main, where tests cannot be protected; remove it from the check's crates"
    return (
        "its name is reserved by the language; rename it in the check's crates" if name in _RESERVED else ""
    )


@dataclass(frozen=True)
class Built:
    """The result of one run of cargo."""

    files: tuple[str, ...] = ()
    externs: Mapping[str, str] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    fault: str = ""


def _cargo(work: Work, compiler: Compiler, vendor: Path, crates: Sequence[str]) -> Built:
    """Builds an empty program that depends on the crates."""
    text = manifest("shelf", "2021", crates) + "\n[profile.dev]\ndebug = 0\nincremental = false\n"
    work.put({"Cargo.toml": text, "Cargo.lock": "version = 3\n", "src/main.rs": "fn main() {}",
              ".cargo/config.toml": source_config(vendor)})  # fmt: skip
    installation = compiler.installation
    result = work.run(
        [installation.program("cargo"), "build", "-v", "--offline", "--color=never", "--message-format=json"],
        limits=_BUILD,
        profile="build",
        read=[*installation.read, str(vendor)],
        environment=compiler.cargo_environment(),
    )
    errors = result.stderr.decode(errors="replace")
    if result.status != 0 or result.expired:
        return Built(fault=_cause(errors, result.expired, vendor))
    files, names = set(), set()
    for line in result.stdout.splitlines():
        message = json.loads(line) if line.startswith(b"{") else {}
        if message.get("reason") == "compiler-artifact" and "bin" not in message["target"]["kind"]:
            built = [f for f in message["filenames"] if f.endswith((".rlib", ".so"))]
            files |= {f"{_FOLDER}/{Path(f).name}" for f in built if Path(f).parent.name == "deps"}
            names |= {message["target"]["name"].replace("-", "_")} if built else set()
    return Built(tuple(sorted(files)), _externs(errors), frozenset(names))


def _externs(errors: str) -> dict[str, str]:
    """The `--extern` arguments with which cargo compiled the program that depends on the crates."""
    line = next((x for x in errors.splitlines() if "Running `" in x and "--crate-name shelf " in x), "")
    words = shlex.split(line.partition("`")[2].rpartition("`")[0])
    pairs = [b.partition("=") for a, b in pairwise(words) if a == "--extern"]
    if not words:
        raise WorkerDied("cargo's output lacks the command that links the crates")
    return {name.rpartition(":")[2]: f"{_FOLDER}/{Path(path).name}" for name, _, path in pairs}


def _cause(errors: str, expired: str, vendor: Path) -> str:
    """Why cargo failed, in one line with the remedy."""
    if expired:
        return f"{_UNCLEAR}: building it exceeded the {expired} limit"
    remedy = f"add it with `cargo vendor` to {vendor}"
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    first = next((line.removeprefix("error: ") for line in lines if line.startswith("error")), "")
    versions = re.search(r"candidate versions found which didn't match: ([^\n]+)", errors)
    if versions:
        return f"{first}; the folder has {versions[1]}; {remedy}"
    if first.startswith("no matching package"):
        return f"it is not in the folder; {remedy}"
    failed = re.search(r"could not compile `([^`]+)`", errors)
    if failed:
        return (
            f"{failed[1]} does not build with this toolchain: {first}; put a version into {vendor} that does"
        )
    return f"{_UNCLEAR}: {first or 'no error message'}: {lines[-1] if lines else ''}"


def _constructors(work: Work, compiler: Compiler, found: CompiledCrates) -> int:
    root = "".join(f"extern crate {name};\n" for name in found.externs) + "fn main() {}\n"
    work.put({"bare.rs": root})
    program = replace(compiler, links=found.arguments(tuple(found.externs)))
    compiled = program.program(work, "bare.rs", "bare")
    if not compiled.ok:
        raise WorkerDied(f"the vendored crates do not link: {compiled.stderr[-300:]}")
    return count_constructors(work.read("bare", limit=_LARGEST))


_KINDS = {14, 15, 16}
"""Types of the sections .init_array, .fini_array and .preinit_array."""


def count_constructors(program: bytes) -> int:
    """Number of functions run before and after `main`. Raises ValueError for anything but a 64-bit ELF file."""
    if program[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    try:
        (start,) = struct.unpack_from("<Q", program, 40)
        size, count = struct.unpack_from("<HH", program, 58)
        sections = [struct.unpack_from("<IIQQQQ", program, start + size * n) for n in range(count)]
    except struct.error as error:
        raise ValueError(f"not a whole ELF file: {error}") from None
    return sum(section[5] // 8 for section in sections if section[1] in _KINDS)
