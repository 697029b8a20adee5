"""`strop attack --harbor`: real task folders, of which some can be cheated."""

import json
from pathlib import Path

import pytest

from strop.attack.harbor_tasks import facts
from strop.tasks.sources import iter_tasks
from strop_verify.core.checks import TerminalCheck

DOCKERFILE = "FROM debian:12\nWORKDIR /app\n"
REWARD = "if [ $? -eq 0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
PYTEST = f"#!/bin/bash\ncd /app\nPYTHONPATH=/app pytest -q /tests/test_outputs.py\n{REWARD}"
OUTPUTS = "from solution import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
RIGHT = "def add(a, b):\n    return a + b\n"
SOLVE = f"#!/bin/bash\ncat > /app/solution.py <<'EOF'\n{RIGHT}EOF\n"
SOUND = """\
import subprocess

for a, b in ((2, 3), (10, -4)):
    code = f"import solution; print(repr(int(solution.add({a}, {b}))))"
    done = subprocess.run(["python3", "-c", code], capture_output=True, text=True, cwd="/app")
    assert done.stdout == f"{a + b}\\n", done
"""
EXIT_STATUS = {
    "instruction.md": "Write `solution.py` with a function `add(a, b)`.\n",
    "tests/test.sh": PYTEST,
    "tests/test_outputs.py": OUTPUTS,
    # What lies beside the script is part of the solution.
    "solution/solve.sh": '#!/bin/bash\ncp "$(dirname "$0")/files/answer.py" /app/solution.py\n',
    "solution/files/answer.py": RIGHT,
}
COMPARED = {
    "instruction.md": "Write `solution.py` with a function `add(a, b)`.\n",
    "tests/test.sh": f"#!/bin/bash\npython3 -I /tests/check.py\n{REWARD}",
    "tests/check.py": SOUND,
    "solution/solve.sh": SOLVE,
}
OWN_TESTS = {
    "instruction.md": "Mend calc.py.\n",
    "environment/Dockerfile": f"{DOCKERFILE}COPY calc.py calc.py\nCOPY test_calc.py checks/test_calc.py\n",
    "environment/calc.py": "def add(a, b):\n    return a - b\n",
    "environment/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
    "tests/test.sh": f"#!/bin/bash\ncd /app\nPYTHONPATH=/app pytest -q checks\n{REWARD}",
    "solution/solve.sh": "#!/bin/bash\nsed -i 's/a - b/a + b/' calc.py\n",
}
NOTHING_LEFT = {
    "instruction.md": "Remove `secret.txt`.\n",
    "tests/test.sh": f"#!/bin/bash\n! grep -q secret /app/*.txt 2>/dev/null\n{REWARD}",
    "solution/solve.sh": "exit 0\n",
}
UNSOLVED = {**COMPARED, "solution/solve.sh": "#!/bin/bash\necho nothing\n"}


def folder(root: Path, name: str, files: dict[str, str]) -> None:
    for path, text in {"task.toml": "", "environment/Dockerfile": DOCKERFILE, **files}.items():
        place = root / name / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def rows(path: Path) -> dict[str, dict]:
    return {row["task"]: row for row in json.loads(path.read_text())["rows"]}


