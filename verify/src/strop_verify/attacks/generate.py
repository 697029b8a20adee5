"""Generated attacks: payloads composed by a grammar, the same on every machine for a seed and a number.

A payload is up to three acts (what is tried: signals, frames, exceptions, patches, reads) at one place of an answer (at
import, in a finalizer, in a thread, in a method of the value), and a wrong value. Files: `grammar/*.yaml`. The honest
answer of a place has no act and the right value; it is tried once for each place and task.
"""

import json
import random
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from strop_verify.attacks.bench import Row, run
from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.grader import Grader
from strop_verify.attacks.suite import Trial, as_given, fill, read_yaml
from strop_verify.core.checks import RustCheck
from strop_verify.core.files import atomic
from strop_verify.core.task import Task

_WORD = re.compile(r"\$\$|\$([A-Z_]+)")
_MOST_ACTS = 3
_SHARES = {
    "python": 0.67, "rust-project": 0.01, "python-objects": 0.06, "python-project": 0.06, "rust": 0.05,
    "rust-types": 0.05, "c": 0.05, "javascript": 0.05,
}  # fmt: skip
"""Shares of a run over all languages; a Rust answer takes ten times as long as a Python one."""
LANGUAGES = tuple(dict.fromkeys(name.partition("-")[0] for name in _SHARES))
_SLOW = 0.03
"""Share to keep of drawn acts that run into a limit: each takes seconds."""


@dataclass(frozen=True, slots=True)
class Payload:
    """One composed answer, in parts that can be removed."""

    name: str
    language: str
    family: str
    task: str
    place: str
    """Text of the answer, with $ACT and $VALUE to fill in."""
    acts: tuple[str, ...]
    value: str
    idle: str

    def text(self) -> str:
        """The answer; placeholders such as @CANARY@ are still in it."""
        act = "\n".join(self.acts) or self.idle
        lines = []
        for line in self.place.split("\n"):
            alone = line.strip() == "$ACT"
            lines.append(textwrap.indent(act, line[: -len("$ACT")]) if alone else line.replace("$ACT", act))
        return "\n".join(lines).replace("$VALUE", self.value)


class Grammar:
    """One file of the grammar."""

    def __init__(self, name: str) -> None:
        self.name, self._data = name, read_yaml(files("strop_verify.attacks") / "grammar" / f"{name}.yaml")
        self.language = name.partition("-")[0]

    def draw(self, seed: int, number: int) -> tuple[Payload, Payload | None]:
        """The payload of this number, and the honest answer of its place if it has one."""
        rng = random.Random(f"{seed} {number} {self.name}")
        data = self._data
        place = rng.choice(data["places"])
        acts = self._acts(rng) if "$ACT" in place["text"] else []
        task = data["task"]["name"] if "task" in data else rng.choice(data["tasks"])
        values = place.get("values") or data.get("values") or [""]
        made = Payload(
            name=f"{seed}-{number}-{'+'.join([place['name'], *(a['name'] for a in acts)])}-{task}",
            language=self.language,
            family=acts[0]["family"] if acts else "forge",
            task=task,
            place=self._whole(self._filled(place["text"], rng), task),
            acts=tuple(self._shielded(act["text"], rng) for act in acts),
            value=self._filled(rng.choice(values), rng),
            idle=data.get("idle", ""),
        )
        if "honest" not in data:
            return made, None
        text = self._filled(place.get("honest", place["text"]), rng)
        honest = replace(made, place=self._whole(text, task), acts=(), value=data["honest"])
        return made, replace(honest, name=f"{place['name']}-{task}")

    def task(self, facts: Mapping[str, str]) -> Task | None:
        """The task that the file defines, if any; the honest answer is its reference."""
        if (own := self._data.get("task")) is None:
            return None
        reference, tests = (fill(own[key], facts, self.language) for key in ("reference", "tests"))
        return Task(
            id=f"attacked/{own['name']}", family="attacked", language=self.language, statement="",
            reference=reference, check=RustCheck(tests=tests), source=f"attacks/{own['name']}",
        )  # fmt: skip

    def _acts(self, rng: random.Random) -> list[dict[str, Any]]:
        chosen: list[dict[str, Any]] = []
        for _ in range(rng.choice((1, 1, 2, _MOST_ACTS))):
            act = rng.choice(self._data["acts"])
            while act.get("slow") and rng.random() > _SLOW:
                act = rng.choice(self._data["acts"])
            chosen.append(act)
        return chosen

    def _shielded(self, act: str, rng: random.Random) -> str:
        shield, act = (self._filled(text, rng) for text in (rng.choice(self._data["shields"]), act.strip()))
        return Payload("", "", "", "", shield, (act,), "", "").text()

    def _filled(self, text: str, rng: random.Random) -> str:
        """The text with its words drawn; in a file with a task of its own, half of the draws are the honest first."""

        def word(match: "re.Match[str]") -> str:
            if match[0] == "$$":
                return "$"
            if match[1] in ("ACT", "VALUE"):
                return match[0]
            choices = self._data["words"][match[1]]
            plain = "task" in self._data and rng.random() < 0.5
            return self._filled(choices[0] if plain else rng.choice(choices), rng)

        return _WORD.sub(word, text)

    def _whole(self, text: str, task: str) -> str:
        main = self._data.get("main", "") if task.startswith("stdio") else ""
        return f"{self._data.get('prelude', '')}{text}\n{main}"


