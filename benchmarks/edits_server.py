"""Measures the latency of suggestions of `strop serve-edits` over HTTP and how soon a cancelled one frees the model,
and checks that the log has each suggestion once.

    python benchmarks/edits_server.py [--model smollm2-135m] [--requests 12] [--cancels 12] [--json FILE]

Suggestions have 32 tokens after prompts of 1,008 to 1,152; those that the model ends earlier are left out.

`p50_ms`, `p95_ms`: each for another file, so nothing of the prompt is cached. `typed_p50_ms`, `typed_p95_ms`: each for
the previous one's file with one more character. `cancel_ms`: the longest time from a newer request, sent while a prompt
is computed or tokens are sampled, until the model begins it. `events_lost`: answered requests whose suggestion, or its
outcome, is missing in the log. `cpus_busy`: mean busy CPUs of the whole machine, other processes included.

On two idle cores, SmolLM2 takes about two minutes. Stages are printed on stderr.
"""

import argparse
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from strop.cli.models import read_models, recipes_of
from strop.policies.open import open_policy
from strop.serve import edit_server
from strop.serve.edit_events import EditEventLog
from strop.serve.edit_http import EditHttp
from strop.serve.edit_model import EditModel
from strop.serve.edit_prompt import EditState, FimPrompt
from strop_verify.core.edit_events import read_events, read_suggestions
from strop_verify.core.listening import listen
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import Completion, SamplingParams

CONTEXT, TOKENS = 1152, 32
_STARTED = time.perf_counter()


class Noting:
    """A policy that records when it gets a request."""

    def __init__(self, policy: Any) -> None:
        self._policy, self.tokenizer, self.begun = policy, policy.tokenizer, list[float]()

    def submit(self, request: Request) -> Future[Completion]:
        """Records the time."""
        self.begun.append(time.perf_counter())
        return self._policy.submit(request)

    def work(self, seconds: float) -> None:
        """Like the policy."""
        self._policy.work(seconds)


class WholePrompt(FimPrompt):
    """Never ends an answer at its line, so that all answers have the same length."""

    def ends(self, state: EditState, answer: str) -> bool:
        """Never."""
        return False


def say(stage: str) -> None:
    """The current stage and the time since the start."""
    print(f"{time.perf_counter() - _STARTED:6.1f} s  {stage}", file=sys.stderr)


def program(seed: int, typed: str = "") -> str:
    """A file of more than CONTEXT tokens that ends inside a function, with some typed text."""
    draw = random.Random(seed)
    functions = (
        f"def f{n}(a, b):\n    total = a * {draw.randrange(99)}\n    return total + b\n\n\n"
        for n in range(120)
    )
    return "".join(functions) + f"def last{seed}(items):\n    {typed}"


def ask(client: httpx.Client, text: str, tokens: int = TOKENS) -> tuple[str, dict[str, int], float]:
    """(id, tokens, milliseconds) of one suggestion; "" if another replaced it."""
    began = time.perf_counter()
    answer = client.post("/v1/completions", json={"prompt": text, "max_tokens": tokens})
    took = 1000 * (time.perf_counter() - began)
    if answer.status_code == 409:
        return "", {}, took
    said = answer.raise_for_status().json()
    return said["id"].removeprefix("cmpl-"), said["usage"], took


def percentiles(name: str, answers: Sequence[tuple[str, dict[str, int], float]]) -> dict[str, Any]:
    """The suggestions of full length."""
    took = sorted(ms for _, usage, ms in answers if usage["completion_tokens"] == TOKENS)
    if not took:
        return {f"{name}answers": 0}
    p95 = took[min(len(took) - 1, int(0.95 * len(took)))]
    return {
        f"{name}answers": len(took),
        f"{name}p50_ms": round(statistics.median(took), 1),
        f"{name}p95_ms": round(p95, 1),
    }


