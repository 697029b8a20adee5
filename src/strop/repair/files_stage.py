"""Stage 1: chooses the files that the issue is about. The policy reads the tree and names files; its samples vote.

Deviation from Agentless: its second list, of files whose embeddings are close to the issue's, is replaced by the
lexical ranking of `strop search`, which is used only if requested or if the policy names no existing file.
"""

import re
from collections.abc import Collection, Sequence

from strop.environments.code_words import bag_of
from strop.environments.lexical_ranking import chunk_bags, file_scores, ranked
from strop.repair.asking import Asker, prompt
from strop.repair.plan import By
from strop.repair.record import FoundFile
from strop.repair.repository import RepositoryTexts, is_code
from strop_verify.core.rollout import Message
from strop_verify.core.text import without_thinking

_LONGEST_ANSWER, _MOST_LINES, _LONGEST_LINE = 50_000, 400, 400
_NAME = re.compile(r"[\w./@+-]+")


def lexical_order(repository: RepositoryTexts, issue: str) -> list[str]:
    """The editable files in the order of `strop search` for the issue, source code before all other files."""
    texts = {path: repository.files[path] for path in repository.editable}
    bags = {path: bag_of(path, text) for path, text in texts.items()}
    best = [file.path for file in ranked(issue, bags, lambda path: chunk_bags(path, texts[path]))]
    scores, _ = file_scores(issue, bags)
    rest = sorted(texts.keys() - set(best), key=lambda path: (-scores[path], path))
    return sorted([*best, *rest], key=lambda path: not is_code(path))


def tree_prompt(asker: Asker, issue: str, order: Sequence[str], most: int) -> tuple[list[Message], int]:
    """(the prompt with as many of the best-ranked paths as fit, the number of these)."""

    def make(count: int) -> list[Message]:
        tree = "\n".join(sorted(order[:count]))
        return prompt("files", {"issue": issue, "tree": tree, "most": str(most)})

    shown = max(1, asker.most(make, len(order)))
    return make(shown), shown


def choose(answers: Sequence[str], order: Sequence[str], most: int, by: By) -> list[FoundFile]:
    """At most `most` files by votes; ties go to the file that was named earlier, then to the lexical order.

    by  "model": the named files, or the lexical order if none is named; "lexical": only the lexical order;
        "both": the named files, then the lexical order
    """
    votes: dict[str, int] = {}
    early: dict[str, float] = {}
    for answer in answers:
        for place, path in enumerate(named(answer, order)[:most], 1):
            votes[path] = votes.get(path, 0) + 1
            early[path] = early.get(path, 0.0) + 1 / place
    position = {path: number for number, path in enumerate(order)}
    chosen = sorted(votes, key=lambda p: (-votes[p], -early[p], position[p]))[:most]
    found = [FoundFile(path=path, votes=votes[path], by="model") for path in chosen]
    if by != "model" or not found:
        rest = [path for path in order if path not in votes]
        found += [FoundFile(path=path, votes=0, by="lexical") for path in rest[: most - len(found)]]
    return found


def named(answer: str, paths: Collection[str]) -> list[str]:
    """The `paths` that an answer names, in its order: the whole path, or a suffix that only one path has."""
    known = set(paths)
    ends: dict[str, str | None] = {}
    for path in paths:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            end = "/".join(parts[depth:])
            ends[end] = None if end in ends else path
    found: dict[str, None] = {}
    for whole in without_thinking(answer)[:_LONGEST_ANSWER].splitlines()[:_MOST_LINES]:
        line = whole[:_LONGEST_LINE].strip().strip("`*\"' ")
        for word in [line, *_NAME.findall(line)]:
            name = word.removeprefix("./").rstrip(".:")
            match = name if name in known else ends.get(name)
            if match:
                found[match] = None
    return list(found)
