"""The job of one `strop eval`, and the run folder that keeps its results."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from strop.cli.evaluation_run import AnswerLog, evaluation_names, read_asked
from strop.config.load import dump_recipe, load_recipe
from strop.config.revision import revision
from strop.config.schema import Recipe
from strop.evaluation.result import Evaluation
from strop.reports.page.rollout_data import MOST_PIECE, load_vocabulary
from strop.reports.rollout_files import CONTROL
from strop.reports.run_folder import ASKED, RECIPE, VOCABULARY, RunFolder, record_file
from strop_verify.core import files
from strop_verify.core.errors import UserError
from strop_verify.core.ids import content_hash
from strop_verify.core.protocols import Policy
from strop_verify.core.task import Task


@dataclass
class EvaluationJob:
    """Models to evaluate: {word that names it: recipe}. A context manager that frees the folder."""

    recipes: Mapping[str, Recipe]
    split: str = "all"
    limit: int | None = None
    trained_on: str | None = None
    output: Path | None = None
    chart: Path | None = None
    command: str = "eval"
    """The command that resumes it."""
    scaling: Mapping[str, Any] = field(default_factory=dict)
    """Options of `strop scale`, if that command made the job."""
    run: RunFolder | None = None
    """None until the first model is loaded: a job that cannot run leaves no folder."""
    _digest: str = ""

    @classmethod
    def resumed(cls, folder: Path, output: Path | None, chart: Path | None, command: str = "eval") -> Self:
        """The job of a folder; its numbers go to the same files unless others are named. Raises UserError."""
        asked = read_asked(folder)
        run = RunFolder.resume(folder, evaluation=True)
        base = load_recipe([folder / RECIPE], [f"run.dir={folder}"]).model_dump(mode="json", by_alias=True)
        recipes = {
            one["word"]: Recipe.model_validate({**base, "model": one["model"], "policy": one["policy"]})
            for one in asked["models"].values()
        }
        places = {name: Path(asked[name]) for name in ("output", "chart") if asked.get(name)}
        return cls(
            recipes,
            **{name: asked[name] for name in ("split", "limit", "trained_on")},
            output=output or places.get("output"),
            chart=chart or places.get("chart"),
            command=command,
            scaling=asked.get("scaling", {}),
            run=run,
            _digest=asked["task_ids"],
        )

    @property
    def remedy(self) -> str:
        """How to resume the job, "" if there is nothing to resume."""
        where = self.run and shlex.quote(str(self.run.path))
        return f"resume with: strop {self.command} --resume {where}" if where else ""

    @property
    def left(self) -> dict[str, Recipe]:
        """The models still to be evaluated."""
        return {word: recipe for word, recipe in self.recipes.items() if self.done(word) is None}

    def keep_scaling(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """The options of `strop scale`: the given ones, else the earlier ones. Recorded for a resume."""
        self.scaling = {**self.scaling, **{name: value for name, value in given.items() if value}}
        if self.run is not None:
            files.write_json(self.run.path / ASKED, {**read_asked(self.run.path), "scaling": self.scaling})
        return self.scaling

    def take(self, tasks: list[Task]) -> None:
        """Records the tasks. Raises UserError if they differ from those of the run, or its folder is taken."""
        digest = content_hash([task.id for task in tasks])
        if self.run is None:
            self.folder = self._free_folder()
        elif digest != self._digest:
            raise UserError(
                f"the task set has changed since {self.run.path} was started, so its answers do not count; "
                "start a new evaluation"
            )
        self._digest = digest

    def done(self, word: str) -> Evaluation | None:
        """The result of a model from an earlier process."""
        path = self.run and record_file(self.run.path, self.name_of(word))
        return Evaluation.model_validate_json(path.read_bytes()) if path and path.is_file() else None

    def begin(self, word: str, policy: Policy, tasks: Mapping[str, Task], answers: int) -> AnswerLog:
        """The log for a model's answers; creates the folder for the first model."""
        while self.run is None:
            try:
                self.run = self._created(answers)
            except UserError:
                if self._named or not self.folder.exists():
                    raise
                self.folder = self._free_folder()  # another evaluation took the name first
        self._keep_vocabulary(policy)
        log = AnswerLog(self.run.path, self.name_of(word), tasks)
        if len(log) and self.recipes[word].policy.script:
            log.forget()  # a script starts over, so earlier answers do not count
        return log

    def write(self, word: str, result: Evaluation, log: AnswerLog) -> Evaluation:
        """Writes the result in place of the log, and returns it with its total time."""
        assert self.run is not None
        name = self.name_of(word)
        spent = {key: getattr(result, key) + getattr(log, key) for key in ("seconds", "cpu_seconds")}
        result = result.model_copy(update=spent)
        if control := list(log.of_control()):
            self.run.write_rollouts_of(f"{name}{CONTROL}", control)
        sampled = sorted(log.of_plays(), key=lambda one: (one.task_id, one.index))
        self.run.write_evaluation(name, result.as_json(), sampled)
        files.write_json(record_file(self.run.path, name), result.model_dump(mode="json"))
        log.remove()
        return result

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Writes the summary, once every model is evaluated."""
        assert self.run is not None
        seconds = sum(one.seconds for word in self.recipes if (one := self.done(word)))
        self.run.write_summary({"name": self.run.path.name, **summary, "wall_seconds": seconds})
        where = shlex.quote(str(self.run.path))
        print(f"\nThe answers are in {self.run.path}; look at them with: strop view {where}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.run is not None:
            self.run.close()
        if kind is KeyboardInterrupt:
            raise KeyboardInterrupt(self.remedy) from None

    def name_of(self, word: str) -> str:
        """The name of a model's evaluation."""
        return next(name for name, one in evaluation_names(self.recipes).items() if one == word)

    def _free_folder(self) -> Path:
        """The folder of run.name or run.dir, else a free one named after tasks and model. Raises UserError."""
        run, first = self._first.run, next(iter(evaluation_names(self.recipes)))
        if self._named:
            RunFolder.check_free(run.folder, overwrite=run.overwrite)
            return run.folder
        (tasks,) = evaluation_names([self._first.task_set.source.rpartition("/")[2]])
        plain = f"eval-{tasks[-30:].strip('.-')}-{first}"
        folder, number = Path("runs") / plain, 1
        while folder.exists():
            number += 1
            folder = Path("runs") / f"{plain}-{number}"
        RunFolder.check_free(folder, overwrite=False)
        return folder

    @property
    def _named(self) -> bool:
        """Whether the folder's name was given."""
        return self._first.run.name != "run" or self._first.run.dir is not None

    @property
    def _first(self) -> Recipe:
        return next(iter(self.recipes.values()))

    def _created(self, answers: int) -> RunFolder:
        recipe = self._first
        changes = {"run": recipe.run.model_copy(update={"name": self.folder.name, "dir": str(self.folder)})}
        models = {
            name: {
                "word": word,
                "engine": self.recipes[word].policy.engine,
                **self.recipes[word].model_dump(mode="json", by_alias=True, include={"model", "policy"}),
            }
            for name, word in evaluation_names(self.recipes).items()
        }
        asked = {
            "models": models,
            "answers": answers,
            "split": self.split,
            "limit": self.limit,
            "trained_on": self.trained_on,
            "task_ids": self._digest,
            "output": self.output and str(self.output.resolve()),
            "chart": self.chart and str(self.chart.resolve()),
            **({"scaling": self.scaling} if self.scaling else {}),
        }
        text = dump_recipe(recipe.model_copy(update=changes))
        made = RunFolder.create(self.folder, recipe=text, versions=revision(), overwrite=recipe.run.overwrite)
        files.write_json(self.folder / ASKED, asked)
        return made

    def _keep_vocabulary(self, policy: Policy) -> None:
        """Writes the texts of token ids, if all models so far share them."""
        texts: list[str] = getattr(policy.tokenizer, "vocabulary", list)()
        assert self.run is not None
        if not texts:
            return
        path = self.run.path
        others = {*self.recipes} - {*self.left}
        if not any(self.recipes[word].policy.has_weights for word in others):
            self.run.write_vocabulary(texts)
        elif load_vocabulary(path) != [text[:MOST_PIECE] for text in texts]:
            (path / VOCABULARY).unlink(missing_ok=True)
