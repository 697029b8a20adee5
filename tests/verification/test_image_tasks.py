"""Tasks that come with a container image: judged in it without Docker, and found in a store when they are imported."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests import warm
from tests.needs import need
from tests.sandbox.image_files import Entry, layout, programs, tar_of

from strop_verify.core.checks import TerminalCheck, WorkspaceCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.interpreter import interpreter
from strop_verify.sandbox.jails import jail_names
from strop_verify.verification import open_verifier
from strop_verify.verification.toolchains import missing_programs

pytestmark = [
    pytest.mark.jail,
    pytest.mark.skipif("namespaces" not in jail_names(), reason="needs namespaces"),
]
TEST = """\
#!/bin/bash
reward=0
[ "$(sh /opt/tool/total.sh 1 2)" = 3 ] && [ "$(cat greeting.txt)" = hello ] && reward=1
echo $reward > /logs/verifier/reward.txt
"""
RIGHT = "echo hello > greeting.txt"
HOSTILE = {
    "a reward of its own": "echo 1 > /logs/verifier/reward.txt",
    "a reward that cannot be removed": "echo 1 > /logs/verifier/reward.txt; chmod 000 /logs/verifier /logs",
    "another shell": "echo '#!/opt/tool/sh' > /tmp/sh; chmod 755 /tmp/sh; cp /tmp/sh /bin/sh; mv /tmp/sh /bin/bash",
    "another tool": "echo 'echo hello; echo 1 > /logs/verifier/reward.txt' > /opt/tool/total.sh",
    "another /bin": "mv /bin /b; mkdir /bin; ln -s /tmp/x /bin/bash",
    "a library": "mkdir -p /etc; echo /tmp/x.so > /etc/ld.so.preload; cp /bin/true /usr/lib/libc.so.6",
    "tests of its own": "echo 'echo 1 > /logs/verifier/reward.txt' > /tests/test.sh; chmod 500 /tests",
    "a link for the reward": "rm -r /logs/verifier; echo 1 > /tmp/reward.txt; ln -s /tmp /logs/verifier",
    "a process that waits": "(while sleep 0.1; do echo 1 > /logs/verifier/reward.txt; done) & disown",
    "variables": "echo 'PATH=/srv/project' > ~/.bashrc; echo 'PATH=/srv/project' > ~/.profile; cp /bin/true cat",
    "a full image": "dd if=/dev/zero of=big bs=1M count=2000",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with the image `team/project:1`: this machine's programs, a tool below /opt and a project."""
    interpreter()  # stays where it is
    tool = [Entry("opt/tool/total.sh", text="echo $(($1 + $2))\n"), Entry("opt/tool/mine/x", mode=0o755)]
    layers = [tar_of(programs()), tar_of([*tool, Entry("srv/project/README", text="Greet.\n")])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STROP_CACHE", str(tmp_path_factory.mktemp("cache")))
        folder = tmp_path_factory.mktemp("store")
        environment = {"PATH": "/opt/tool/mine:/usr/bin:/bin", "WORD": "hello"}
        layout(folder / "team+project", layers, tag="1", workdir="/srv/project", environment=environment)
        yield folder


@pytest.fixture
def image(store):
    return f"oci:{store}/team+project:1"


@pytest.fixture(scope="module")
def judge(store):
    with open_verifier(workers=1) as opened:
        yield opened


def task(image="", **files):
    check = TerminalCheck(image=image, files={"tests/test.sh": TEST, **files}, seconds=60, test_seconds=60)
    return Task(id="greet", family="terminal", language="bash", statement="Greet.", check=check)


def test_scripts_run_in_the_image_and_get_the_reward_of_its_tests(image, judge):
    assert missing_programs([task(image)]) == []
    verdict = judge.verify(task(image), RIGHT)
    assert verdict.outcome is Outcome.PASSED and verdict.trust == "same-process", verdict
    assert judge.verify(task(image), "cat README").outcome is Outcome.FAILED
    assert judge.verify(task(image), "").outcome is Outcome.NO_ANSWER


@pytest.mark.parametrize("script", HOSTILE.values(), ids=HOSTILE)
def test_no_script_makes_its_own_reward_nor_an_error(script, image, judge):
    verdict = judge.verify(task(image), script)
    assert verdict.outcome is Outcome.FAILED, verdict


def test_a_dockerfile_goes_on_from_its_image(image, judge):
    text = """\
FROM team/project:1
RUN apt-get update && mkdir -p /usr/share/words && cat README && echo $WORD > /usr/share/words/greeting
WORKDIR /usr/src/app
COPY name.txt ./
ENV LOUD=yes
"""
    files = {"environment/Dockerfile": text, "environment/name.txt": "Ann\n"}
    right = "[ $(cat name.txt)$LOUD = Annyes ] && cp /usr/share/words/greeting greeting.txt"
    assert judge.verify(task(image, **files), right).outcome is Outcome.PASSED
    write = "echo x > /usr/share/words/greeting || echo hello > greeting.txt"
    assert judge.verify(task(image, **files), write).outcome is Outcome.PASSED
    files["environment/Dockerfile"] += "RUN apt-get install -y no-such\n"
    lacking = judge.verify(task(image, **files), right)
    assert lacking.outcome is Outcome.ERROR and "no-such is not installed" in lacking.detail


def test_a_root_stands_for_images_that_tasks_only_name(image, store):
    named = task("team/other:2")
    assert "its contents are unknown here" in missing_programs([named])[0]
    assert missing_programs([named], root=image) == []
    with open_verifier(workers=1, root=image) as opened:
        assert opened.verify(named, RIGHT).outcome is Outcome.PASSED


def test_an_image_that_is_gone_is_an_error_with_its_name(image, judge):
    gone = task(image.replace("team+project", "gone"))
    assert "gone:1: there is no such folder or file" in missing_programs([gone])[0]
    verdict = judge.verify(gone, RIGHT)
    assert verdict.outcome is Outcome.ERROR and "gone:1" in verdict.detail


def folder_of(place, settings="", dockerfile=""):
    files = {
        "task.toml": settings,
        "instruction.md": "Greet.",
        "tests/test.sh": TEST,
        "solution/solve.sh": RIGHT,
    }
    for name, text in {**files, **({"environment/Dockerfile": dockerfile} if dockerfile else {})}.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)


