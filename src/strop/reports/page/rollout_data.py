"""Converts a rollout line of a run folder to the forms that the page shows: a short row, and its details.

Works on raw JSON, not on records: a report reads tens of thousands of lines. Every text may be hostile; the page
escapes it. Lines that are not rollouts raise one of `NO_ROLLOUT`.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import zstandard

from strop.reports import shapes
from strop.reports.rollout_files import RolloutFile
from strop.reports.run_folder import VOCABULARY
from strop_verify.core.rollout import EVENT_TEXT

Line = dict[str, Any]

NO_ROLLOUT = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
ROW_TEXT, LABEL = 300, 120
"""Characters of an answer in its row, and of a task's label."""
MOST_TEXT, MOST_TOKENS = 20_000, 2_000
"""Maximum characters of one text, and tokens of one turn, in a detail; cuts are marked."""
WIRE = 1 << 24
"""Larger than any vocabulary: turns with such tokens come from a policy without a vocabulary."""
MOST_EVENTS, EVENT_NAME = 50, 80
"""Maximum events of one turn in a detail (the rest is counted), and characters of an event's name."""
MOST_PIECE = 256
"""Maximum characters of one token's text; only damaged vocabularies have longer ones."""
_CARRIES = {"loss": "no loss", "scores": "no scores and no loss"}
"""{what a rollout is excluded from: text about it}."""
_EPSILON = 1e-9
_FENCE = re.compile(r"```(rust|python|javascript|c|go)\b")
_LANGUAGES = {
    "rust": re.compile(
        r"^\s*(pub(\([a-z]+\))? )?(async |const |unsafe )*fn \w+|^use (std|super)\b|^impl\b", re.M
    ),
    "c": re.compile(r"^#include\b", re.M),
    "python": re.compile(r"^\s*(async )?def \w+\(|^(import|from) \w+|^class \w+.*:$|^print\(", re.M),
    "javascript": re.compile(r"^\s*function \w+\(|^(const|let|var) \w+ =|^\s*console\.", re.M),
}


def numbered(lines: Iterable[Line]) -> Iterator[Line]:
    """Lines of one evaluation, with `greedy`: true for the second line of a task and index.

    A task gets answers 0 to n - 1 and then a greedy one, which has index 0 again.
    """
    seen: set[tuple[Any, Any]] = set()
    for line in lines:
        key = line["task_id"], line["index"]
        line["greedy"] = key in seen
        seen.add(key)
        yield line


def row_of(line: Line, where: RolloutFile) -> dict[str, Any]:
    """The short row of a rollout. Its `text` is the beginning of the answer, without the prompt that it continues."""
    shapes.checked_rollout(line, grouped=where.step is not None)
    verdict, turns = line.get("verdict") or {}, line["turns"]
    greedy = where.step is None and bool(line.get("greedy"))
    index = line["index"]
    group = line.get("group") if where.step is not None else None
    last = turns[-1]["completion"] if turns else {}
    within = f"{line['task_id']}.{'g' if greedy else index}" if where.step is None else f"{group}.{index}"
    return {
        "id": f"{where.name}.{within}",
        "kind": "evaluation" if where.step is None else "train",
        "evaluation": where.evaluation,
        "step": where.step,
        "group": group,
        "index": index,
        "greedy": greedy,
        "task": line["task_id"],
        "reward": _short(line.get("reward")),
        "advantage": _short(line.get("advantage")),
        "outcome": verdict.get("outcome") or "no verdict",
        "stages": {stage["name"]: bool(stage["passed"]) for stage in verdict.get("stages") or ()},
        "flags": list(line.get("flags") or ()),
        "tokens": sum(len(turn["completion"]["token_ids"]) for turn in turns),
        "truncated": last.get("finish_reason") == "length",
        "scores": {score["name"]: _short(score["value"]) for score in line.get("scores") or ()},
        "text": _written(line)[:ROW_TEXT],
    }


