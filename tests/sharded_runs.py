"""One process of those that train a small model together, held whole or in parts."""

import random
from pathlib import Path

import torch

from strop.config.load import load_recipe
from strop.config.run_stages import stages_of
from strop.policies.loading import load_model, named_weights
from strop.training.batch import Advantages, batch_of
from strop.training.learner import Learner
from strop.training.ranks import join, leave
from strop.training.sharded_backends import load_backend
from strop.training.shards import ShardReader
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Completion, Group, Rollout, Turn


def groups(step: int, prompt: int = 3) -> list[Group]:
    """Four groups of random tokens behind a prompt of so many, the same in every process; one answer is thirty times as
    long as most.
    """
    rng = random.Random(step)

    def played(task: str, index: int, prompt: list[int]) -> Rollout:
        ids = [
            rng.randrange(103) for _ in range(120 if task == "task-0" and index == 0 else rng.randint(1, 4))
        ]
        logprobs = [-4.6 + rng.gauss(0, 0.3) for _ in ids]
        completion = Completion(token_ids=ids, logprobs=logprobs, text="", finish_reason="eos")
        turns = [Turn(prompt_ids=prompt, completion=completion)]
        return Rollout(task_id=task, index=index, seed=0, prompt="", turns=turns, reward=rng.random())

    return [
        Group(
            task_id=task,
            step=step,
            rollouts=[played(task, index, [5, number, *range(7, 5 + prompt)]) for index in range(4)],
        )
        for number in range(4)
        for task in [f"task-{number}"]
    ]


def learn(
    model: str,
    engine: str,
    changes: tuple[str, ...],
    target: str,
    steps: tuple[int, int],
    checkpoint: str | None,
    prompt: int = 3,
) -> None:
    """One process: updates from the first step to before the second; rank 0 writes what came of them."""
    ranks, folder = join(), Path(target)
    words = [
        f"model.name={model}", "model.compute_dtype=float32", "model.gradient_checkpointing=false",
        "grpo.group_size=4", "grpo.tasks_per_step=4", "optim.micro_batch_tokens=16", "optim.steps=4",
        "optim.learning_rate=1e-3", "optim.shared_prefix=true", "policy.engine=vllm", f"launch.engine={engine}",
        *changes,
    ]  # fmt: skip
    recipe = load_recipe([], words)
    backend = load_backend(recipe, ranks)
    torch.manual_seed(7 + ranks.rank)  # as where each process has played its part
    learner, advantages = Learner(backend, recipe), Advantages(recipe.grpo.advantage)
    if checkpoint:
        assert backend.load_checkpoint(Path(checkpoint))
    (stage,), updates = stages_of(recipe), recipe.grpo.updates_per_step
    logged = [
        learner.update(batch_of(advantages.of(groups(step, prompt)), recipe.grpo), stage, step * updates)
        for step in range(*steps)
    ]
    assert backend.is_finite()
    whole = {name: weight.detach().cpu().clone() for name, weight in backend.named_weights()}
    if ranks.main:
        (folder / "model").mkdir(parents=True)
    ranks.barrier()
    backend.save(folder)
    backend.save_model(folder / "model")
    if ranks.main:
        torch.save({"logged": logged, "weights": whole, "way": learner.computes.way}, folder / "found.pt")
    ranks.barrier()
    leave()


def read(folders: dict[str, str], target: str) -> None:
    """One process: reads models in shards; rank 0 writes their weights, put together, or why they were refused."""
    ranks, found = join(), {}
    for name, folder in folders.items():
        try:
            model = load_model(folder, dtype=torch.float32, reader=ShardReader)
        except UserError as error:
            found[name] = str(error)
            continue
        buffers = {name: value for name, value in model.named_buffers() if not value.is_meta}
        assert buffers.keys() == dict(model.named_buffers()).keys()
        found[name] = buffers | dict(named_weights(model))
    if ranks.main:
        torch.save(found, target)
    ranks.barrier()
    leave()
