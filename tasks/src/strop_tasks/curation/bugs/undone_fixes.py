"""Undoes fixes on today's tree: a commit's change to one file is reversed if its lines are still there.

SWE-smith's "PR mirroring" (Yang et al., arXiv 2504.21798), with these deviations:
1. commits instead of pull requests, which a history lacks;
2. a hunk is reversed if its context (three lines, else one) still occurs once; SWE-smith has a model rewrite the file;
3. the statement is written as for other bugs, not from the commit's message: today's tests show what fails.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from strop_tasks.curation.edits.history import MOST_LINES, is_packaging, is_test
from strop_tasks.curation.edits.programs import same_program
from strop_tasks.curation.edits.repository import Commit, Repository, gather
from strop_tasks.curation.engine.tally import LeftOut, Tally
from strop_tasks.curation.faults.draw import Fault
from strop_tasks.curation.faults.routines import RoutinePlace, parsed
from strop_verify.code.python.source import UNPARSABLE
from strop_verify.core.ids import content_hash
from strop_verify.core.ranges import Range
from strop_verify.edits import FORMATS, LENIENT, Create, Delete, EditError, Parsed, Rename, Replace
from strop_verify.edits.minimal_diff import hunks

OPERATOR = "undone"
NEWEST = 10_000  # maximum commits to examine
_AROUND = (3, 1)  # lines around a hunk by which it is found
_DIFF = FORMATS["unified-diff"]


@dataclass(frozen=True)
class Undone:
    """A fix that can be undone in today's text of a file."""

    commit: str
    text: str
    """The file's text without it."""
    lines: list[Range]
    """The differing lines of today's text; where lines are restored, the lines around them."""

    def touches(self, place: RoutinePlace) -> bool:
        """Whether some of the lines belong to a function."""
        last = place.node.end_lineno or place.first
        return any(a <= last and place.first <= b for a, b in self.lines)

    def fault(self, name: str) -> Fault:
        """The fix as a bug of the functions `name`."""
        lines = self.lines[0][0], self.lines[-1][1]
        return Fault((OPERATOR,), name, lines, self.text, content_hash(self.text))


def undone_fixes(history: str, files: Mapping[str, str], tally: Tally) -> dict[str, list[Undone]]:
    """Fixes in a git repository or bundle that can be undone in these Python files, by path, newest first.

    Commits that give none are counted by reason under `skipped`. Raises UserError.
    """
    found: dict[str, list[Undone]] = {}
    with TemporaryDirectory(prefix="strop-undone-") as folder:
        (source,) = gather([history], store := Path(folder) / "history.git")
        repository = Repository(store)
        commits = repository.commits(NEWEST, source.ref)
        for same in zip(*(repository.diffs(commits, around) for around in _AROUND), strict=True):
            with tally.leaving_out("skipped"):
                path, one = _undone(same[0][0], [diff for _, diff in same], files)
                if all(one.text != other.text for other in found.setdefault(path, [])):
                    found[path].append(one)
    return found


def _undone(commit: Commit, diffs: list[str], files: Mapping[str, str]) -> tuple[str, Undone]:
    """The file and its text without a commit. Raises LeftOut."""
    changes = [list(_of_programs(_DIFF.parse(diff))) for diff in diffs]
    named = {change.path for change in changes[0]}
    if len(named) != 1:
        raise LeftOut("commits that change no program, or several")
    (then,) = named
    path = then if then in files else next((now for now in files if now.endswith(f"/{then}")), "")
    if not path:
        raise LeftOut("commits to files that no longer exist")
    old = files[path]
    for back in changes:
        try:
            new = _DIFF.apply(Parsed(tuple(back)), {then: old}, LENIENT).popitem()[1]
            parsed(new)
        except (EditError, *UNPARSABLE):
            continue
        if same_program(path, old, new):
            raise LeftOut("commits that change only comments, docstrings or layout")
        changed = hunks(old, new)
        if sum(one.last - one.first + one.new_last - one.new_first for one in changed) > MOST_LINES:
            raise LeftOut("commits that change too many lines")
        lines = [
            (max(1, one.first + (one.first < one.last)), max(one.last, one.first + 1)) for one in changed
        ]
        return path, Undone(commit.id, new, lines)
    raise LeftOut("commits whose lines have changed since")


def _of_programs(diff: Parsed) -> Iterator[Replace]:
    """The reversed hunks of Python files that are not tests. Raises LeftOut for new, deleted or renamed files."""
    for change in diff.changes:
        if not change.path.endswith(".py") or is_test(change.path) or is_packaging(change.path):
            continue
        if isinstance(change, Create | Delete | Rename):
            raise LeftOut("commits that create, delete or rename programs")
        if isinstance(change, Replace):
            yield Replace(change.path, change.replace, change.search)
