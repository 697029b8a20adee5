"""What a search sub-agent saves a main agent: how soon it sees the lines that matter, with the tool and without.

The main agent is a rule, so that only the tool makes the difference. Without the tool it greps for the question's
words, eight per turn, and then reads the files with most of the rarer ones, a page per turn, from the first line found.
With the tool it calls that first and reads from the places that it names; then it continues as without. It ends once it
has seen a line of the truth, or after `TURNS` turns. What it would do with the line is not measured.
"""

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from strop.environments.lexical_ranking import words_asked
from strop.environments.search_tools import PAGE, SearchTools
from strop.environments.search_tree import release
from strop.evaluation.statistics import Difference, Estimate, mean_interval, paired_difference
from strop.policies.tool_calls import MOST_CALLS
from strop.rollouts.services import PlayServices, Threads
from strop_verify.core.checks import RetrievalCheck
from strop_verify.core.ranges import Ranges
from strop_verify.core.task import Task
from strop_verify.sandbox.programs import Programs

TURNS = 12
"""Maximum turns of a search; one that has found nothing by then counts as failed."""
MEASURES = ("found", "turns", "characters", "seconds")
Ask = Callable[[Path, str], tuple[Ranges, str]]
"""The tool: takes a folder and a question, returns the places and the text shown to the main agent."""
_ROW = re.compile(r"(?m)^(.+?):(\d+): ")


@dataclass(frozen=True)
class SearchTaken:
    """One search of the main agent. `characters`: the length of all text shown to it, which a model would read as
    tokens."""

    found: bool
    turns: int
    characters: int
    seconds: float


class _Agent:
    """The main agent on one task."""

    def __init__(self, task: Task, services: PlayServices) -> None:
        self.task, self.check = task, task.check.only(RetrievalCheck)
        self.tools = SearchTools(task, services)
        self.seen = 0

    def search(self, ask: Ask | None) -> SearchTaken:
        """Runs the search to its end; `ask`: the tool, if there is one."""
        began, turns, found = time.perf_counter(), 0, False
        for turns, found in enumerate(self._turns(ask), 1):
            if found or turns == TURNS:
                break
        return SearchTaken(found, turns, self.seen, time.perf_counter() - began)

    def _turns(self, ask: Ask | None) -> Iterator[bool]:
        """Yields after each turn whether a right line has been seen."""
        if ask is not None:
            places, text = ask(self.tools.tree.folder, self.task.statement)
            self.seen += len(text)
            yield any(self._right(path, *span) for path, spans in places.items() for span in spans)
            for path, spans in places.items():
                yield self._page(path, spans[0][0] if spans else 1)
        ranked = self._grepped()
        yield False
        for path, line in ranked:
            yield self._page(path, max(1, line - PAGE // 4))

    def _grepped(self) -> list[tuple[str, int]]:
        """(file, its first line found), the file with most of the rarer words first."""
        scores, first = defaultdict[str, float](float), dict[str, int]()
        for word in words_asked(self.task.statement)[:MOST_CALLS]:
            shown = str(self.tools.use("grep", {"pattern": f"(?i){re.escape(word)}"}))
            self.seen += len(shown)
            rows = [(path, int(line)) for path, line in _ROW.findall(shown)]
            for path in (files := {path for path, _ in rows}):
                scores[path] += 1 / len(files)
            for path, line in rows:
                first.setdefault(path, line)
        return [(path, first[path]) for path in sorted(scores, key=lambda path: (-scores[path], path))]

    def _page(self, path: str, start: int) -> bool:
        self.seen += len(str(self.tools.use("read", {"path": path, "start": str(start)})))
        return self._right(path, start, start + PAGE - 1)

    def _right(self, path: str, first: int, last: int) -> bool:
        return any(begin <= last and first <= end for begin, end in self.check.truth.get(path, ()))


def compared(
    tasks: Sequence[Task], ask: Ask, done: Callable[[int], None] = lambda count: None
) -> tuple[dict[str, Estimate], dict[str, Estimate], dict[str, Difference]]:
    """({measure: mean} of the main agent without the tool, with it, and the paired differences)."""
    alone, helped = list[SearchTaken](), list[SearchTaken]()
    threads, programs = Threads(), Programs()
    try:
        services = PlayServices(None, threads, programs)  # type: ignore[arg-type]
        for count, task in enumerate(tasks, 1):
            for searches, tool in ((alone, None), (helped, ask)):
                searches.append(_Agent(task, services).search(tool))
                release(task.check.only(RetrievalCheck))
            done(count)
    finally:
        programs.close()
        threads.close()
    columns = {
        name: [[float(getattr(s, name)) for s in some] for some in (alone, helped)] for name in MEASURES
    }
    means = [{name: mean_interval(both[at]) for name, both in columns.items()} for at in (0, 1)]
    return means[0], means[1], {name: paired_difference(*both) for name, both in columns.items()}
