"""A teacher's part of the advantages: its numbers, what it teaches, and what is no teacher."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from benchmarks import ranks
from safetensors.torch import load_file
from tests.small_models import byte_tokenizer, write_speaker
from tests.warm import strop
from transformers import LlamaConfig, LlamaForCausalLM

from strop.algorithms.losses import Tokens, UpdateSize, find_loss, objective
from strop.config.load import load_recipe
from strop.config.schema import Recipe
from strop.config.training import GrpoConfig
from strop.environments.feedback import failures
from strop.policies.loading import load_model, load_tokenizer
from strop.tasks.prompts import render
from strop.tasks.task_sets import task_sets
from strop.training.run import train
from strop.training.teacher import Drawn, Teacher
from strop_verify.core.rollout import Sample

from .conftest import metrics, stopped_after, weights

FEW = {
    "grpo__refill": "false", "optim__steps": 2, "run__save_every": 1, "run__keep_checkpoints": 9,
    "evaluation__before": "false", "evaluation__after": "false",
}  # fmt: skip


@pytest.fixture(scope="module")
def teacher(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another model of the policy's tokenizer, wider than the policy."""
    folder, tokenizer = tmp_path_factory.mktemp("teacher"), load_tokenizer(str(tiny_model))
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=48, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4,
        num_key_value_heads=2, eos_token_id=tokenizer.eos_token_id, pad_token_id=0,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def plain(model: Any, ids: Sequence[int], start: int, temperature: float) -> torch.Tensor:
    """Log-probabilities of the tokens from `start` on by the model's own forward pass."""
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([list(ids)])).logits[0].float() / temperature
    whole = logits.log_softmax(-1)
    return torch.stack([whole[at - 1, ids[at]] for at in range(start, len(ids))])


@pytest.mark.train(20)
@pytest.mark.parametrize(
    ("own", "shows", "on", "rewards", "style"),
    [(False, "nothing", "all", False, "chat"), (False, "nothing", "failed", True, "continue"),
     (True, "reference", "all", True, "continue"), (True, "feedback", "failed", True, "continue"),
     (True, "feedback", "all", False, "chat"), (False, "reference", "failed", False, "chat")],
)  # fmt: skip
def test_a_token_s_advantage_is_what_the_teacher_thinks_of_it(
    recipe_words: Callable[..., list[str]], teacher: Path, peaked_model: Path, monkeypatch: pytest.MonkeyPatch,
    own: bool, shows: str, on: str, rewards: bool, style: str,
) -> None:  # fmt: skip
    seen: list[tuple[list[Drawn], list[Sample]]] = []
    taught = Teacher.taught

    def noted(self: Teacher, recipe: Recipe, drawn: Sequence[Drawn]) -> list[Sample]:
        seen.append((list(drawn), taught(self, recipe, drawn)))
        return seen[-1][1]

    monkeypatch.setattr(Teacher, "taught", noted)
    words = recipe_words("run", **{**FEW, "optim__steps": 1}, sampling__temperature=0.7, tasks__style=style)
    words += [f"grpo.teacher.{key}={value}" for key, value in
              {"name": "null" if own else teacher, "shows": shows, "on": on, "rewards": str(rewards).lower(),
               "weight": 0.25}.items()]  # fmt: skip
    recipe = load_recipe(words[:1], words[1:])
    train(recipe, say=print, show=print)
    model = load_model(str(peaked_model if own else teacher), device="cpu")
    tokenizer = load_tokenizer(str(peaked_model))
    tasks = {task.id: task for one in task_sets(recipe) for task in one.tasks}
    ((drawn, samples),) = seen
    counts = {True: 0, False: 0}
    for (rollout, before), after in zip(drawn, samples, strict=True):
        assert rollout.verdict is not None
        task, passed, more = tasks[rollout.task_id], rollout.verdict.passed, ""
        if shows == "reference":
            more = f"A correct solution:\n```python\n{task.reference.strip()}\n```"
        elif shows == "feedback":
            more = f"An earlier answer failed:\n{failures(task, rollout.verdict)}"
        if style == "continue":
            more = "".join(f"# {line}".rstrip() + "\n" for line in more.splitlines()) + "\n" * bool(more)
            prompt = tokenizer(more + render(task, style).text)["input_ids"]
        else:
            asked = task.model_copy(
                update={"statement": f"{task.statement}\n\n{more}" if more else task.statement}
            )
            messages = [{"role": one.role, "content": one.content} for one in render(asked, style).messages]
            text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            prompt = tokenizer(text, add_special_tokens=False)["input_ids"]
        answer = list(before.ids)[before.prompt :]
        silent = passed and (on == "failed" or shows == "feedback")
        counts[silent] += 1
        base = torch.tensor(before.advantages[before.prompt :])
        base = base if rewards and (silent or on == "all") else torch.zeros_like(base)
        values = plain(model, [*prompt, *answer], len(prompt), 0.7)
        gap = values - torch.tensor(before.logprobs[before.prompt :])
        expected = base if silent else base + 0.25 * gap
        assert torch.allclose(torch.tensor(after.advantages[before.prompt :]), expected, atol=2e-4)
        assert not any(after.advantages[: before.prompt])
    assert counts[False] == 16


