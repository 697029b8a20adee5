"""Filters commits by author, message and changes, and chooses further files to show.

Follows the published seed data of SWE-RL (Wei et al., arXiv 2502.18449), which drops pull requests by bots, empty and
huge ones, version bumps and the like, and requires a linked issue about a bug and changed program files. Deviations:
1. A commit stands for a pull request, and its message for the issue, which a history lacks. So a message reveals more
   of the fix than an issue would.
2. A commit counts as linked to an issue by a word ("fix", "bug", "closes", ...) or a number (#123) in the message.
3. The limits on lines and words are ours; the paper gives none.
4. The unchanged files that are also shown, which a model names in SWE-RL, are drawn by a seed from the files closest to
   the changed ones: in the same folder, or with names that the issue or a changed file mentions.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath

from strop_tasks.curation.edits.repository import Commit, CommitFile
from strop_tasks.curation.engine.tally import LeftOut
from strop_verify.core.errors import UserError
from strop_verify.core.ids import rng
from strop_verify.edits.languages import LANGUAGES

MOST_LINES = 400  # maximum lines that a commit adds and removes
FEWEST_WORDS = 3  # minimum words of a message
MOST_MESSAGE = 6000  # maximum characters of a message
POOL = 4  # number of closest files to draw each wanted one from
SMALLEST = 40  # smallest file worth showing, in bytes
_WORD = re.compile(r"[A-Za-z_]\w{2,60}")
_BOT = re.compile(
    r"\[bot\]|\bbot\b|-bot\b|bot@|dependabot|renovate|greenkeeper|github-actions|pre-commit-ci|pyup|snyk|"
    r"semantic-release|travis|weblate|transifex|imgbot|codecov|mergify|autofix",
    re.IGNORECASE,
)
_MERGE = re.compile(r"merge (?:branch|pull request|remote|tag|commit|[\w/.-]+ into)\b", re.IGNORECASE)
_REVERT = re.compile(r"(?:revert|this reverts commit)\b", re.IGNORECASE)
_BUMP = re.compile(
    r"(?:(?:chore|build|ci|deps|release)(?:\([^)]*\))?!?:|bump\b|release\b|prepare (?:for )?(?:the )?(?:next )?release|"
    r"(?:update|upgrade|pin) (?:\w+ )?(?:dep|requirement|version|lock|changelog|submodule|copyright|pre-commit)|"
    r"version\b|v?\d+\.\d+(?:\.\d+)?\W*$|back to development|changelog\b|\[pre-commit)",
    re.IGNORECASE,
)
_BUG = re.compile(
    r"\b(?:fix|fixe[sd]|fixing|bug|bugs|bugfix|hotfix|regression|crash|crashes|clos(?:e|es|ed)|resolv(?:e|es|ed)|issues?)\b|"
    r"(?<![\w&])#\d+\b",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"(?:signed-off-by|co-authored-by|co-developed-by|reviewed-by|acked-by|tested-by|reported-by|suggested-by|cc|"
    r"change-id|git-svn-id|reviewed-on|pull request resolved|differential revision|reviewers|fbshipit-source-id|"
    r"piperorigin-revid|approved by)\s*:",
    re.IGNORECASE,
)
_TEST = re.compile(r"(?:^|/)(?:tests?|testing|spec|specs|__tests__|testdata)/|(?:^|/)(?:test_[^/]*|conftest\.py)$|"
                   r"[._](?:test|tests|spec)\.\w+$|^(?:test|tests)\.\w+$")  # fmt: skip
_PACKAGING = re.compile(
    r"(?:^|/)(?:setup|versioneer|_?version|__version__|__about__)\.py$|(?:^|/)docs?/(?:.*/)?conf\.py$|"
    r"^(?:noxfile|fabfile|dodo|tasks|build)\.(?:py|rs)$|(?:^|/)(?:gulpfile|Gruntfile|[\w-]+\.config)\.[cm]?[jt]s$"
)
"""Files about building, testing and naming a project."""
_CLOSES = re.compile(
    r"\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?):? +(?:issue +)?#([0-9]{1,9})\b", re.IGNORECASE
)


def read_issues(words: Sequence[str]) -> dict[str, dict[int, str]]:
    """Texts of issues by repository and number. `words`: such as flask=issues.json, a file with a JSON array of objects
    with number, title and body. Raises UserError.
    """
    found: dict[str, dict[int, str]] = {}
    for word in words:
        name, equals, path = word.partition("=")
        if not (name and equals and path):
            raise UserError(f"--issues {word}: write REPOSITORY=FILE.json")
        try:
            rows = json.loads(Path(path).read_text(encoding="utf-8"))
            texts = {int(row["number"]): f"{row['title']}\n\n{row.get('body') or ''}".strip() for row in rows}
        except OSError as error:
            raise UserError(f"--issues {word}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UserError(
                f"--issues {word}: not a list of issues; gh issue list --json number,title,body writes one"
            ) from None
        found.setdefault(name, {}).update(texts)
    return found


def said_of(commit: Commit, issues: Mapping[int, str]) -> tuple[str, int]:
    """A commit's purpose: text and number of the issue that it closes, else its message and 0. Raises LeftOut."""
    issue = next((number for number in map(int, _CLOSES.findall(commit.message)) if number in issues), 0)
    return says_enough(commit._replace(message=issues[issue]) if issue else commit), issue