def cancelled(model: EditModel, noting: Noting, cancels: int, whole: float) -> list[float]:
    """Milliseconds from a newer request until the model begins it, at moments spread over an answer of `whole` s."""
    times = []
    for number in range(cancels):
        text = program(10_000 + number)
        older = model.suggest(EditState(text, len(text)))
        time.sleep(whole * (number + 0.5) / cancels)
        if older.done():
            continue
        asked, before = time.perf_counter(), len(noting.begun)
        text += "x"
        newer = model.suggest(EditState(text, len(text)), SamplingParams(max_tokens=1))
        while len(noting.begun) == before:
            time.sleep(0.0005)
        times.append(1000 * (noting.begun[before] - asked))
        newer.cancel()
    return times


def busy() -> float:
    """Seconds that the machine's CPUs have worked."""
    with open("/proc/stat") as file:
        ticks = [int(one) for one in file.readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def measured(model: str, requests: int, cancels: int, folder: Path) -> dict[str, Any]:
    """Runs the whole benchmark."""
    say(f"load {model}")
    (recipe,) = recipes_of(read_models([model], "transformers", None), [], []).values()
    noting = Noting(open_policy(recipe))
    log = EditEventLog(folder, checkpoint="benchmark")
    prompt = WholePrompt(noting.tokenizer, CONTEXT)
    edits = EditModel(noting, SamplingParams(max_tokens=TOKENS), prompt)  # type: ignore[arg-type]
    socket = listen("127.0.0.1", 0)
    client = httpx.Client(base_url=f"http://127.0.0.1:{socket.getsockname()[1]}", timeout=600)
    found: dict[str, Any] = {"model": model, "tokens": TOKENS, "cpus": os.cpu_count()}
    answered: list[str] = []

    def session() -> None:
        began, worked = time.perf_counter(), busy()
        ask(client, program(0))
        say(f"{requests} suggestions, each for another file")
        first = [ask(client, program(seed)) for seed in range(1, requests + 1)]
        prompts = [usage["prompt_tokens"] for _, usage, _ in first]
        found.update(prompt_tokens=round(statistics.mean(prompts)), **percentiles("", first))
        say(f"{requests} suggestions, while one file is typed")
        ask(client, program(0))
        typed = [
            ask(client, program(0, "for item in items: total += item"[:n])) for n in range(1, requests + 1)
        ]
        found.update(percentiles("typed_", typed))
        say(f"{requests} requests, one each 50 ms")
        crowd = []
        with ThreadPoolExecutor(requests) as pool:
            for seed in range(requests):
                crowd.append(pool.submit(ask, client, program(seed), 2))
                time.sleep(0.05)
        ids = [id for id, _, _ in (*first, *typed, *(one.result() for one in crowd))]
        answered.extend(filter(None, ids))
        found["replaced"] = len(ids) - len(answered)
        say(f"{cancels} that are cancelled")
        times = cancelled(edits, noting, cancels, statistics.median(ms for _, _, ms in first) / 1000)
        found["cancel_ms"] = round(max(times), 1) if times else None
        found["cancel_p50_ms"] = round(statistics.median(times), 1) if times else None
        found["cpus_busy"] = round((busy() - worked) / (time.perf_counter() - began), 2)

    run_beside(session, lambda: edit_server.serve(
        edits, log, EditHttp(edits, log, name=model), listening=socket, lsp=False
    ))  # fmt: skip
    events = read_suggestions(read_events(log.path))
    state = {one.served.id: one.state for one in events.suggestions}
    found["events_lost"] = sum(state.get(id, "pending") == "pending" for id in answered)
    found["events_doubled"] = events.doubled + len(answered) - len({*answered})
    return found


def run_beside(session: Callable[[], None], serve: Callable[[], None]) -> None:
    """Serves in this thread until the session, in another, is over."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            session()
        except BaseException as error:
            failed.append(error)
        signal.raise_signal(signal.SIGINT)

    with suppress(KeyboardInterrupt):
        threading.Thread(target=run, daemon=True).start()
        serve()
    if failed:
        raise failed[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--requests", type=int, default=12)
    parser.add_argument("--cancels", type=int, default=12)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(options.model, options.requests, options.cancels, Path(folder))
    text = json.dumps(found, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
