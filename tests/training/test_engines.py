"""What training asks of an engine: weights, and nothing else that only ours have."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from strop.api import recipe as recipe_of
from strop.policies.open import open_trainable
from strop.policies.scripted import ScriptedPolicy
from strop.training.run import train
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import Trainable

from .conftest import weights

ENGINE = '''
from strop.policies.loading import load_model, load_tokenizer
from strop.policies.tokenizer import HubTokenizer
from strop.policies.transformers_engine import TransformersPolicy

versions = []


class Elsewhere(TransformersPolicy):
    """Samples from weights of its own, and sleeps."""

    asleep = False

    def submit(self, request):
        assert not self.asleep
        return super().submit(request)

    def sleep(self):
        versions.append("asleep")
        self.asleep = True

    def update(self, version, weights):
        versions.append(version)
        self.asleep = False
        super().update(version, weights)


class Fixed:
    """The same without a way to change them."""

    name, version = "fixed", 0

    def __init__(self, inner):
        self.tokenizer, self.submit, self.work = inner.tokenizer, inner.submit, inner.work


def elsewhere(recipe, *, model, prompts):
    if recipe.launch.engine == "fsdp2":  # a model in shards, which cannot be sampled from
        model = load_model(recipe.model.name, device="cpu")
    return Elsewhere(model, HubTokenizer(load_tokenizer(recipe.model.name)), own_copy=True)


def fixed(recipe, *, model, prompts):
    return Fixed(elsewhere(recipe, model=model, prompts=prompts))
'''


def add_engines(folder: Path) -> Path:
    """A folder of packages with one that adds the two engines."""
    site = folder / "site"
    about = site / "other_engines-0.1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: other-engines\nVersion: 0.1.0\n")
    points = "elsewhere = other_engines:elsewhere\nfixed = other_engines:fixed\n"
    (about / "entry_points.txt").write_text(f"[strop.policies]\n{points}")
    (site / "other_engines.py").write_text(ENGINE)
    return site


@pytest.fixture
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That package, installed."""
    monkeypatch.syspath_prepend(str(add_engines(tmp_path)))
    monkeypatch.delitem(sys.modules, "other_engines", raising=False)


@pytest.mark.train(25)
@pytest.mark.usefixtures("engines")
def test_an_engine_of_another_package_is_trained(
    recipe_words: Callable[..., list[str]], six_steps: Path, tmp_path: Path
) -> None:
    recipe = recipe_of(*recipe_words("theirs", policy__engine="elsewhere"))
    train(recipe, say=lambda text: None, show=lambda metrics: None)
    steps = [what for step in range(6) for what in (step, "asleep")]
    assert sys.modules["other_engines"].versions == [0, *steps, 6]

    assert weights(tmp_path / "theirs") == weights(six_steps)


@pytest.mark.parametrize("engine", ["fixed", "openai", "scripted"])
@pytest.mark.usefixtures("engines")
def test_an_engine_without_weights_is_refused_in_one_line(
    recipe_words: Callable[..., list[str]], engine: str
) -> None:
    from strop.policies.loading import load_model

    more = {"openai": ["policy.model=m"], "scripted": ["policy.answers=a.jsonl"]}.get(engine, [])
    recipe = recipe_of(*recipe_words("none", policy__engine=engine), *more)
    with pytest.raises(UserError, match=f"policy.engine={engine} has no weights to train"):
        open_trainable(recipe, load_model(recipe.model.name, device="cpu"))
    assert not isinstance(ScriptedPolicy({}), Trainable) and ScriptedPolicy({}).context is None
