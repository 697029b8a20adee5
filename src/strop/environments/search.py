"""Environment `search`: which files and lines of a repository matter for a request, in a few turns of parallel calls.

As published for SWE-grep (cognition.ai/blog/swe-grep): grep, read and glob; at most eight calls a turn, which go on
side by side; at most four turns, of which the last one has to answer. What is not so ends the play without an answer:
a turn without a call, one that cannot be read, arguments that a tool does not take, an answer that names no places.

Deviation: the answer is a call of `finish`, whose text is judged (`strop_verify.core.ranges`).

Short names for the files of a tree: f1, f2, ... in the order in which a play was shown them.

A small model copies `f3:12` more often right than `src/shop/checkout/cart.py:12`, and a path is shown once."""

from collections.abc import Container, Iterable, Iterator, Sequence
from random import Random
from typing import Annotated, Any

from pydantic import Field

from strop.environments.search_pattern import selected, words
from strop.environments.search_tools import PAGE, SHOWN, SearchTools
from strop.environments.search_tree import release, tree_of_check
from strop.environments.toolbox import UseTool, clipped, tools_of
from strop.policies.tool_calls import CALL_FORMS, MOST_CALLS, CallFault, FormName, ToolCall, calls_of
from strop_verify.core.checks import RetrievalCheck
from strop_verify.core.errors import UserError
from strop_verify.core.play import Do, Done, Next, Opening, Say, Services
from strop_verify.core.ranges import read_ranges, write_ranges
from strop_verify.core.rollout import Completion, Message
from strop_verify.core.task import Task


class ShortNames:
    """Of one play."""

    def __init__(self) -> None:
        self._short: dict[str, str] = {}

    def __contains__(self, path: str) -> bool:
        return path in self._short

    def shorten(self, text: str, paths: Container[str]) -> str:
        """What a tool said of these paths. In front of the first line about a file stands a line with both its names;
        a line that is a path becomes that line.
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
        """Places with the short names of files that were shown."""
        return "\n".join(self._mapped(self._short, line) for line in places.split("\n"))

    def read(self, places: str) -> str:
        """Places, or a path alone, with the names of the tree."""
        paths = {short: path for path, short in self._short.items()}
        return "\n".join(self._mapped(paths, line) for line in places.split("\n"))

    @staticmethod
    def _mapped(names: dict[str, str], line: str) -> str:
        path, colon, rest = line.strip().rpartition(":") if ":" in line else (line.strip(), "", "")
        return names[path] + colon + rest if path in names else line


MOST_TURNS = 4


class Search:
    """Lets the policy look around in a tree and name places in it.

    turns  answers at most; the last one has to finish
    calls  how calls are written
    files  names of files that the prompt shows, at most
    shown  lines or names that a grep or a glob shows, at most
    among  globs of the files that grep and glob find, all if empty; those behind "!" are left out
    short  whether files are called f1, f2, ... once they were shown
    """

    begins_without_setup = True
    """Its first prompt is known before it is set up."""

    def __init__(
        self, task: Task, opening: Opening, read: object, *, turns: Annotated[int, Field(ge=1, le=MOST_TURNS)] = 4,
        calls: FormName = "tags", files: Annotated[int, Field(ge=0)] = 0,
        shown: Annotated[int, Field(ge=1, le=SHOWN)] = SHOWN, short: bool = False,
        among: Sequence[str] = (),
    ) -> None:  # fmt: skip
        check = task.check.maybe(RetrievalCheck)
        if check is None:
            raise UserError(
                f"task {task.id} asks for no places in a tree; make such tasks with strop build retrieval"
            )
        self.task, self.check, self.opening = task, check, opening
        self.form, self.tools, self.left = CALL_FORMS[calls], tools_of(SearchTools), turns
        self.listed, self.shown, self.among, self.names = files, shown, among, ShortNames() if short else None
        self.box: SearchTools | None = None
        self.services: Services | None = None

    def setup(self, services: Services) -> None:
        """The tree is there from now on."""
        self.box = SearchTools(self.task, services, self.shown, self.among)

    def close(self) -> None:
        """The tree may go."""
        if self.box is not None:
            release(self.check)

    def begin(self) -> Opening:
        """The tools and how to call them; then the request."""
        rules = (
            "You find the places in a repository that matter for a request: the files and lines to change or to know.\n"
            f"{self.form.instructions(self.tools)}\n"
            f"A message may hold {MOST_CALLS} calls, which are done side by side. You have {self.left} messages; the "
            "last one must finish."
        )
        if self.names is not None:
            rules += " Files that were shown are called f1, f2, ..."
        asked = self.task.statement.strip()
        if self.listed:
            with tree_of_check(self.check) as tree:
                asked += "\n\nFiles:\n" + clipped("\n".join(tree.paths), lines=self.listed)
        messages = Message(role="system", content=rules), Message(role="user", content=asked)
        return Opening(messages=messages, max_tokens=self.opening.max_tokens)

    def step(self, completion: Completion) -> Next:
        """All calls of the turn are begun, or the play ends."""
        self.left -= 1
        try:
            calls = calls_of(completion, self.form, self.tools)
            given = [self._checked(call) for call in calls]
            if ended := [call.arguments["places"] for call in given if call.name == "finish"]:
                return Done(write_ranges(_named("\n".join(ended))))
        except (CallFault, ValueError) as fault:
            return Done(str(fault), "malformed")
        if not self.left:
            return Done("the last message did not finish", "max turns")
        assert self.box is not None
        return Do(*(UseTool(self.box, *call) for call in given))

    def result(self, effect: Any, said: str | Sequence[str]) -> Next:
        """What the calls gave, in their order."""
        rest = f"[{self.left} messages left]" if self.left > 1 else "[this message must finish]"
        replies = [said] if isinstance(said, str) else said
        if self.names is not None and self.box is not None:
            replies = [self.names.shorten(reply, self.box.tree.paths) for reply in replies]
        return Say(self.form.replies(replies, rest))

    def demonstrate(self, rng: Random) -> Iterator[str]:
        """An expert who knows the places: looks for words of the request, reads around the places, finishes. With short
        names it names those places alone whose files were shown.
        """
        places = {path: spans for path, spans in self.check.truth.items() if spans}
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

    def _written(self, turn: Iterable[ToolCall]) -> str:
        return "\n".join(self.form.write(call, self.tools) for call in turn)

    def _looks(self, rng: Random) -> list[ToolCall]:
        """Greps for words of the request, first those that the right files hold and few others; at least one."""
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
        """The call with arguments in their types. Raises CallFault for a tool that there is not, ValueError."""
        if call.name not in self.tools:
            raise CallFault(f"there is no tool {call.name!r:.40}; there are {', '.join(self.tools)}")
        arguments = self.tools[call.name].checked(call.arguments)
        if self.names is not None:
            arguments |= {
                name: self.names.read(arguments[name]) for name in {"path", "places"} & arguments.keys()
            }
        return ToolCall(call.name, arguments)


def _named(places: str) -> dict[str, list[tuple[int, int]]]:
    """The places of an answer. Raises ValueError, one line, where it names none."""
    if found := read_ranges(places):
        return found
    raise ValueError("the answer names no place; write PATH:FIRST-LAST")


def _apart(spots: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Those that no earlier page shows."""
    found: list[tuple[str, int]] = []
    for path, start in spots:
        if not any(path == other and at <= start < at + PAGE // 2 for other, at in found):
            found.append((path, start))
    return found
