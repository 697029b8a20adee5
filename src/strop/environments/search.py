"""Environment `search`: find the files and lines of a repository that matter for a request, in a few turns of calls.

As published for SWE-grep (cognition.ai/blog/swe-grep): grep, read and glob; at most eight calls per turn, run in
parallel; at most four turns, the last of which must answer. Any violation ends the play without an answer: a turn
without a call, a call that cannot be parsed, arguments that a tool does not take, an answer that names no places.

Deviation: the answer is a call of `finish`, whose text is judged (`strop_verify.core.ranges`).
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Annotated, Any

from pydantic import Field

from strop.environments.feedback import clipped as cut_inside
from strop.environments.lexical_ranking import best_chunks
from strop.environments.locator import ranked_files
from strop.environments.search_pattern import selected, words
from strop.environments.search_tools import PAGE, SHOWN, SearchTools
from strop.environments.search_tree import release, tree_of_check
from strop.environments.toolbox import UseTool, clipped, tools_of
from strop.policies.tool_calls import CALL_FORMS, MOST_CALLS, CallFault, FormName, ToolCall, calls_of
from strop_verify.core.checks import RetrievalCheck
from strop_verify.core.errors import UserError
from strop_verify.core.play import Do, Done, Next, Opening, Say, Services
from strop_verify.core.ranges import Range, Ranges, read_ranges, write_ranges
from strop_verify.core.rollout import Completion, Message
from strop_verify.core.task import Task
from strop_verify.core.text import printable


class ShortNames:
    """The short names of the files of one play: f1, f2, ... in the order in which they were shown.

    A small model copies `f3:12` more reliably than `src/shop/checkout/cart.py:12`, and a path is shown only once.
    """

    def __init__(self) -> None:
        self._short: dict[str, str] = {}

    def __contains__(self, path: str) -> bool:
        return path in self._short

    def shorten(self, text: str, paths: Container[str]) -> str:
        """A tool's output with short names for `paths`. A line `f1 = path` precedes the first line about a file; a line
        that is only a path becomes such a line.
        """
        rows = list[str]()
        for row in text.split("\n"):
            path, colon, rest = row.partition(":")
            if path not in paths:
                rows.append(row)
                continue
            if path not in self._short:
                self._short[path] = f"f{len(self._short) + 1}"
                rows.append(f"{self._short[path]} = {path}")
            elif not colon:
                rows.append(f"{self._short[path]} = {path}")
            if colon:
                rows.append(f"{self._short[path]}:{rest}")
        return "\n".join(rows)

    def write(self, places: str) -> str:
        """Places, with short names for the files that were shown."""
        return "\n".join(self._mapped(self._short, line) for line in places.split("\n"))

    def read(self, places: str) -> str:
        """Places, or a single path, with the names of the tree."""
        paths = {short: path for path, short in self._short.items()}
        return "\n".join(self._mapped(paths, line) for line in places.split("\n"))

    @staticmethod
    def _mapped(names: dict[str, str], line: str) -> str:
        path, colon, rest = line.strip().rpartition(":") if ":" in line else (line.strip(), "", "")
        return names[path] + colon + rest if path in names else line


MOST_TURNS = 4
HEAD, REQUEST = 100, 1500
"""Maximum characters of a candidate's first line, and of the request if the prompt has candidates."""
_DEFINES = re.compile(
    r"\s*(?:(?:async|export|pub(?:\(\w+\))?|unsafe) )*(?:def|class|fn|function|struct|enum|trait|impl)\b"
)