@pytest.mark.train(40)
def test_the_policy_nears_its_teacher_and_goes_on_from_a_checkpoint_with_the_same_bits(
    recipe_words: Callable[..., list[str]], teacher: Path, tmp_path: Path
) -> None:
    changes = {**FEW, "optim__steps": 15, "optim__learning_rate": 0.01}
    done = strop("distill", "--teacher", teacher, *recipe_words("run", **changes))
    assert done.returncode == 0, done.stderr
    run = tmp_path / "run"
    lines, final = metrics(run), weights(run)
    gaps = [line["teacher_kl"] for line in lines]
    assert sum(gaps[-3:]) < 0.7 * sum(gaps[:3]) and gaps[0] > 1, gaps
    stopped_after(run, 7)
    done = strop("train", "--resume", run)
    assert done.returncode == 0, done.stderr
    assert metrics(run) == lines and weights(run) == final


@pytest.mark.train(40)
@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_a_self_teacher_is_an_average_of_the_policy_s_weights(
    recipe_words: Callable[..., list[str]], tmp_path: Path, rate: float
) -> None:
    changes = {**FEW, "optim__steps": 5, "optim__learning_rate": 0.01, "run__keep_checkpoints": 9}
    words = recipe_words("run", **changes, grpo__teacher__update_rate=rate)
    done = strop("distill", "--shows", "reference", *words)
    assert done.returncode == 0, done.stderr
    run = tmp_path / "run"
    start = load_recipe([run / "recipe.yaml"]).model.name
    expected = dict(load_model(start, device="cpu").named_parameters())
    for step in range(1, 6):
        folder = run / "checkpoints" / f"checkpoint-{step}"
        policy = dict(load_model(str(folder), device="cpu").named_parameters())
        kept = load_file(folder / "teacher.safetensors")
        assert kept
        for name, own in kept.items():
            expected[name] = expected[name].data.lerp(policy[name].data, rate)
            assert torch.allclose(own, expected[name], atol=1e-6), (step, name)
    lines, final = metrics(run), weights(run)
    stopped_after(run, 3)
    done = strop("train", "--resume", run)
    assert done.returncode == 0, done.stderr
    assert metrics(run) == lines and weights(run) == final


@pytest.mark.train(20)
def test_it_is_asked_at_the_temperature_of_the_stage(
    recipe_words: Callable[..., list[str]], teacher: Path, tmp_path: Path
) -> None:
    found = []
    for words in (["sampling.temperature=0.7"], ["stages=[{sampling: {temperature: 0.7}}]"]):
        done = strop("distill", "--teacher", teacher, *recipe_words(f"run{len(found)}", **FEW), *words)
        assert done.returncode == 0, done.stderr
        found.append([line["teacher_kl"] for line in metrics(tmp_path / f"run{len(found)}")])
    assert found[0] == found[1]