def detail_of(
    line: Line,
    where: RolloutFile,
    vocabulary: Sequence[str] = (),
    language: str = "",
    *,
    colours: bool = True,
) -> dict[str, Any]:
    """Everything about one rollout. `colours`: whether to compute the answer's syntax colours now."""
    from strop.reports.page.colours import runs_of

    answer, cut = cut_text(line.get("answer"))
    verdict = line.get("verdict")
    turns = [_turn(turn, number, vocabulary) for number, turn in enumerate(line["turns"])]
    row = row_of(line, where)
    return {
        "id": row["id"],
        "prompt": cut_text(line.get("prompt"))[0],
        "turns": turns,
        "answer": answer,
        "language": language,
        "colours": runs_of(answer, language) if colours else [],
        "verdict": _verdict(verdict) if verdict else None,
        "scores": [
            {
                "name": score["name"],
                "value": _short(score["value"]),
                "weight": _short(score.get("weight", 1.0)),
            }
            for score in line.get("scores") or ()
        ],
        "reward": row["reward"],
        "advantage": row["advantage"],
        "stop_reason": cut_text(line.get("stop_reason") or "answered", EVENT_NAME)[0],
        "carries": _CARRIES.get(str(line.get("left_out") or ""), ""),
        "seed": None if line.get("seed") is None else str(line["seed"]),  # JavaScript rounds large integers
        "left_out": "long texts are cut" if cut else "",
    }


def task_of(line: Line, language: str = "") -> dict[str, str]:
    """A task's label (its name, else its id) and language; `language` if the texts do not show it."""
    prompt, answer = str(line.get("prompt") or ""), str(line.get("answer") or "")
    label = str(line.get("task_name") or line["task_id"])[:LABEL]
    return {"label": label, "language": language_of(prompt, answer, language)}


def language_of(prompt: str, answer: str, otherwise: str = "") -> str:
    """An answer's language, from a fence in the prompt, else guessed from the code."""
    if fences := _FENCE.findall(prompt):
        return str(fences[-1])
    for text in (prompt, answer[:4000]):
        for name, pattern in _LANGUAGES.items():
            if pattern.search(text):
                return name
    return otherwise


def mean_and_signal(rewards: Sequence[float], advantages: Iterable[float | None]) -> tuple[float | None, int]:
    """The mean reward of a group, None without any, and 1 if rewards differ or an advantage is not zero."""
    signal = bool(rewards) and max(rewards) - min(rewards) > _EPSILON
    signal = signal or any(abs(advantage or 0.0) > _EPSILON for advantage in advantages)
    return (sum(rewards) / len(rewards) if rewards else None), int(signal)


def load_vocabulary(folder: Path) -> list[str]:
    """The text of each token id; empty if the run has none or it cannot be read."""
    try:
        with (folder / VOCABULARY).open("rb") as file:
            texts = json.loads(zstandard.ZstdDecompressor().stream_reader(file).read())
    except (OSError, ValueError, zstandard.ZstdError):
        return []
    return [str(text)[:MOST_PIECE] for text in texts] if isinstance(texts, list) else []


def cut_text(text: Any, most: int = MOST_TEXT) -> tuple[str, bool]:
    """The text, cut to `most` characters with a mark, and whether it was."""
    whole = "" if text is None else str(text)
    if len(whole) <= most:
        return whole, False
    return f"{whole[:most]}\n... {len(whole) - most} more characters", True


def _turn(turn: Mapping[str, Any], number: int, vocabulary: Sequence[str]) -> dict[str, Any]:
    completion = turn["completion"]
    ids, logprobs = completion["token_ids"][:MOST_TOKENS], completion["logprobs"]
    wire = max(ids, default=0) >= WIRE
    piece = _wire_piece if wire else lambda i: vocabulary[i] if 0 <= i < len(vocabulary) else f"⟨{i}⟩"
    entropies = completion.get("entropies") or [None] * len(logprobs)
    given = [[piece(i), None, None, 0] for i in turn["prompt_ids"][:MOST_TOKENS]] if number else []
    sampled = [
        [piece(i), _short(logprob, 4), _short(entropy, 3), 1]
        for i, logprob, entropy in zip(ids, logprobs, entropies, strict=False)
    ]
    return {
        "given": cut_text("".join(str(token[0]) for token in given))[0],
        "text": cut_text(completion["text"])[0],
        "finish_reason": str(completion["finish_reason"]),
        "policy_version": _short(completion.get("policy_version", 0)),
        "tokens": given + sampled,
        "tokens_left_out": max(0, len(completion["token_ids"]) - MOST_TOKENS),
        **_events(turn.get("events")),
        **_judged(turn),
    }


