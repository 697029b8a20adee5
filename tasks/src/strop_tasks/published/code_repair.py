"""The rewards of CodeRepairRL in their published form, each in [0, 1]; the recipe sets the weights.

Sources: github.com/ASSERT-KTH/CodeRepairRL, src/rewards and src/utils, revision 2b36cad; the thesis
(github.com/BjarniHaukur/CodeRepairRL-Paper). `repair` weighs partial reasoning .1, strict reasoning .2, format .3 and
similarity .4; the repository tasks use only unified_diff_similarity. An answer is the first fenced block after
`<answer>` (a missing end tag is tolerated); without the tag it is the text "N/A".

Bugs of the original, kept under `published_` names (`strop.rewards.edits` has forms that work):
1. strict reasoning accepts only an answer of one line, so no edit ever earns it;
2. format: full markers count as abbreviated ("<<<<<<< SEARCH" contains "<< SEARCH"), and a line break after a marker
   as trailing text, unless there is one block and it is perfect: two perfect blocks score .6, not 1;
3. similarity: blocks that its parser does not see (`blocks.py`); an answer and an oracle with two blocks each both
   parse to nothing, which counts as equal. `sr_similarity` itself takes blocks and follows its definition.
"""

import re
from collections.abc import Sequence
from itertools import zip_longest

from strop_tasks.published.blocks import Block, follows, is_standard, published_blocks
from strop_tasks.published.ratio import changed_lines, lines_ratio, ratio

PER_TAG = 0.25
PER_STRAY = 0.001
"""Penalty for each character before the thought and after the answer."""
_END = "\n</answer>"
_SHORTEST = len("<think>\n\n</think>\n<answer>")
_PERFECT = tuple(map(re.compile, (r"<<<<<<< SEARCH\n", r"\n=======\n", r"\n>>>>>>> REPLACE")))
_GIT = "diff --git a/"
_FILE = re.compile(r"(?=^diff --git)", re.M)


def partial_reasoning(text: str) -> float:
    """A quarter for each of `<think>`, `</think>`, `<answer>`, `</answer>` that is alone on a line exactly once.

    Each character before the first or after the last of them, if present, costs a thousandth.
    """
    score = 0.0
    if text.count("<think>\n") == 1:
        score += PER_TAG - PER_STRAY * text.index("<think>\n")
    score += PER_TAG * (text.count("\n</think>\n") == 1)
    score += PER_TAG * (text.count("\n<answer>\n") == 1)
    if text.count("\n</answer>") == 1:
        score += PER_TAG - PER_STRAY * (len(text) - text.index("\n</answer>") - len("\n</answer>"))
    return max(0.0, score)


def strict_reasoning(text: str) -> float:
    """1 for a thought and a one-line answer between their tags, with only white space after them, else 0."""
    ended = text.rstrip()
    if not (ended.startswith("<think>\n") and ended.endswith(_END)):
        return 0.0
    before, _, answer = ended[: -len(_END)].rpartition("\n")
    return float(bool(answer) and before.endswith("\n</think>\n<answer>") and len(before) > _SHORTEST)


def answer_of(text: str) -> str:
    """The original's answer: the first fenced block after `<answer>`, or all of that text; "N/A" without the tag."""
    _, tag, rest = text.partition("<answer>")
    if not tag:
        return "N/A"
    answer = rest.partition("</answer>")[0].strip()
    fence = answer.find("```")
    line = answer.find("\n", fence + 3) if fence >= 0 else -1
    end = answer.find("```", line) if line >= 0 else -1
    return answer[line + 1 : end] if end >= 0 else answer


def published_sr_similarity(answer: str, oracle: str) -> float:
    """`sr_similarity` of two texts, as the original's parser reads them."""
    return sr_similarity(published_blocks(answer), published_blocks(oracle))


def sr_similarity(blocks: Sequence[Block], oracle: Sequence[Block]) -> float:
    """The similarity of two lists of blocks: the mean over pairs in order, the shorter list padded with empty blocks.

    A pair's similarity is the mean of difflib's ratios (autojunk on) of the lines of its search and of its replace
    texts. Two empty lists give 1, an empty and a non-empty one 0.
    """
    if not blocks or not oracle:
        return float(not blocks and not oracle)
    pairs = [*zip_longest(blocks, oracle, fillvalue=("", ""))]
    return sum((lines_ratio(a[0], b[0]) + lines_ratio(a[1], b[1])) / 2 for a, b in pairs) / len(pairs)