def says_enough(commit: Commit) -> str:
    """The message as an instruction, without trailers. Raises LeftOut for bots, reverts, bumps, few words, ..."""
    if _BOT.search(commit.author):
        raise LeftOut("by a bot")
    subject = commit.message.split("\n", 1)[0]
    for pattern, reason in ((_MERGE, "a merge"), (_REVERT, "a revert"), (_BUMP, "a bump or release")):
        if pattern.match(subject.strip()):
            raise LeftOut(reason)
    message = "\n".join(
        line for line in commit.message.split("\n") if not _TRAILER.match(line.strip())
    ).strip()
    if len(re.findall(r"[^\W\d_]{2,}", message)) < FEWEST_WORDS:
        raise LeftOut("says too little")
    if len(message) > MOST_MESSAGE:
        raise LeftOut("says too much")
    return message


def names_a_bug(message: str) -> None:
    """Raises LeftOut for a message that names neither a fix nor an issue."""
    if not _BUG.search(message):
        raise LeftOut("names no bug or issue")


def is_program(path: str) -> bool:
    """Whether a path ends like a file of a programming language."""
    return path.rpartition(".")[2].lower() in LANGUAGES and "." in PurePosixPath(path).name


def is_test(path: str) -> bool:
    """Whether a path names a test, or a file that tests need."""
    return _TEST.search(path) is not None


def is_packaging(path: str) -> bool:
    """Whether a path names a file about building, testing or naming the project, such as setup.py."""
    return _PACKAGING.search(path) is not None


def only_programs(changes: Sequence[CommitFile]) -> list[CommitFile]:
    """All changes, if every changed file is a program. Raises LeftOut."""
    found = _plain(changes)
    if not all(is_program(change.path) for change in found):
        raise LeftOut("changes files other than programs")
    if all(is_packaging(change.path) for change in found):
        raise LeftOut("changes only how the project is built or its version")
    return found


def mended_programs(changes: Sequence[CommitFile]) -> list[CommitFile]:
    """The changed programs, tests excluded. Raises LeftOut if none existed before."""
    found = [c for c in _plain(changes) if is_program(c.path) and not is_test(c.path)]
    if not any(change.status in "MD" for change in found):
        raise LeftOut("changes no existing program")
    if all(is_packaging(change.path) for change in found):
        raise LeftOut("changes only how the project is built or its version")
    return found


def _plain(changes: Sequence[CommitFile]) -> list[CommitFile]:
    if not changes:
        raise LeftOut("changes nothing")
    if any(change.status not in "AMD" or not change.regular for change in changes):
        raise LeftOut("renames files, or changes links or modes")
    return list(changes)


def akin(
    paths: Mapping[str, int], changed: Mapping[str, str], issue: str, count: int, room: int, *parts: int | str
) -> list[str]:
    """Up to `count` unchanged files of at most `room` bytes together, in the language of the changed ones.

    paths    every file and its size in bytes
    changed  the texts of the changed files
    parts    seed values of the draw
    """
    endings = {path.rpartition(".")[2] for path in changed}
    words = _words(issue), set().union(*map(_words, changed.values())) if changed else set()
    scored = sorted(
        (-_kinship(path, changed, *words), path)
        for path, size in paths.items()
        if path not in changed and path.rpartition(".")[2] in endings and SMALLEST <= size <= room
        and is_program(path) and not is_test(path)
    )  # fmt: skip
    pool = [path for _, path in scored[: POOL * count]]
    rng("akin", *parts).shuffle(pool)
    chosen: list[str] = []
    for path in pool:
        if len(chosen) < count and paths[path] <= room:
            chosen.append(path)
            room -= paths[path]
    return sorted(chosen)


def _kinship(path: str, changed: Collection[str], issue: Collection[str], texts: Collection[str]) -> float:
    name, folder = PurePosixPath(path), PurePosixPath(path).parent
    stem = name.stem.lower()
    near = max((_shared(folder, PurePosixPath(other).parent) for other in changed), default=0.0)
    return 3.0 * (stem in issue) + 2.0 * (stem in texts) + near


def _shared(a: PurePosixPath, b: PurePosixPath) -> float:
    """Share of the folders that two files have in common, in [0, 1]."""
    common = len({a, *a.parents} & {b, *b.parents})
    return common / (max(len(a.parts), len(b.parts)) + 1)


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text[:200_000])}
