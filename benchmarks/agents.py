"""Plays with tools in real folders: the gain from running them concurrently, and set-up time compared with a clone.

    python benchmarks/agents.py [--json FILE] [--plays 32] [--at-once 8] [--clones 12] [--repository NAME]

A scripted policy plays `toy-repositories` in the environment `workspace` with its expert: search, read, edit, test,
finish. Every completion takes STEP_SECONDS, however many run concurrently, as in batched decoding. Set-up and clone are
also measured on a real repository, a git bundle of `../shared/repos` (or STROP_REPOS), if present. Written and printed:

    speedup_vs_sequential     wall time of the plays in sequence divided by that of concurrent plays
    setup_ms_median           set-up of a play (its folder with the repository's files) in a running dispatcher;
                              setup_ms_first is the first, whose jail must start
    setup_ms_side_by_side     the same for concurrent plays, including those whose jail must start
    clone_ms_median           a fresh `git clone` of the same repository over file:// and a checkout, as in CodeRepairRL
    setup_vs_clone            the ratio of the two
    verdict_ms                a project check's verdict on a correct answer to a new repository, on the same again, on a
                              wrong one, and on a generated task
    solved                    share of the expert's plays that pass
    leftovers                 processes, folders and mounts that did not exist before
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

from strop.environments.registry import bind, find_environment
from strop.environments.task_tree import tree_of
from strop.environments.workspace import Workspace
from strop.policies.scripted import ScriptedPolicy
from strop.rollouts.dispatcher import Dispatcher
from strop.tasks import load_tasks
from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.ids import rng
from strop_verify.core.play import PlayLimits
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import Completion, SamplingParams
from strop_verify.core.snapshots import Files, data_uri, digest_of
from strop_verify.core.task import Task
from strop_verify.edits import FORMATS
from strop_verify.sandbox import Folder, Limits
from strop_verify.verification import open_verifier
from strop_verify.verification.project.snapshot import read_project

STEP_SECONDS = 0.25
REPOSITORY = "more-itertools"
_FOLDER = Limits(dir_bytes=64 << 20, file_bytes=16 << 20, processes=64)


class Slow(ScriptedPolicy):
    """Gives the answers of the environment's expert; one step completes all pending requests."""

    def __init__(self, say: Callable[[str], str]) -> None:
        super().__init__(lambda prompt, seed, index: say(self.tokenizer.decode(prompt)))
        self.waiting: list[tuple[Future[Completion], Future[Completion]]] = []

    def submit(self, request: Request) -> Future[Completion]:
        """See `core.protocols.Policy`."""
        future: Future[Completion] = Future()
        self.waiting.append((future, super().submit(request)))
        return future

    def work(self, seconds: float) -> None:
        """One step of decoding."""
        if not self.waiting:
            time.sleep(min(seconds, 0.002))
            return
        time.sleep(STEP_SECONDS)
        asked, self.waiting = self.waiting, []
        for future, made in asked:
            if not future.cancelled():
                future.set_result(made.result())


class Timed(Workspace):
    """The workspace, with the seconds of each set-up and an expert for each play."""

    setups: list[float] = []  # noqa: RUF012

    def setup(self, services: Any) -> None:
        """See `Workspace`."""
        began = time.perf_counter()
        super().setup(services)
        self.setups.append(time.perf_counter() - began)


def expert(tasks: list[Task]) -> Callable[[str], str]:
    """A task's next call, from its prompt: the statement and the number of turns so far."""
    scripts: dict[str, list[str]] = {}
    kind = bind(find_environment(Workspace), "chat")
    for task in tasks:
        made: Any = kind(task)
        scripts[task.statement.strip()] = list(made.demonstrate(random.Random(task.id)))

    def say(prompt: str) -> str:
        script = next(found for statement, found in scripts.items() if statement in prompt)
        return script[min(prompt.count("turns left]") + prompt.count("turn left]"), len(script) - 1)]

    return say


def played(tasks: list[Task], verifier: Any, at_once: int) -> tuple[float, float]:
    """(wall seconds, share that passed) of the plays of these tasks."""
    dispatcher = Dispatcher(
        Slow(expert(tasks)), verifier, bind(find_environment(Timed), "chat"),
        limits=PlayLimits(plays=at_once, setups=at_once), order="as-ready",
        open_folder=partial(Folder, limits=_FOLDER),
    )  # fmt: skip
    Timed.setups.clear()
    began = time.monotonic()
    rollouts = list(dispatcher.play(tasks, 1, SamplingParams(max_tokens=4096), seed=1))
    seconds = time.monotonic() - began
    return seconds, statistics.mean(rollout.verdict.passed for rollout in rollouts)


def set_ups(files: Files, plays: int, verifier: Any) -> list[float]:
    """Seconds of each set-up of plays of one repository, one play after another."""
    path = next(name for name in sorted(files) if name.endswith(".py") and files[name].strip())
    text = files[path].decode()
    judge = ProjectCheck(project=data_uri(files), digest=digest_of(files), failing=["tests/none.py::test"])
    check = EditCheck(format="unified-diff", files={path: text}, oracle={path: text + "#\n"}, judge=judge)
    task = Task(id="set-up", statement="Nothing is to be done.", check=check)
    Timed.setups.clear()
    dispatcher = Dispatcher(
        ScriptedPolicy(lambda prompt, seed, index: "<finish></finish>"), verifier,
        bind(find_environment(Timed), "chat"), limits=PlayLimits(plays=1, setups=0),
        open_folder=partial(Folder, limits=_FOLDER),
    )  # fmt: skip
    list(dispatcher.play([task], plays, SamplingParams(), seed=1))
    return list(Timed.setups)


