"""Renders rollouts for a terminal: the question, the answer, and the verdict.

It uses the details of `rollout_data`. Every text of a model goes through `printable`. Colours are those of the
terminal's own palette; the console decides whether there are any (`consoles`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from strop.reports.page.rollout_data import mean_and_signal
from strop.reports.terminal.consoles import draws, fits
from strop.rollouts.step_metrics import contradiction
from strop_verify.core.rollout import Rollout
from strop_verify.core.text import printable

PROMPT_LINES, OUTPUT_LINES, TESTS = 12, 12, 5
"""Lines of a prompt and an output, and number of failed tests, shown unless full."""
_STYLES = {"passed": "green", "failed": "red", "error": "magenta", "tampered": "bold red", "unjudged": "dim"}
TURNS, TURN_LINES, EVENTS, EVENT_WIDTH = 8, 5, 5, 100
"""Turns of a play, lines of a turn's texts, and events of a turn, shown unless full."""


def headline(row: Mapping[str, Any]) -> Text:
    """One line of a rollout: id, outcome, reward, advantage, tokens, flags."""
    text = Text().append(printable(row["id"]), style="bold")
    text.append(f"  {printable(row['outcome'])}", style=_STYLES.get(row["outcome"], "yellow"))
    text.append(f"  reward {number(row['reward'])}")
    if row["advantage"] is not None:
        text.append(f"  advantage {row['advantage']:+.3f}")
    text.append(f"  {row['tokens']} tokens{', cut off' if row['truncated'] else ''}", style="dim")
    if row["flags"]:
        text.append(f"  flags: {printable(', '.join(map(str, row['flags'])))}", style="bold red")
    return text


def rollout(
    row: Mapping[str, Any], detail: Mapping[str, Any], *, full: bool, doubt: str = ""
) -> Iterator[RenderableType]:
    """A rollout from prompt to scores. `full` shows all of it; `doubt` is its contradiction, if any."""
    yield headline(row)
    if doubt:
        yield Text(f"contradicts itself: {printable(doubt)}", style="bold red")
    answer, prompt = str(detail["answer"]), str(detail["prompt"])
    goes_on = bool(prompt) and answer.startswith(prompt)
    if not goes_on:
        yield from block("prompt", prompt, PROMPT_LINES, full)
    turns = detail["turns"]
    yield from _turns(turns, full, texts=len(turns) > 1 or (full and not answer))
    yield Text("answer (the prompt and its continuation)" if goes_on else "answer", style="dim")
    yield code(answer or (str(turns[-1]["text"]) if turns else ""), str(detail["language"]))
    yield from verdict(detail["verdict"], full)
    yield scores(detail)
    yield from stop(detail)


def stop(detail: Mapping[str, Any]) -> Iterator[Text]:
    """Why a play ended without an answer, and what it does not count for; nothing for an answered one."""
    if detail["stop_reason"] != "answered" or detail["carries"]:
        text = (
            Text().append("stop     ", style="dim").append(printable(detail["stop_reason"]), style="yellow")
        )
        yield text.append(f", carries {detail['carries']}" if detail["carries"] else "")


def _turns(turns: Sequence[Mapping[str, Any]], full: bool, *, texts: bool) -> Iterator[RenderableType]:
    """Each turn's input and completion (only with `texts`), and its effects."""
    left_out = 0 if full else max(0, len(turns) - TURNS)
    most = OUTPUT_LINES if len(turns) == 1 else TURN_LINES
    for number, turn in enumerate(turns, start=1):
        if 1 < number <= 1 + left_out:
            continue
        if left_out and number == 2 + left_out:
            yield Text(f"... {left_out} more turns; --full shows all", style="dim")
        if texts:
            yield from block("given", str(turn["given"]), most, full)
            reason = printable(str(turn["finish_reason"]))
            yield Text(f"turn {number} of {len(turns)} ({reason})", style="dim")
            yield from block("", str(turn["text"]), most, full)
        yield from _events(turn, full)
        yield from turn_result(turn)


def turn_result(turn: Mapping[str, Any]) -> Iterator[Text]:
    """A line with the turn's verdict, reward and advantage; none if it has none of them."""
    parts = []
    if verdict := turn.get("verdict"):
        told = (
            f"{verdict['passed']} of {verdict['tests']} tests passed"
            if verdict["tests"]
            else verdict["detail"]
        )
        parts.append(f"{one_line(verdict['outcome'])}" + (f" ({one_line(told)})" if told else ""))
    parts += [f"{name} {turn[name]:.3f}" for name in ("reward", "advantage") if name in turn]
    if parts:
        yield Text(f"this turn: {', '.join(parts)}", style="dim")


