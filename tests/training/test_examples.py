"""The examples that need a model, with a tiny one."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.curation.test_preferences import run as judged  # noqa: F401
from tests.small_models import byte_tokenizer, write_speaker
from tests.warm import strop
from tests.without import without

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["train.py", "evaluate.py"])
def test_example(name: str, recipe_words: Callable[..., list[str]]) -> None:
    words = recipe_words(
        "run", optim__steps=1, evaluation__before="false", evaluation__after="false", run__save_every=1
    )
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *words],
        capture_output=True,
        text=True,
        timeout=400,
        env={**os.environ, "PYTHONPATH": str(EXAMPLES.parent / "src")},
    )
    assert done.returncode == 0, done.stderr
    assert ("1 steps in " if name == "train.py" else "pass@1 ") in done.stdout


@pytest.mark.train(30)
def test_a_trl_script_on_the_verifier_alone(tmp_path: Path) -> None:
    """The model always says the same: a step on a task that it solves, on another, and on one without a toolchain."""
    from tokenizers import AddedToken

    pytest.importorskip("trl")
    tokenizer = byte_tokenizer()
    said = "Here it is:\n```python\ndef f(x):\n    return 2 * x\n```"
    tokenizer.add_tokens([AddedToken(said, normalized=False)])
    after = tokenizer.convert_ids_to_tokens(tokenizer.encode("\n", add_special_tokens=False))[-1]
    spoken = tokenizer.convert_tokens_to_ids([said, "<end_of_turn>"])
    model = write_speaker(tmp_path / "model", tokenizer, after, spoken, generation_eos=spoken[1])
    checks = [{"kind": "asserts", "entry_point": "f", "code": f"assert f(3) == {value}"} for value in (6, 7)]
    tasks = [{"id": str(n), "statement": "", "check": check} for n, check in enumerate(checks)]
    tasks.append({**tasks[0], "id": "2", "language": "cobol"})
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)))
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "trl_grpo.py"), str(model), "tasks.jsonl", "3"],
        capture_output=True,
        text=True,
        timeout=400,
        cwd=tmp_path,
        env=without(tmp_path / "site", "strop", "strop_tasks"),
    )
    assert done.returncode == 0, done.stderr
    means = re.findall(r"'rewards/passed/mean': '?([\d.]+|None)", done.stdout)
    assert sorted(means) == ["0", "1", "None"]


@pytest.mark.train(30)
def test_dpo_by_trl_on_the_pairs_of_a_run(tiny_model: Path, judged: Path, tmp_path: Path) -> None:  # noqa: F811
    pytest.importorskip("trl")
    done = strop(
        "build", "preferences", judged, "-o", tmp_path / "p.jsonl", "--pairs", tmp_path / "pairs.jsonl"
    )
    assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "trl_dpo.py"), str(tiny_model), "pairs.jsonl", "2"],
        capture_output=True,
        text=True,
        timeout=400,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    losses = [float(one) for one in re.findall(r"'loss': '?([\d.]+)", done.stdout)]
    assert len(losses) == 2 and losses[0] == pytest.approx(0.6931, abs=0.001)  # -log sigmoid(0)
    assert (tmp_path / "trl-dpo" / "model.safetensors").is_file()
