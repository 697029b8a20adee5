"""Draws Dockerfiles out of a grammar, right and wrong ones, and keeps how BuildKit reads them.

    python draw.py READ frontend/dockerfile/parser/testfiles/*/Dockerfile

READ is `read.go`, built; the files are BuildKit's own tests (Apache-2.0), real Dockerfiles among them.
"""

import gzip
import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

COUNT = 567
FROM = (
    *["FROM debian:12"] * 8, "from ubuntu:24.04 as base", "FROM debian:${TAG:-11}", "FROM $BASE", "\tFROM debian",
    "FROM --platform=linux/amd64 debian:12", "FROM docker.io/library/debian:12", "FROM debian:12 AS x y",
)  # fmt: skip
FIRST = (
    "# syntax=docker/dockerfile:1", "# escape=\\", "# escape=`", "#syntax = docker/dockerfile:1.7", "# a comment",
    "# check=skip=all",
)  # fmt: skip
GLOBAL = ("ARG TAG=12", "ARG BASE=debian", "ARG A=glob", "# hello", "")
NAMES = ("A", "B", "CDE", "_x", "PATH", "V2", "app_dir")
RARE = ("$", "$1", "${A:?no}", "${UNSET?no}", "${A#a}", "${A%%b}", "${A/a/b}", "${", "${}", "$$", "$-")
DOUBLE = ("a  b", "x y", "it's", "#", "<<", "\\\\", "\\n", '\\"', "\\$A")
SINGLE = ("p  q", "$A", "", 'say "x"', "\\n")
BREAKS = (
    " \\\n", "\\\n ", " \\\n    ", " \\  \n", " \\\n# a comment\n", " \\\n   # more\n\n  ", "\\\n",
)  # fmt: skip
SHELL = (
    "echo 'a    b' > x", 'printf "%s\\n"  "$A   c" >x', "echo foo\\\nbar > /app/x.txt", "a || b && c | d",
    "set -e;  if [ -f x ]; then echo; fi", "echo $A ${B:-x}  `c` $(d  e)", "echo a # no comment", "cat<<<x",
    'true \\\n  && echo "q  ; r" \\\n  && x', "echo \\\\  \\$A", 'export X="a b";y', "echo 'it\\'", "FOO=bar  baz",
)  # fmt: skip
RUNS = (
    "RUN [ -f x ] && y", "RUN [\"a\", 'b']", "run  lower  case", "RUN\techo tab", "RUN echo x \\",
    "RUN  --mount=type=cache,target=/c ls", "RUN <<EOF cat\nx\nEOF", "RUN <<EOF\n#!/usr/bin/env python3\nprint(1)\nEOF",
    "RUN echo \\\n\n  a \\\n\n\n b", "RUN echo a\\\n  b", "RUN echo '\\\n  x'", 'RUN echo "a\\\nb"',
    "RUN --network=none ls", "RUN cat << EOF\nRUN x\nEOF", "RUN cat <<A1 > x && cat <<'B2'\nfoo $A\nA1\n  bar\nB2",
)  # fmt: skip
BODIES = ("echo hi\n\techo $A\n", "# x\n\nfor i in 1 2; do\n  echo $i  \ndone\n", "a \\\n  b\n")
SOURCES = (
    "a.txt", "dir", "dir/", "./b*.txt", "*.py", "x y", "../up", "/abs/f", ".", "$A", "f\\ g", '"q r"', "[ab].c",
)  # fmt: skip
TARGETS = (
    "/app/", "/app", ".", "./", "sub", "sub/", "/app/$B/", "/x/../y", "${A:-/d}/", '"/a b/"', "/app/.", "..", "", "/",
)  # fmt: skip
FLAGS = (
    *[""] * 8, "--chown=1:1 ", "--chmod=755 ", "--chmod=0644 ", "--chmod=$V2 ", "--link ", "--from=base ", "--parents ",
    "--exclude=a ", "--chmod=u+x ", "--chown=$A --chmod=700 ",
)  # fmt: skip
OTHERS = (
    'LABEL a=b c="d e"', "USER me", "USER $A", "EXPOSE 80", "VOLUME /v", 'CMD ["a"]', "CMD a  b", "STOPSIGNAL 9",
    "MAINTAINER me", "ONBUILD RUN x", "ONBUILD COPY a b", 'SHELL ["/bin/bash", "-o", "pipefail", "-c"]',
    'SHELL ["/bin/sh", "-ec"]', 'ENTRYPOINT ["x"]', "HEALTHCHECK NONE", "FOO x", "# a comment", "  # indented", "",
    "WORKDIR $A", "LABEL x=${", "SHELL /bin/sh", "LABEL a",
)  # fmt: skip
FOLDERS = ("/app", "sub", "/a b", '"/q r"', "$A/x", "..", "/x/../y/", "./z//w", "${B:-/d}", "/app/")