def _events(turn: Mapping[str, Any], full: bool) -> Iterator[RenderableType]:
    """The effects after a turn, one line each; with `full` complete requests and results."""
    events, left_out = turn.get("events", ()), turn.get("events_left_out", 0)
    for event in events if full else events[:EVENTS]:
        head = Text().append(f"event {one_line(event['name'])}", style="cyan")
        if event["seconds"] is not None:
            head.append(f"  {event['seconds']:.2f} s", style="dim")
        if event["bytes"] is not None:
            head.append(f"  {event['bytes']:,} bytes", style="dim")
        yield head
        if full:
            yield from block("asked", event["asked"], OUTPUT_LINES, full)
            yield from block("result", event["result"], OUTPUT_LINES, full)
        else:
            yield Text(f"    {one_line(event['asked'])} -> {one_line(event['result'])}")
    if left_out := left_out + (0 if full else max(0, len(events) - EVENTS)):
        yield Text(f"    ... {left_out} more events", style="dim")


def one_line(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(printable(text).split())
    return line if len(line) <= EVENT_WIDTH else f"{line[:EVENT_WIDTH]}..."


def code(text: str, language: str) -> Text:
    """Source, indented by two columns, with colours on a terminal."""
    safe = printable(text.strip("\n")).expandtabs(4)
    language = "diff" if safe.startswith(("diff --git ", "--- a/")) else language
    coloured = Syntax("", language or "text", theme="ansi_dark", background_color="default").highlight(safe)
    coloured.rstrip()
    return Text("\n").join(Text("  ").append_text(line) for line in coloured.split("\n", allow_blank=True))


def number(value: float | None) -> str:
    """A reward or a score; a dash for "not scored"."""
    return "-" if value is None else f"{value:.3f}"


def verdict(verdict: Mapping[str, Any] | None, full: bool) -> Iterator[RenderableType]:
    """A verdict with its stages, failed tests and output."""
    if verdict is None:
        yield Text("no verdict", style="yellow")
        return
    outcome, seconds = str(verdict["outcome"]), verdict.get("seconds")
    head = Text().append("verdict  ", style="dim")
    head.append(printable(outcome), style=_STYLES.get(outcome, "yellow"))
    if verdict["detail"]:
        head.append(f": {printable(str(verdict['detail']))}")
    if isinstance(seconds, int | float):
        head.append(f"  {seconds:.2f} s", style="dim")
    yield head
    shown: set[str] = set()
    for stage in verdict["stages"]:
        style = "green" if stage["passed"] else "red"
        line = Text().append(f"  {printable(str(stage['name'])):<6} ", style="dim")
        yield line.append("passed" if stage["passed"] else "failed", style=style)
        output = str(stage["output"])
        if output.strip() and output not in shown:
            shown.add(output)
            yield from block("", output, OUTPUT_LINES, full)
    yield from _tests(verdict["tests"], full)
    yield from block("printed", str(verdict["output"]), OUTPUT_LINES, full)


def _tests(tests: list[Mapping[str, Any]], full: bool) -> Iterator[RenderableType]:
    if not tests:
        return
    bad = [test for test in tests if test["outcome"] != "passed"]
    yield Text(f"  {len(tests) - len(bad)} of {len(tests)} tests passed", style="dim")
    ran = [test for test in bad if test["message"] != "not run"]
    shown = tests if full else (ran or bad)[:TESTS]
    for test in shown:
        line = Text().append(f"    {printable(str(test['id']))} ", style="dim")
        line.append(printable(str(test["outcome"])), style=_STYLES.get(str(test["outcome"]), "yellow"))
        yield line.append(f"  {_on_a_line(test['message'])}" if test["message"] else "")
        if "given" in test or "expected" in test:
            told = (
                f"      {_on_a_line(test.get('given', ''))} expected {_on_a_line(test.get('expected', ''))}"
            )
            yield Text(told, style="dim")
    if len(shown) < len(bad) and not full:
        rest = len(bad) - len(shown)
        left = f", {len(bad) - len(ran)} of them not run" if len(bad) - len(ran) > 0 else ""
        yield Text(f"    {rest} more that did not pass{left}", style="dim")


def _on_a_line(text: object) -> str:
    return printable(" ".join(str(text).split()))


def scores(detail: Mapping[str, Any]) -> Text:
    """One line with the scores, the reward and the advantage."""
    text = Text().append("scores   ", style="dim")
    for score in detail["scores"]:
        weight = score.get("weight", 1.0)
        text.append(f"{printable(str(score['name']))} {number(score['value'])}")
        text.append(f" x {weight:g}, " if weight != 1 else ", ", style="dim")
    text.append(f"reward {number(detail['reward'])}")
    if detail["advantage"] is not None:
        text.append(f", advantage {detail['advantage']:+.3f}")
    return text


def block(label: str, text: str, most: int, full: bool) -> Iterator[RenderableType]:
    """A label, and the text indented under it; cut to `most` lines unless `full`. Nothing for an empty text."""
    lines = printable(text.strip("\n")).expandtabs(4).split("\n")
    if not text.strip():
        return
    if label:
        yield Text(label, style="dim")
    left = 0 if full else max(0, len(lines) - most)
    yield Text("\n".join(f"    {line}" for line in lines[: len(lines) - left]))
    if left:
        yield Text(f"    ... {left} more lines", style="dim")


def history(rows: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    """A line for every group, or evaluation, in which a task was played; `rows` in the order of training."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["step"], row["group"], row["evaluation"]), []).append(row)
    for (step, group, evaluation), members in groups.items():
        sampled = [row for row in members if not row["greedy"]]
        rewards = [row["reward"] for row in sampled if row["reward"] is not None]
        mean, signal = mean_and_signal(rewards, (row["advantage"] for row in sampled))
        passed = sum(row["outcome"] == "passed" for row in sampled)
        text = Text(f"  {printable(evaluation) if evaluation else f'step {step}, group {group}':<20}  ")
        judged = sum(row["outcome"] != "unjudged" for row in sampled)
        told = f"{passed} of {judged} passed" if judged or not sampled else f"{len(sampled)} unjudged"
        text.append(told, style="green" if passed else "")
        if mean is not None:
            text.append(f"  mean reward {mean:.3f}")
            text.append("" if signal or evaluation else "  no signal", style="yellow")
        for row in members:
            if row["greedy"]:
                text.append(f"  greedy {printable(row['outcome'])}")
        yield text


def comparison(rows: Sequence[Mapping[str, Any]], out: Console) -> Iterator[RenderableType]:
    """The held-out numbers before and after, with intervals: a table, or lines if it does not fit."""
    sides = [side for side in ("before", "warm", "after") if any(row.get(side) for row in rows)]
    both = {"paired": "difference", "paired_warm": "since warm"}
    differences = {key: head for key, head in both.items() if any(row.get(key) for row in rows)}
    table = new_table(out)
    for head in ("held out", *sides, *differences.values()):
        table.add_column(head, justify="left" if head == "held out" else "right", no_wrap=True)
    lines = []
    for row in rows:
        cells = {side: _interval(row.get(side), "{:.3f}") for side in sides}
        cells |= {head: _interval(row.get(key), "{:+.3f}") for key, head in differences.items()}
        table.add_row(Text(printable(row["key"])), *cells.values())
        lines.append(Text(printable(row["key"]), style="bold"))
        lines += [Text(f"  {head} ").append_text(cell) for head, cell in cells.items()]
    yield from [table] if fits(out, table) else lines


def new_table(out: Console) -> Table:
    """An empty table with borders that the console can draw."""
    return Table(box=box.SIMPLE_HEAD if out.is_terminal and draws(out) else box.ASCII2)


def doubt_of(line: Mapping[str, Any]) -> str:
    """The contradiction in a rollout, "" if there is none or it cannot be read."""
    try:
        return contradiction(
            Rollout.model_validate({k: v for k, v in line.items() if k in Rollout.model_fields})
        )
    except ValueError:
        return ""


def _interval(found: Sequence[float | None] | None, form: str) -> Text:
    if not found or found[0] is None:
        return Text("-", style="dim")
    value, low, high = found
    text = Text(form.format(value))
    if low is None or high is None:
        return text
    return text.append(f" [{form.format(low)}, {form.format(high)}]", style="dim")