def test_the_expected_gradient_is_that_of_trl_s_reverse_kl() -> None:
    from trl.experimental.gkd import GKDTrainer

    torch.manual_seed(3)
    logits = torch.randn(1, 7, 23, dtype=torch.float64, requires_grad=True)
    target = torch.randn(1, 7, 23, dtype=torch.float64)
    logps = (logits / 0.7).log_softmax(-1)
    advantages = ((target / 0.7).log_softmax(-1) - logps).detach()  # of every token that may be sampled
    surrogate = -(logps.exp().detach() * advantages * logps).sum()
    (ours,) = torch.autograd.grad(surrogate, logits, retain_graph=True)
    theirs = GKDTrainer.generalized_jsd_loss(logits, target, beta=1, temperature=0.7, reduction="sum")
    assert torch.allclose(ours, torch.autograd.grad(theirs, logits)[0], atol=1e-12)


def test_the_gradient_on_sampled_tokens_is_that_of_trl_s_sdpo() -> None:
    from trl.experimental.sdpo.loss_utils import compute_sampled_token_self_distillation_loss as sampled

    torch.manual_seed(4)
    logits = torch.randn(3, 5, 19, dtype=torch.float64, requires_grad=True)
    target, ids = torch.randn(3, 5, 19, dtype=torch.float64), torch.randint(19, (3, 5))
    logps, of_teacher = (one.log_softmax(-1).gather(-1, ids[..., None])[..., 0] for one in (logits, target))
    flat = logps.flatten()
    tokens = Tokens(
        logps=flat,
        old=flat.detach(),
        sampled=flat.detach(),
        advantages=(of_teacher - logps).detach().flatten(),  # as Teacher writes them
        rows=torch.arange(3).repeat_interleave(5),
        count=3,
    )
    grpo = GrpoConfig(refill=False)
    loss, _ = objective(grpo, find_loss(grpo.loss), tokens, UpdateSize(rows=3, tokens=15, longest=5))
    (ours,) = torch.autograd.grad(loss, logits, retain_graph=True)
    theirs = sampled(logits, target, ids, distillation_alpha=1.0).mean()
    assert torch.allclose(ours, torch.autograd.grad(theirs, logits)[0], atol=1e-12)


@pytest.mark.train(40)
def test_two_processes_learn_what_one_does(peaked_model: Path, teacher: Path, tmp_path: Path) -> None:
    found = []
    for count in (1, 2):
        folder = tmp_path / str(count)
        folder.mkdir()
        more = [f"{key.replace('__', '.')}={value}" for key, value in FEW.items()]
        words = [
            *ranks.words(folder, peaked_model, 2),
            *more,
            f"grpo.teacher.name={teacher}",
            f"run.dir={folder}/run",
        ]
        ranks.finished(ranks.launched(count, words))
        found.append([line["teacher_kl"] for line in metrics(folder / "run")])
    assert found[0] == pytest.approx(found[1], abs=1e-3) and len(found[0]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["grpo.teacher.weight=1"], "name a teacher"),
        (["grpo.teacher.shows=reference", "grpo.refill=true"], "a teacher learns from them"),
        (["grpo.teacher.name=there", "grpo.teacher.update_rate=0.5"], "for a policy that teaches itself"),
        (["grpo.teacher.shows=reference", "tasks.environment=feedback"], "several turns"),
    ],
)
def test_what_is_no_teacher(recipe_words: Callable[..., list[str]], words: list[str], said: str) -> None:
    done = strop("train", "--dry-run", *recipe_words("run", **FEW), *words)
    assert done.returncode and said in " ".join(done.stderr.split()), done.stderr


def test_another_tokenizer_is_refused(recipe_words: Callable[..., list[str]], tmp_path: Path) -> None:
    other = write_speaker(tmp_path / "other", byte_tokenizer(), "x", [65])
    done = strop("train", "--dry-run", *recipe_words("run", **FEW, grpo__teacher__name=other))
    assert done.returncode and "a teacher needs the policy's own tokenizer" in done.stderr, done.stderr


def test_its_memory_is_planned(recipe_words: Callable[..., list[str]], teacher: Path) -> None:
    done = strop("distill", "--dry-run", "--teacher", teacher, *recipe_words("run", **FEW))
    size = sum(weight.numel() for weight in load_model(str(teacher), device="cpu").parameters())
    assert done.returncode == 0 and f"teacher {4 * size / 1e9:.3f} GB" in done.stdout, (
        done.stdout + done.stderr
    )
