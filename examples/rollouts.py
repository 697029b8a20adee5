"""Plays tasks with a scripted policy; for a model, use `strop.open_policy(recipe)` instead."""

import strop

tasks = strop.load_tasks("python-functions", limit=3)


def answer(prompt: list[int], seed: int, asked: int) -> str:
    """The reference for the first sample, then useless answers."""
    text = policy.tokenizer.decode(prompt)
    return next(task.reference for task in tasks if task.signature in text) if asked == 0 else "pass"


policy = strop.ScriptedPolicy(answer)
for group in strop.play(policy, tasks, samples=2, rewards={"passed": 1.0, "brevity": 0.1}):
    for rollout in group.rollouts:
        print(rollout.task_id, rollout.verdict.outcome.value, f"reward {rollout.reward:.2f}")