def sr_format(text: str) -> float:
    """The graded format of an answer's text: 1 minus the deductions for its markers, at least 0."""
    if not text:
        return 0.0
    searches, replaces = text.count("SEARCH"), text.count("REPLACE")
    score = 1.0 - 0.4 * (not searches) - 0.4 * (not replaces)
    score -= 0.2 * ("=======" not in text and "DIVIDER" not in text)
    if score < 0.5:
        return max(0.0, score)
    if searches == replaces == 1 and follows(text, _PERFECT):
        return 1.0
    score -= sum(weight for weight, is_wrong in _deductions(text) if is_wrong)
    if searches and replaces:
        if not published_blocks(text):
            score -= 0.2
        elif not is_standard(text):
            score -= 0.1
    return min(1.0, max(0.0, score))


def unified_diff_similarity(oracle: str, generated: str) -> float:
    """The sum of difflib's ratios (characters, autojunk on) over the oracle's files, divided by the larger file count.

    Texts are split before each line that begins with `diff --git`; a file that only one side changes adds 0.
    """
    wanted, made = _files(oracle), _files(generated)
    total = sum(ratio(text, made[path]) for path, text in wanted.items() if path in made)
    return total / (max(len(wanted), len(made)) or 1)


def blocks_between(before: str, after: str, context: int = 0) -> list[Block]:
    """The oracle blocks that the original makes from two versions of a file, with `context` lines around each change.

    Non-blank lines lose their trailing white space; neighbouring blocks may overlap.
    """
    if before == after:
        return []
    if not before or not after:
        return [(before, after)]
    old, new = _stripped(before), _stripped(after)
    found = [
        ("\n".join(old[max(0, i - context) : j + context]), "\n".join(new[max(0, k - context) : m + context]))
        for i, j, k, m in changed_lines(old, new)
    ]
    return [block for block in found if any(block)] or [(before, after)]


def blocks_text(blocks: Sequence[Block]) -> str:
    """Blocks in the original's format, separated by blank lines."""
    return "\n\n".join(f"<<<<<<< SEARCH\n{a}\n=======\n{b}\n>>>>>>> REPLACE" for a, b in blocks)


def _deductions(text: str) -> list[tuple[float, bool]]:
    """(deduction, whether the text has the mistake) for each mistake."""
    dividers = text.count("=======")

    def found(expression: str) -> bool:
        return re.search(expression, text) is not None

    first_replace, first_search = text.find("REPLACE"), text.find("SEARCH")
    backwards = 0 <= first_replace < text.rfind("SEARCH")
    forwards = 0 <= first_search < text.rfind("REPLACE")
    return [
        (0.1, "<<<<<<< SEARCH" not in text and found(r"(?<!<)<<+\s*SEARCH")),
        (0.1, ">>>>>>> REPLACE" not in text and found(r"(?<!>)>>+\s*REPLACE")),
        (0.05, found(r"SEARCH\s+[^\n]")),
        (0.05, found(r"REPLACE\s+[^\n]")),
        (0.15, text.count("SEARCH") > 1 and text.count("SEARCH") != dividers),
        (0.15, text.count("REPLACE") > 1 and text.count("REPLACE") != dividers),
        (0.1, "<< SEARCH" in text or ">> REPLACE" in text),
        (0.05, found(r"(?<!=)=+\s+\n")),
        (0.3, backwards and not forwards),
        (0.1, found(r"SEARCH[^\n]|REPLACE[^\n]")),
    ]


def _files(patch: str) -> dict[str, str]:
    parts = [part.strip() for part in _FILE.split(patch)]
    return {_path(part.splitlines()[0]): part for part in parts if part}


def _path(line: str) -> str:
    start, end = line.find(_GIT), line.rfind(" b/")
    return line[start + len(_GIT) : end] if start >= 0 and start + len(_GIT) <= end else ""


def _stripped(text: str) -> list[str]:
    return [line.rstrip() if line.strip() else line for line in text.splitlines()]
