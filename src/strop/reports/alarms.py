"""Alarms: problems in a run's metrics that need attention, during and after training.

Pure functions: the same metrics give the same alarms, so report, live view and resumed run agree. Each alarm is one
line with its numbers. It can fire again once its level has fallen below `CLEAR`; it remains one alarm, with first step,
last step and count. Missing or null metrics raise no alarm, except loss and gradient norm, for which null on disk
means "not finite". docs/report.md lists the alarms. A rule returns the level of a problem at the newest step, 1
at its threshold, and a text; None if the metrics lack it.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, pvariance
from typing import Any

from strop_verify.core.records import Record
from strop_verify.core.registry import Registry

Line = Mapping[str, Any]

ERROR_RATE = 0.02
"""Well below the 5 % at which a run stops by default, so there is time to fix the grader."""
REFUSED = 0.1
"""One answer in ten passes its stages but is refused: too many for an accident, so the policy bypasses the tests or
cannot write them."""
COLLAPSE = 2.0
"""Factor within a few steps; answers of a policy that learns to stop also get shorter, but over tens of steps."""
TRUNCATED = 0.5
"""Above half, most samples cannot pass, and overlong filtering discards most of the update."""
DUPLICATES = 0.8
"""Short easy answers repeat: healthy runs of one-line functions have 0.2 to 0.7."""
NO_SIGNAL = 0.8
"""Four groups in five teach nothing: the tasks are too hard, too easy, or the policy has collapsed to one answer."""
ENTROPY = 5.0
"""Healthy runs keep a half or a third, and lose most right after a warm start; a fifth leaves little to explore."""
HELD_OUT_SHARE = 0.5
"""Held-out gains below this share of the gain in training are flat, if their interval also contains zero."""
SURE = 5.0
"""Standard errors of a difference of means before the reward counts as risen."""
SHORT_RUN = 2.5
"""`SURE` for windows of a few steps, whose noise is less certain."""
SUDDEN = 4.0
"""Standard deviations of a fall within two steps; a hundred checks of pure noise should not fire."""
CLEAR = 0.75
"""Level below which an alarm clears; thresholds are at 1."""

SHORT, LONG, BEFORE, QUIET = 3, 5, 20, 10
"""Numbers of steps: for sudden and for slow measures, for the sudden ones' baseline, and without disagreement until
that alarm clears."""
_HUGE, _SMALL = 1e100, 1e-9
REWARD, FEWEST = 10, 8
"""Steps at each end of the reward, and their minimum, below which the noise is unknown."""


@dataclass
class History:
    """Input of the rules: the first lines, the last ones, and (key -> value, half width) of held-out results."""

    first: list[Line] = field(default_factory=list)
    recent: deque[Line] = field(default_factory=lambda: deque(maxlen=BEFORE + SHORT))
    held_out: list[dict[str, tuple[float, float]]] = field(default_factory=list)
    count: int = 0

    def last(self, name: str, steps: int, most: int = 0) -> list[float]:
        """The newest `steps` values of a metric, up to `most` if available; empty if there are fewer."""
        values = [v for line in self.recent if (v := number(line.get(name))) is not None]
        return values[-max(steps, most) :] if len(values) >= steps else []


Level = tuple[float, str]
"""Level (1 = the threshold) and text."""


def _errors(history: History) -> Level | None:
    """Fires if too many verdicts are grader errors."""
    rate = history.last("error_rate", 1)
    if not rate:
        return None
    return rate[0] / ERROR_RATE, f"{_percent(rate[0])} of the verdicts so far are grader errors"


def _disagreement(history: History) -> Level | None:
    """Fires if stages, scores or reward contradict a rollout's verdict."""
    counts = [number(line.get("disagreements")) or 0 for line in history.recent][-QUIET:]
    message = f"{counts[-1]:.0f} rollouts whose stages, scores or reward contradict their verdict"
    return (1.0 if counts[-1] else CLEAR if any(counts) else 0.0), message


