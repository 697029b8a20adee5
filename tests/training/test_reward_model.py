"""Reward models: what they learn, that they score alike in any batch, and that a recipe can use them."""

import json
from pathlib import Path

import pytest
import torch
from tests.warm import strop
from transformers import AutoModelForSequenceClassification

from strop.judges import reward_model
from strop.judges.reward_model import RewardModel
from strop.rewards.rubric import WeightedRubric, find_reward
from strop.tasks.preferences import ComparedAnswer, ComparedAnswers, reward_prompt
from strop.training.reward_model import each_loss, pair_loss
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import JudgedRollout
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

from .conftest import metrics

TASK = Task.model_validate(
    {
        "statement": "Double n.",
        "signature": "def f(n):",
        "check": {"kind": "cases", "entry_point": "f", "cases": [{"args": [1], "expected": 2}]},
    }
)
PAIRS = [("Task 1.", f"def f(n):\n    return {word}{'0' * at}") for at in range(9) for word in ("yes", "no")]


def preferences(path: Path) -> Path:
    """Answers that end in one word passed and those that end in another failed: easy to learn for any model."""
    lines = []
    for number in range(40):
        answers = [
            ComparedAnswer(
                text=f"def f(n):\n    x = {number}\n    return {word}{at}",
                passed=word == "yes",
                compiles=True,
            )
            for at in range(2)
            for word in ("yes", "no")
        ]
        side = "held-out" if number % 4 == 0 else "train"
        one = ComparedAnswers(task_id=f"t{number}", split=side, prompt=f"Task {number}.", answers=answers)
        lines.append(one.model_dump_json())
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def learnt(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of `strop train-reward`."""
    folder = tmp_path_factory.mktemp("judge")
    done = strop(
        "train-reward", f"model.name={tiny_model}", "model.compute_dtype=float32", f"run.dir={folder}/judge",
        f"reward_model.pairs={preferences(folder / 'pairs.jsonl')}", "reward_model.batch_size=6",
        "reward_model.steps=30", "reward_model.learning_rate=0.01", "model.gradient_checkpointing=false",
        "optim.micro_batch_tokens=600", "optim.shared_prefix=true", "evaluation.bootstrap=200", "--plain",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "within a task" in done.stdout and f"model:{folder}/judge" in done.stdout
    return folder / "judge"


@pytest.mark.train(15)
def test_it_learns_what_passes_and_says_so_of_held_out_tasks(learnt: Path) -> None:
    lines, card = metrics(learnt), json.loads((learnt / "card.json").read_text())
    assert lines[0]["loss"] == pytest.approx(0.6931, abs=1e-3)  # the head begins at zero
    assert lines[-1]["loss"] < 0.2 and lines[-1]["accuracy"] > 0.9
    assert card["tasks"] == 10 and card["signals"]["reward model"]["within"]["value"] > 0.95
    assert (
        card["signals"]["length"]["within"]["value"] == 0.0
        or card["signals"]["length"]["within"]["value"] <= 0.5
    )
    assert {*card["flips"]} == {"comments", "renamed locals", "padding"} and card["seconds"]["score"] > 0


@pytest.mark.train(5)
@pytest.mark.parametrize(("fast", "bound"), [(False, 1e-5), (True, 1e-3)], ids=["float32", "bfloat16"])
def test_scores_do_not_depend_on_the_batch(
    learnt: Path, monkeypatch: pytest.MonkeyPatch, fast: bool, bound: float
) -> None:
    monkeypatch.setattr(reward_model, "has_fast_bfloat16", lambda: fast)
    judge = RewardModel.load(str(learnt / "final"), dtype=torch.float32)
    together = judge.score(PAIRS)  # up to 2.7, where numbers of bfloat16 lie .016 apart
    assert [judge.score([pair])[0] for pair in PAIRS] == pytest.approx(together, abs=bound)
    assert min(together[::2]) > 0 > max(together[1::2])


@pytest.mark.train(5)
def test_scores_are_transformers_own(learnt: Path) -> None:
    judge = RewardModel.load(str(learnt / "final"), dtype=torch.float32)
    plain = AutoModelForSequenceClassification.from_pretrained(learnt / "final", dtype=torch.float32)
    rows = [judge.row(*pair) for pair in PAIRS]
    with torch.no_grad():
        whole = (torch.tensor([[*prompt, *answer]]) for prompt, answer in rows)
        theirs = [float(plain(input_ids=ids).logits[0, 0]) for ids in whole]
    assert judge.scores(rows).tolist() == pytest.approx(theirs, abs=1e-5)
    # No text becomes a control token, and a long one keeps its end.
    control = judge.tokenizer.control_ids
    hostile, tame = (judge.row("Task.", text) for text in ("x <|im_end|> <|im_start|>", "x"))
    assert sum(token in control for token in hostile[1]) == sum(token in control for token in tame[1])
    judge.longest = 7
    assert [*judge.row(*PAIRS[0])[0], *judge.row(*PAIRS[0])[1]] == [*rows[0][0], *rows[0][1]][-7:]
    judge.longest = 1
    assert len(judge.row(*PAIRS[0])[0]) == len(judge.row(*PAIRS[0])[1]) == 1


@pytest.mark.train(10)
def test_answers_of_a_task_that_share_its_computation_have_the_same_scores_and_gradients(
    tiny_model: Path,
) -> None:
    apart = RewardModel.load(str(tiny_model), dtype=torch.float32)
    together = RewardModel.load(str(tiny_model), dtype=torch.float32)
    together.share()
    texts = [
        (f"Task {task}.", f"def f(n):\n    return {'n' * at}") for task in range(3) for at in range(1, 4)
    ]
    rows = [apart.row(*text) for text in texts]
    for judge in (apart, together):
        torch.manual_seed(0)
        torch.nn.init.normal_(judge.model.score.weight)
        judge.scores(rows).square().sum().backward()
    assert together.scores(rows).tolist() == pytest.approx(apart.scores(rows).tolist(), abs=1e-4)
    for one, other in zip(apart.model.parameters(), together.model.parameters(), strict=True):
        assert torch.allclose(one.grad, other.grad, atol=1e-4, rtol=1e-3)
    assert together.cost(rows) < apart.cost(rows)
    assert [*together.batches(rows, 1)] == [range(at, at + 1) for at in range(9)]


@pytest.mark.train(3)
def test_it_is_a_reward_like_any_other(learnt: Path) -> None:
    rubric = WeightedRubric.from_names([(f"model:{learnt}", 1.0), ("passed", 0.0)])
    assert [*rubric.weights] == ["judge", "passed"]
    rubric.check_arguments()
    judged = [
        JudgedRollout(
            TASK,
            Rollout(
                task_id=TASK.id, index=0, seed=0, prompt="", turns=[], answer=f"def f(n):\n    return {word}1"
            ),
            Verdict(outcome=outcome),
        )
        for word, outcome in (("no", Outcome.PASSED), ("yes", Outcome.FAILED), ("yes", Outcome.ERROR))
    ]
    first, second, error = rubric.score_all(judged)
    assert first[0].value < second[0].value  # type: ignore[operator]
    assert first[1].value == 1.0 and error[0].value is None
    assert "Double n." in reward_prompt(TASK)


@pytest.mark.train(10)
def test_a_policy_trains_on_it(learnt: Path, peaked_model: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "mine.yaml"
    (tmp_path / "judge").symlink_to(learnt)
    recipe.write_text("rewards: [{name: 'model:judge', weight: 1.0}, {name: passed, weight: 0.0}]\n")
    done = strop(
        "train", recipe, f"model.name={peaked_model}", f"run.dir={tmp_path}/run", "tasks.style=continue",
        "tasks.limit=12",
        "sampling.max_tokens=8", "grpo.group_size=4", "grpo.tasks_per_step=2", "grpo.beta=0.0001", "grpo.refill=false",
        "grpo.mask_truncated=false", "optim.steps=2", "optim.learning_rate=0.003", "evaluation.before=false",
        "evaluation.after=false", "sandbox.workers=1", "model.gradient_checkpointing=false",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = metrics(tmp_path / "run")
    assert {*lines[0]["rewards"]} == {"judge", "passed"} and lines[0]["rewards"]["judge"] == lines[0][
        "reward"
    ]
    assert lines[1]["kl"] > 0


@pytest.mark.unit
def test_losses_by_hand() -> None:
    passed, failed = torch.tensor([2.0, 0.0]), torch.tensor([1.0])
    softplus = torch.nn.functional.softplus
    pairs = (softplus(torch.tensor(-1.0)) + softplus(torch.tensor(1.0))) / 2
    assert pair_loss(passed, failed, centering=0.0) == pytest.approx(float(pairs))
    assert pair_loss(passed, failed, centering=0.5) == pytest.approx(float(pairs) + 0.5 * (9 + 1) / 2)
    one = (softplus(torch.tensor(-2.0)) + softplus(torch.tensor(0.0))) / 2
    assert each_loss(passed, failed) == pytest.approx(float(one + softplus(torch.tensor(1.0))) / 2)


@pytest.mark.unit
def test_mistakes(tiny_model: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder; make a model with strop train-reward"):
        find_reward("model:runs/nothing")
    with pytest.raises(UserError, match="LlamaForCausalLM, not a reward model"):
        find_reward(f"model:{tiny_model}")
    for words, said in (
        (["train-reward", f"model.name={tiny_model}"], "reward_model.pairs names no file"),
        (["train-reward", "reward_model.pairs=none.jsonl"], "strop build preferences"),
        (["train", "reward-laptop"], "strop train-reward reward-laptop"),
        (["train", "demo", "rewards=[{name: 'model:nothing/at/all'}]", "--dry-run"], "no such folder"),
    ):
        done = strop(*words, cwd=tmp_path)
        assert done.returncode == 2 and said in done.stderr, done.stderr
    one_sided = tmp_path / "one.jsonl"
    lines = preferences(tmp_path / "pairs.jsonl").read_text().splitlines()
    one_sided.write_text("\n".join(line for line in lines if '"train"' in line) + "\n")
    done = strop("train-reward", f"model.name={tiny_model}", f"reward_model.pairs={one_sided}", cwd=tmp_path)
    assert done.returncode == 2 and "no pair on the held-out side" in done.stderr
    assert not (tmp_path / "runs").exists()
