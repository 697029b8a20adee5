import re
import subprocess
import sys
from pathlib import Path

import pytest

from strop.config.schema import Recipe
from strop.policies.open import answers, open_policy
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import Policy
from strop_verify.core.rollout import SamplingParams


def test_scripted(tmp_path):
    (tmp_path / "answers.jsonl").touch()
    recipe = Recipe.model_validate(
        {"policy": {"engine": "scripted", "answers": str(tmp_path / "answers.jsonl")}}
    )
    with pytest.raises(UserError, match="known set of tasks"):
        open_policy(recipe)


def test_openai():
    pytest.importorskip("openai", reason="openai is not installed")
    policy = open_policy(Recipe.model_validate({"policy": {"engine": "openai", "model": "m"}}))
    assert isinstance(policy, Policy) and policy.name == "m"


def test_a_missing_model_is_the_users(tmp_path):
    pytest.importorskip("transformers", reason="transformers is not installed")
    recipe = Recipe.model_validate({"model": {"name": str(tmp_path)}})
    with pytest.raises(UserError, match="so it holds no model"):
        open_policy(recipe)


def test_vllm_missing_names_the_extra(monkeypatch):
    pytest.importorskip("torch", reason="torch is not installed")
    from strop.policies import vllm_engine

    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(UserError, match=r"pip install 'strop\[vllm\]'"):
        vllm_engine._import_vllm()


@pytest.mark.train(18)
@pytest.mark.parametrize("shared", [True, False])
def test_transformers(shared):
    pytest.importorskip("transformers", reason="transformers is not installed")
    from strop.policies.loading import EMBEDDED, load_model

    recipe = Recipe.model_validate({"model": {"name": EMBEDDED, "sampling_dtype": "float32"}})
    policy = open_policy(recipe, model=load_model(EMBEDDED) if shared else None)
    assert isinstance(policy, Policy)
    prompt = policy.tokenizer.encode("The capital of France is")
    ((_, said),) = answers(policy, [prompt], [0], SamplingParams(temperature=0, max_tokens=3))
    assert "Paris" in said.text


def test_the_factory_loads_no_engine():
    code = (
        "import sys, strop.policies.open; print([m for m in ('torch', 'openai', 'vllm') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_nothing_else_asks_which_engine_it_is():
    """What differs between engines is said by their sections, so that one from a package needs no branch."""
    may = {"config/model.py", "config/schema.py", "policies", "launch/sampler.py"}
    src = Path(open_policy.__code__.co_filename).parents[1]
    named = {
        str(path.relative_to(src))
        for path in src.rglob("*.py")
        if re.search(r"\b(Transformers|Vllm|VllmServer|OpenAI|Scripted)PolicyConfig\b", path.read_text())
    }
    assert {name for name in named if name not in may and name.partition("/")[0] not in may} == set()
