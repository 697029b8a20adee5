"""Makes tasks from states of a commit at which a person may pause: the answer is the next edit, or silence.

    next     the next edit is in the window
    finish   a line has been started; its rest is next
    far      no remaining edit is in the window
    large    the next edit is in the window, but too large to predict
    over     the commit is done

Silence is right in the last three. Nothing is predicted before the first edit. A person pauses after an edit, and
within a line after an opening bracket, a comma, an operator or a space, rarely inside a word (weights as in Zed's
`split-commit`). `balanced` makes silence right in a given share of the states.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from strop.tasks.next_edit import MOST_LINES, answer_for, as_text, sections, window_around
from strop_tasks.curation.edits.history import is_packaging, is_program, says_enough
from strop_tasks.curation.edits.repository import Commit, Repository
from strop_tasks.curation.engine.tally import LeftOut, Tally
from strop_tasks.curation.next_edit import FAMILY, NextEditSettings
from strop_tasks.curation.next_edit.edit_sequence import HistoryEdit, files_of, made, ordered, place_of
from strop_verify.core.checks import NextEditCheck, PastEdit
from strop_verify.core.ids import content_hash, rng
from strop_verify.core.task import Task
from strop_verify.edits.languages import LANGUAGES
from strop_verify.edits.lines import opcodes

MOST_EDITS = 40  # maximum edits of a commit; a commit with more was not typed by a person
_AROUND = 2 * MOST_LINES  # lines around a change that are read
Edits = Sequence[HistoryEdit]
SILENT = ("far", "large", "over")
_SHORTEST = 12  # minimum characters of a line to cut, without its indentation
_WEIGHTS = (
    dict.fromkeys(",;:([{", 10) | dict.fromkeys(")]}", 8) | {" ": 6} | dict.fromkeys("=+-*/%<>!&|^.", 5)
)


def of_commits(
    repository: Repository, commits: Sequence[Commit], name: str, settings: NextEditSettings, tally: Tally
) -> Iterator[Task]:
    """The states of commits, newest first; of states with the same prompt only the first."""
    prompts: set[str] = set()
    for commit, diff in repository.diffs(commits, _AROUND):
        try:
            edits, texts = _edits(commit, diff, settings)
        except LeftOut as reason:
            tally.considered += 1
            tally.left_out[f"commit: {reason}"] += 1
            continue
        for make in _CommitStates(commit, name, edits, texts, settings).all():
            tally.considered += 1
            with tally.leaving_out("left_out"):
                task = make()
                if (key := content_hash(task.statement)) in prompts:
                    raise LeftOut("the same prompt again")
                prompts.add(key)
                yield task


def _edits(
    commit: Commit, diff: str, settings: NextEditSettings
) -> tuple[list[HistoryEdit], dict[str, list[str]]]:
    """The commit's edits in order, and its files' lines before. Raises LeftOut."""
    says_enough(commit)
    if not commit.parent:
        raise LeftOut("the first one")
    found = (
        (path, one) for path, one in files_of(diff).items() if is_program(path) and not is_packaging(path)
    )
    files = {path: one for path, one in found if one.edits}
    if not files:
        raise LeftOut("changes no existing program")
    if sum(len(one.edits) for one in files.values()) > MOST_EDITS:
        raise LeftOut("too many edits")
    random = rng("next-edit", settings.seed, commit.id)
    edits = ordered({path: one.edits for path, one in files.items()}, random)
    return edits, {path: one.before for path, one in files.items()}


def _cut(edit: HistoryEdit, random: Random) -> tuple[int, int] | None:
    """(index of a new line of an edit, number of its typed characters); None if no line is long enough."""
    lines = [at for at, line in enumerate(edit.new) if len(line.strip()) >= _SHORTEST]
    if not lines:
        return None
    at = random.choice(lines)
    line = edit.new[at]
    begin = len(line) - len(line.lstrip())
    places = range(begin + _SHORTEST // 3, len(line) - _SHORTEST // 3)
    return at, random.choices(places, [_WEIGHTS.get(line[place - 1], 1) for place in places])[0]


@dataclass(frozen=True)
class _View:
    """A window of a file in which some edits are made."""

    path: str
    window: list[str]
    first: int
    cursor: int

    @classmethod
    def around(cls, before: Sequence[str], done: Edits, line: int, settings: NextEditSettings) -> "_View":
        now = made(before, done)
        if not now:
            raise LeftOut("an empty file")
        cursor = min(line, len(now) - 1)
        first, last = window_around(len(now), cursor, settings.lines)
        return cls(done[-1].path, now[first:last], first, cursor - first)

    def moved(self, edit: HistoryEdit, done: Edits) -> HistoryEdit | None:
        """A remaining edit in the window's line numbers; None if it is outside. Raises LeftOut if it is partly in."""
        first = place_of(edit, done) - self.first
        last = first + len(edit.old)
        end = len(self.window)
        if first >= 0 and last <= end and (edit.old or 0 < first < end or self.first == 0):
            return replace(edit, first=first, last=last)
        if first < end and last > 0:
            raise LeftOut("an edit crosses the window's border")
        return None


