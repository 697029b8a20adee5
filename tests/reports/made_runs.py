"""Run folders that look like those of real trainings, made in a moment and seeded: for tests and benchmarks.

Written by RunFolder itself. Rewards rise with the steps; there are compiler errors, time-outs, errors of the grader,
truncated answers, flags and groups without signal. The same arguments give the same files.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import zstandard

from strop.config.load import dump_recipe, load_recipe
from strop.reports.run_folder import RunFolder
from strop_verify.core.rollout import Group, Rollout

from .made_rollouts import Maker, task_id

VERSIONS = {"strop": "0.1.0", "git": {"commit": "0" * 40, "dirty": False}, "packages": {"torch": "2.13.0"}}


def make_run(
    folder: Path,
    *,
    steps: int = 4,
    groups: int = 3,
    size: int = 4,
    tokens: int = 24,
    seed: int = 0,
    language: str = "python",
    tasks: int = 24,
    turns: int = 1,
    evaluations: Sequence[str] = ("before", "after"),
    extra: Sequence[str] = (),
    held_out: int = 5,
    finished: bool = True,
    planned: int | None = None,
    entropies: bool = True,
    vocabulary: bool = True,
    texts: Sequence[str] = (),
    overrides: Sequence[str] = (),
) -> Path:
    """A run folder as `strop train` leaves it, unlocked; returns `folder`.

    steps, groups, size  steps done, groups a step, rollouts a group;  `planned` steps in the recipe (default: `steps`)
    evaluations, extra   names such as before, warm, after, step-000002; `extra` task sets of the first and last of them
    finished             whether summary.json is there
    texts                take the place of every free text (prompts, answers, outputs), one after the other
    """
    rng = random.Random(seed)
    maker = Maker(rng, language, tokens, entropies, texts)
    settings = [
        f"run.name={folder.name}", f"run.dir='{folder}'", f"tasks.source={language}-functions", f"seed={seed}",
        f"optim.steps={planned or max(1, steps)}", f"grpo.tasks_per_step={groups}", f"grpo.group_size={size}",
        *overrides,
    ]  # fmt: skip
    recipe = load_recipe([], settings)
    with RunFolder.create(folder, recipe=dump_recipe(recipe), versions=VERSIONS) as run:
        for step in range(1, steps + 1):
            ability = 0.1 + 0.8 * step / max(steps, 1)
            played = list(_groups(maker, step, groups, size, tasks, ability, turns))
            run.write_rollouts(step, played)
            run.append_metrics(_metrics(step, played, rng))
        results = _evaluate(run, maker, [*evaluations], [*extra], held_out)
        if vocabulary:
            write_vocabulary(folder, maker.vocabulary)
        if finished:
            run.write_summary(_summary(folder.name, steps, results))
    return folder


def write_vocabulary(folder: Path, vocabulary: dict[str, int]) -> None:
    """vocabulary.json.zst: the text of each token id."""
    packed = zstandard.ZstdCompressor().compress(json.dumps(list(vocabulary)).encode())
    (folder / "vocabulary.json.zst").write_bytes(packed)


def _groups(
    maker: Maker, step: int, groups: int, size: int, tasks: int, ability: float, turns: int
) -> Iterator[Group]:
    for _ in range(groups):
        task = maker.rng.randrange(tasks)
        rollouts = [maker.rollout(task, i, ability, step - 1, turns) for i in range(size)]
        scored = [r.reward for r in rollouts if r.reward is not None]
        mean = sum(scored) / max(1, len(scored))
        with_advantages = [
            r if r.reward is None else r.model_copy(update={"advantage": r.reward - mean}) for r in rollouts
        ]
        yield Group(task_id=task_id(task), step=step, rollouts=with_advantages)


def _metrics(step: int, groups: list[Group], rng: random.Random) -> dict[str, Any]:
    rollouts = [r for group in groups for r in group.rollouts]
    scored = [r for r in rollouts if r.reward is not None] or rollouts
    share = {
        name: sum(bool(s and s.passed) for r in scored if r.verdict for s in [r.verdict.stage(name)])
        / len(scored)
        for name in ("build", "lint", "test")
    }
    signal = sum(group.has_signal for group in groups)
    lengths = [len(t.completion.token_ids) for r in rollouts for t in r.turns]
    seconds = {"sampling": 2 + rng.random(), "verifying": 0.5 * rng.random(), "update": 3 + rng.random()}
    return {
        "step": step, "reward": sum(r.reward or 0 for r in scored) / len(scored),
        "rewards": {"passed": share["test"], "build": share["build"]}, "stages": share, "pass_rate": share["test"],
        "completion_tokens": sum(lengths) / len(lengths),
        "truncated": sum(r.truncated for r in rollouts) / len(rollouts),
        "sampling_surprise": 0.3, "rollouts": len(rollouts), "groups_played": len(groups),
        "groups_with_signal": signal, "groups_learnt": signal, "error_rate": 1 - len(scored) / len(rollouts),
        "loss": rng.gauss(0, 0.05), "grad_norm": rng.expovariate(2), "learning_rate": 1e-5, "kl": 0.01 * step,
        "entropy": 0.5 / step, "clip_ratio": 0.02 * rng.random(),
        **{f"seconds_{name}": value for name, value in seconds.items()}, "seconds": sum(seconds.values()),
    }  # fmt: skip


def _evaluate(
    run: RunFolder, maker: Maker, names: list[str], extra: list[str], held_out: int
) -> dict[str, dict[str, Any]]:
    """{evaluation: result}, written to the folder too."""
    results: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(names):
        ability = 0.2 + 0.6 * number / max(1, len(names) - 1)
        for suffix in ("", *(f"-{s}" for s in extra if name in (names[0], names[-1]))):
            base = 1000 + sum(map(ord, suffix))
            sampled = [maker.rollout(base + t, i, ability, number) for t in range(held_out) for i in range(2)]
            greedy = [maker.rollout(base + t, 0, ability, number) for t in range(held_out)]
            # As the trainer sorts them: an answer and the greedy one after it have index 0.
            both = sorted([*sampled, *greedy], key=lambda r: (r.task_id, r.index))
            results[name + suffix] = _result(sampled, greedy, held_out)
            run.write_evaluation(name + suffix, results[name + suffix], both)
    return results


def _result(sampled: list[Rollout], greedy: list[Rollout], tasks: int) -> dict[str, Any]:
    def rate(rollouts: list[Rollout]) -> float:
        return sum(r.verdict is not None and r.verdict.passed for r in rollouts) / max(1, len(rollouts))

    values = {
        "pass@1": rate(sampled),
        "greedy": rate(greedy),
        "test": rate(sampled),
        "greedy-test": rate(greedy),
    }
    intervals = {key: [max(0.0, v - 0.2), min(1.0, v + 0.2)] for key, v in values.items()}
    passed = Counter(r.task_id for r in sampled if r.verdict and r.verdict.passed)
    counts = [{"task_id": r.task_id, "topic": "", "n": 2, "c": passed[r.task_id]} for r in greedy]
    return {**values, "intervals": intervals, "confidence": 0.95, "tasks": tasks, "samples": 2, "temperature": 1.0,
            "unscored_tasks": {"pass@1": 0, "greedy": 0}, "topics": {}, "tokens_mean": 20.0, "truncated_rate": 0.05,
            "seconds": 12.0, "outcomes": {"passed": 1}, "error_rate": 0.0, "per_task": counts}  # fmt: skip


def _summary(name: str, steps: int, results: dict[str, dict[str, Any]]) -> dict[str, Any]:
    def block(suffix: str) -> dict[str, Any]:
        found = {
            side: results[side + suffix] for side in ("before", "warm", "after") if side + suffix in results
        }
        for side, key in (("before", "paired"), ("warm", "paired_after_warm_start")):
            if side in found and "after" in found:
                found[key] = {k: _difference(found, side, k) for k in ("pass@1", "greedy", "test")}
        return found

    extra = sorted({key.partition("-")[2] for key in results if not key.startswith("step-")} - {""})
    evaluation = {**block(""), **({"extra": {s: block(f"-{s}") for s in extra}} if extra else {})}
    return {"name": name, "steps": steps, "resumed_at": 0, "evaluation": evaluation, "wall_seconds": 60.0 * steps,
            "peak_rss_bytes": 2_000_000_000,
            "time_split": {"evaluation": 24.0, "sampling": 9.0, "update": 14.0}}  # fmt: skip


def _difference(found: dict[str, Any], side: str, key: str) -> dict[str, float]:
    delta = found["after"][key] - found[side][key]
    return {"delta": delta, "low": delta - 0.1, "high": delta + 0.1}
