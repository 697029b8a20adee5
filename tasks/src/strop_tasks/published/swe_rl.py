"""The reward of SWE-RL in its published form: -1 for a bad format, else the similarity of two patches, in [0, 1].

Sources: Wei et al., SWE-RL, arXiv 2502.18449; github.com/facebookresearch/swe-rl, src/swerl/core/reward.py, revision
5aa10d6. The numbers follow that code:

    reward = mean over the files that either patch changes of ratio(predicted patch, oracle patch)

where a file's patch is difflib's unified diff with three lines of context and without headers, ratio is difflib's by
characters without autojunk, 0 if one side leaves the file unchanged, and the mean is 1 if both change nothing. Note:
1. every occurrence of a search text is replaced, not only the first;
2. a search text must begin at the start of a line but may end anywhere: "x = 1" is found in "x = 10";
3. a missing file counts as empty, so only an empty search text is found in it;
4. an equivalent fix that is written differently scores lower (`passed` has no such bias).

Deviations:
1. replacing every occurrence lets a short answer make a text of any size; more than `MAX_GROWTH` is a bad format;
2. a patch with a line `Binary files` or `diff --git` over 2,000 characters counts as empty: parsing it takes minutes;
3. if the prompt ends in `<think>`, the completion is read as its continuation.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from strop_tasks.published.ratio import library, ratio, unified_diff
from strop_verify.core.errors import StropError

if TYPE_CHECKING:
    from unidiff.patch import PatchedFile

BAD_FORMAT = -1.0
MAX_GROWTH = 2_000_000
"""Maximum characters by which a file may grow."""
TAGS = ("<think>", "</think>", "<solution>", "</solution>")
_HEAD = re.compile(r"\n### (.*)\n<<<<<<< SEARCH\n")
_DIVIDER, _TAIL = "\n=======\n", "\n>>>>>>> REPLACE\n```"
_SLOW = re.compile(r"^(?:Binary file|diff --git)[^\n]{2000}", re.M)
"""unidiff's expressions for such lines take quadratic time."""

Blocks = list[tuple[str, str, str]]
"""(path, search, replace) of each edit, in order."""


class FormatError(StropError):
    """An answer that is not in the format, or whose edits do not apply."""


def search_replace_reward(files: Mapping[str, str], oracle: Mapping[str, str], output: str) -> float:
    """The reward of a response: -1 for a bad format, else the result of `change_reward`.

    files   path -> text before the edit
    oracle  path -> new text of each file that the oracle changes
    """
    try:
        after = apply_blocks(files, search_replace_blocks(solution_of(output)))
    except FormatError:
        return BAD_FORMAT
    return change_reward(files, oracle, after)


def change_reward(files: Mapping[str, str], oracle: Mapping[str, str], after: Mapping[str, str]) -> float:
    """The similarity of two changes of `files`, in [0, 1]; both give the new texts of the files that they change."""
    return _mean_ratio(_patches(files, after), _patches(files, oracle))


def unidiff_reward(oracle_patches: Sequence[str], patches: Sequence[str]) -> float:
    """The similarity of two sets of unified diffs, in [0, 1]: the published form for answers that are patches.

    Files are matched by path, renamed ones by their old path; binary files are ignored. Other text changes no file.
    """
    return _mean_ratio(_by_file(patches), _by_file(oracle_patches))


def solution_of(output: str) -> str:
    """The text between the solution tags, which may come before the thought. Raises FormatError unless each of the four
    tags occurs exactly once and the thought is not empty.
    """
    for tag in TAGS:
        if output.count(tag) != 1:
            raise FormatError(f"{tag} occurs {output.count(tag)} times, not once")
    if not _between(output, "<think>", "</think>"):
        raise FormatError("the thought is empty")
    return _between(output, "<solution>", "</solution>")


def search_replace_blocks(solution: str) -> Blocks:
    """The edits of a solution, in linear time. Raises FormatError if there are none.

    An edit is what the published expression matches: a fence, anything on its line, `### path`, and a search/replace
    block whose last marker is followed by a line that begins with a fence.
    """
    found: Blocks = []
    position = 0
    while (block := _next_block(solution, position)) is not None:
        edit, position = block
        found.append(edit)
    if not found:
        raise FormatError("there is no search/replace block")
    return found


def apply_blocks(files: Mapping[str, str], blocks: Blocks) -> dict[str, str]:
    """The new texts of the files that the edits name. Raises FormatError for an edit that changes nothing, is not found
    at the start of a line, or makes a file longer by more than `MAX_GROWTH` characters.
    """
    after: dict[str, str] = {}
    for path, search, replace in blocks:
        text = after.get(path, "\n" + files.get(path, ""))
        if search == replace:
            raise FormatError(f"{path}: search and replace are the same")
        count = text.count("\n" + search)
        if not count:
            raise FormatError(f"{path}: the search text is not found: {search!r}")
        if len(text) + count * (len(replace) - len(search)) > len(files.get(path, "")) + MAX_GROWTH:
            raise FormatError(f"{path}: the edits make the file longer by more than {MAX_GROWTH} characters")
        after[path] = text.replace("\n" + search, "\n" + replace)
    return {path: text[1:] for path, text in after.items()}


def _between(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0].strip()


def _next_block(text: str, start: int) -> tuple[tuple[str, str, str], int] | None:
    """The first edit that begins at `start` or later, and its end.

    If a head has no divider or tail after it, no later head has one: nothing is searched twice.
    """
    position = start
    while head := _HEAD.search(text, position):
        line = max(start, text.rfind("\n", start, head.start()) + 1)
        if text.find("```", line, head.start()) < 0:
            position = head.start() + 1
            continue
        divider = text.find(_DIVIDER, head.end())
        tail = text.find(_TAIL, divider + len(_DIVIDER)) if divider >= 0 else -1
        if tail < 0:
            return None
        replace = text[divider + len(_DIVIDER) : tail]
        return (head[1], text[head.end() : divider], replace), tail + len(_TAIL)
    return None


@lru_cache(maxsize=128)
def _file_patches(patch: str) -> dict[str, str]:
    """Path -> patch of each file of a unified diff, in the published form for comparison."""
    if _SLOW.search(patch):
        return {}
    read = library("unidiff", "SWE-RL's reward of unified diffs").PatchSet
    try:
        return dict(_file_patch(file) for file in read(patch) if not file.is_binary_file)
    except (
        Exception
    ):  # unidiff raises other errors than its own on hostile text; the published form finds no patch then
        return {}


def _file_patch(file: "PatchedFile") -> tuple[str, str]:
    body = "\n".join(str(hunk).strip() for hunk in file)
    if not file.is_rename:
        return str(file.path), body.strip()
    source, target = file.source_file.removeprefix("a/"), file.target_file.removeprefix("b/")
    return source, f"rename from {source} to {target}\n{body}".strip()


def _by_file(patches: Sequence[str]) -> dict[str, str]:
    merged: dict[str, str] = {}
    for patch in patches:
        merged.update(_file_patches(patch))
    return merged


def _patches(files: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    made = {path: unified_diff(files.get(path, ""), text) for path, text in after.items()}
    return {path: patch for path, patch in made.items() if patch}


def _mean_ratio(predicted: Mapping[str, str], oracle: Mapping[str, str]) -> float:
    paths = predicted.keys() | oracle.keys()
    if not paths:
        return 1.0
    both = [p for p in paths if predicted.get(p) and oracle.get(p)]
    return sum(ratio(predicted[p], oracle[p], autojunk=False) for p in sorted(both)) / len(paths)
