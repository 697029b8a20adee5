"""Alarms: problems that a person should look at now, found in a run's metrics during and after training.

Pure: the same metrics give the same alarms, so report, live view and resumed run agree. Each alarm is one line with
its numbers. It rings once; it may ring again after its cause was gone (its level fell below `CLEAR`). Missing or null
metrics raise no alarm, except loss and gradient norm: there null is how "not finite" is stored on disk. docs/report.md
lists the alarms; `alarm_rules` has their rules.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from strop.core.records import Record
from strop.reports.alarm_rules import CLEAR, REWARD, RULES, History, Level, Line, held_out, reward_alone


class Alarm(Record):
    """Something to look at."""

    step: int
    name: str
    text: str
    """One line, with the numbers."""


class AlarmWatch:
    """Follows a run line by line; `see` and `evaluated` return the alarms that begin to ring."""

    def __init__(self) -> None:
        self._history = History()
        self._ringing: set[str] = set()

    def begin(self, result: Mapping[str, Any]) -> None:
        """The held-out result of the model that training starts from; the last one given counts."""
        self._history.held_out[:] = [held_out(result)]

    def see(self, line: Line) -> list[Alarm]:
        """One more line of metrics; its `held_out`, if any, is that step's evaluation."""
        history, step = self._history, int(line["step"])
        history.count += 1
        if len(history.first) < REWARD:
            history.first.append(line)
        history.recent.append(line)
        found = [alarm for name, rule in RULES.items() for alarm in self._judge(step, name, rule(history))]
        return [*found, *self.evaluated(step, line["held_out"])] if line.get("held_out") else found

    def evaluated(self, step: int, result: Mapping[str, Any]) -> list[Alarm]:
        """A held-out result of the model after a step."""
        self._history.held_out.append(held_out(result))
        return list(self._judge(step, "reward, not held-out", reward_alone(self._history)))

    def _judge(self, step: int, name: str, level: Level | None) -> Iterator[Alarm]:
        if level is None:
            return
        if level[0] < CLEAR:
            self._ringing.discard(name)
        elif level[0] >= 1 and name not in self._ringing:
            self._ringing.add(name)
            yield Alarm(step=step, name=name, text=level[1])


def alarms(metrics: Sequence[Line], evaluations: Sequence[Mapping[str, Any]] = ()) -> list[Alarm]:
    """Every alarm of a run, in the order in which it rang.

    metrics      lines of metrics.jsonl; those without a step are left out
    evaluations  {"name", "set", "result"} each; of the held-out set ("") before, warm and after count: the others are
                 in the metrics
    """
    watch = AlarmWatch()
    results = {e["name"]: e.get("result") or {} for e in evaluations if not e.get("set")}
    for name in ("before", "warm"):
        if name in results:
            watch.begin(results[name])
    lines = [line for line in metrics if isinstance(line.get("step"), int)]
    found = [alarm for line in lines for alarm in watch.see(line)]
    if lines and "after" in results:
        found += watch.evaluated(lines[-1]["step"], results["after"])
    return found