class Search:
    """Lets the policy search a tree of files and name places in it.

    turns       maximum number of completions; the last one must finish
    calls       how calls are written
    files       maximum number of file names in the prompt
    candidates  maximum number of functions and classes in the prompt, the best by the request's words (`locator`);
                with them the prompt has at most REQUEST characters of the request
    shown       maximum number of lines or names that a grep or a glob shows
    among       globs of the files that are found, all if empty; files that match a glob after "!" are left out
    short       whether files are called f1, f2, ... once they have been shown
    """

    begins_without_setup = True
    """Its first prompt does not depend on `setup`."""

    def __init__(
        self, task: Task, opening: Opening, read: object, *, turns: Annotated[int, Field(ge=1, le=MOST_TURNS)] = 4,
        calls: FormName = "tags", files: Annotated[int, Field(ge=0)] = 0,
        candidates: Annotated[int, Field(ge=0)] = 0,
        shown: Annotated[int, Field(ge=1, le=SHOWN)] = SHOWN, short: bool = False,
        among: Sequence[str] = (),
    ) -> None:  # fmt: skip
        check = task.check.maybe(RetrievalCheck)
        if check is None:
            raise UserError(
                f"task {task.id} does not ask for places in a tree; make such tasks with strop build retrieval"
            )
        self.task, self.check, self.opening = task, check, opening
        self.form, self.tools, self.left = CALL_FORMS[calls], tools_of(SearchTools), turns
        self.listed, self.shown, self.names = files, shown, ShortNames() if short else None
        self.among = tuple(among)
        self.candidates = candidates
        self.begins_slowly = candidates > 0
        """Whether prompts are measured only during plays, because each needs its tree."""
        self.box: SearchTools | None = None
        self.services: Services | None = None

    def setup(self, services: Services) -> None:
        """Acquires the tree, and ranks its files if candidates are shown."""
        self.box = SearchTools(self.task, services, self.shown, self.among)
        if self.candidates:
            ranked_files(self.box.tree, self.task.statement, self.among)

    def close(self) -> None:
        """Releases the tree."""
        if self.box is not None:
            release(self.check)

    def begin(self) -> Opening:
        """The tools and how to call them, then the request."""
        rules = (
            "You find the places in a repository that matter for a request: the files and lines to change or to know.\n"
            f"{self.form.instructions(self.tools)}\n"
            f"A message may hold {MOST_CALLS} calls, which are done side by side. You have {self.left} messages; the "
            "last one must finish."
        )
        if self.names is not None:
            rules += " Files that were shown are called f1, f2, ..."
        asked = self.task.statement.strip()
        if self.candidates:
            asked = cut_inside(asked, REQUEST)
        if self.listed:
            with tree_of_check(self.check) as tree:
                asked += "\n\nFiles:\n" + clipped("\n".join(tree.paths), lines=self.listed)
        if self.candidates:
            asked += "\n\nPlaces with words of the request:\n" + self._places_by_words()
        messages = Message(role="system", content=rules), Message(role="user", content=asked)
        return Opening(messages=messages, max_tokens=self.opening.max_tokens)

    def step(self, completion: Completion) -> Next:
        """Starts all calls of the turn, or ends the play."""
        self.left -= 1
        try:
            calls = calls_of(completion, self.form, self.tools)
            given = [self._checked(call) for call in calls]
            if ended := [call.arguments["places"] for call in given if call.name == "finish"]:
                if not (places := read_ranges("\n".join(ended))):
                    raise ValueError("the answer names no place; write PATH:FIRST-LAST")
                return Done(write_ranges(places))
        except (CallFault, ValueError) as fault:
            return Done(str(fault), "malformed")
        if not self.left:
            return Done("the last message did not finish", "max turns")
        assert self.box is not None
        return Do(*(UseTool(self.box, *call) for call in given))

    def result(self, effect: Any, said: str | Sequence[str]) -> Next:
        """Shows the results in the order of the calls."""
        rest = f"[{self.left} messages left]" if self.left > 1 else "[this message must finish]"
        replies = [said] if isinstance(said, str) else said
        if self.names is not None and self.box is not None:
            replies = [self.names.shorten(reply, self.box.tree.paths) for reply in replies]
        return Say(self.form.replies(replies, rest))

    def demonstrate(self, rng: Random) -> Iterator[str]:
        """An expert who knows the places: finishes with the candidates that hold some; if none does, searches for words
        of the request, reads around the places, then finishes. With short names, it names only files that were shown.
        """
        places = {path: spans for path, spans in self.check.truth.items() if spans}
        if held := _holding(self._by_words(), places):
            named = write_ranges(held)
            yield self._written(
                [ToolCall("finish", {"places": self.names.write(named) if self.names else named})]
            )
            return
        if self.left > 1:
            yield self._written(self._looks(rng))
        if self.left > 1:
            spots = [
                (path, max(1, first - rng.randrange(1, PAGE // 3)))
                for path, spans in places.items()
                for first, _ in spans
            ]
            yield self._written(
                ToolCall("read", {"path": path, "start": start}) for path, start in _apart(spots)[:MOST_CALLS]
            )
        named = write_ranges(places)
        if self.names is not None:
            seen = {path: spans for path, spans in places.items() if path in self.names}
            named = self.names.write(write_ranges(seen))
        yield self._written([ToolCall("finish", {"places": named})])

    def _by_words(self) -> dict[str, list[Range]]:
        """The candidates, best first."""
        if not self.candidates:
            return {}
        with tree_of_check(self.check) as tree:
            return best_chunks(ranked_files(tree, self.task.statement, self.among), self.candidates)

    def _places_by_words(self) -> str:
        """The candidates, each with its first and last line and its definition, grouped by file."""
        rows = list[str]()
        with tree_of_check(self.check) as tree:
            for path, spans in self._by_words().items():
                lines = tree.lines(path)
                for first, last in spans:
                    held = lines[first - 1 : last]
                    head = next(filter(_DEFINES.match, held), held[0] if held else "")
                    rows.append(f"{write_ranges({path: [(first, last)]})}: {printable(head.strip())[:HEAD]}")
            text = "\n".join(rows) or "nothing found"
            return text if self.names is None else self.names.shorten(text, tree.paths)

    def _written(self, turn: Iterable[ToolCall]) -> str:
        return "\n".join(self.form.write(call, self.tools) for call in turn)

    def _looks(self, rng: Random) -> list[ToolCall]:
        """At least one grep for words of the request, preferably words found in the right files and few others."""
        with tree_of_check(self.check) as tree:
            found = selected(self.among, tree.texts)
            texts = {path: "\n".join(tree.lines(path)) for path in found | self.check.truth.keys()}
        right = "\n".join(texts[path] for path in self.check.truth)
        asked = words(self.task.statement)
        rng.shuffle(asked)
        held = {word: sum(word in text for text in texts.values()) for word in asked}
        asked.sort(key=lambda word: (word not in right, held[word]))
        return [ToolCall("grep", {"pattern": word}) for word in asked[: rng.randint(2, 4)] or ["def"]]

    def _checked(self, call: ToolCall) -> ToolCall:
        """The call with typed arguments. Raises CallFault for an unknown tool, ValueError for wrong arguments."""
        if call.name not in self.tools:
            raise CallFault(f"there is no tool {call.name!r:.40}; there are {', '.join(self.tools)}")
        arguments = self.tools[call.name].checked(call.arguments)
        if self.names is not None:
            arguments |= {
                name: self.names.read(arguments[name]) for name in {"path", "places"} & arguments.keys()
            }
        return ToolCall(call.name, arguments)


def _holding(candidates: Ranges, places: Mapping[str, Sequence[Range]]) -> dict[str, list[Range]]:
    """The candidates that hold a line of the places."""
    found: dict[str, list[Range]] = {}
    for path, spans in candidates.items():
        there = places.get(path, ())
        if held := [(a, b) for a, b in spans if any(a <= last and first <= b for first, last in there)]:
            found[path] = held
    return found


def _apart(spots: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The spots that are not on the pages of earlier ones."""
    found: list[tuple[str, int]] = []
    for path, start in spots:
        if not any(path == other and at <= start < at + PAGE // 2 for other, at in found):
            found.append((path, start))
    return found
