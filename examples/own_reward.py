"""A reward of your own; a recipe names it as examples/own_reward.py:short."""

import strop


def short(task: strop.Task, rollout: strop.Rollout, verdict: strop.Verdict) -> float | None:
    """1 for a right answer of under 200 characters, else 0; None would mean "not scored"."""
    return 1.0 if verdict.passed and len(rollout.answer) < 200 else 0.0


if __name__ == "__main__":
    tasks = strop.load_tasks("python-functions", limit=2)
    policy = strop.ScriptedPolicy(lambda prompt, seed, asked: tasks[0].reference)
    for group in strop.play(policy, tasks, rewards={"passed": 1.0, short: 0.2}):
        print([(score.name, score.value) for score in group.rollouts[0].scores], group.rollouts[0].reward)
