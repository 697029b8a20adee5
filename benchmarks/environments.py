"""Builds environments and tasks from histories, judges every task again from scratch, and plays some of them.

    python benchmarks/environments.py ../shared/repos/*.bundle [--limit 40] [--rounds 3] [--plays 50] [--json FILE]

Environments: `strop build env` on each. Tasks: `strop build commits` on all. Then tasks, snapshots and lists of
packages are copied elsewhere and the packages are installed again. In each round, with a fresh verifier, every oracle
must pass and an edit that adds a comment must fail, test by test the same in all rounds. In the workspace, the scripted
expert must solve its plays; an agent that stops at once, and one that changes tests, conftest.py and Python's start-up
files, must solve none. The run ends with status 1 if any of this fails.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from strop.config.load import load_recipe
from strop.config.schema import Recipe
from strop.environments.registry import played_by
from strop.policies.scripted import ScriptedPolicy
from strop.policies.tokenizer import WireTokenizer
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop.tasks.sources import load_tasks
from strop_tasks.curation.demos import build_demos
from strop_verify.core.checks import EditCheck
from strop_verify.core.rollout import Rollout, SamplingParams
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.edits import FORMATS
from strop_verify.verification import open_configured, open_verifier

TURNS = 60
FINISH = "<finish></finish>"
CHEAT = (
    "<run>for file in $(find . -name 'test*.py'); do echo 'def test_all(): pass' > $file; done; "
    "echo 'import os; os._exit(0)' > sitecustomize.py; cp sitecustomize.py pytest.py; "
    "printf 'def pytest_collection_modifyitems(items):\\n    items.clear()\\n' > conftest.py; "
    "mkdir -p tests test; cp conftest.py tests/conftest.py; cp conftest.py test/conftest.py</run>"
)


def strop(*words: object) -> float:
    """Runs a command; returns the seconds that it took."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "strop.cli", *map(str, words)], check=True)
    return time.monotonic() - began


def unrepaired(task: Task) -> str:
    """An answer in the task's format that changes no statement."""
    check = task.check
    assert isinstance(check, EditCheck)
    path, text = next((path, text) for path, text in check.files.items() if path.endswith((".py", ".rs")))
    mark = "\n# unchanged\n" if path.endswith(".py") else "\n// unchanged\n"
    return FORMATS[check.format].render(check.files, {**check.files, path: text + mark})


def judged(tasks: Sequence[Task]) -> tuple[list[Verdict], list[Verdict]]:
    """Verdicts on the oracles and on the answers that repair nothing."""
    with open_verifier() as verifier:
        oracles = [verifier.submit(task, task.reference) for task in tasks]
        others = [verifier.submit(task, unrepaired(task)) for task in tasks if task.edit and task.edit.files]
        return [future.result() for future in oracles], [future.result() for future in others]


def played(recipe: Recipe, tasks: Sequence[Task], says: Callable[[str], str]) -> int:
    """Number of plays solved by an agent that gives this answer to each prompt."""
    with open_configured(recipe.sandbox, recipe.verifier) as verifier:
        tokenizer = WireTokenizer()
        policy = ScriptedPolicy(
            lambda prompt, seed, again: says(tokenizer.decode(prompt)), tokenizer=tokenizer
        )
        dispatcher = dispatcher_of(recipe, policy, verifier, played_by(recipe), prompt=1 << 16)
        params = SamplingParams(max_tokens=1 << 16)
        rollouts = list(dispatcher.play(tasks, 1, params, seed=0, tag="played"))
    return sum(rollout.verdict is not None and rollout.verdict.passed for rollout in rollouts)


def agents(tasks: Sequence[Task], source: Path) -> dict[str, Any]:
    """The plays of three agents."""
    recipe = load_recipe(
        [],
        [
            f"tasks.source={source}", "tasks.environment.type=workspace", f"tasks.environment.turns={TURNS}",
            f"play.max_turns={TURNS}", "play.max_tokens=null",
        ],
    )  # fmt: skip
    plays: list[Rollout] = []
    solved = len(list(build_demos(recipe, tasks, on_play=plays.append)))
    return {
        "plays": len(tasks),
        "expert_solves": solved,
        "empty_solves": played(recipe, tasks, lambda prompt: FINISH),
        "cheat_solves": played(recipe, tasks, lambda prompt: FINISH if "turns left]" in prompt else CHEAT),
        "expert_missed": [r.task_id for r in plays if r.verdict is None or not r.verdict.passed],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plays", type=int, default=50)
    parser.add_argument("--folder", type=Path, help="where the tasks are built; a build there is resumed")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        row = measured(args, Path(temporary))
    if args.json:
        args.json.write_text(json.dumps(row, indent=1) + "\n")
    print(json.dumps(row, indent=1))
    whole = row["oracle_pass"] == row["empty_fail"] == 1 and row["same_in_all_rounds"]
    sound = not args.plays or (
        row["expert_solves"] == row["plays"] and not row["empty_solves"] + row["cheat_solves"]
    )
    sys.exit(0 if whole and sound else 1)


def measured(args: argparse.Namespace, temporary: Path) -> dict[str, Any]:
    """All numbers."""
    folder = args.folder or temporary / "built"
    built, environments = 0, 0.0
    for repository in args.repositories:
        try:
            environments += strop("build", "env", repository, "-o", temporary / "environments")
            built += 1
        except subprocess.CalledProcessError:
            print(f"{repository}: no environment", file=sys.stderr)
    seconds = strop("build", "commits", *args.repositories, "-o", folder, "--limit", args.limit)
    copy = temporary / "copy"
    copy.mkdir()
    for path in (
        *folder.glob("*.project.tar.gz"),
        *folder.glob("packages-*.json"),
        folder / "tasks.jsonl.gz",
    ):
        shutil.copy(path, copy)
    for path in copy.glob("packages-*.json"):
        strop("build", "env", path, "-o", copy)
    size = sum(path.stat().st_size for path in copy.iterdir() if path.is_file())
    tasks = load_tasks(str(copy / "tasks.jsonl.gz"))
    passed = failed = asked = others = 0
    seen = set()
    began = time.monotonic()
    for _ in range(args.rounds):
        right, wrong = judged(tasks)
        passed, asked = passed + sum(verdict.passed for verdict in right), asked + len(right)
        failed, others = failed + sum(v.outcome is Outcome.FAILED for v in wrong), others + len(wrong)
        seen.add(json.dumps([[(t.id, t.outcome) for t in v.tests] for v in right + wrong]))
    judging = time.monotonic() - began
    some = tasks[:: max(1, len(tasks) // args.plays)][: args.plays] if args.plays else []
    manifest = json.loads((folder / "manifest.json").read_text())
    return {
        "repositories": len(args.repositories), "environments_built": built, "environment_seconds": round(environments),
        "tasks": len(tasks), "seconds": round(seconds), "seconds_per_task": round(seconds / len(tasks), 1),
        "bytes_per_task": round(size / len(tasks)), "rounds": args.rounds, "oracle_pass": passed / asked,
        "empty_fail": failed / others, "same_in_all_rounds": len(seen) == 1, "judging_seconds": round(judging),
        "by_repository": manifest["repositories"], "left_out": manifest["left_out"], "faults": manifest["faults"],
        "quarantined": manifest["quarantined"],
        **(agents(some, copy / "tasks.jsonl.gz") if some else {}),
    }  # fmt: skip


if __name__ == "__main__":
    main()