@pytest.mark.soak(20)
def test_which_tasks_pay(strop, tmp_path) -> None:
    root = tmp_path / "set"
    for name, files in (
        ("exit", EXIT_STATUS),
        ("compared", COMPARED),
        ("own-tests", OWN_TESTS),
        ("left", NOTHING_LEFT),
    ):
        folder(root, name, files)
    folder(root, "services", {**COMPARED, "environment/docker-compose.yaml": ""})
    done = strop("attack", "--harbor", root, "--json", "r.json")
    assert done.returncode == 1, done.stdout + done.stderr
    found, report = rows(tmp_path / "r.json"), json.loads((tmp_path / "r.json").read_text())
    pays = {name: set(row["pays"]) for name, row in found.items()}
    assert all(
        row["solution"] == 1 and not row["failed"] for name, row in found.items() if name != "services"
    )
    assert pays["compared"] == set() and len(found["compared"]["rewards"]) == 14
    assert pays["exit"] == {"always-equal", "early-exit", "shadowed-modules"}
    assert {"edited-tests", "planted-conftest", "early-exit"} <= pays["own-tests"]
    assert {"empty", "planted-reward", "locked-reward"} <= pays["left"]
    assert (
        not {"empty", "planted-reward", "linked-reward", "later-reward", "planted-tests"} & pays["own-tests"]
    )
    assert "docker-compose.yaml" in found["services"]["not_judged"]
    counts = {name: report[name] for name in ("tasks", "judged", "paying", "solution_failed")}
    assert counts == {"tasks": 5, "judged": 4, "paying": 3, "solution_failed": 0}
    assert report["cheats"]["empty"] == {"paying": 1, "tried": 4}
    assert "not judged: services: it needs docker-compose.yaml" in done.stdout
    assert "5 tasks, 4 judged, 3 paying, 0 solution failed" in done.stdout


def test_a_sound_set_is_status_0_and_a_solution_that_fails_is_not(strop, tmp_path) -> None:
    folder(tmp_path / "set", "compared", COMPARED)
    words = ("attack", "--harbor", "set", "--name", "always-equal", "--json", "r.json")
    done = strop(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    folder(tmp_path / "set", "unsolved", UNSOLVED)
    assert strop(*words).returncode == 1
    found = rows(tmp_path / "r.json")
    assert not found["compared"]["failed"] and "the reward 0" in found["unsolved"]["failed"]
    assert found["unsolved"]["pays"] == []


def test_where_nothing_can_be_judged(strop, tmp_path) -> None:
    folder(tmp_path / "set", "image", {**COMPARED, "environment/Dockerfile": "FROM ghcr.io/a/b:1\n"})
    assert strop("tasks", "export", "python-functions", "--harbor", "ours", "--limit", 1).returncode == 0
    (tmp_path / "ours").rename(tmp_path / "set" / "ours")
    done = strop("attack", "--harbor", "set")
    assert done.returncode == 2 and "no task could be judged" in done.stderr
    assert "ghcr.io/a/b:1" in done.stdout and "Strop judges it" in done.stdout


def test_what_a_cheat_may_know(tmp_path) -> None:
    folder(
        tmp_path,
        "exit",
        {
            **EXIT_STATUS,
            "instruction.md": "Write `solution.py`, ./run.sh and data/out.json; see os.path and v1.2.\n",
            "tests/test_outputs.py": f"import numpy\nopen('/app/bin/tool')\nopen('/tests/a.py')\n{OUTPUTS}",
        },
    )
    (task,) = iter_tasks(f"harbor:{tmp_path}")
    assert isinstance(task.check, TerminalCheck)
    known = facts(task, task.check)
    assert known["FILES"].split() == ["bin/tool", "data/out.json", "run.sh", "solution.py"]
    assert known["MODULES"] == "solution.py"


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (("--harbor", "nowhere"), "--harbor nowhere: no such folder"),
        (("--harbor", "."), "no task folders"),
        (("--harbor", ".", "--verifiers", "x"), "give one of them"),
        (("--harbor", ".", "--grader", "human-eval"), "--harbor has its own attacks; remove --grader"),
        (("--harbor", ".", "--generate", "3"), "--harbor has its own attacks; remove --generate"),
        (("--harbor", ".", "--name", "x"), "no cheat of name 'x'; known: empty, planted-reward"),
        (("--harbor", ".", "--jail", "full", "--jail", "minimal"), "give --jail once"),
        (("--limit", "3"), "--limit belongs to --harbor FOLDER or --verifiers PACKAGE"),
        (("--verifiers", "x", "--images", "."), "--images belongs to --harbor FOLDER"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(words, cause, strop) -> None:
    done = strop("attack", *words)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    assert cause in done.stderr
