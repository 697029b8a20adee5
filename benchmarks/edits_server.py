"""How long a suggestion of `strop serve-edits` takes over HTTP, how soon a cancelled one frees the model, and whether
the log has all of them, once.

    python benchmarks/edits_server.py [--model smollm2-135m] [--requests 20] [--cancels 10] [--json FILE]

`p50_ms`, `p95_ms`: suggestions of 32 tokens behind 1,000; those that the model ends sooner are left out. `cancel_ms`:
the longest time from a newer request, which comes while a prompt is computed or tokens are sampled, until the model
begins it. `events_lost`: answered requests whose suggestion the log lacks, or does not say the end of.
"""

import argparse
import json
import random
import signal
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from strop.cli.models import read_models, recipes_of
from strop.core.edit_events import read_events, read_suggestions
from strop.core.protocols import Request
from strop.core.rollout import Completion, SamplingParams
from strop.policies.open import open_policy
from strop.serve import edit_server
from strop.serve.edit_events import EditEventLog
from strop.serve.edit_http import EditHttp
from strop.serve.edit_model import EditModel
from strop.serve.edit_prompt import EditState, FimPrompt

CONTEXT, TOKENS = 1000, 32


class Noting:
    """A policy that notes when it is given a request."""

    def __init__(self, policy: Any) -> None:
        self._policy, self.tokenizer, self.begun = policy, policy.tokenizer, list[float]()

    def submit(self, request: Request) -> Future[Completion]:
        """Notes the time."""
        self.begun.append(time.perf_counter())
        return self._policy.submit(request)

    def work(self, seconds: float) -> None:
        """As the policy does."""
        self._policy.work(seconds)


def program(seed: int) -> str:
    """A file of more than CONTEXT tokens that ends inside a function."""
    draw = random.Random(seed)
    functions = (
        f"def f{n}(a, b):\n    total = a * {draw.randrange(99)}\n    return total + b\n\n\n"
        for n in range(120)
    )
    return "".join(functions) + f"def last{seed}(items):\n    "


def state(seed: int) -> EditState:
    """The same, with the cursor at its end."""
    text = program(seed)
    return EditState(text, len(text))


def ask(client: httpx.Client, seed: int, tokens: int = TOKENS) -> tuple[str, int, float]:
    """(id, tokens, milliseconds) of one suggestion; "" where another took its place."""
    began = time.perf_counter()
    body = {"prompt": program(seed), "max_tokens": tokens}
    answer = client.post("/v1/completions", json=body)
    took = 1000 * (time.perf_counter() - began)
    if answer.status_code == 409:
        return "", 0, took
    said = answer.raise_for_status().json()
    return said["id"].removeprefix("cmpl-"), said["usage"]["completion_tokens"], took


def cancelled(model: EditModel, noting: Noting, cancels: int) -> list[float]:
    """Milliseconds from a newer request until the model begins it, at moments spread over an answer."""
    began = time.perf_counter()
    model.suggest(state(0)).result()
    whole, times = time.perf_counter() - began, []
    for number in range(cancels):
        older = model.suggest(state(number))
        time.sleep(whole * (number + 0.5) / cancels)
        if older.done():
            continue
        asked, before = time.perf_counter(), len(noting.begun)
        newer = model.suggest(EditState("x", 1), SamplingParams(max_tokens=1))
        newer.result()
        times.append(1000 * (noting.begun[before] - asked))
    return times


def measured(model: str, requests: int, cancels: int, folder: Path) -> dict[str, Any]:
    (recipe,) = recipes_of(read_models([model], "transformers", None), [], []).values()
    noting = Noting(open_policy(recipe))
    log = EditEventLog(folder, checkpoint="benchmark")
    prompt = FimPrompt(noting.tokenizer, CONTEXT)
    edits = EditModel(noting, SamplingParams(max_tokens=TOKENS), prompt)  # type: ignore[arg-type]
    socket = edit_server.listen(0)
    client = httpx.Client(base_url=f"http://127.0.0.1:{socket.getsockname()[1]}", timeout=600)
    found: dict[str, Any] = {"model": model, "context": CONTEXT, "tokens": TOKENS}
    answered: list[str] = []

    def session() -> None:
        ask(client, 0)
        first = [ask(client, seed) for seed in range(1, requests + 1)]
        whole = sorted(took for _, tokens, took in first if tokens == TOKENS)
        found["answers"] = len(whole)
        if whole:
            found["p50_ms"] = round(statistics.median(whole), 1)
            found["p95_ms"] = round(whole[min(len(whole) - 1, int(0.95 * len(whole)))], 1)
        crowd: list[tuple[str, int, float]] = []
        threads = [
            threading.Thread(target=lambda n=n: crowd.append(ask(client, n, 2))) for n in range(requests)
        ]
        for each in (*threads,):
            each.start()
            time.sleep(0.05)
        for each in threads:
            each.join()
        answered.extend(id for id, _, _ in (*first, *crowd) if id)
        found["replaced"] = sum(not id for id, _, _ in crowd)
        times = cancelled(edits, noting, cancels)
        found["cancel_ms"] = round(max(times), 1) if times else None
        found["cancel_p50_ms"] = round(statistics.median(times), 1) if times else None

    run_beside(session, lambda: edit_server.serve(
        edits, log, EditHttp(edits, log, name=model), sockets=[socket], lsp=False
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
    parser.add_argument("--requests", type=int, default=20)
    parser.add_argument("--cancels", type=int, default=10)
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
