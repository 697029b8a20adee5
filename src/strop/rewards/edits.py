"""The rewards of edits by the names that a recipe uses: ours, and the published ones for comparison.

The reasoning rewards apply to every task. The others apply to tasks whose check is of kind `edit`; they are None ("not
scored") for any other task, and if they need an oracle that the task lacks. The execution reward of an edit is
`passed`, as for any answer. docs/rewards.md, `edit_scores.py`, `swe_rl.py` and `code_repair.py` define each number.

If the prompt ends in `<think>`, the completion is read as its continuation. The published forms for answers that
are diffs of a workspace compare what the edit does to the files, as `git diff` shows it (docs/rewards.md says where the
two differ).
"""

from collections.abc import Callable, Mapping
from functools import wraps

from strop.core.checks import EditCheck
from strop.core.protocols import Reward
from strop.core.rollout import Rollout
from strop.core.task import Task
from strop.core.verdict import Verdict
from strop.edits import EditError, Tolerance
from strop.edits.diff_writer import write_diff
from strop.rewards import code_repair, edit_scores, swe_rl

Score = Callable[[EditCheck, str], float]
"""A number from (check, the whole of what was said)."""


def of_edits(score: Score, *, oracle: bool = True) -> Reward:
    """The reward of edit tasks that a score is; with `oracle`, only of those that have one."""

    @wraps(score)
    def reward(task: Task, rollout: Rollout, verdict: Verdict) -> float | None:
        check = task.edit
        if check is None or (oracle and not check.oracle):
            return None
        return score(check, said(rollout, task))

    return reward


def of_text(score: Callable[[str], float]) -> Reward:
    """The reward of every task that a score of what was said is."""

    def reward(task: Task, rollout: Rollout, verdict: Verdict) -> float:
        return score(said(rollout, task))

    return reward


def said(rollout: Rollout, task: Task | None = None) -> str:
    """The last turn's text, for an edit the whole answer, with the `<think>` that its prompt may have begun."""
    text = rollout.turns[-1].completion.text if rollout.turns else rollout.answer
    if task is not None and task.edit is not None:
        text = rollout.answer or text
    begun = len(rollout.turns) == 1 and rollout.prompt.rstrip().endswith("<think>")
    if begun and not text.startswith("<think>"):
        return "<think>" + ("" if text.startswith("\n") else "\n") + text
    return text


def edit_similarity(check: EditCheck, text: str) -> float:
    """How much of the oracle's change the answer's edit makes; 0 where it does not apply."""
    return edit_scores.similarity(text, check.files, _oracle(check), check.format, _tolerance(check))


def edit_applies(check: EditCheck, text: str) -> float:
    """1 when the edit can be read, applies and changes something."""
    return float(edit_scores.files_after(text, check.files, check.format, _tolerance(check)) is not None)


def edit_format(check: EditCheck, text: str) -> float:
    """How well the edit is written, graded."""
    return edit_scores.format_score(text, check.format)


def sr_diff_similarity(check: EditCheck, text: str) -> float:
    """CodeRepairRL's mean over search/replace blocks, which are read by the format's parser."""
    return edit_scores.blocks_similarity(text, check.files, _oracle(check))


def published_swe_rl(check: EditCheck, text: str) -> float:
    """SWE-RL's reward: -1 for a bad format, else in [0, 1]."""
    return swe_rl.search_replace_reward(check.files, _changed(check), text)


def published_swe_rl_unidiff(check: EditCheck, text: str) -> float:
    """SWE-RL's reward of unified diffs, in [0, 1]; an edit that does not apply changes nothing."""
    return swe_rl.unidiff_reward([_git_diff(check, _oracle(check))], [_made_diff(check, text)])


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
    return code_repair.unified_diff_similarity(_git_diff(check, _oracle(check)), _made_diff(check, text))


def _oracle(check: EditCheck) -> dict[str, str]:
    return edit_scores.oracle_after(check.files, check.oracle)


def _changed(check: EditCheck) -> dict[str, str]:
    """The texts after of the files that the oracle changes; a deleted one is empty, as the published form has it."""
    return {path: text or "" for path, text in check.oracle.items()}


def _tolerance(check: EditCheck) -> Tolerance:
    return Tolerance.of(*check.tolerance)


def _made_diff(check: EditCheck, text: str) -> str:
    after = edit_scores.files_after(text, check.files, check.format, _tolerance(check))
    return "" if after is None else _git_diff(check, after)


def _git_diff(check: EditCheck, after: Mapping[str, str]) -> str:
    """What changed, as `git diff` writes it; "" where nothing did."""
    try:
        return write_diff(check.files, after, full=True)
    except EditError:
        return ""


_WITH_ORACLE = (
    edit_similarity, sr_diff_similarity, published_swe_rl, published_swe_rl_unidiff, published_sr_diff_similarity,
    published_unified_diff_similarity,
)  # fmt: skip
BY_DIFFLIB = frozenset(score.__name__ for score in _WITH_ORACLE) - {"edit_similarity"}
"""The rewards that are difflib's numbers; they need the extra `similarity`."""
_WITHOUT_ORACLE = (edit_applies, edit_format, published_sr_diff_format)
EDITS: dict[str, Reward] = {
    **{score.__name__: of_edits(score) for score in _WITH_ORACLE},
    **{score.__name__: of_edits(score, oracle=False) for score in _WITHOUT_ORACLE},
    "partial_reasoning": of_text(edit_scores.partial_reasoning),
    "strict_reasoning": of_text(edit_scores.strict_reasoning),
    "published_partial_reasoning": of_text(code_repair.partial_reasoning),
    "published_strict_reasoning": of_text(code_repair.strict_reasoning),
}
"""The rewards of this file by the names that a recipe uses."""