def _not_finite(history: History) -> Level | None:
    """Fires if a loss or gradient was not finite."""
    line = history.recent[-1]
    bad = [name for name in ("loss", "grad_norm") if name in line and number(line[name]) is None]
    return float(bool(bad)), f"{' and '.join(bad)} not finite: such an update is not applied"


def _length(history: History) -> Level | None:
    """Fires if answers have become much shorter."""
    every = history.last("completion_tokens", LONG + SHORT, most=BEFORE + SHORT)
    if not every:
        return None
    before, now = median(every[:-SHORT]), median(every[-SHORT:])
    return _ratio(before, now) / COLLAPSE, (
        f"answers went from {before:.1f} to {now:.1f} tokens (median of {SHORT} steps, and of those before)"
    )


def _mean_rule(name: str, threshold: float, steps: int, message: str) -> Callable[[History], Level | None]:
    def rule(history: History) -> Level | None:
        values = history.last(name, steps)
        if not values:
            return None
        return fmean(values) / threshold, f"{_percent(fmean(values))} {message} (mean of {steps} steps)"

    rule.__doc__ = f"Fires if {threshold:.0%} or more {message}."
    return rule


def _no_signal(history: History) -> Level | None:
    """Fires if most groups carry no signal."""
    played, useful = history.last("groups_played", LONG), history.last("groups_with_signal", LONG)
    if not useful or not sum(played):
        return None
    share = 1 - sum(useful) / sum(played)
    return share / NO_SIGNAL, (
        f"{_percent(share)} of the groups carry no signal ({sum(useful):.0f} of {sum(played):.0f} in {LONG} steps do)"
    )


def _entropy(history: History) -> Level | None:
    """Fires if the entropy has fallen to a small fraction of its initial value."""
    first = [v for line in history.first[:LONG] if (v := number(line.get("entropy"))) is not None]
    values = history.last("entropy", LONG)
    if len(first) < LONG or not values:
        return None
    before, now = median(first), median(values)
    return _ratio(before, now) / ENTROPY, (
        f"entropy went from {before:.3f} to {now:.3f} nats (medians of the first and last {LONG} steps)"
    )


