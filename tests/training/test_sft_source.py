"""Where the examples of a warm start come from, and what never gets into them."""

from pathlib import Path

import pytest
import torch

from strop.config.load import load_recipe
from strop.policies.attention import LEAST
from strop.policies.loading import load_model, load_tokenizer
from strop.policies.open import longest_answers, longest_play
from strop.policies.tokenizer import HubTokenizer
from strop.tasks import load_tasks
from strop.tasks.task_sets import task_sets
from strop.training.learner import update_ways
from strop.training.logps import update_of
from strop.training.supervised import _sample, examples_of, fit, summed_loss


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


@pytest.mark.parametrize("rules", [0, LEAST - 1, LEAST, LEAST + 30], ids=str)
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
    samples = [_sample(example) for example in batch]
    summed_loss(model, samples, recipe)  # proves its way
    seen: list[int] = []
    model.get_input_embeddings().register_forward_hook(lambda _, given, __: seen.append(given[0].numel()))
    loss = summed_loss(model, samples, recipe)
    loss.backward()
    rows = [sum(len(part) for turn in example for part in turn) for example in batch]
    assert seen[0] == sum(rows) - 3 - 2 * rules * (rules >= LEAST), "what is last has nothing to foretell"
    assert torch.allclose(loss, expected, rtol=1e-5)
    ours = [p.grad for p in model.parameters() if p.grad is not None]
    for mine, theirs in zip(ours, gradients, strict=True):
        assert mine is not None and torch.allclose(mine, theirs, rtol=1e-3, atol=1e-5)


def test_a_warm_start_keeps_to_the_tokens_of_a_micro_batch(tiny_model: Path) -> None:
    few = [f"model.name={tiny_model}", "model.compute_dtype=float32", "sft.steps=2", "sft.batch_size=6"]
    examples = [[([5, 6, number], [number + 1] * number)] for number in range(1, 7)]
    models = []
    for most, shared in ((8, "true"), (8, "false"), (4096, "true")):
        recipe = load_recipe([], [*few, f"optim.micro_batch_tokens={most}", f"optim.shared_prefix={shared}"])
        seen: list[int] = []
        models.append(load_model(str(tiny_model), dtype=torch.float32))
        update_of(models[-1], ways=update_ways(recipe), longest=longest_play(longest_answers(recipe)))
        models[-1].get_input_embeddings().register_forward_hook(
            lambda _, given, __, seen=seen: seen.append(given[0].numel())
        )
        fit(recipe, models[-1], examples, lambda _: None)
        assert max(seen) <= (16 if most == 8 else 64), (
            "the longest example has nine tokens; rows have a multiple of 16"
        )
    for other in models[1:]:
        for one, same in zip(models[0].parameters(), other.parameters(), strict=True):
            assert torch.allclose(one, same, atol=1e-5)