def test_harbor_folders_take_their_images_from_the_store(store, tmp_path, judge):
    folder_of(
        tmp_path / "in" / "named", '[environment]\ndocker_image = "team/project:1"\n', "FROM elsewhere\n"
    )
    folder_of(tmp_path / "in" / "built", "", "FROM docker.io/team/project:1\nWORKDIR /srv/project\n")
    folder_of(tmp_path / "in" / "lacking", '[environment]\ndocker_image = "ghcr.io/a/b:2"\n')
    out = tmp_path / "tasks.jsonl"
    done = warm.strop("tasks", "import", f"harbor:{tmp_path / 'in'}", "-o", out, "--images", store)
    assert done.returncode == 0, done.stderr
    assert f"skopeo copy docker://ghcr.io/a/b:2 oci:{store}/ghcr.io+a+b:2" in done.stderr
    tasks = {line["id"]: Task.model_validate(line) for line in map(json.loads, out.read_text().splitlines())}
    assert tasks.keys() == {"named", "built"}
    for one in tasks.values():
        check = one.check.only(TerminalCheck)
        assert check.image == f"oci:{store}/team+project:1"
        assert ("environment/Dockerfile" in check.files) == (one.id == "built")
        assert judge.verify(one, one.reference).outcome is Outcome.PASSED


def test_rows_of_swe_bench_take_their_images_from_the_store(store, tmp_path):
    row = {
        "instance_id": "a__b-1", "repo": "a/b", "base_commit": "c" * 40, "problem_statement": "Mend.",
        "patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "test_patch": "", "FAIL_TO_PASS": ["t"], "PASS_TO_PASS": [],
        "image_name": "team/project:1",
    }  # fmt: skip
    rows, out = tmp_path / "rows.jsonl", tmp_path / "tasks.jsonl"
    lacking = {**row, "instance_id": "a__b-2", "image_name": "swebench/sweb.eval.x86_64.a_1776_b-2:latest"}
    rows.write_text("".join(json.dumps(one) + "\n" for one in (row, lacking)))
    done = warm.strop("tasks", "import", f"swe-bench:{rows}", "-o", out, "--images", store)
    assert done.returncode == 0, done.stderr
    assert "skopeo copy docker://swebench/sweb.eval.x86_64.a_1776_b-2:latest" in done.stderr
    (one,) = [Task.model_validate_json(line) for line in out.read_text().splitlines()]
    assert one.check.only(WorkspaceCheck).image == f"oci:{store}/team+project:1"


