"""The view of a run in progress: live on a terminal, else one plain line per step.

Metrics have the names of metrics.jsonl (docs/formats.md), all optional but `step`; `sample` is an answer to look at.
Everything printed goes through `printable`, so model output cannot move the cursor.
"""

import sys
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from typing import IO, Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from strop.reports.terminal.consoles import console, draws, moves
from strop_verify.core.text import printable

_BARS = "▁▂▃▄▅▆▇█"
_SAMPLE_LINES = 12
PLAIN_SECONDS = 30.0
"""Seconds between lines about a long activity without a terminal."""
_PARTS = ("sampling", "starting", "tools", "verifying", "rewards", "update")
_ELSE = ("starting", "tools", "rewards")
"""Activities that are shown if they take any time."""
_IDLE = ("sampler_idle", "update_idle")
"""Activities that are shown if a step is played during the update."""


class LiveView:
    """Shows a run's progress. A context manager; plain if `file` is not a terminal, a dumb one, or `plain` is true.

    `window` is the number of steps in the rolling means and in the estimate of the time left.
    """

    def __init__(
        self,
        total_steps: int,
        *,
        plain: bool | None = None,
        file: IO[str] | None = None,
        window: int = 10,
        title: str = "",
    ) -> None:
        self._file = file or sys.stdout
        self._console = console(self._file)
        self.plain = plain or not moves(self._console)
        self._total = total_steps
        self._title = title
        self._recent: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=window))
        self._passes: deque[float] = deque(maxlen=48)
        self._metrics: dict[str, Any] = {}
        self._evaluated: tuple[int, Mapping[str, Any]] = (0, {})
        self._doing = ("", 0, 0)
        self._since = self._said = self._last = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> "LiveView":
        if not self.plain:
            self._live = Live(self._render(), console=self._console, refresh_per_second=4)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._doing = ("", 0, 0)
            self._live.update(self._render())
            self._live.stop()
            self._live = None

    def update(self, metrics: Mapping[str, Any]) -> None:
        """Shows a finished step. `steps` in its metrics is their planned number."""
        now = time.monotonic()
        self._total = int(metrics.get("steps", self._total))
        scores = {f"rewards/{name}": value for name, value in (metrics.get("rewards") or {}).items()}
        self._metrics = {"seconds": now - self._last, **metrics, **scores}
        self._last = now
        for name, value in self._metrics.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                self._recent[name].append(float(value))
        if metrics.get("held_out"):
            self._evaluated = int(metrics["step"]), metrics["held_out"]
        if metrics.get("pass_rate") is not None:
            self._passes.append(float(metrics["pass_rate"]))
        self._doing = ("", 0, 0)
        if self._live is not None:
            self._live.update(self._render())
        else:
            self._write("  ".join(self._parts()))

    def note(self, text: str) -> None:
        """Prints a permanent line above the live view."""
        if self._live is not None:
            self._live.console.print(Text(printable(text)))
        else:
            self._write(printable(text))

    def status(self, what: str, done: int = 0, total: int = 0) -> None:
        """Shows the current activity, its progress and the time left: a bar on a terminal, elsewhere an occasional line
        if it takes long.
        """
        now = time.monotonic()
        if done <= 1 or not what:
            self._since = self._said = now
        self._doing = (printable(what), done, total)
        if self._live is not None:
            self._live.update(self._render())
        elif total and done < total and now - self._said > PLAIN_SECONDS:
            self._said = now
            self._write(f"{printable(what)} {self._done()}")

    def _done(self) -> str:
        """Progress, such as "120 of 400, 1:20 left"."""
        _, done, total = self._doing
        spent = time.monotonic() - self._since
        left = f", {clock(spent / (done - 1) * (total - done))} left" if done > 1 and spent > 1 else ""
        return f"{done} of {total}{left}"

    def _write(self, line: str) -> None:
        self._file.write(line + "\n")
        self._file.flush()

    def _parts(self) -> Iterator[str]:
        metrics, split = self._metrics, " ".join(self._split())
        yield f"step {metrics.get('step', 0)}/{self._total}"
        for name in self._names():
            yield f"{printable(name.removeprefix('rewards/'))} {self._with_mean(name)}"
        if "pass_rate" in metrics:
            yield f"pass rate {_percent(metrics['pass_rate'])}"
        yield from (f"{name} {shown}" for name, shown in self._counts("/", "").items())
        if metrics.get("held_out"):
            yield f"held-out {self._held_out()}"
        yield f"{metrics.get('seconds', 0.0):.1f} s" + (f" ({split})" if split else "")
        yield f"left {self._left()}"

    def _counts(self, of: str, unit: str) -> dict[str, str]:
        metrics, shown = self._metrics, {}
        if metrics.get("error_rate"):
            shown["errors"] = _percent(metrics["error_rate"])
        if "completion_tokens" in metrics:
            shown["tokens"] = f"{metrics['completion_tokens']:.1f}"
        if "groups_played" in metrics:
            shown["signal"] = f"{metrics.get('groups_with_signal', '?')}{of}{metrics['groups_played']}{unit}"
        return shown

    def _render(self) -> Group:
        metrics = self._metrics
        head = Text(self._title and f"{printable(self._title)}  ", style="bold")
        head.append(f"step {metrics.get('step', 0)}/{self._total}")
        head.append(f"  left {self._left()}", style="dim")
        what, done, total = self._doing
        if what and not total:
            head.append(f"  {what}", style="cyan")
        parts: list[RenderableType] = [head]
        if what and total:
            bar = Table.grid(padding=(0, 1))
            shown = ProgressBar(total, done, width=24) if draws(self._console) else ""
            bar.add_row(Text(what, style="cyan"), shown, Text(self._done(), style="cyan"))
            parts.append(bar)
        if not metrics:
            return Group(*parts)
        rows = [(printable(name.removeprefix("rewards/")), self._with_mean(name)) for name in self._names()]
        if "pass_rate" in metrics:
            bars = _bars(self._passes, self._console.width - 24) if draws(self._console) else ""
            rows.append(("pass rate", f"{_percent(metrics['pass_rate'])}  {bars}".rstrip()))
        rows += [("held-out", self._held_out()), *self._counts(" of ", " groups").items()]
        rows.append(("seconds", "  ".join([f"{metrics.get('seconds', 0.0):.1f}", *self._split()])))
        table = Table.grid(padding=(0, 2))
        for name, shown in rows:
            if shown:
                table.add_row(Text(name), Text(shown))
        sample = printable(str(metrics.get("sample", ""))).splitlines()[:_SAMPLE_LINES]
        return Group(*parts, table, *(Text(f"  | {line}", style="dim", no_wrap=True) for line in sample))

    def _names(self) -> list[str]:
        """Names of the numbers to show: the reward, then its parts; a single part would only repeat it."""
        parts = sorted(name for name in self._metrics if name.startswith("rewards/"))
        return (["reward"] if "reward" in self._metrics else []) + (parts if len(parts) > 1 else [])

    def _held_out(self) -> str:
        """The newest evaluation, shown until the next one."""
        step, numbers = self._evaluated
        shown = [f"{key} {numbers[key]:.3f}" for key in ("pass@1", "greedy") if numbers.get(key) is not None]
        return f"{', '.join(shown)} (step {step})" if shown else ""

    def _with_mean(self, name: str) -> str:
        value = self._metrics[name]
        if value is None:
            return "-"
        recent = self._recent[name]
        return f"{value:.3f} (mean {sum(recent) / len(recent):.3f})"

    def _split(self) -> list[str]:
        names = _PARTS + (_IDLE if "staleness" in self._metrics else ())
        parts = ((part, self._metrics.get(f"seconds_{part}")) for part in names)
        return [
            f"{part.replace('_', ' ')} {float(seconds):.1f}"
            for part, seconds in parts
            if seconds is not None and (seconds >= 0.05 or part not in _ELSE)
        ]

    def _left(self) -> str:
        """Estimated time to the end, evaluations included, from the rolling mean of a step's seconds."""
        recent = self._recent.get("seconds")
        if not recent:
            return "?"
        steps = max(0, self._total - int(self._metrics.get("step", 0)))
        return clock(steps * sum(recent) / len(recent) + float(self._metrics.get("seconds_to_come") or 0))


def clock(seconds: float) -> str:
    """A duration, such as 0:07, 12:30 or 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _bars(shares: deque[float], most: int) -> str:
    newest = list(shares)[-most:] if most > 0 else []
    return "".join(_BARS[min(len(_BARS) - 1, int(max(0.0, s) * len(_BARS)))] for s in newest)
