"""Run folders that hold hostile texts wherever a run has texts, and what a page must show of a text."""

import json
import os
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
import zstandard

from strop_verify.core import files

from .made_runs import make_run
from .xss import CORPUS, SHORT

_SIGNS = {f"{n:02x}": chr(0x2400 + n) for n in range(0x20)} | {"7f": "\u2421"}
_UNSEEN = {"\u115f", "\u1160", "\u180b", "\u180c", "\u180d", "\u3164", "\uffa0"}


def shown(text: str) -> str:
    """The text as a page shows it: what cannot be seen is written as a sign or as its code point."""

    def sign(character: str) -> str:
        if character in "\n\t":
            return character
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") or character in _UNSEEN:
            code = ord(character)
            return _SIGNS.get(f"{code:02x}", f"\u27e8U+{code:04X}\u27e9")
        return character

    return "".join(map(sign, text))


def hostile_run(folder: Path) -> Path:
    """A run whose every text is hostile: group i of steps 1 and 2, and task i of the evaluations, hold text i."""
    made = make_run(folder, steps=2, groups=1, size=2, tasks=1, held_out=1, evaluations=("before", "after"))
    texts = [*CORPUS.values()]
    for step in (1, 2):
        lines = [_rollout(n, text, step) | {"step": step, "group": n} for n, text in enumerate(texts)]
        _write_lines(made / "rollouts" / f"step-{step:06d}.jsonl.zst", lines)
    for name in ("before", "after"):
        _write_evaluation(made, name, [_rollout(n, text, 1) for n, text in enumerate(texts)])
    for text in texts:
        if text and (usable := file_name(f"before-{text}")):
            _write_evaluation(made, usable, [_rollout(0, text, 1)], numbers=[])
    _write_settings(made)
    (made / "vocabulary.json.zst").write_bytes(
        zstandard.ZstdCompressor().compress(json.dumps(texts).encode())
    )
    return made


def named_runs(folder: Path) -> list[Path]:
    """A small run for every text that can be a folder's name, or the run's name only: both are that text."""
    runs = []
    for number, text in enumerate(SHORT.values()):
        run = folder / (file_name(text) or f"run-{number}")
        run.mkdir(parents=True)
        recipe = {"run": {"name": text}, "optim": {"steps": 3, text: text}, text: [text, {text: text}]}
        (run / "recipe.yaml").write_text(_yaml(recipe), encoding="utf-8")
        (run / "versions.json").write_text("{}", encoding="utf-8")
        runs.append(run)
    return runs


def file_name(text: str) -> str:
    """The text as one file's name, cut to what a file system takes; "" when it cannot be one."""
    name = text.replace("/", "\u2215").replace("\0", "")[:60]
    try:
        encoded = os.fsencode(name)
    except UnicodeEncodeError:
        return ""
    return name if 0 < len(encoded) < 230 and not name.startswith(".") else ""


def rewrite_lines(path: Path, change: Any) -> None:
    """A file of rollouts with `change(line)` in place of each line."""
    _write_lines(path, [change(json.loads(line)) for line in files.lines(path)])


def _write_lines(path: Path, lines: list[Any]) -> None:
    files.write_jsonl_zst(path, map(files.json_line, lines))


