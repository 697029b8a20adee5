"""Where the examples of a warm start come from, and what never gets into them."""

import random
from pathlib import Path

import pytest
import torch

from strop.config.load import load_recipe
from strop.policies.loading import load_model, load_tokenizer
from strop.policies.tokenizer import HubTokenizer
from strop.tasks import load_tasks
from strop.tasks.task_sets import task_sets
from strop.training.logps import check_head
from strop.training.supervised import SHARED, _loss, _micro_batches, examples_of, fit


def test_examples_of_a_source_hold_no_held_out_task(tiny_model: Path) -> None:
    options = [
        f"model.name={tiny_model}",
        "tasks.source=rust-functions",
        "tasks.style=continue",
        "tasks.levels=[1]",
        "tasks.held_out_fraction=0.3",
    ]
    tokenizer = HubTokenizer(load_tokenizer(str(tiny_model), None))
    recipe = load_recipe([], [*options, "sft.source=rust-functions"])
    sets = task_sets(recipe)
    train, held_out = sets[0].train, sets[0].held_out
    examples = examples_of(sets, tokenizer)
    side = [task for task in load_tasks("rust-functions", held_out_fraction=0.3) if task.split == "train"]
    assert len(train) < len(examples) <= len(side)
    prompts = {tuple(prompt) for [(prompt, _)] in examples}
    asked = {tuple(tokenizer.encode(str(task.prompt))) for task in held_out}
    assert not prompts & asked and len(asked) > 100


@pytest.mark.parametrize("rules", [0, SHARED - 1, SHARED, SHARED + 30], ids=str)
def test_the_loss_is_the_cross_entropy_of_the_completions(tiny_model: Path, rules: int) -> None:
    model = load_model(str(tiny_model), dtype=torch.float32)
    same = [3 + number % 11 for number in range(rules)]
    batch = [
        [([*same, 5, 6, 7], [8, 9])],
        [([*same, *[4] * (not rules)], [10, 11, 12, 13])],
        [([*same, 3, 2, 9, 8], [7, 6]), ([9, 3], [5]), ([2], [7, 8])],
    ]
    expected = torch.zeros(())
    for example in batch:
        before: list[int] = []
        for prompt, completion in example:  # each turn by itself, after all that stands before it
            before += prompt
            logits = model(input_ids=torch.tensor([[*before, *completion]])).logits[0, len(before) - 1 : -1]
            expected = expected + torch.nn.functional.cross_entropy(
                logits, torch.tensor(completion), reduction="sum"
            )
            before += completion
    expected.backward()
    gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    model.zero_grad()
    recipe = load_recipe([], ["optim.shared_prefix=true", "model.compute_dtype=float32"])
    check_head(model)
    seen: list[int] = []
    model.get_input_embeddings().register_forward_hook(lambda _, given, __: seen.append(given[0].numel()))
    loss = _loss(model, batch, recipe)
    loss.backward()
    rows = [sum(len(part) for turn in example for part in turn) for example in batch]
    assert seen[0] == sum(rows) - 2 * rules - 3 if rules >= SHARED else seen[0] >= sum(rows)
    assert torch.allclose(loss, expected, rtol=1e-5)
    ours = [p.grad for p in model.parameters() if p.grad is not None]
    for mine, theirs in zip(ours, gradients, strict=True):
        assert mine is not None and torch.allclose(mine, theirs, rtol=1e-3, atol=1e-5)


def test_a_warm_start_keeps_to_the_tokens_of_a_micro_batch(tiny_model: Path) -> None:
    draw = random.Random(5)
    for most in (32, 300, 2048):
        recipe = load_recipe([], [f"optim.micro_batch_tokens={most}", "optim.shared_prefix=true"])
        for _ in range(30):
            rules = [7] * draw.choice([0, 10, SHARED, 150])
            batch = [
                [([*rules, number], [draw.randrange(9)] * draw.randrange(1, 200))]
                for number in range(draw.randrange(1, 40))
            ]
            parts = list(_micro_batches(batch, recipe))
            assert sorted(map(id, (one for part in parts for one in part))) == sorted(map(id, batch))
            for part in parts:
                once = len(rules) if len(rules) >= SHARED else 0
                longest = max(len(prompt) + len(answer) for [(prompt, answer)] in part)
                assert len(part) == 1 or once + len(part) * (longest - once) <= most
    few = [f"model.name={tiny_model}", "model.compute_dtype=float32", "sft.steps=2", "sft.batch_size=6"]
    examples = [[([5, 6, number], [number + 1] * number)] for number in range(1, 7)]
    models = []
    for most in (8, 4096):
        models.append(load_model(str(tiny_model), dtype=torch.float32))
        fit(load_recipe([], [*few, f"optim.micro_batch_tokens={most}"]), models[-1], examples, lambda _: None)
    for one, other in zip(models[0].parameters(), models[1].parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-5)
