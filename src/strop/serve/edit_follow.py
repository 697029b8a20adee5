"""What the user makes of a suggestion, told from what an editor sends over LSP: accepting is a command, and everything
else shows in the next change or the next request.

    the command with its id           accepted; settled once its file rests
    a change that begins to type it   replaced (typed)
    any other change                  dismissed
    a request at the same place       replaced (newer)
    a request elsewhere               dismissed
    its file closes, the server ends  replaced (closed)
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from rapidfuzz.distance import LCSseq, Prefix

from strop.core.checks import PastEdit
from strop.core.edit_events import LOST, SETTLING
from strop.serve.edit_events import EditEventLog
from strop.serve.edit_prompt import TextEdit

_REMEMBERED = 1000
"""Suggestions whose acceptance is waited for."""
_EDITS, _AROUND = 8, 6
"""Edits that are remembered, and the most lines of one: what spans more is another."""


@dataclass(eq=False)
class FollowedEdit:
    """A suggestion for the file's text `before`."""

    id: str
    uri: str
    before: str
    at: int
    """The cursor's offset as it was asked for."""
    edit: TextEdit

    def inserted(self) -> str:
        """The file with the suggestion in it."""
        start, end, text = self.edit
        return self.before[:start] + text + self.before[end:]

    def is_begun(self, text: str) -> bool:
        """Whether the text is the file with a beginning of the suggestion typed in."""
        start, end, new = self.edit
        known = Prefix.similarity(self.before[start:end], new)
        at, more, new = start + known, len(text) - len(self.before), new[known:]
        return 0 < more <= len(new) and text == self.before[:at] + new[:more] + self.before[at:]


@dataclass(eq=False)
class _Settling:
    edit: FollowedEdit
    give_up: float
    timer: asyncio.TimerHandle | None = field(default=None)


class EditHistory:
    """The newest edits of all files: what is typed around one place is one edit."""

    def __init__(self) -> None:
        self._done: deque[tuple[str, list[str], list[str]]] = deque(maxlen=_EDITS)
        self._open: dict[str, tuple[list[str], list[str]]] = {}
        """Lines of each file as its newest edit began, and now; that edit's last."""

    def opened(self, uri: str, text: str) -> None:
        """A file is there."""
        lines = text.split("\n")
        self._open[uri] = lines, lines

    def changed(self, uri: str, text: str) -> None:
        """A file has another text."""
        begun, before = self._open.pop(uri, ([], []))
        now = text.split("\n")
        if begun is not before and max(map(len, _changed(begun, now))) > _AROUND:
            self._done.append((uri, *_changed(begun, before)))
            begun = before
        self._open[uri] = begun, now

    def newest(self, shown: Callable[[str], str]) -> tuple[PastEdit, ...]:
        """The newest edits, the oldest of them first, with the paths that `shown` gives; "" leaves a file out."""
        under_way = ((uri, *_changed(begun, now)) for uri, (begun, now) in self._open.items() if begun != now)
        edits = [PastEdit(path=shown(uri), old=old, new=new) for uri, old, new in (*self._done, *under_way)]
        return tuple(edit for edit in edits if edit.path)[-_EDITS:]


def _changed(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """The lines between those that both begin and end with."""
    start, most = 0, min(len(before), len(after))
    while start < most and before[start] == after[start]:
        start += 1
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return before[start : len(before) - end], after[start : len(after) - end]


class EditFollower:
    """Follows the suggestion that is shown, and those that were accepted until they settle. Of one thread, with a loop.

    settling, lost  seconds: the rest after which an accepted text is settled, and when that is given up
    """

    def __init__(self, log: EditEventLog, *, settling: float = SETTLING, lost: float = LOST) -> None:
        self._log, self._settling, self._lost = log, settling, lost
        self._shown: FollowedEdit | None = None
        self._known: OrderedDict[str, FollowedEdit] = OrderedDict()
        self._taken: dict[str, _Settling] = {}
        self._texts: dict[str, str] = {}
        self.history = EditHistory()

    def opened(self, uri: str, text: str) -> None:
        """A file is there."""
        self._texts[uri] = text
        self.history.opened(uri, text)

    def show(self, edit: FollowedEdit) -> bool:
        """Whether it may be sent: not where its file has changed since it was asked for."""
        self._known[edit.id] = edit
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        if self._texts.get(edit.uri, edit.before) != edit.before:
            self._log.replaced(edit.id, "typed")
            return False
        self._log.shown(edit.id)
        self._shown = edit
        return True

    def asked(self, uri: str, at: int) -> None:
        """A suggestion is asked for: the one that is shown goes away."""
        if edit := self._taken_down():
            same = (edit.uri, edit.at) == (uri, at)
            if edit.uri == uri and self._texts.get(uri) == edit.inserted():  # its command may yet come
                self._log.replaced(edit.id, "typed")
            elif same:
                self._log.replaced(edit.id, "newer")
            else:
                self._log.dismissed(edit.id)

    def changed(self, uri: str, text: str) -> None:
        """A file has another text."""
        if self._texts.get(uri) == text:
            return
        self._texts[uri] = text
        self.history.changed(uri, text)
        edit = self._shown
        if edit and edit.uri == uri and text != edit.inserted():
            self._shown = None
            if edit.is_begun(text):
                self._log.replaced(edit.id, "typed")
            else:
                self._log.dismissed(edit.id)
        for one in self._taken.values():
            if one.edit.uri == uri:
                self._wait(one)

    def accepted(self, id: str) -> None:
        """The client says that it was taken; what is not known or known already is left out."""
        edit = self._known.pop(id, None)
        if edit is None:
            return
        if self._shown is edit:
            self._shown = None
        self._log.accepted(id, len(edit.edit.text))
        one = self._taken[id] = _Settling(edit, asyncio.get_running_loop().time() + self._lost)
        self._wait(one)

    def closed(self, uri: str | None = None) -> None:
        """A file closes, or all."""
        if self._shown and uri in (None, self._shown.uri):
            self._log.replaced(self._shown.id, "closed")
            self._shown = None
        for one in [one for one in self._taken.values() if uri in (None, one.edit.uri)]:
            self._settle(one)
        if uri is not None:
            self._texts.pop(uri, None)

    def _taken_down(self) -> FollowedEdit | None:
        edit, self._shown = self._shown, None
        return edit

    def _wait(self, one: _Settling) -> None:
        if one.timer:
            one.timer.cancel()
        loop = asyncio.get_running_loop()
        if loop.time() > one.give_up:  # nobody knows what is its text and what is not
            del self._taken[one.edit.id]
        else:
            one.timer = loop.call_later(self._settling, self._settle, one)

    def _settle(self, one: _Settling) -> None:
        if one.timer:
            one.timer.cancel()
        del self._taken[one.edit.id]
        edit, text = one.edit, self._texts.get(one.edit.uri, "")
        start, end = edit.edit.start, edit.edit.start + len(edit.edit.text)
        kept = characters_kept(edit.inserted(), text, start, end)
        self._log.settled(edit.id, kept=kept, discarded=end - start - kept)


def characters_kept(before: str, after: str, start: int, end: int) -> int:
    """How many characters of before[start:end] are still there, by the longest common subsequence."""
    return sum(
        max(0, min(end, code.src_end) - max(start, code.src_start))
        for code in LCSseq.opcodes(before, after)
        if code.tag == "equal"
    )
