"""Task folders for Harbor, and Strop's jail as its environment; with harbor itself in a full run."""

import itertools
import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from tests.neighbours.venvs import LATER, neighbour, working
from tests.sandbox.image_files import Entry, layout, programs, tar_of
from tests.scale import full
from tests.warm import strop

from strop.tasks.sources import iter_tasks
from strop_verify.sandbox.machine import Machine

COUNT = 20
EQUAL = "class Any:\n    def __eq__(self, other): return True\n\ndef {0}(*a, **k): return Any()\n"


def exported(folder: Path, count: int) -> Path:
    done = strop("tasks", "export", "python-functions", "--harbor", folder, "--limit", count)
    assert done.returncode == 0 and done.stdout.startswith(
        f"{count} tasks, 0 left out: {folder}; next: harbor"
    )
    return folder


def test_folders_are_whole_and_come_back_as_the_tasks_they_were(tmp_path):
    folder = exported(tmp_path / "set", 3)
    first = itertools.islice(iter_tasks("python-functions"), 3)
    assert list(iter_tasks(f"harbor:{folder}")) == sorted(first, key=lambda task: task.id)
    for task in folder.iterdir():
        assert os.access(task / "tests/test.sh", os.X_OK) and os.access(task / "solution/solve.sh", os.X_OK)
        settings = (task / "task.toml").read_text()
        assert 'environment_mode = "separate"' in settings and 'network_mode = "no-network"' in settings
        shown = (task / "instruction.md").read_text() + (task / "environment/Dockerfile").read_text()
        assert "/app/solution.py" in shown and "expected" not in shown


@pytest.mark.parametrize(
    "words", [("--harbor", "x", "--verifiers", "y"), ("--harbor", "x", "-o", "y"), ()], ids=" ".join
)
def test_one_place_at_a_time(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = strop("tasks", "export", "python-functions", *words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and not list(tmp_path.iterdir())


@pytest.mark.jail
def test_rewards_are_those_of_the_verifier(tmp_path):
    """What Harbor does with a folder, by hand: the answer's file alone goes into a fresh box, then the tests run."""
    (task,) = exported(tmp_path / "set", 1).iterdir()
    (read,) = iter_tasks(f"harbor:{task}")
    answers = {
        (task / "solution/answer").read_bytes(): 1.0,
        EQUAL.format(read.check.function).encode(): 0.0,
        None: 0.0,
    }
    for answer, reward in answers.items():
        with Machine(grades=True) as box:
            box.put({"/app/solution.py": answer} if answer is not None else {})
            box.put({f"/tests/{p.name}": p.read_bytes() for p in (task / "tests").iterdir()})
            done = box.run(["bash", "/tests/test.sh"])
            assert done.status == 0, done.stderr
            assert json.loads(box.read("/logs/verifier/reward.json")) == {"reward": reward}


@pytest.mark.soak(900)
@pytest.mark.skipif(not full(), reason="pip installs harbor: in a full run (--full)")
def test_harbor_itself(tmp_path):
    python = working(*LATER)
    if python is None:
        pytest.skip("harbor needs Python 3.12 or later, and there is none here")
    place = Path(
        tempfile.mkdtemp(dir="/var/tmp", prefix="strop-harbor-")
    )  # in /tmp a jail could not write there
    try:
        harbor = neighbour("harbor", "harbor>=0.26,<0.27", folder=place, python=python)
        folder = exported(tmp_path / "set", COUNT)
        forged = exported(tmp_path / "forged", 3)
        for task in iter_tasks(f"harbor:{forged}"):
            (forged / task.id / "solution/answer").write_text(EQUAL.format(task.check.function))
        shutil.copytree(next(folder.iterdir()), tmp_path / "large" / "large")
        image = tmp_path / "large/large/environment/Dockerfile"
        image.write_text("FROM python:3-slim\nRUN pip install pandas\n")
        assert rewards(harbor, folder, "oracle", tmp_path) == [1.0] * COUNT
        assert rewards(harbor, folder, "nop", tmp_path) == [0.0] * COUNT
        assert rewards(harbor, forged, "oracle", tmp_path) == [0.0] * 3
        (why,) = rewards(harbor, tmp_path / "large", "oracle", tmp_path)
        assert "pandas would have to be installed" in why
        store = in_images(tmp_path / "images")
        options = ("--ek", f"images={store}")
        good, hostile, lacking = rewards(harbor, tmp_path / "images/tasks", "oracle", tmp_path, *options)
        assert (good, hostile) == (1.0, 0.0) and "skopeo copy docker://team/project:2" in lacking
    finally:
        shutil.rmtree(place, ignore_errors=True)


def in_images(folder):
    """Writes a store with an image, and tasks that name it: solved, attacked; the third names another image."""
    store = folder / "store"
    layout(store / "team+project", [tar_of([*programs(), Entry("srv/project/a.txt", text="a\n")])], tag="1")
    solutions = {
        "a good": "echo b >> a.txt",
        "b hostile": "cp /bin/true /bin/grep; echo b > b.txt",
        "c lacking": "true",
    }
    for name, solution in solutions.items():
        files = {
            "task.toml": '[environment]\ndocker_image = "team/project:1"\nworkdir = "/srv/project"\n',
            "instruction.md": "Add b.",
            "tests/test.sh": "#!/bin/bash\necho $((1 - $(grep -q b a.txt; echo $?))) > /logs/verifier/reward.txt\n",
            "solution/solve.sh": f"#!/bin/bash\n{solution}\n",
        }
        for path, text in files.items():
            place = folder / "tasks" / name.replace(" ", "-") / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text.replace(":1", ":2") if "lacking" in name else text)
            place.chmod(0o755)
    return store


def rewards(harbor, folder, agent, tmp_path, *options):
    """Each trial's reward, or what kept it from one."""
    out = tmp_path / f"{folder.name}-{agent}"
    environment = "strop.neighbours.harbor:JailEnvironment"
    done = harbor.run(
        "harbor", "run", "-p", folder, "-a", agent, "--env", environment, "-n", "2", "-o", out, "-y", *options
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    trials = [json.loads(path.read_text()) for path in sorted(out.glob("*/*/result.json"))]
    return [
        trial["verifier_result"]["rewards"]["reward"]
        if trial["verifier_result"]
        else trial["exception_info"]["exception_message"]
        for trial in trials
    ]
