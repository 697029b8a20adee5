"""Repository issues, answered by a diff: SWE-bench, SWE-Gym and SWE-smith. Tasks are judged in their container image if
it is on disk (`strop_verify.verification.workspace`); else their verdict is *error*.

SWE-bench: Jimenez et al., "SWE-bench: Can Language Models Resolve Real-World GitHub Issues?", arXiv:2310.06770. Pan et
al., "Training Software Engineering Agents and Verifiers with SWE-Gym", arXiv:2412.21139. See also the cards of
princeton-nlp/SWE-bench and SWE-Gym/SWE-Gym. Fields: `repo`, `instance_id`, `base_commit`, `patch`, `test_patch`,
`problem_statement`, `hints_text`, `created_at`, `version`, `FAIL_TO_PASS`, `PASS_TO_PASS`, `environment_setup_commit`;
further ones (`difficulty`, `image_name`, ...) are kept.

1. The tests are lists, or JSON text of lists, as in the set.
2. `reference` is the gold diff. `hints_text` is kept but not put into the prompt, because it was written after the
   issue.
3. `metadata.original` has the fields that a task does not: those for building an environment, and hints.

SWE-smith: Yang et al., "SWE-smith: Scaling Data for Software Engineering Agents", arXiv:2504.21798; the cards of
SWE-bench/SWE-smith and its variants for other languages. Fields: `instance_id`, `patch`, `FAIL_TO_PASS`,
`PASS_TO_PASS`, `image_name`, `repo`, `problem_statement`; further ones are kept.

4. The newline at the end of a diff is restored if the set has stripped it: git refuses a diff without it.
5. `patch` introduces the bug, so `metadata["bug_patch"]` is that diff and `reference` its reverse.
6. The starting point is the image's repository with the bug in it; the set has a branch per instance, named after it.
   So `check.commit` is the instance's name, unless the row has a `base_commit`.
7. `problem_statement` is empty in parts of the set: such tasks have no statement.

Diffs are reversed as text; nothing is applied. Format: git-diff(1), "Generating patch text with -p", and GNU
diffutils, "Detailed Description of Unified Format".
"""

import re
from collections.abc import Iterator
from typing import Any

from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row, decoded, plain
from strop_tasks.formats.fields import date_of, has, text
from strop_verify.core.checks import WorkspaceCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.edits.languages import language_of
from strop_verify.edits.lines import split

_HUNK = re.compile(r"@@ -(\d+(?:,(\d+))?) \+(\d+(?:,(\d+))?) @@")
_GIT = re.compile(r"diff --git (\S+) (\S+)$")
_INDEX = re.compile(r"index (\w+)\.\.(\w+)(.*)$", re.DOTALL)
MAX_CONTEXT = 3
"""Lines of context that git writes after a change."""


def ended(patch: str) -> str:
    """The diff with its final newline and empty context lines restored if a set has stripped them.

    git refuses a diff without them, and its reverse would join two lines.
    """
    if not patch or patch.endswith("\n"):
        return patch
    lines = f"{patch}\n".split("\n")[:-1]
    start = max((at for at, line in enumerate(lines) if line.startswith("@@ -")), default=None)
    if start is not None and (match := _HUNK.match(lines[start])):
        old, new = (1 if count is None else int(count[:9]) for count in (match[2], match[4]))
        body = lines[start + 1 :]
        old -= sum(line[:1] not in "+\\" or not line for line in body)
        new -= sum(line[:1] not in "-\\" or not line for line in body)
        if 0 < old == new <= MAX_CONTEXT:
            lines += [" "] * old
        if "\r" in patch and all(line.endswith("\r") for line in body[:-1]) and len(body) > 1:
            lines[start + len(body)] = lines[start + len(body)].rstrip("\r") + "\r"
    return "\n".join(lines) + "\n"


def reverse(patch: str) -> str:
    """The diff that undoes `patch`. Reversing a git diff twice gives it back, with removed lines before added ones.

    Raises ValueError for anything but a unified diff of text files; copies and binary files cannot be reversed.
    """
    patch = ended(patch)
    lines = split(patch)
    if not any(line.startswith("@@ -") or line.startswith("rename from ") for line in lines):
        raise ValueError("it has no hunk")
    return "".join(_reversed(lines))


