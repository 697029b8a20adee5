"""Time to the first token of a suggestion while a line is typed in a real file, key by key.

    python benchmarks/first_token.py [--model smollm2-135m] [--keys 40] [--context 1024] [--behind N] [--file FILE]
        [--json FILE] [KEY=VALUE ...]

The line is the longest in the middle third of the file (by default `textwrap.py` of the standard library). It is
removed and typed again, with a request after each key. Three prompts:

    end     only the text before the cursor, as at the end of a file
    middle  also the text after the cursor, in fill-in-the-middle markers, if the model has them
    window  the newest edits and the lines around the cursor, as for a `next-edit` run

`p50_ms`, `p95_ms`: from the request to its first token, greedy, with the last prompt's cache; `cpu_p50_ms`: the CPU
time of all threads. `computed`: mean number of prompt tokens computed. `cold_p50_ms`: every fourth request again,
without the cache. `same_tokens`, `largest_gap`: whether both chose the same token, and the largest difference of its
log-probabilities. KEY=VALUE are settings of a recipe, such as model.dtype=bfloat16.
"""

import argparse
import json
import os
import statistics
import textwrap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rapidfuzz.distance import Prefix

from strop.cli.models import read_models, recipes_of
from strop.policies.open import open_policy
from strop.serve.edit_model import EditModel, Suggested
from strop.serve.edit_prompt import EditState, FimPrompt, SuggestionPrompt, WindowPrompt
from strop.serve.edit_server import EditHistory
from strop_verify.core.rollout import SamplingParams

GREEDY = SamplingParams(temperature=0.0, max_tokens=1)
AGAIN = 4
"""One request in this many is repeated without the cache."""


def typed(text: str, keys: int, *, behind: bool) -> Iterator[EditState]:
    """The editor's states while a line of a text is typed. `behind`: whether the lines after it are included."""
    lines = text.split("\n")
    third = len(lines) // 3
    at = max(range(third, 2 * third), key=lambda number: len(lines[number]))
    before, after = "\n".join([*lines[:at], ""]), "\n".join(["", *lines[at + 1 :]]) if behind else ""
    indent = len(lines[at]) - len(lines[at].lstrip())
    history = EditHistory()
    history.opened("file", before + after)
    for end in range(indent, min(indent + keys, len(lines[at])) + 1):
        now = before + lines[at][:end]
        history.changed("file", now + after)
        yield EditState(now + after, len(now), "textwrap.py", history.newest(lambda uri: "textwrap.py"))


def asked(edits: EditModel, state: EditState) -> tuple[float, float, Suggested]:
    """(milliseconds to the first token, milliseconds of this process's CPU time, the answer)."""
    began, computed = time.perf_counter(), time.process_time()
    made = edits.suggest(state, GREEDY).result(600)
    return 1000 * (time.perf_counter() - began), 1000 * (time.process_time() - computed), made


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)


def measured(policy: Any, prompt: SuggestionPrompt, states: Sequence[EditState]) -> dict[str, Any]:
    """One prompt's numbers."""
    edits = EditModel(policy, GREEDY, prompt)
    took, busy, computed, cold, gaps, same = [], [], [], [], [], []
    last: Sequence[int] = asked(edits, states[0])[2].prompt
    for number, state in enumerate(states[1:]):
        ms, cpu, made = asked(edits, state)
        took.append(ms)
        busy.append(cpu)
        computed.append(len(made.prompt) - Prefix.similarity(last, made.prompt))
        last = made.prompt
        if number % AGAIN == 0:
            edits._plays.clear()
            ms, _, fresh = asked(edits, state)
            cold.append(ms)
            same.append(fresh.completion.token_ids == made.completion.token_ids)
            gaps.append(abs(fresh.completion.logprobs[0] - made.completion.logprobs[0]))
    return {
        "prompt_tokens": len(last),
        "computed": round(statistics.mean(computed), 1),
        "p50_ms": percentile(took, 0.5),
        "p95_ms": percentile(took, 0.95),
        "cpu_p50_ms": percentile(busy, 0.5),
        "cold_p50_ms": percentile(cold, 0.5),
        "same_tokens": all(same),
        "largest_gap": float(f"{max(gaps):.1g}"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--keys", type=int, default=40)
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--behind", type=int, help="tokens of the text behind the cursor; default: 64")
    parser.add_argument("--file", type=Path, default=Path(textwrap.__file__))
    parser.add_argument("--json", type=Path)
    parser.add_argument("settings", nargs="*", metavar="KEY=VALUE")
    options = parser.parse_args()
    models = read_models([options.model], "transformers", None)
    (recipe,) = recipes_of(models, [], options.settings).values()
    policy: Any = open_policy(recipe)
    text, fim = options.file.read_text(), FimPrompt(policy.tokenizer, options.context, options.behind)
    found: dict[str, Any] = {"model": options.model, "cpus": len(os.sched_getaffinity(0))}
    prompts: dict[str, tuple[SuggestionPrompt, bool]] = {"end": (fim, False)}
    if not fim.note:
        prompts["middle"] = fim, True
    prompts["window"] = WindowPrompt(policy.tokenizer), True
    for name, (prompt, behind) in prompts.items():
        found[name] = measured(policy, prompt, list(typed(text, options.keys, behind=behind)))
        print(name, json.dumps(found[name]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