def _judged(turn: Mapping[str, Any]) -> dict[str, Any]:
    """The turn's short verdict, reward and advantage, each if it has one."""
    found = {name: value for name in ("reward", "advantage") if (value := _short(turn.get(name))) is not None}
    verdict = turn.get("verdict")
    return {"verdict": short_verdict(verdict), **found} if isinstance(verdict, Mapping) else found


def short_verdict(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """A verdict's outcome, cause, and how many of its tests passed."""
    tests = verdict.get("tests")
    outcomes = [t.get("outcome") for t in tests if isinstance(t, Mapping)] if isinstance(tests, list) else []
    return {
        "outcome": cut_text(verdict.get("outcome"), EVENT_NAME)[0],
        "detail": cut_text(verdict.get("detail"), ROW_TEXT)[0],
        "tests": len(outcomes),
        "passed": outcomes.count("passed"),
    }


def _events(events: Any) -> dict[str, Any]:
    """The effects after a turn: `events`, and `events_left_out` of them; empty without any."""
    found = [event for event in events if isinstance(event, Mapping)] if isinstance(events, list) else []
    if not found:
        return {}
    shown = [
        {
            "name": cut_text(event.get("name"), EVENT_NAME)[0],
            "asked": cut_text(event.get("asked"), EVENT_TEXT)[0],
            "result": cut_text(event.get("result"), EVENT_TEXT)[0],
            **{key: _short(event.get(key), 4) for key in ("seconds", "bytes")},
        }
        for event in found[:MOST_EVENTS]
    ]
    return {"events": shown, "events_left_out": len(found) - len(shown)}


def _wire_piece(token: int) -> str:
    """The text of a token of `WireTokenizer`: up to four bytes after a 1."""
    data = token.to_bytes(8, "big").lstrip(b"\0") if 0 <= token < 1 << 40 else b""
    return data[1:].decode(errors="replace")


def _verdict(verdict: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "outcome": verdict.get("outcome"),
        **{key: _short(verdict.get(key), 4) for key in ("seconds", "cpu_seconds", "peak_bytes")},
        "detail": cut_text(verdict.get("detail"), 1000)[0],
        "output": cut_text(verdict.get("output"))[0],
        "stages": [
            {
                "name": stage["name"],
                "passed": bool(stage["passed"]),
                "seconds": _short(stage.get("seconds"), 4),
                "output": cut_text(stage.get("output"))[0],
                "truncated": bool(stage.get("truncated")),
            }
            for stage in verdict.get("stages") or ()
        ],
        "tests": [
            {
                "id": str(test["id"]),
                "outcome": str(test["outcome"]),
                "message": cut_text(test.get("message"), 1000)[0],
                **{key: cut_text(test[key], 1000)[0] for key in ("given", "expected") if test.get(key)},
                "seconds": _short(test.get("seconds"), 4),
            }
            for test in (verdict.get("tests") or ())[:500]
        ],
    }


def _short(value: Any, digits: int = 6) -> float | int | None:
    """A finite number rounded to `digits`, None for anything else."""
    if not shapes.is_number(value) or not math.isfinite(value):
        return None
    return value if isinstance(value, int) else float(f"{value:.{digits}g}")


def _written(line: Line) -> str:
    answer, prompt = str(line.get("answer") or ""), str(line.get("prompt") or "")
    if prompt and answer.startswith(prompt):
        answer = answer[len(prompt) :]
    if not answer and line["turns"]:
        answer = str(line["turns"][-1]["completion"]["text"])
    return answer.strip("\n")