class Grammar:
    """One Dockerfile after another."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._one = self._random.choice

    def dockerfile(self) -> str:
        """The text of one."""
        lines = [self._one(FIRST)] if self._chance(0.12) else []
        lines += [self._one(GLOBAL)] if self._chance(0.15) else []
        lines.append(self._one(FROM))
        kinds: list[Callable[[], str]] = [
            self._run,
            self._copy,
            self._env,
            self._arg,
            self._other,
            self._workdir,
        ]
        for _ in range(self._random.randrange(2, 9)):
            (kind,) = self._random.choices(kinds, [5, 4, 4, 2, 2, 3])
            lines.append(self._one(["", "", "", "", "  ", "\t"]) + kind())
            lines += [self._one(["", "# c", "  # d \\", "\t"])] if self._chance(0.05) else []
        lines += ["FROM debian:12 AS two", self._run()] if self._chance(0.06) else []
        text = self._one([*["\n"] * 12, "\r\n"]).join(lines) + self._one(["\n", "\n", "\n", ""])
        return ("\ufeff" if self._chance(0.02) else "") + text

    def _chance(self, part: float) -> bool:
        return self._random.random() < part

    def _plain(self) -> str:
        return "".join(self._random.choices("abcxyz019._-/", k=self._random.randrange(1, 6)))

    def _variable(self, depth: int) -> str:
        name, kind = self._one([*NAMES, "UNSET"]), self._random.randrange(11)
        if kind < 4 or (kind > 5 and depth > 1):
            return f"${name}"
        if kind < 6:
            return f"${{{name}}}"
        other = f"${{{name}{self._one([':-', '-', ':+', '+'])}{self._word(depth + 1)}}}"
        return other if kind < 10 else self._one(RARE)

    def _word(self, depth: int = 0) -> str:
        found = []
        for _ in range(self._random.randrange(1, 4)):
            kind = self._random.randrange(10)
            if kind < 4 or (depth and 5 < kind < 9):
                found.append(self._plain())
            elif kind < 6:
                found.append(self._variable(depth))
            elif kind == 6:
                found.append(f'"{self._one(DOUBLE)}{self._variable(1) if self._chance(0.4) else ""}"')
            elif kind == 7:
                found.append(f"'{self._one(SINGLE)}'")
            elif kind == 8:
                found.append("\\" + self._one("$ x\\\"'"))
            else:
                found.append(self._one("é=,%~@[*?:"))
        return "".join(found)

    def _broken(self, line: str) -> str:
        """The line, perhaps over several lines."""
        places = [at for at, letter in enumerate(line) if letter == " "]
        if not places or self._chance(0.6):
            return line
        at = self._one(places)
        return line[:at] + self._one(BREAKS) + line[at + self._random.randrange(2) :]

    def _run(self) -> str:
        kind = self._random.randrange(12)
        if kind < 7:
            return self._broken("RUN " + self._one(SHELL))
        if kind == 7:
            return "RUN " + json.dumps(
                [self._one(["/bin/echo", "sh"]), self._one(["-c", "a  b", "$A", "c'd", "é"])]
            )
        if kind == 8:
            return f"RUN <<{self._one(['EOF', '-EOF', repr('EOF'), chr(34) + 'EOF' + chr(34)])}\n{self._one(BODIES)}EOF"
        return self._one(RUNS)

    def _copy(self) -> str:
        start = f"{self._one(['COPY', 'COPY', 'ADD'])} {self._one(FLAGS)}"
        words = [*self._random.choices(SOURCES, k=self._one([1, 1, 1, 2, 3])), self._one(TARGETS)]
        if self._chance(0.15):
            return start + json.dumps(words)
        if self._chance(0.1):
            return f"{start}<<E1 {words[-1]}\nhey $A\nE1"
        return self._broken(start + " ".join(words))

    def _env(self) -> str:
        kind = self._random.randrange(5)
        if kind == 0:
            return self._broken(f"ENV {self._one(NAMES)} {self._word()}  {self._word()}")
        if kind == 1:
            return f"ENV PATH={self._one(['/app/bin:$PATH', '$PATH:/x', '${PATH}', '/only'])}"
        pairs = [f"{self._one(NAMES)}={self._word()}" for _ in range(self._one([1, 1, 2, 3]))]
        return self._broken("ENV " + self._one([" ", "  "]).join(pairs))

    def _arg(self) -> str:
        names = self._random.choices([*NAMES, "TARGETARCH"], k=self._one([1, 1, 2]))
        return "ARG " + " ".join(name + (f"={self._word()}" if self._chance(0.5) else "") for name in names)

    def _other(self) -> str:
        return self._one(OTHERS)

    def _workdir(self) -> str:
        return f"WORKDIR {self._one(FOLDERS)}"


def main() -> None:
    """Three parts of those that are read to one that is refused, and what else was named."""
    program, *files = sys.argv[1:]
    grammar = Grammar(61)
    texts = [Path(file).read_bytes().decode() for file in files] + [
        grammar.dockerfile() for _ in range(4 * COUNT)
    ]
    lines = "".join(f"{json.dumps(text)}\n" for text in texts)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.split("\n") if line]
    real, drawn = rows[: len(files)], rows[len(files) :]
    right = [row for row in drawn if "error" not in row][: COUNT * 3 // 4]
    wrong = [row for row in drawn if "error" in row][: COUNT - len(right)]
    kept = "".join(f"{json.dumps(row)}\n" for row in [*real, *right, *wrong])
    Path(__file__).with_name("read_by_buildkit.jsonl.gz").write_bytes(
        gzip.compress(kept.encode(), 9, mtime=0)
    )


if __name__ == "__main__":
    main()
