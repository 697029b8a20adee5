"""One play in the terminal, turn by turn, live or recorded.

Every text goes through `printable`. Without a terminal a heading is a line, on one it is a rule.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from strop.reports.terminal.consoles import draws
from strop.reports.terminal.rollouts import (
    EVENT_WIDTH,
    OUTPUT_LINES,
    block,
    code,
    number,
    one_line,
    scores,
    stop,
    turn_result,
    verdict,
)
from strop_verify.core.text import printable

SAID_LINES = 60
"""Maximum lines shown of a message from policy or environment, unless full."""
_REASONS = {"stop": "met a stop string", "eos": "ended by itself", "length": "cut at the token limit"}


class PlayView:
    """Prints the parts of a play in order, as they arrive.

    full  shows all of every text
    """

    def __init__(self, out: Console, *, full: bool = False) -> None:
        self._out, self._full = out, full
        self._turns, self._named, self._opened = 0, False, False
        self._results: list[str] = []

    def head(self, task_id: str, played: Mapping[str, Any]) -> None:
        """Prints the task, and if known environment and model."""
        self._named = True
        parts = [
            f"task {task_id}",
            *(f"{key} {played[key]}" for key in ("environment", "model") if key in played),
        ]
        self._print([Text(printable(", ".join(parts)), style="bold")])

    def opening(self, text: str) -> None:
        """Prints the first prompt."""
        self._opened = True
        self._heading("prompt")
        self._text(text, SAID_LINES)

    def given(self, text: str) -> None:
        """Prints the environment's message after a turn, without repeating results that were just shown."""
        self._heading("the environment says")
        for result in () if self._full else self._results:
            text = text.replace(result, "(the result above)")
        self._results = []
        self._text(text, SAID_LINES)

    def completion(self, completion: Mapping[str, Any], seconds: float | None = None) -> None:
        """Prints the policy's completion; `seconds` is its time, if known."""
        self._turns += 1
        self._heading(f"turn {self._turns}")
        self._text(str(completion["text"]), SAID_LINES)
        reason = str(completion["finish_reason"])
        facts = [f"{len(completion['token_ids'])} tokens", _REASONS.get(reason, reason)]
        self._print([_dim(", ".join(facts + ([f"{seconds:.2f} s"] if seconds is not None else [])))])

    def event(self, event: Mapping[str, Any], said: str = "") -> None:
        """Prints the effects after a turn and their results; `said` is the turn's text."""
        asked, result = str(event["asked"]), str(event["result"])
        head = Text("-> ", style="cyan").append(one_line(str(event["name"])), style="cyan")
        fits = len(asked) <= EVENT_WIDTH and "\n" not in asked.strip()
        if fits and asked.strip() not in said:
            head.append(f"  {printable(asked.strip())}")
        if isinstance(event.get("seconds"), int | float):
            head.append(f"  {event['seconds']:.2f} s", style="dim")
        self._print([head])
        if not fits and asked.strip() not in said:
            self._text(asked, OUTPUT_LINES)
        result = result.strip("\n").removesuffix(": ")  # a verdict without a cause
        fits = len(result) <= EVENT_WIDTH and "\n" not in result
        self._results += [result] if "\n" in result else []
        self._print([Text("<- ", style="cyan").append(printable(result) if fits else "")])
        self._text("" if fits else result, OUTPUT_LINES)

    def judged(self, verdict: Mapping[str, Any]) -> None:
        """Prints the verdict on the turn (`page.rollout_data.short_verdict`)."""
        self._print(turn_result({"verdict": verdict}))

    def end(self, detail: Mapping[str, Any], tokens: Sequence[int], times: Mapping[str, float]) -> None:
        """Prints answer, verdict, scores and why it ended.

        tokens  of the first prompt, sampled, and from the environment;  times  {activity: seconds}
        """
        self._heading("end")
        if detail["answer"]:
            self._print([_dim("answer"), code(str(detail["answer"]), str(detail["language"]))])
        self._print(verdict(detail["verdict"], self._full))
        self._print([scores(detail)])
        if any("reward" in turn for turn in detail["turns"]):
            rewards = ", ".join(number(turn.get("reward")) for turn in detail["turns"])
            self._print([_fact("turns", f"reward {rewards}")])
        if detail["stop_reason"] == "answered" and not detail["carries"]:
            self._print([_fact("stop", "answered")])
        self._print(stop(detail))
        prompt, sampled, environment = tokens
        self._print(
            [_fact("tokens", f"{prompt} prompt, {sampled} sampled, {environment} from the environment")]
        )
        if times:
            parts = (f"{name} {seconds:.2f} s" for name, seconds in times.items())
            self._print([_fact("time", ", ".join(parts))])

    def show(self, detail: Mapping[str, Any], rollout: Mapping[str, Any], played: Mapping[str, Any]) -> None:
        """Prints the parts of a recorded play that were not shown yet.

        detail   of `page.rollout_data.detail_of`;  rollout  the line that it was made from
        played   facts that only the player knows: `seconds` of each completion, what was `said` before it, and `times`
                 by activity
        """
        if not self._named:
            self.head(str(rollout["task_id"]), played)
        if not self._opened:
            self.opening(str(detail["prompt"]))
        seconds, said = played.get("seconds") or [], played.get("said") or []
        for at, (turn, whole) in enumerate(zip(detail["turns"], rollout["turns"], strict=True)):
            if at < self._turns:
                continue
            if at:
                self.given(str(said[at] if at < len(said) else turn["given"]))
            self.completion(whole["completion"], seconds[at] if at < len(seconds) else None)
            for event in turn.get("events", ()):
                self.event(event, str(turn["text"]))
            if "verdict" in turn:
                self.judged(turn["verdict"])
        turns = rollout["turns"]
        given = [len(turn["prompt_ids"]) for turn in turns] or [0]
        sampled = sum(len(turn["completion"]["token_ids"]) for turn in turns)
        times = played.get("times") or _times(detail)
        self.end(detail, (given[0], sampled, sum(given[1:])), times)

    def _heading(self, text: str) -> None:
        if self._out.is_terminal:
            characters = "─" if draws(self._out) else "-"
            self._out.print(Rule(Text(text, style="bold"), align="left", characters=characters, style="dim"))
        else:
            self._out.print(Text(f"== {text}"))

    def _text(self, text: str, most: int) -> None:
        """Prints an indented text, cut to `most` lines unless full; wrapped lines are indented too."""
        for part in block("", text, most, self._full):
            if self._out.is_terminal and isinstance(part, Text):
                part = Padding(
                    Text(re.sub("^ {4}", "", part.plain, flags=re.M), style=part.style), (0, 0, 0, 4)
                )
            self._print([part])

    def _print(self, parts: Iterator[RenderableType] | Sequence[RenderableType]) -> None:
        for part in parts:
            self._out.print(part)
        self._out.file.flush()  # each part as it arrives, also through a pipe


def _times(detail: Mapping[str, Any]) -> dict[str, float]:
    """Recorded times of a play: tools and grader."""
    found = {}
    events = [e.get("seconds") for turn in detail["turns"] for e in turn.get("events", ())]
    if known := [seconds for seconds in events if isinstance(seconds, int | float)]:
        found["tools"] = float(sum(known))
    graded = (detail["verdict"] or {}).get("seconds")
    return found | ({"grading": float(graded)} if isinstance(graded, int | float) else {})


def _fact(name: str, text: str) -> Text:
    return Text().append(f"{name:<9}", style="dim").append(printable(text))


def _dim(text: str) -> Text:
    return Text(printable(text), style="dim")
