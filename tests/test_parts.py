"""Each part stands on those below it alone."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.without import without

ROOT = Path(__file__).parents[1]
TRAINING = ("torch", "transformers", "peft", "accelerate", "trl", "vllm")


def run(folder: Path, *words: object, missing: tuple[str, ...]) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, words)], env=without(folder / "site", *missing), cwd=folder,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.jail
def test_the_verifier_judges_without_the_others(tmp_path: Path) -> None:
    """As its README says."""
    (code,) = re.findall(
        r"```python\n(.+?)```", (ROOT / "verify/README.md").read_text(encoding="utf-8"), re.S
    )
    found = run(tmp_path, "-c", code, missing=("strop", "strop_tasks", "typer", "numpy", *TRAINING))
    assert found.splitlines()[0].split() == ["passed"]
    assert found.splitlines()[1].startswith("failed test 1")


def test_the_trainer_is_there_without_the_makers_of_tasks(tmp_path: Path) -> None:
    code = (
        "import strop\nprint(len(strop.load_tasks('python-functions', limit=3)), strop.recipe('demo').seed)"
    )
    assert run(tmp_path, "-c", code, missing=("strop_tasks", *TRAINING)).split()[0] == "3"


@pytest.mark.jail
def test_an_evaluator_in_thirty_lines(tmp_path: Path) -> None:
    check = {"kind": "asserts", "entry_point": "f", "code": "assert f(2) == 4"}
    (tmp_path / "tasks.jsonl").write_text(
        json.dumps({"id": "double", "statement": "s", "check": check}) + "\n"
    )
    answers = ["def f(x): return 2 * x", "def f(x): return 4", "def f(x): return x"]
    rows = (json.dumps({"task_id": "double", "answer": answer}) + "\n" for answer in answers)
    (tmp_path / "answers.jsonl").write_text("".join(rows))
    words = (ROOT / "examples/evaluator.py", "tasks.jsonl", "answers.jsonl")
    found = run(tmp_path, *words, missing=("strop", "strop_tasks", *TRAINING))
    assert found.splitlines() == ["pass@1 0.667 of 3 answers", "    2 passed value", "    1 failed"]


def test_old_names_are_the_new_modules_and_say_so(tmp_path: Path) -> None:
    code = (
        "import strop, strop.core.task as old, strop_verify.core.task as new, strop_neighbours.trl as trl\n"
        "import strop.neighbours.trl as there\n"
        "print(old is new, trl is there, new.__spec__.name, there.__spec__.name)"
    )
    found = run(tmp_path, "-W", "error::ImportWarning", "-c", code, missing=("vllm",))
    assert found.split() == ["True", "True", "strop_verify.core.task", "strop.neighbours.trl"]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import strop, strop.core"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "DeprecationWarning: strop.core is now strop_verify.core" in done.stderr
    code = (
        "from importlib import import_module\nimport strop\nfrom strop.old_names import MOVED\n"
        "print([old for old, new in MOVED.items() if import_module(old).__name__ != new])"
    )
    (tmp_path / "all").mkdir()
    assert run(tmp_path / "all", "-c", code, missing=("vllm",)).strip() == "[]"
