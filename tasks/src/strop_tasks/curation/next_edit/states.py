"""Makes tasks from states of a commit in progress at which a person may pause: the answer is the next edit, or
silence.

    next     the next edit is in the window
    finish   a line has been begun: its rest is next
    far      the next edit is not in the window, nor is any other that is left
    large    the next edit is in the window, but too large to predict
    over     the commit is done

Silence is right in the last three. Nothing is predicted before the first edit, so every state has one. A person
pauses after an edit, and within a line at a place where editors are waited for: after an opening bracket, a comma, an
operator or a space, seldom inside a word (weights as Zed's `split-commit` has them).
`balanced` has silence be right in a share of the states.
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

MOST_EDITS = 40
"""Maximum edits of a commit; a commit with more was not typed by a person."""
_AROUND = 2 * MOST_LINES
"""Lines around a change that are read."""
Edits = Sequence[HistoryEdit]
SILENT = ("far", "large", "over")
_SHORTEST = 12
"""Characters of a line that is cut, without its indentation."""
_WEIGHTS = {
    **dict.fromkeys(",;:([{", 10),
    **dict.fromkeys(")]}", 8),
    " ": 6,
    **dict.fromkeys("=+-*/%<>!&|^.", 5),
}


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
        for make in _states(edits, texts, commit, name, settings):
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
    files = {
        path: one
        for path, one in files_of(diff).items()
        if is_program(path) and not is_packaging(path) and one.edits
    }
    if not files:
        raise LeftOut("changes no program that was there")
    if sum(len(one.edits) for one in files.values()) > MOST_EDITS:
        raise LeftOut("too many edits")
    random = rng("next-edit", settings.seed, commit.id)
    edits = ordered({path: one.edits for path, one in files.items()}, random)
    return edits, {path: one.before for path, one in files.items()}


def _states(
    edits: Edits,
    texts: Mapping[str, Sequence[str]],
    commit: Commit,
    name: str,
    settings: NextEditSettings,
) -> Iterator[Callable[[], Task]]:
    random = rng("next-edit-cuts", settings.seed, commit.id)
    for done in range(1, len(edits) + 1):
        following = edits[done] if done < len(edits) else None
        yield partial(_paused, edits[:done], following, edits[done + 1 :], texts, commit, name, settings)
        if following and (cut := _cut(following, random)):
            yield partial(
                _typing, edits[:done], following, cut, edits[done + 1 :], texts, commit, name, settings
            )


def _cut(edit: HistoryEdit, random: Random) -> tuple[int, int] | None:
    """A line of an edit, and how many of its characters are typed; None where no line is long enough."""
    lines = [at for at, line in enumerate(edit.new) if len(line.strip()) >= _SHORTEST]
    if not lines:
        return None
    at = random.choice(lines)
    line = edit.new[at]
    begin = len(line) - len(line.lstrip())
    places = range(begin + _SHORTEST // 3, len(line) - _SHORTEST // 3)
    return at, random.choices(places, [_WEIGHTS.get(line[place - 1], 1) for place in places])[0]


def _paused(
    done: Edits, following: HistoryEdit | None, later: Edits, texts: Mapping[str, Sequence[str]],
    commit: Commit, name: str, settings: NextEditSettings,
) -> Task:  # fmt: skip
    """After an edit. Raises LeftOut."""
    last = done[-1]
    mine = [edit for edit in done if edit.path == last.path]
    view = _View.around(texts[last.path], mine, place_of(last, mine) + max(0, len(last.new) - 1), settings)
    left = [edit for edit in (following, *later) if edit and edit.path == last.path]
    inside = {edit: moved for edit in left if (moved := view.moved(edit, mine))}
    state, after = "far" if following else "over", view.window
    if following in inside:
        after = made(view.window, [inside[following]])
        added = sum(m - n for equal, _, _, n, m in opcodes(view.window, after) if not equal)
        large = added > settings.answer_lines or len(answer_for(view.window, after)) > settings.answer_chars
        state, after = ("large", view.window) if large else ("next", after)
    elif inside:
        raise LeftOut("a later edit is in the window")
    goal = made(view.window, list(inside.values()))
    return _task(view, after, goal, state, done, commit, name, settings)


def _typing(
    done: Edits, edit: HistoryEdit, cut: tuple[int, int], later: Edits, texts: Mapping[str, Sequence[str]],
    commit: Commit, name: str, settings: NextEditSettings,
) -> Task:  # fmt: skip
    """Within a line of an edit. Raises LeftOut."""
    at, typed = cut
    begun = replace(edit, new=(*edit.new[:at], edit.new[at][:typed].rstrip()))
    mine = [one for one in (*done, begun) if one.path == edit.path]
    line = place_of(begun, mine) + at
    view = _View.around(texts[edit.path], mine, line, settings)
    left = [one for one in later if one.path == edit.path]
    inside = [moved for one in left if (moved := view.moved(one, mine))]
    here = line - view.first
    whole, rest = (
        HistoryEdit(edit.path, here, here + 1, (), edit.new[at : at + 1 + n]) for n in (0, len(edit.new))
    )
    after, goal = made(view.window, [whole]), made(view.window, [rest, *inside])
    return _task(view, after, goal, "finish", (*done, begun), commit, name, settings)


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
        """An edit that is left, in the window's lines; None where it is elsewhere. Raises LeftOut."""
        first = place_of(edit, done) - self.first
        last = first + len(edit.old)
        end = len(self.window)
        if first >= 0 and last <= end and (edit.old or 0 < first < end or self.first == 0):
            return replace(edit, first=first, last=last)
        if first < end and last > 0:
            raise LeftOut("an edit crosses the window's border")
        return None


def _task(
    view: _View, after: list[str], goal: list[str], state: str, done: Edits, commit: Commit, name: str,
    settings: NextEditSettings,
) -> Task:  # fmt: skip
    if (after == view.window) != (state in SILENT):
        raise LeftOut("an edit that changes nothing")
    past = [
        PastEdit(path=one.path, old=list(one.old), new=list(one.new)) for one in done[-settings.history :]
    ]
    check = NextEditCheck(
        path=view.path,
        first=view.first + 1,
        window=view.window,
        cursor=view.cursor,
        history=past,
        next=after,
        goal=goal,
    )
    text = as_text(sections(check.path, check.window, check.cursor, check.history))
    if len(text) > settings.chars:
        raise LeftOut("a long prompt")
    return Task(
        family=FAMILY,
        language=LANGUAGES[view.path.rpartition(".")[2].lower()],
        statement=text,
        reference=answer_for(view.window, after),
        check=check,
        topic=name,
        source=f"{name}@{commit.id[:12]}",
        metadata={
            "kind": "commit",
            "state": state,
            "repository": name,
            "commit": commit.id,
            "date": commit.date,
            "edits": len(done),
        },
    )


def balanced(tasks: Sequence[Task], share: float, seed: int, tally: Tally) -> list[Task]:
    """The tasks of each side in their order, with as many left out, drawn by the seed, as make silence right in that
    share of them.
    """
    kept: set[str] = set()
    for split in {task.split for task in tasks}:
        sides = {
            due: [task.id for task in tasks if task.split == split and _due(task) == due]
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
    tally.left_out += type(tally.left_out)()  # without those of which there are 0
    return [task for task in tasks if task.id in kept]


def _due(task: Task) -> bool:
    return task.check.only(NextEditCheck).due