def _reversed(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        if lines[at].startswith("@@ -"):
            end = _end_of_hunk(lines, at)
            yield from _hunk(lines[at:end])
        elif _starts_file(lines, at):
            end = at + 1
            while end < len(lines) and not lines[end].startswith(("@@ -", "diff ")):
                end += 1
                if lines[end - 1].startswith("+++ "):
                    break
            yield from _header(lines[at:end])
        else:
            end = at + 1
            yield lines[at]
        at = end


def _starts_file(lines: list[str], at: int) -> bool:
    plain = lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")
    return plain or lines[at].startswith("diff --git ")


def _header(lines: list[str]) -> Iterator[str]:
    """A file's header lines, each replaced by its counterpart."""
    swapped = {"old mode ": "new mode ", "rename from ": "rename to ", "--- ": "+++ "}
    found = {key: line for line in lines for key in (*swapped, *swapped.values()) if line.startswith(key)}
    both = {**swapped, **{theirs: ours for ours, theirs in swapped.items()}}
    for line in lines:
        if line.startswith(("copy from ", "copy to ", "GIT binary patch", "Binary files ")):
            raise ValueError(f"it has {line.split()[0].lower()} data or copies, which cannot be reversed")
        key = next((key for key in both if line.startswith(key)), None)
        if key is not None:
            if both[key] not in found:
                raise ValueError(f"a line {line.rstrip()!r:.60} has no counterpart")
            value = found[both[key]][len(both[key]) :]
            yield key + (_side(value, "a/" if key == "--- " else "b/") if key in ("--- ", "+++ ") else value)
        elif line.startswith("new file mode "):
            yield line.replace("new file", "deleted file", 1)
        elif line.startswith("deleted file mode "):
            yield line.replace("deleted file", "new file", 1)
        elif match := _INDEX.match(line):
            yield f"index {match[2]}..{match[1]}{match[3]}"
        elif match := _GIT.match(line.rstrip("\r\n")):
            yield f"diff --git {_side(match[2], 'a/')} {_side(match[1], 'b/')}" + line[match.end() :]
        else:
            yield line


def _side(name: str, prefix: str) -> str:
    quote = '"' if name.startswith('"') else ""
    bare = name[len(quote) :]
    return f"{quote}{prefix}{bare[2:]}" if bare[:2] in ("a/", "b/") else name


def _end_of_hunk(lines: list[str], at: int) -> int:
    match = _HUNK.match(lines[at])
    if match is None:
        raise ValueError(f"bad hunk {lines[at].rstrip()!r:.60}")
    old, new = (1 if count is None else int(count[:9]) for count in (match[2], match[4]))
    end = at + 1
    while end < len(lines) and (old > 0 or new > 0 or lines[end].startswith("\\")):
        mark = lines[end][:1]
        if mark not in " +-\\\n\r":
            raise ValueError(f"line {end + 1} is in a hunk but has no mark")
        old -= mark not in "+\\"
        new -= mark not in "-\\"
        end += 1
    if old or new:
        raise ValueError(f"hunk {lines[at].rstrip()!r:.60} does not have the number of lines in its header")
    return end


def _hunk(lines: list[str]) -> Iterator[str]:
    match = _HUNK.match(lines[0])
    assert match is not None
    yield f"@@ -{match[3]} +{match[1]} @@{lines[0][match.end() :]}"
    removed: list[str] = []
    added: list[str] = []
    last = removed
    for line in [*lines[1:], " "]:
        if line[:1] in "+-":
            last = removed if line[0] == "+" else added
            last.append(("-" if line[0] == "+" else "+") + line[1:])
        elif line[:1] == "\\" and (removed or added):
            last.append(line)
        else:
            yield from removed
            yield from added
            removed, added = [], []
            if line != " ":
                yield line


_TESTS = {"FAIL_TO_PASS": "failing", "PASS_TO_PASS": "passing"}
"""Fields with test ids, and the check's fields for them."""


def _tests_of(row: Row, where: str) -> dict[str, list[str]]:
    """The check's lists of tests. Raises UserError, also if both are empty."""
    found = {ours: _names(row, theirs, where) for theirs, ours in _TESTS.items()}
    if not any(found.values()):
        raise UserError(f"{where}: the task has no tests: FAIL_TO_PASS and PASS_TO_PASS are empty")
    return found


def _names(row: Row, name: str, where: str) -> list[str]:
    value = decoded(row, name, where)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(test, str) for test in value):
        raise UserError(f"{where}: field {name!r} must hold a list of test ids, or JSON text of one")
    return list(value)


_HELD = {"instance_id", "problem_statement", "patch", "repo", "test_patch", *_TESTS}
"""Fields that a task stores elsewhere."""


def issue_task(row: Row, where: str, patch: str, check: WorkspaceCheck, **metadata: Any) -> Task:
    """The record of an issue that `patch` resolves; other fields are kept. Raises UserError."""
    name = text(row, "instance_id", where)
    kept = {str(field): plain(value) for field, value in row.items() if field not in _HELD}
    return Task(
        id=name,
        family="swe",
        language=language_of(patch),
        statement=text(row, "problem_statement", where, ""),
        reference=patch,
        check=check,
        topic=check.repository,
        source=name,
        metadata={**date_of(row.get("created_at")), **metadata, "original": kept},
    )


def _read_swe_bench(row: Row, where: str) -> Iterator[Task]:
    patch = ended(text(row, "patch", where, ""))
    image = row.get("image_name") or row.get("docker_image") or ""
    check = WorkspaceCheck(
        image=image if isinstance(image, str) else "",
        repository=text(row, "repo", where),
        commit=text(row, "base_commit", where),
        patch=ended(text(row, "test_patch", where, "")),
        **_tests_of(row, where),
    )
    yield issue_task(row, where, patch, check)


SWE_BENCH = Adapter(
    name="swe-bench",
    about="SWE-bench, SWE-Gym: repository issues, as records",
    read=_read_swe_bench,
    fits=lambda row: (
        has(row, instance_id=str, base_commit=str, patch=str, problem_statement=str) and "test_patch" in row
    ),
)


def _read_swe_smith(row: Row, where: str) -> Iterator[Task]:
    name, bug = text(row, "instance_id", where), text(row, "patch", where)
    try:
        fix = reverse(bug)
    except ValueError as error:
        raise UserError(f"{where}: field 'patch' is not a diff that can be reversed: {error}") from error
    check = WorkspaceCheck(
        image=text(row, "image_name", where),
        repository=text(row, "repo", where),
        commit=text(row, "base_commit", where, name),
        **_tests_of(row, where),
    )
    yield issue_task(row, where, fix, check, bug_patch=bug)


SWE_SMITH = Adapter(
    name="swe-smith",
    about="SWE-smith: bugs introduced into repositories, as records",
    read=_read_swe_smith,
    fits=lambda row: (
        has(row, instance_id=str, image_name=str, patch=str, repo=str) and "test_patch" not in row
    ),
)
