"""Where the examples of a warm start come from, and what never gets into them."""

from pathlib import Path

import pytest
import torch

from strop.config.load import load_recipe
from strop.policies.loading import load_model, load_tokenizer
from strop.policies.tokenizer import HubTokenizer
from strop.tasks import load_tasks
from strop.tasks.task_sets import task_sets
from strop.training.logps import check_head
from strop.training.supervised import SHARED, _loss, examples_of


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
