"""The published rewards for edits by their names in recipes, and one of them without the original's mistakes.

The reasoning rewards apply to every task, the others to the same tasks as those of `strop.rewards.edits`.
docs/rewards.md, `swe_rl.py` and `code_repair.py` define each number.

The forms for diffs of a workspace compare the edits' effects on the files, as `git diff` shows them.
"""

from collections.abc import Mapping

from strop.rewards.edits import files_after, of_edits, of_text, oracle_of
from strop_tasks.published import code_repair, swe_rl
from strop_tasks.published.blocks import Block
from strop_verify.core.checks import EditCheck
from strop_verify.core.protocols import Reward
from strop_verify.edits import EditError, Replace, edit_in, format_of
from strop_verify.edits.diff_writer import write_diff


def sr_diff_similarity(check: EditCheck, text: str) -> float:
    """CodeRepairRL's mean over search/replace blocks, read by Strop's parser; the oracle's are its smallest edit."""
    wanted = format_of("search-replace").render(check.files, oracle_of(check))
    return code_repair.sr_similarity(_blocks(edit_in(text)), _blocks(wanted))


def published_swe_rl(check: EditCheck, text: str) -> float:
    """SWE-RL's reward: -1 for a bad format, else in [0, 1]."""
    return swe_rl.search_replace_reward(check.files, _changed(check), text)


def published_swe_rl_unidiff(check: EditCheck, text: str) -> float:
    """SWE-RL's reward of unified diffs, in [0, 1]; an edit that does not apply changes nothing."""
    return swe_rl.unidiff_reward([_git_diff(check, oracle_of(check))], [_made_diff(check, text)])


def published_sr_diff_format(check: EditCheck, text: str) -> float:
    """CodeRepairRL's graded format of search/replace blocks."""
    return code_repair.sr_format(code_repair.answer_of(text))


def published_sr_diff_similarity(check: EditCheck, text: str) -> float:
    """CodeRepairRL's mean over search/replace blocks, read by its parser; the oracle's blocks have no context."""
    wanted = [
        block
        for path, after in sorted(_changed(check).items())
        for block in code_repair.blocks_between(check.files.get(path, ""), after)
    ]
    return code_repair.published_sr_similarity(code_repair.answer_of(text), code_repair.blocks_text(wanted))


def published_unified_diff_similarity(check: EditCheck, text: str) -> float:
    """CodeRepairRL's similarity of unified diffs, file by file."""
    return code_repair.unified_diff_similarity(_git_diff(check, oracle_of(check)), _made_diff(check, text))


def _blocks(text: str) -> list[Block]:
    changes = format_of("search-replace").parse(text).changes
    return [(change.search, change.replace) for change in changes if isinstance(change, Replace)]


def _changed(check: EditCheck) -> dict[str, str]:
    """The new texts of the files that the oracle changes; "" for a deleted one, as in the published form."""
    return {path: text or "" for path, text in check.oracle.items()}


def _made_diff(check: EditCheck, text: str) -> str:
    after = files_after(check, text)
    return "" if after is None else _git_diff(check, after)


def _git_diff(check: EditCheck, after: Mapping[str, str]) -> str:
    """The changes in the format of `git diff`; "" if there are none."""
    try:
        return write_diff(check.files, after, full=True)
    except EditError:
        return ""


_WITH_ORACLE = (
    sr_diff_similarity, published_swe_rl, published_swe_rl_unidiff, published_sr_diff_similarity,
    published_unified_diff_similarity,
)  # fmt: skip
BY_DIFFLIB = frozenset(score.__name__ for score in _WITH_ORACLE)
"""The rewards that use difflib's ratio and need the extra `similarity`."""
EDITS: dict[str, Reward] = {
    **{score.__name__: of_edits(score) for score in _WITH_ORACLE},
    "published_sr_diff_format": of_edits(published_sr_diff_format, oracle=False),
    "published_partial_reasoning": of_text(code_repair.partial_reasoning),
    "published_strict_reasoning": of_text(code_repair.strict_reasoning),
}
"""This file's rewards by their names in recipes."""