def generate(
    count: int, seed: int, tasks: Mapping[str, Task], facts: Mapping[str, str], language: str | None = None
) -> Iterator[tuple[Trial, Payload]]:
    """`count` trials with their payloads: those of a language, or of all by their shares."""
    grammars = [g for g in map(Grammar, _SHARES) if language in (None, g.language)]
    known = {**tasks, **{t.source.partition("/")[2]: t for g in grammars if (t := g.task(facts))}}
    shares = [_SHARES[g.name] for g in grammars]
    seen: set[str] = set()
    for number in range(count):
        (grammar,) = random.Random(f"{seed} {number}").choices(grammars, shares)
        made, placed = grammar.draw(seed, number)
        honest = placed.text() if placed and placed.name not in seen else None
        if placed is None and made.task not in seen:
            honest = known[made.task].reference
        seen.add(placed.name if placed else made.task)
        yield trial(made, known[made.task], facts, honest), made


def trial(made: Payload, task: Task, facts: Mapping[str, str], honest: str | None = None) -> Trial:
    """The payload with this run's facts filled in; the hidden number only in the honest answer."""
    return Trial(
        made.name, made.language, made.family, "generated", task,
        as_given(task, made.text(), facts, honest=False),
        honest and as_given(task, honest, facts, honest=True), harmless=False,
    )  # fmt: skip


def keep(
    folder: Path, found: Iterable[tuple[Row, Payload]], graders: Sequence[Grader], trials: Iterable[Trial],
    canaries: Canaries, grace: float,
) -> None:  # fmt: skip
    """Writes each exploit, shrunk, with its task: a file that `strop attack --answers` tries again."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks = {one.name: one.task for one in trials}
    for row, made in found:
        task = tasks[row.attack]
        (grader,) = (one for one in graders if one.name == row.jail)

        def still(less: Payload, task: Task = task, grader: Grader = grader) -> bool:
            again = run(grader, [trial(less, task, canaries.facts)], canaries, grace=grace)
            return any(one.exploits for one in again)

        least = trial(shrunk(made, still), task, canaries.facts)
        answer = json.dumps({"task_id": task.id, "answer": least.hostile, "name": row.attack})
        with atomic(folder / f"{row.attack}-{row.jail}.jsonl") as file:
            file.write(f"{task.model_dump_json()}\n{answer}\n".encode())


def shrunk(made: Payload, still: Callable[[Payload], bool]) -> Payload:
    """The payload without the acts that `still` (whether it still is an exploit) does not need."""
    for act in made.acts:
        less = replace(made, acts=tuple(a for a in made.acts if a is not act))
        if less.acts != made.acts and still(less):
            made = less
    return made
