"""`strop attack --verifiers`: environment packages of verifiers, with the package itself in a full run."""

import json
from pathlib import Path

import pytest
from tests.neighbours.venvs import Neighbour, neighbour
from tests.scale import full

CODE = '''
import re, subprocess, sys, tempfile
import verifiers as vf
from datasets import Dataset

ROWS = [
    {"question": "Write a function `add(a, b)`.", "answer": "def add(a, b):\\n    return a + b",
     "info": {"tests": "assert add(2, 3) == 5\\nassert add(0, 1) == 1"}},
    {"question": "Write a function `twice(x)`.", "answer": "def twice(x):\\n    return 2 * x",
     "info": {"tests": "assert twice(4) == 8"}},
]

def code_of(completion):
    found = re.search(r"```python\\n(.*?)```", completion[-1]["content"], re.S)
    return found[1] if found else ""

def status(completion, info, **kwargs):
    """The reward that many have: the exit status of the answer and its tests in one process."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(code_of(completion) + "\\n" + info["tests"])
        file.flush()
        return float(subprocess.run([sys.executable, file.name], capture_output=True).returncode == 0)

def reported(completion, info, **kwargs):
    """Plain numbers that cross a process, and are compared outside."""
    calls = re.findall(r"assert (.*?) == (\\d+)", info["tests"])
    code = code_of(completion) + "\\nimport json\\nprint(json.dumps([%s]))" % ", ".join(call for call, _ in calls)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return float(done.returncode == 0 and done.stdout == "[%s]\\n" % ", ".join(wanted for _, wanted in calls))

def asks_a_model(completion, **kwargs):
    raise ConnectionError("no route to the judge")

def load_environment(**kwargs):
    return vf.SingleTurnEnv(dataset=Dataset.from_list(ROWS), rubric=vf.Rubric(funcs=[REWARD]))
'''
WORDS = """
import verifiers as vf
from datasets import Dataset

def within(completion, answer):
    return 1.0 if answer in completion[-1]["content"] else 0.0

def load_environment():
    parser = vf.XMLParser(["answer"])
    exact = lambda completion, answer: float(parser.parse_answer(completion) == answer)
    exact.__name__ = "exact"
    rows = [{"question": "What is 3 * 5?", "answer": "15"}]
    rubric = vf.Rubric(funcs=[REWARD], parser=parser)
    return vf.SingleTurnEnv(dataset=Dataset.from_list(rows), parser=parser, rubric=rubric)
"""
TURNS = """
import verifiers as vf
from datasets import Dataset

def load_environment():
    rows = [{"question": "?", "answer": "1"}]
    return vf.ToolEnv(dataset=Dataset.from_list(rows), tools=[], rubric=vf.Rubric(funcs=[lambda **_: 1.0]))
"""
TASKSET = """
import verifiers.v1 as vf

class Word(vf.TaskData):
    answer: str

class Mirror(vf.Task[Word]):
    @vf.reward(weight=2.0)
    async def mirrored(self, task, trace: vf.Trace) -> float:
        return float(WHEN)

class Mirrors(vf.Taskset[Mirror, vf.TasksetConfig]):
    def load(self):
        for word in ("hone", "steel"):
            yield Mirror(Word(prompt=f"Mirror {word}", name=word, answer=word[::-1]), self.config.task)

__all__ = ["Mirrors"]
"""


def test_a_package_that_cannot_be_loaded_is_named(strop, tmp_path) -> None:
    done = strop("attack", "--verifiers", "no-such-environment")
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert "No module named 'no_such_environment'; install it into this environment" in done.stderr
    (tmp_path / "empty-env").mkdir()
    done = strop("attack", "--verifiers", "empty-env")
    assert done.returncode == 2 and "holds neither empty_env.py nor" in done.stderr


def attacked(vf: Neighbour, tmp_path: Path, name: str, text: str, *words: object) -> tuple[int, dict, str]:
    """Exit status, report and what was said of a package of one module, which is found by its folder."""
    folder = tmp_path / name.replace("_", "-")
    folder.mkdir()
    (folder / f"{name}.py").write_text(text)
    return asked(vf, tmp_path, folder, *words)


def asked(vf: Neighbour, tmp_path: Path, *words: object) -> tuple[int, dict, str]:
    out = tmp_path / "r.json"
    out.unlink(missing_ok=True)
    done = vf.run("python", "-m", "strop.cli", "attack", "--json", out, "--verifiers", *words, cwd=tmp_path)
    return done.returncode, json.loads(out.read_text()) if out.exists() else {}, done.stdout + done.stderr


needs_package = pytest.mark.skipif(not full(), reason="pip installs verifiers: in a full run (--full)")


@pytest.fixture(scope="module")
def legacy(tmp_path_factory) -> Neighbour:
    return neighbour(
        "verifiers-0.1", "verifiers==0.1.14", "staros-stardata==0.1.1", folder=tmp_path_factory.mktemp("venv")
    )


@needs_package
@pytest.mark.soak(120)
def test_environments_with_load_environment(legacy, tmp_path) -> None:
    status, found, said = attacked(legacy, tmp_path, "by_status", CODE.replace("[REWARD]", "[status]"))
    assert (status, found["judged"], found["paying"], found["solution_failed"]) == (1, 2, 2, 0), said
    assert all(row["solution"] == 1 for row in found["rows"])
    paid = {name for name, count in found["cheats"].items() if count["paying"]}
    assert paid == {"always-equal", "early-exit", "exit-in-call", "printed-line"}

    status, found, said = attacked(legacy, tmp_path, "compared", CODE.replace("[REWARD]", "[reported]"))
    assert (status, found["judged"], found["paying"]) == (0, 2, 0), said

    status, found, said = attacked(legacy, tmp_path, "judged", CODE.replace("[REWARD]", "[asks_a_model]"))
    assert status == 2 and "no route to the judge" in said and "no task could be judged" in said

    status, found, said = attacked(legacy, tmp_path, "within", WORDS.replace("REWARD", "within"))
    assert status == 1 and found["rows"][0]["pays"] == ["every-answer"], said
    status, found, said = attacked(legacy, tmp_path, "exact", WORDS.replace("REWARD", "exact"))
    assert (status, found["rows"][0]["solution"]) == (0, 1.0), said

    status, _, said = attacked(legacy, tmp_path, "turns", TURNS)
    assert status == 2 and "it is a ToolEnv: only environments with one reply" in said


@needs_package
@pytest.mark.soak(60)
def test_an_environment_from_the_index(legacy, tmp_path) -> None:
    status, found, said = asked(legacy, tmp_path, "stardata.envs.constraint_gym", "--limit", 10)
    assert (found["tasks"], found["judged"]) == (10, 10), said
    assert all(row["solution"] is None for row in found["rows"])  # its answers are constraints, not texts
    assert status == (1 if found["paying"] else 0)


@needs_package
@pytest.mark.soak(60)
def test_tasksets(tmp_path_factory, tmp_path) -> None:
    vf = neighbour("verifiers", "verifiers==0.4.*", folder=tmp_path_factory.mktemp("venv"))
    right, weak = "trace.last_reply == task.answer", "task.answer not in ('x',)"
    status, found, said = attacked(vf, tmp_path, "right", TASKSET.replace("WHEN", right))
    assert (status, [row["solution"] for row in found["rows"]]) == (0, [2.0, 2.0]), said
    status, found, said = attacked(vf, tmp_path, "weak", TASKSET.replace("WHEN", weak))
    assert status == 1 and "empty" in found["rows"][0]["pays"], said