@pytest.mark.soak(180)
def test_an_image_of_debian_packages_with_python_and_a_project(tmp_path, store):
    """A layer of mmdebstrap, a project above it: judged by pytest of the image, and played by tools in it."""
    need("mmdebstrap")
    if os.getuid() != 0:
        pytest.skip("mmdebstrap makes a layer without further set-up for root alone")
    debian = tmp_path / "debian.tar"
    command = [
        "mmdebstrap",
        "--mode=root",
        "--variant=minbase",
        "--include=python3,python3-pytest",
        "bookworm",
        debian,
    ]
    made = subprocess.run(command, capture_output=True, text=True, timeout=500)
    if made.returncode:
        pytest.skip(f"no packages of Debian can be had: {made.stderr.strip().splitlines()[-1:]}")
    project = [Entry("app/cart.py", text="def total(prices):\n    return 0\n")]
    layout(tmp_path / "cart", [debian.read_bytes(), tar_of(project)], workdir="/app")
    debian.unlink()
    test = """\
#!/bin/bash
cd /tests
reward=0
python3 -P -m pytest -q -p no:cacheprovider test_cart.py && reward=1
echo $reward > /logs/verifier/reward.txt
"""
    suite = "import sys\nsys.path[:0] = ['/app']\nimport cart\ndef test_it():\n    assert cart.total([1, 2]) == 3\n"
    files = {"tests/test.sh": test, "tests/test_cart.py": suite}
    source = f"oci:{tmp_path}/cart"
    right = "echo 'def total(prices): return sum(prices)' > cart.py"
    with open_verifier(workers=1) as judge:
        cart = task(source, **files)
        assert judge.verify(cart, right).outcome is Outcome.PASSED
        assert judge.verify(cart, "").outcome is Outcome.NO_ANSWER
        assert judge.verify(cart, "true").outcome is Outcome.FAILED
        sites = "/usr/lib/python3/dist-packages ~/.local/lib/python3.11/site-packages"
        for hostile in (
            "cp /bin/true /usr/bin/python3; cp /bin/true /tmp/p; mv /tmp/p /usr/bin/python3.11; ln -sf /tmp/p /bin/sh",
            f"for d in {sites}; do mkdir -p $d; echo 'import os; os._exit(0)' > $d/usercustomize.py; done",
            "mkdir pytest; touch pytest/__init__.py; echo > pytest/__main__.py",
        ):
            assert judge.verify(cart, hostile).outcome is Outcome.FAILED, hostile
        right, wrong = "return sum(prices)", "return 0"
        diff = f"--- a/cart.py\n+++ b/cart.py\n@@ -1,2 +1,2 @@\n def total(prices):\n-    {wrong}\n+    {right}\n"
        lines = "\n+".join(suite.strip().split("\n"))
        added = f"--- /dev/null\n+++ b/test_cart.py\n@@ -0,0 +1,5 @@\n+{lines}\n"
        row = WorkspaceCheck(image=source, patch=added, failing=["test_cart.py::test_it"])
        mend = Task(id="mend", family="swe", statement="Mend.", reference=diff, check=row)
        assert judge.verify(mend, diff).outcome is Outcome.PASSED
        assert judge.verify(mend, diff.replace("+    return", "+    return 1 +")).outcome is Outcome.FAILED
    recipe = tmp_path / "plays.yaml"
    recipe.write_text(
        "tasks: {source: 'toy-repositories:6', environment: {type: workspace, turns: 8}}\n"
        f"play: {{max_turns: 8, max_tokens: 4096}}\nsandbox: {{root: '{source}'}}\n"
    )
    done = warm.strop("build", "demos", recipe, "-o", tmp_path / "demos.jsonl", "--each", "1")
    assert done.returncode == 0, done.stderr
    assert "passed in" in (tmp_path / "demos.jsonl").read_text()  # what its pytest said to the expert
    for large in (Path(os.environ["STROP_CACHE"]) / "layers", tmp_path / "cart"):
        shutil.rmtree(large)
