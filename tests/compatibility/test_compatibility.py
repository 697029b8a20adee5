"""What earlier releases wrote is read by this one: recipes, and a run that was cut off after three of 200 steps.

A release's archive has `model`, `rewards.py`, `run` (paths begin with HERE in place of the folder where it ran) and
`recipes`, the packaged ones as they were resolved then (RECIPES in place of their folder).
"""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml
import zstandard
from tests.warm import strop

from strop.config.load import dump_recipe, load_recipe
from strop.config.recipes import RECIPES

ARCHIVES = sorted(Path(__file__).parent.glob("*.tar.zst"))


@pytest.fixture(params=ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.zst"))
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    data = zstandard.ZstdDecompressor().stream_reader(request.param.open("rb")).read()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(tmp_path, filter="data")
    for path in (tmp_path / "run/recipe.yaml", tmp_path / "run/code/files.json"):
        path.write_text(path.read_text().replace("HERE", str(tmp_path)))
    return tmp_path


def lost(then: Any, now: Any, key: str = "") -> list[str]:
    """Keys of `then` that `now` lacks or gives another value."""
    if isinstance(then, dict) and isinstance(now, dict):
        return [line for name in then for line in lost(then[name], now.get(name, "gone"), f"{key}.{name}")]
    return [] if then == now else [f"{key}: {then!r}, now {now!r}"]


def test_recipes_load_and_mean_the_same(written: Path, tmp_path: Path) -> None:
    paths = sorted((written / "recipes").glob("*.yaml"))
    assert len(paths) >= 36
    for path in paths:
        text = path.read_text().replace("RECIPES", str(RECIPES))
        path.write_text(text)
        assert lost(yaml.safe_load(text), yaml.safe_load(dump_recipe(load_recipe([path])))) == [], path.name


def test_a_run_is_read_and_goes_on(written: Path) -> None:
    run = written / "run"
    assert "3/200" in strop("runs", str(written), cwd=written).stdout
    assert strop("show", str(run), cwd=written).returncode == 0
    page = written / "page.html"
    assert (
        strop("report", str(run), "-o", str(page), cwd=written).returncode == 0
        and page.stat().st_size > 10_000
    )
    done = strop("train", "--resume", str(run), "optim.steps=5", "--plain", cwd=written)
    assert done.returncode == 0, done.stderr
    assert "step 4/5" in done.stdout + done.stderr
    steps = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in steps] == [1, 2, 3, 4, 5]
    assert (run / "final" / "model.safetensors").is_file() and (run / "summary.json").is_file()