def _hacking(history: History) -> Level | None:
    """Fires if the reward has risen since the start but correctness has not: fewer answers pass, or the pass rate is
    flat and the reward separates passes from failures less well, or it prefers failures. The latter two appear earlier
    than in the noisy pass rate. Two steps at each end suffice for a pass rate with a known error.
    """
    size = min(LONG, history.count // 2)
    names = ("reward", "pass_rate", "reward_auc", "pass_rate_error")
    first = [
        [v for line in history.first[:size] if (v := number(line.get(name))) is not None] for name in names
    ]
    last = [history.last(name, size) for name in names]
    told = [len(one) == len(other) == size for one, other in zip(first, last, strict=True)]
    if size < (2 if told[3] else LONG - 1) or not (told[0] and told[1]):
        return None
    rise, passes = (_change(one, other) for one, other in zip(first[:2], last[:2], strict=True))
    if told[3]:
        error = math.hypot(*first[3], *last[3]) / size
        passes = (fmean(last[1]) - fmean(first[1])) / max(error, _SMALL)
    message = (
        f"reward went from {fmean(first[0]):.3f} to {fmean(last[0]):.3f}, the pass rate from "
        f"{_percent(fmean(first[1]))} to {_percent(fmean(last[1]))} (first and last {size} steps)"
    )
    worse = -passes
    if told[2] and size >= LONG - 1:
        now = fmean(last[2])
        blind = -_change(first[2], last[2]) if passes <= 0 else 0.0
        against = (0.5 - now) / max(math.sqrt(pvariance(last[2]) / (size - 1)), _SMALL)
        worse = max(worse, blind, against)
        before = _percent(fmean(first[2]))
        message += f"; the passing answer of a pair had more reward in {before}, now {_percent(now)}"
    sudden = _sudden([v for line in history.recent if (v := number(line.get("reward_auc"))) is not None])
    if sudden is not None and sudden[0] > max(1.0, worse / SHORT_RUN):
        worse = sudden[0] * SHORT_RUN
        message += (
            f"; in the newest two steps the passing answer has more in {_percent(sudden[1])} of the pairs"
        )
    return min(rise, worse) / SHORT_RUN, message


def _sudden(values: list[float]) -> tuple[float, float] | None:
    """How far the mean of the newest two is below all earlier ones, in units of their spread, 1 at `SUDDEN`; also
    that mean."""
    before, newest = values[:-2], values[-2:]
    if len(before) < LONG:
        return None
    error = math.sqrt(pvariance(before) * len(before) / (len(before) - 1) * (1 / 2 + 1 / len(before)))
    return (fmean(before) - fmean(newest)) / max(error, _SMALL) / SUDDEN, fmean(newest)


def _change(first: list[float], last: list[float]) -> float:
    """The difference of two means in standard errors."""
    error = math.sqrt((pvariance(first) + pvariance(last)) / (len(first) - 1))
    return (fmean(last) - fmean(first)) / max(error, _SMALL)


def reward_alone(history: History) -> Level | None:
    """Fires if the reward rose significantly but the held-out gain is small in comparison and may be zero."""
    size = min(REWARD, history.count // 2)
    first = [v for line in history.first[:size] if (v := number(line.get("reward"))) is not None]
    last = history.last("reward", size)
    if len(history.held_out) < 2 or size < FEWEST or len(first) < size or not last:
        return None
    start, end = history.held_out[0], history.held_out[-1]
    key = next((key for key in start if key in end), None)
    if key is None:
        return None
    rise = fmean(last) - fmean(first)
    gain, width = end[key][0] - start[key][0], math.hypot(start[key][1], end[key][1])
    error = math.sqrt((pvariance(first) + pvariance(last)) / (size - 1))
    passes = [number(line.get("pass_rate")) or 0.0 for line in history.first[:size]]
    learnt = fmean(history.last("pass_rate", size) or [0.0]) - fmean(passes)
    flat = gain - width <= 0 and gain < max(HELD_OUT_SHARE * learnt, 0.01)
    message = (
        f"reward rose from {fmean(first):.3f} to {fmean(last):.3f} (first and last {size} steps), held-out {key} only "
        f"from {start[key][0]:.3f} to {end[key][0]:.3f} (difference {gain:+.3f} +- {width:.3f})"
    )
    return (1.0 if flat else 0.0) if rise > SURE * error else 0.0, message


RULES: Registry[Callable[[History], Level | None]] = Registry(
    "alarms",
    {
        "errors": _errors,
        "disagreement": _disagreement,
        "refused": _mean_rule("refused", REFUSED, SHORT, "of answers passed every stage but were refused"),
        "not finite": _not_finite,
        "length collapse": _length,
        "truncation": _mean_rule(
            "truncated", TRUNCATED, SHORT, "of the answers were cut off at the token limit"
        ),
        "duplicates": _mean_rule(
            "duplicates", DUPLICATES, SHORT, "of the answers equal another in their group"
        ),
        "no signal": _no_signal,
        "entropy collapse": _entropy,
        "reward, not passes": _hacking,
    },
)
"""The rules by name, applied after each step and each evaluation."""


def number(value: Any) -> float | None:
    """A finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _HUGE:
        return None
    return float(value)


def held_out(result: Any) -> dict[str, tuple[float, float]]:
    """{key: (value, half width of its interval)} of an evaluation's JSON, best key first; {} for other values."""
    if not isinstance(result, Mapping):
        return {}
    intervals = result.get("intervals")
    found = {}
    for key in ("pass@1", "greedy"):
        value = number(result.get(key))
        if value is not None:
            ends = intervals.get(key) if isinstance(intervals, Mapping) else None
            low, high = map(
                number, ends if isinstance(ends, list | tuple) and len(ends) == 2 else (None, None)
            )
            found[key] = value, 0.0 if low is None or high is None else (high - low) / 2
    return found


def _ratio(before: float, now: float) -> float:
    """The factor by which `now` is smaller; 0 if there was no value before."""
    return before / max(now, 1e-9) if before > 0 else 0.0


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


class Alarm(Record):
    """An alarm that has fired."""

    step: int
    """The step at which it first fired."""
    last: int
    """The newest step at which its cause was present."""
    times: int = 1
    """Number of times that it fired."""
    name: str
    text: str
    """One line, with the numbers from the last time."""

    @property
    def when(self) -> str:
        """When it fired, such as "at step 3", "at steps 3 to 5" or "at steps 3 to 40, 6 times"."""
        steps = f"at step {self.step}" if self.last == self.step else f"at steps {self.step} to {self.last}"
        return steps if self.times == 1 else f"{steps}, {self.times} times"


class AlarmWatch:
    """Follows a run line by line; `see` and `evaluated` return the alarms to print now: those that fire for the 1st,
    2nd, 4th, 8th, ... time.
    """

    def __init__(self) -> None:
        self._history = History()
        self._ringing: set[str] = set()
        self._found: dict[str, Alarm] = {}

    @property
    def found(self) -> list[Alarm]:
        """Every alarm so far, in the order in which they first fired."""
        return [*self._found.values()]

    def begin(self, result: Mapping[str, Any]) -> None:
        """Takes the held-out result of the initial model; the last one given counts."""
        self._history.held_out[:] = [held_out(result)]

    def see(self, line: Line) -> list[Alarm]:
        """Takes the next line of metrics; its `held_out`, if any, is that step's evaluation."""
        history, step = self._history, int(line["step"])
        history.count += 1
        if len(history.first) < REWARD:
            history.first.append(line)
        history.recent.append(line)
        found = [alarm for name, rule in RULES.items() for alarm in self._judge(step, name, rule(history))]
        return [*found, *self.evaluated(step, line["held_out"])] if line.get("held_out") else found

    def evaluated(self, step: int, result: Mapping[str, Any]) -> list[Alarm]:
        """Takes a held-out result of the model after a step."""
        self._history.held_out.append(held_out(result))
        return list(self._judge(step, "reward, not held-out", reward_alone(self._history)))

    def _judge(self, step: int, name: str, level: Level | None) -> Iterator[Alarm]:
        if level is None:
            return
        if level[0] < CLEAR:
            self._ringing.discard(name)
        elif name in self._ringing:
            self._found[name] = self._found[name].model_copy(update={"last": step})
        elif level[0] >= 1:
            self._ringing.add(name)
            before = self._found.get(name)
            first, times = (before.step, before.times + 1) if before else (step, 1)
            alarm = Alarm(step=first, last=step, times=times, name=name, text=level[1])
            self._found[name] = alarm
            if times.bit_count() == 1:
                yield alarm


def alarms(metrics: Sequence[Line], evaluations: Sequence[Mapping[str, Any]] = ()) -> list[Alarm]:
    """Every alarm of a run, in the order in which they first fired.

    metrics      lines of metrics.jsonl; those without a step are left out
    evaluations  {"name", "set", "result"} each; only before, warm and after on the held-out set ("") count, since the
                 others are in the metrics
    """
    watch = AlarmWatch()
    results = {e["name"]: e.get("result") or {} for e in evaluations if not e.get("set")}
    for name in ("before", "warm"):
        if name in results:
            watch.begin(results[name])
    lines = [line for line in metrics if isinstance(line.get("step"), int)]
    for line in lines:
        watch.see(line)
    if lines and "after" in results:
        watch.evaluated(lines[-1]["step"], results["after"])
    return watch.found