@dataclass(frozen=True)
class _CommitStates:
    """The states of one commit."""

    commit: Commit
    name: str  # of the repository
    edits: Edits
    texts: Mapping[str, Sequence[str]]  # the files' lines before the commit
    settings: NextEditSettings

    def all(self) -> Iterator[Callable[[], Task]]:
        """Functions that each make a task or raise LeftOut."""
        random = rng("next-edit-cuts", self.settings.seed, self.commit.id)
        for done in range(1, len(self.edits) + 1):
            yield partial(self._paused, done)
            if done < len(self.edits) and (cut := _cut(self.edits[done], random)):
                yield partial(self._typing, done, *cut)

    def _paused(self, count: int) -> Task:
        """The task of the state after this many edits."""
        done, settings, last = self.edits[:count], self.settings, self.edits[count - 1]
        mine = [edit for edit in done if edit.path == last.path]
        view = _View.around(
            self.texts[last.path], mine, place_of(last, mine) + max(0, len(last.new) - 1), settings
        )
        left = [edit for edit in self.edits[count:] if edit.path == last.path]
        inside = {edit: moved for edit in left if (moved := view.moved(edit, mine))}
        following = self.edits[count] if count < len(self.edits) else None
        state, after = "far" if following else "over", view.window
        if following in inside:
            after = made(view.window, [inside[following]])
            added = sum(m - n for equal, _, _, n, m in opcodes(view.window, after) if not equal)
            large = (
                added > settings.answer_lines or len(answer_for(view.window, after)) > settings.answer_chars
            )
            state, after = ("large", view.window) if large else ("next", after)
        elif inside:
            raise LeftOut("a later edit is in the window")
        return self._task(view, after, made(view.window, list(inside.values())), state, done)

    def _typing(self, count: int, at: int, typed: int) -> Task:
        """The task of the state after `count` edits and the first `typed` characters of line `at` of the next edit."""
        edit = self.edits[count]
        begun = replace(edit, new=(*edit.new[:at], edit.new[at][:typed].rstrip()))
        done = (*self.edits[:count], begun)
        mine = [one for one in done if one.path == edit.path]
        line = place_of(begun, mine) + at
        view = _View.around(self.texts[edit.path], mine, line, self.settings)
        left = [one for one in self.edits[count + 1 :] if one.path == edit.path]
        inside = [moved for one in left if (moved := view.moved(one, mine))]
        here = line - view.first
        whole, rest = (
            HistoryEdit(edit.path, here, here + 1, (), edit.new[at : at + 1 + n]) for n in (0, len(edit.new))
        )
        after, goal = made(view.window, [whole]), made(view.window, [rest, *inside])
        return self._task(view, after, goal, "finish", done)

    def _task(self, view: _View, after: list[str], goal: list[str], state: str, done: Edits) -> Task:
        if (after == view.window) != (state in SILENT):
            raise LeftOut("an edit that changes nothing")
        recent = done[-self.settings.history :]
        past = [PastEdit(path=one.path, old=list(one.old), new=list(one.new)) for one in recent]
        check = NextEditCheck(
            path=view.path, first=view.first + 1, window=view.window, cursor=view.cursor, history=past,
            next=after, goal=goal,
        )  # fmt: skip
        text = as_text(sections(check.path, check.window, check.cursor, check.history))
        if len(text) > self.settings.chars:
            raise LeftOut("a long prompt")
        return Task(
            family=FAMILY,
            language=LANGUAGES[view.path.rpartition(".")[2].lower()],
            statement=text,
            reference=answer_for(view.window, after),
            check=check,
            topic=self.name,
            source=f"{self.name}@{self.commit.id[:12]}",
            metadata={
                "kind": "commit", "state": state, "repository": self.name, "commit": self.commit.id,
                "date": self.commit.date, "edits": len(done),
            },
        )  # fmt: skip


def balanced(tasks: Sequence[Task], share: float, seed: int, tally: Tally) -> list[Task]:
    """The tasks in order, minus some drawn by the seed, so that silence is right in this share of each side."""
    kept: set[str] = set()
    for split in {task.split for task in tasks}:
        sides = {
            due: [one.id for one in tasks if one.split == split and one.check.only(NextEditCheck).due == due]
            for due in (True, False)
        }
        most = {
            True: round(len(sides[False]) * (1 - share) / share),
            False: round(len(sides[True]) * share / (1 - share)) if sides[True] else len(sides[False]),
        }
        for due, ids in sides.items():
            over = max(0, len(ids) - most[due])
            gone = set(rng("next-edit-share", seed, str(split)).sample(ids, over))
            tally.left_out[f"to keep the share: {'an edit' if due else 'silence'} is right"] += over
            kept |= {*ids} - gone
    tally.left_out += type(tally.left_out)()  # drops counts of 0
    return [task for task in tasks if task.id in kept]