def clones(bare: Path, count: int) -> list[float]:
    """Seconds of fresh clones and checkouts."""
    found = []
    for _ in range(count):
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            git("clone", "--quiet", f"file://{bare}", folder)
            git("-C", folder, "checkout", "--quiet", "HEAD")
            found.append(time.perf_counter() - began)
    return found


def git(*words: str) -> None:
    """Runs git and raises its errors."""
    own = ("-c", "user.name=b", "-c", "user.email=b@localhost", "-c", "advice.detachedHead=false")
    subprocess.run(["git", *own, *words], check=True, stdout=subprocess.DEVNULL)


def repository_of(files: Files, folder: Path) -> Path:
    """A bare repository of one commit."""
    for name, data in files.items():
        (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tree" / name).write_bytes(data)
    git("init", "--quiet", str(folder / "tree"))
    git("-C", str(folder / "tree"), "add", "--force", ".")
    git("-C", str(folder / "tree"), "commit", "--quiet", "--message", "all")
    git("clone", "--quiet", "--bare", str(folder / "tree"), str(folder / "bare"))
    return folder / "bare"


def repositories(folder: Path, name: str) -> Iterator[tuple[str, Files, Path]]:
    """(name, files, bare repository): a toy one, and a real one with its history if there is a bundle."""
    files = tree_of(load_tasks("toy-repositories:1@5")[0])
    (folder / "toy").mkdir()
    yield "toy", files, repository_of(files, folder / "toy")
    bundle = Path(os.environ.get("STROP_REPOS", "../shared/repos")) / f"{name}.bundle"
    if bundle.is_file():
        git("clone", "--quiet", "--bare", str(bundle), str(folder / "real"))
        git("clone", "--quiet", str(folder / "real"), str(folder / "checkout"))
        yield name, read_project(folder / "checkout"), folder / "real"
    else:
        print(f"{bundle} is missing: using only a toy repository", file=sys.stderr)


def verdicts(verifier: Any, count: int) -> dict[str, float]:
    """Median milliseconds of verdicts in sequence, and of a generated task."""
    began = time.perf_counter()
    tasks = load_tasks(f"toy-repositories:{count}@77")
    found: dict[str, list[float]] = {"task": [(time.perf_counter() - began) / count]}
    for task in tasks:
        check = task.check.only(EditCheck)
        ((path, text),) = check.files.items()
        wrong = FORMATS[check.format].render(check.files, {path: f"{text}\n\nMORE = 1\n"})
        for kind, answer in (("new", task.reference), ("again", task.reference + "\n"), ("wrong", wrong)):
            began = time.perf_counter()
            verifier.submit(task, answer).result()
            found.setdefault(kind, []).append(time.perf_counter() - began)
    return {kind: round(1000 * statistics.median(seconds), 1) for kind, seconds in found.items()}


def traces() -> set[str]:
    """Processes below this one, work directories, cgroups and mounts."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False
    )
    found = {line.strip() for line in listed.stdout.splitlines() if " ps " not in f"{line} "}
    for place in ("/dev/shm", "/tmp"):
        found |= {str(path) for path in Path(place).glob(f"strop-*{os.getpid()}-*")}
    found |= {str(path) for path in Path("/sys/fs/cgroup").glob(f"*/strop-{os.getpid()}-*")}
    return found | {line for line in Path("/proc/self/mounts").read_text().splitlines() if "strop" in line}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plays", type=int, default=32)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--clones", type=int, default=12)
    parser.add_argument("--repository", default=REPOSITORY)
    args = parser.parse_args()
    before = traces()
    tasks = load_tasks(f"toy-repositories:{args.plays}@{rng('agents').randrange(1000)}")
    found: dict[str, Any] = {}
    with open_verifier() as verifier:
        found["verdict_ms"] = verdicts(verifier, 8)
        ways = {"one after another": 1, "side by side": args.at_once}
        runs = {name: played(tasks, verifier, at_once) for name, at_once in ways.items()}
        found["setup_ms_side_by_side"] = round(1000 * statistics.median(Timed.setups), 2)
        found["seconds"] = {name: round(seconds, 2) for name, (seconds, _) in runs.items()}
        found["speedup_vs_sequential"] = round(runs["one after another"][0] / runs["side by side"][0], 2)
        found["solved"] = round(statistics.mean(share for _, share in runs.values()), 3)
        with tempfile.TemporaryDirectory() as folder:
            for name, files, bare in repositories(Path(folder), args.repository):
                taken = set_ups(files, 4 * args.clones, verifier)
                cloned = clones(bare, args.clones)
                setup, clone = (1000 * statistics.median(one) for one in (taken, cloned))
                found["repositories"] = {
                    **found.get("repositories", {}),
                    name: {
                        "files": len(files),
                        "setup_ms_first": round(1000 * taken[0], 2),
                        "setup_ms_median": round(setup, 2),
                        "clone_ms_median": round(clone, 2),
                        "setup_vs_clone": round(clone / setup, 1),
                    },
                }
                last = found["repositories"][name]
                found |= {key: last[key] for key in ("setup_ms_median", "clone_ms_median", "setup_vs_clone")}
    found["leftovers"] = len(traces() - before)
    print(json.dumps(found, indent=1))
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
