"""Reproduction tests: pytest files that the policy writes for the issue. Those that fail before the repair are kept.

A test is a model's text: it is parsed here and runs only in the jail.
"""

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from strop.repair.outline import parsed
from strop.repair.repository import RepositoryTexts
from strop.tasks.answers import extract_code
from strop.tasks.suite_tests import UnreadableTests, test_ids
from strop_verify.core.ids import content_hash
from strop_verify.core.syntax import syntax_tree

MOST_KEPT = 30
"""Maximum test files to run, those with the most votes; as in Agentless Mini."""
_LONGEST = 50_000
_FILE = "test.py"
_MOST_TESTS = 20
"""Maximum tests per file."""


@dataclass(frozen=True)
class TestFile:
    """A test file that the policy wrote. `ids`: pytest's node ids; `votes`: the samples that wrote the same."""

    __test__ = False  # tells pytest that this is not a test class
    path: str
    text: str
    ids: tuple[str, ...]
    votes: int


def test_files(answers: Sequence[str], repository: RepositoryTexts) -> list[TestFile]:
    """The distinct test files in the answers, most votes first, with paths that are new in the repository."""
    votes: Counter[str] = Counter()
    texts: dict[str, tuple[str, tuple[str, ...]]] = {}
    for answer in answers:
        text = extract_code(answer[: 4 * _LONGEST], "python").strip("\n") + "\n"
        names = _tests(text)
        if not names:
            continue
        key = content_hash(ast.dump(syntax_tree(text)))
        votes[key] += 1
        texts.setdefault(key, (text, names))
    folder = _folder(repository)
    found = []
    for number, (key, count) in enumerate(votes.most_common(MOST_KEPT), 1):
        text, names = texts[key]
        path = f"{folder}test_strop_issue_{number}.py"
        while repository.exists(path):
            path = path.removesuffix(".py") + "x.py"
        found.append(TestFile(path, text, tuple(f"{path}::{name}" for name in names), count))
    return found


def _tests(text: str) -> tuple[str, ...]:
    """The names of the tests in a file (in classes as `Class::test`); none if it cannot be parsed."""
    if len(text) > _LONGEST or parsed(text) is None:
        return ()
    try:
        return tuple(name.partition("::")[2] for name in test_ids({_FILE: text}))[:_MOST_TESTS]
    except UnreadableTests:
        return ()


def _folder(repository: RepositoryTexts) -> str:
    """The folder with the most test files, ending in "/", or "" for the root."""
    names = [PurePosixPath(path) for path in repository.files if repository.is_test(path)]
    folders = Counter(str(path.parent) for path in names if path.name.startswith("test_"))
    best = min(folders, key=lambda folder: (-folders[folder], folder), default=".")
    return "" if best == "." else f"{best}/"