def _rollout(number: int, text: str, step: int) -> dict[str, Any]:
    """Text `number` in every place; of step 2 the answer is another one, so that there is a difference to show."""
    task = text if len(text) < 1000 else f"task-{number}"
    answer = text if step == 1 else f"{text}\nand {text[:5000]} again"
    stage = {"passed": False, "seconds": 0.1, "output": text, "truncated": True}
    test = {"id": text, "outcome": "failed", "message": text, "seconds": 0.1}
    completion = {
        "token_ids": [number, number, 10**9, -1], "logprobs": [-0.1, -2.0, -30.0, 0.0],
        "entropies": [0.1, 2.0, 3.0, 0.0], "text": text, "finish_reason": task, "policy_version": step,
    }  # fmt: skip
    events = [
        {"name": text, "asked": text, "result": text, "seconds": 0.1, "bytes": 9},
        text,
        {"name": [text]},
    ]
    return {
        "task_id": task, "index": 0, "seed": 2**62, "prompt": text, "answer": answer,
        "turns": [
            {"prompt_ids": [number], "completion": completion, "events": events, "reward": 0.5,
             "verdict": {"outcome": text, "detail": text, "tests": [text]}}
            for _ in range(2)
        ],
        "stop_reason": text, "left_out": "loss",
        "verdict": {
            "outcome": "failed" if step == 1 else task, "detail": text, "output": text, "seconds": 0.1,
            "cpu_seconds": 0.1, "peak_bytes": 10, "stages": [{"name": n, **stage} for n in (task, "build")],
            "tests": [test, {**test, "outcome": task}],
        },
        "scores": [{"name": task, "value": 0.5, "weight": 1.0}], "reward": 0.5 * step, "advantage": -0.1,
        "flags": [task], "topic": text,
    }  # fmt: skip


def _write_evaluation(
    folder: Path, name: str, lines: list[dict[str, Any]], numbers: Sequence[str] = tuple(SHORT.values())
) -> None:
    shares = {text: 0.5 for text in numbers}
    result = {
        **shares, "pass@1": 0.5, "intervals": {text: [0.1, 0.9] for text in numbers}, "confidence": 0.95,
        "topics": {text: {**shares, "tasks": 1} for text in numbers[::12]}, "outcomes": dict(shares),
        "tasks": 3, "samples": 1, "unscored_tasks": shares, "label": "<b>x</b>",
        "per_task": [{"task_id": line["task_id"]} for line in lines],
    }  # fmt: skip
    (folder / "evaluation" / f"{name}.json").write_bytes(files.json_line(result))
    _write_lines(folder / "evaluation" / f"{name}.jsonl.zst", lines)


def _write_settings(folder: Path) -> None:
    """Recipe, versions, metrics, summary: texts as keys and as values."""
    both: Mapping[str, Any] = {text: text for text in SHORT.values()}
    numbers = {text: 0.25 for text in SHORT.values()}
    recipe = yaml.safe_load((folder / "recipe.yaml").read_bytes())
    usual = [text for text in both if not _surrogates(text)]  # YAML has no surrogates
    recipe |= {"hostile": {text: text for text in usual}, "list": [{"name": text} for text in usual]}
    (folder / "recipe.yaml").write_text(_yaml(recipe), encoding="utf-8")
    versions = {
        "strop": SHORT["script"],
        "git": {"commit": SHORT["base"], "dirty": True},
        "packages": both,
        **both,
    }
    (folder / "versions.json").write_bytes(files.json_line(versions))
    lines = [
        {**both, "step": step, "reward": step / 2, "rewards": numbers, "stages": numbers, "more": both,
         "held_out": {**numbers, "intervals": both}, "seconds": 1.0, "sample": CORPUS["nested"]}
        for step in (1, 2)
    ]  # fmt: skip
    (folder / "metrics.jsonl").write_bytes(b"".join(map(files.json_line, lines)))
    audit = {"answers": 9, "flagged": 3, "kinds": {text: 1 for text in both},
             "flagged_answers": [[text, 0] for text in both]}  # fmt: skip
    paired = {text: {"delta": 0.1, "low": -0.1, "high": 0.3} for text in both}
    summary = {
        **both, "name": SHORT["script"], "steps": 2, "wall_seconds": 9.0, "time_split": numbers, "hack_audit": audit,
        "evaluation": {**both, "paired": paired, "paired_after_warm_start": paired,
                       "extra": {text: {"paired": paired} for text in list(both)[::12]}},
    }  # fmt: skip
    (folder / "summary.json").write_bytes(files.json_line(summary))


def _surrogates(text: str) -> bool:
    return any(unicodedata.category(character) == "Cs" for character in text)


def _yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, allow_unicode=False, sort_keys=False))
