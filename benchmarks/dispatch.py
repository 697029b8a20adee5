"""Plays of several turns with slow tools: the dispatcher compared with rounds in lock-step, with the same policy and
tools.

    python benchmarks/dispatch.py [--json FILE] [--plays 64] [--turns 4] [--rounds 3]

The policy is scripted: every completion takes `STEPS` steps of `STEP_SECONDS`, however many run concurrently, as in
batched decoding. Every turn but the last calls a tool, a process that sleeps for .05 s or, in one call of forty, 1.5 s,
drawn by task and turn, so that all modes wait for the same tools. Written and printed, medians over the rounds:

    seconds                   wall time of each mode: lockstep, as-ready, deterministic
    speedup_vs_lockstep       lockstep / as-ready; the same for the order `deterministic`
    idle_share                share of as-ready's time without a completion in progress; the same for lockstep
    lost, doubled             plays that were started but not returned, and plays that were returned twice
    orphans                   tools that still ran at the end, also after a run that was abandoned midway
"""

import argparse
import json
import os
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from strop.policies.scripted import ScriptedPolicy
from strop.rollouts.admission import Order
from strop.rollouts.dispatcher import Dispatcher
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.ids import unit_interval
from strop_verify.core.play import Do, Done, Next, Opening, Say, Verify
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import Completion, Message, SamplingParams
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

STEPS, STEP_SECONDS = 10, 0.005
USUAL, SLOW, ONE_IN = 0.05, 1.5, 40


class Stepped(ScriptedPolicy):
    """Answers after `STEPS` steps; a step takes equally long for one completion and for many."""

    def __init__(self) -> None:
        super().__init__(lambda prompt, seed, index: f"call {seed}")
        self._left: dict[Future[Completion], tuple[int, Future[Completion]]] = {}
        self.busy = 0.0
        """Seconds with a completion in progress."""

    def submit(self, request: Request) -> Future[Completion]:
        """See `core.protocols.Policy`."""
        future: Future[Completion] = Future()
        self._left[future] = (STEPS, super().submit(request))
        return future

    def work(self, seconds: float) -> None:
        """One step."""
        if not self._left:
            return
        time.sleep(STEP_SECONDS)
        self.busy += STEP_SECONDS
        for future, (left, made) in list(self._left.items()):
            if left > 1 and not future.cancelled():
                self._left[future] = (left - 1, made)
                continue
            del self._left[future]
            if not future.cancelled():
                future.set_result(made.result())


class Tools:
    """A verifier whose verdict is a process that sleeps."""

    def __init__(self, plays: int) -> None:
        self._pool = ThreadPoolExecutor(plays)
        self.processes: list[subprocess.Popen[bytes]] = []

    def submit(self, task: Task, answer: str) -> "Future[Verdict]":
        """Starts a tool."""
        return self._pool.submit(self.run, seconds_of(answer))

    def run(self, seconds: float) -> Verdict:
        """The tool, and its end."""
        process = subprocess.Popen(["sleep", str(seconds)])
        self.processes.append(process)
        process.wait()
        return Verdict(outcome=Outcome.FAILED)

    def close(self) -> None:
        """Waits for what runs."""
        self._pool.shutdown(cancel_futures=True)

    def orphans(self) -> int:
        """Tools that still exist."""
        return sum(os.path.exists(f"/proc/{process.pid}") for process in self.processes)


def seconds_of(call: str) -> float:
    """Seconds that a call takes; final answers take none."""
    return (SLOW if unit_interval("tool", call) < 1 / ONE_IN else USUAL) if call else 0.0


class Calls:
    """Calls a tool in every turn but the last."""

    turns = 4

    def __init__(self, task: Task) -> None:
        self._task, self._turn = task, 0

    def begin(self) -> Opening:
        """The task."""
        return Opening(messages=(Message(role="user", content=self._task.statement),))

    def step(self, completion: Completion) -> Next:
        """A tool, or the end."""
        self._turn += 1
        if self._turn == self.turns:
            return Done("")
        return Do(Verify(self._task, f"{self._task.id} {self._turn}"))

    def result(self, effect: Any, result: Verdict) -> Next:
        """The next turn."""
        return Say((Message(role="user", content="go on"),))


def tasks(count: int) -> list[Task]:
    check = CasesCheck(entry_point="f", cases=[Case(args=[1], expected=1)])
    return [Task(id=f"t{number:03}", statement=f"Task {number}.", check=check) for number in range(count)]


def dispatched(count: int, order: Order) -> dict[str, float]:
    policy, tools, began = Stepped(), Tools(count), time.monotonic()
    dispatcher = Dispatcher(policy, tools, Calls, order=order)
    found = Counter(r.task_id for r in dispatcher.play(tasks(count), 1, SamplingParams(), seed=1))
    seconds = time.monotonic() - began
    tools.close()
    return {
        "seconds": seconds,
        "idle": 1 - policy.busy / seconds,
        "lost": count - len(found),
        "doubled": sum(found.values()) - len(found),
        "orphans": tools.orphans(),
    }


def given_up(count: int) -> dict[str, float]:
    """A run whose caller stops after its first rollouts."""
    tools = Tools(count)
    dispatcher = Dispatcher(Stepped(), tools, Calls, order="as-ready")
    plays = dispatcher.play(tasks(count), 1, SamplingParams(), seed=1)
    for _ in range(count // 4):
        next(plays)
    plays.close()  # type: ignore[attr-defined]
    tools.close()
    seen = dispatcher.count
    return {"lost": seen.started - seen.finished - seen.cancelled, "orphans": tools.orphans()}


def lockstep(count: int) -> dict[str, float]:
    """Rounds: all completions of a turn, then all tools of that turn."""
    policy, tools, began = Stepped(), Tools(count), time.monotonic()
    for turn in range(1, Calls.turns + 1):
        asked = [policy.submit(Request([number], number, SamplingParams())) for number in range(count)]
        while not all(future.done() for future in asked):
            policy.work(0)
        if turn < Calls.turns:
            wait([tools.submit(task, f"{task.id} {turn}") for task in tasks(count)])
    seconds = time.monotonic() - began
    tools.close()
    return {"seconds": seconds, "idle": 1 - policy.busy / seconds}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plays", type=int, default=64)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    Calls.turns = args.turns
    ways: dict[str, Callable[[], dict[str, float]]] = {
        "lockstep": lambda: lockstep(args.plays),
        "as-ready": lambda: dispatched(args.plays, "as-ready"),
        "deterministic": lambda: dispatched(args.plays, "deterministic"),
    }
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for _ in range(args.rounds):
        for name, way in ways.items():
            runs[name].append(way())
    runs["given up"] = [given_up(args.plays)]

    def median(name: str, what: str) -> float:
        return round(statistics.median(run[what] for run in runs[name]), 3)

    def total(what: str) -> int:
        return int(sum(run.get(what, 0) for found in runs.values() for run in found))

    found: dict[str, Any] = {
        "seconds": {name: median(name, "seconds") for name in ways},
        "speedup_vs_lockstep": round(median("lockstep", "seconds") / median("as-ready", "seconds"), 2),
        "speedup_deterministic": round(median("lockstep", "seconds") / median("deterministic", "seconds"), 2),
        "idle_share": {name: median(name, "idle") for name in ways},
        "lost": total("lost"),
        "doubled": total("doubled"),
        "orphans": total("orphans"),
    }
    print(json.dumps(found, indent=1))
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
