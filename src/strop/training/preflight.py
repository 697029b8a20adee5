"""Checks what a run needs before a model is loaded, for `strop train --dry-run` and the first seconds of `strop train`.

All mistakes are reported together, one line each with its remedy. A few references are judged in the jail, and one is
played and scored by every reward, so that a user's environment and rewards have run once.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from strop.algorithms.advantages import find_advantage
from strop.config.algorithms import AddedLoss
from strop.config.run_stages import stages_of
from strop.config.schema import Recipe
from strop.environments.registry import played_by
from strop.policies.model_files import ModelFiles, check_tokenizer, is_converted
from strop.policies.open import check_trainable, is_installed, local_tokenizer, longest_play, tokenizer_of
from strop.reports.run_folder import RunFolder
from strop.rewards.rubric import WeightedRubric, total
from strop.rollouts.encoding import check_prompts
from strop.tasks.demos import read_demos
from strop.tasks.task_sets import TaskSet, extra_tasks, tried_tasks
from strop.tasks.templates import load
from strop.training.caller_overrides import (
    EXPERT,
    NOTHING,
    Overrides,
    environment_of,
    prompts_that_fit,
    shown_play,
    unseen,
)
from strop.training.feed import failed, reference_verdicts, why
from strop.training.machine import Comparison, disk, memory, precision, quantised_faults
from strop.training.sinks import check_sinks
from strop_verify.core.errors import ConfigError, StropError, UserError
from strop_verify.core.ids import rng
from strop_verify.core.play import PlayLimits
from strop_verify.core.protocols import JudgedRollout, Verifier
from strop_verify.core.rollout import Score
from strop_verify.core.task import Task
from strop_verify.verification import open_configured
from strop_verify.verification.config import LocalVerifierConfig
from strop_verify.verification.toolchains import missing_programs

SAMPLE = 4
"""Number of references of a task set that are judged."""
PLAYED = 2
"""Number of plays of a set on which the grader must fail for that to be reported as a mistake."""
NEEDED = ("torch", "transformers", "accelerate", "safetensors")
"""Packages that all training needs."""
EXTRAS = {"deepspeed": "deepspeed", "bitsandbytes": "quantization"}
"""{package that only some recipes need: the extra that installs it}."""


def preflight(
    recipe: Recipe,
    given: Overrides = NOTHING,
    *,
    say: Callable[[str], None],
    show: Callable[[str], None] = lambda line: None,
    samples: bool = True,
) -> Overrides:
    """Checks the recipe; returns `given` with the task sets built. Only rank 0 checks.

    say      gets warnings, such as a task that will not be trained on
    show     gets a line for each check that passed
    samples  False for a supervised run, which needs neither verdicts nor rewards
    Raises ConfigError with every mistake.
    """
    if os.environ.get("RANK", "0") != "0":
        return given
    found = look(recipe, given, say, samples=samples)
    if found.faults:
        raise ConfigError(found.faults)
    for line in found.facts:
        show(line)
    for line in found.warnings:
        say(line)
    return replace(given, made=found.sets)


def look(
    recipe: Recipe, given: Overrides, say: Callable[[str], None], *, samples: bool = True, new: bool = True
) -> "Preflight":
    """Runs the checks of `preflight` in any process; with `new`, the run folder must be free."""
    found = Preflight(recipe, given, samples)
    if new:
        with found.noting():
            RunFolder.check_free(recipe.run.folder, overwrite=recipe.run.overwrite)
    found.look_at_packages()
    found.look_at_algorithms()
    found.look_at_model()
    found.look_at_tasks(say)
    found.look_at_prompts()
    found.look_at_disk()
    if samples:
        with found.noting():
            check_sinks(recipe)
        found.look_at_rewards()
        found.look_at_toolchains()
        with found.noting(), closing(open_configured(recipe.sandbox, recipe.verifier)) as verifier:
            if not found.faults:  # plays need all of the above
                found.try_out(verifier)
        found.look_at_memory()
    found.faults = list(dict.fromkeys(found.faults))
    return found


@dataclass
class Preflight:
    """The findings; each `look_at` method adds to them."""

    recipe: Recipe
    given: Overrides
    samples: bool = True
    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    sets: list[TaskSet] = field(default_factory=list)
    extra: list[Task] = field(default_factory=list)
    """Tasks of evaluation.extra."""
    rubrics: dict[str, WeightedRubric] = field(default_factory=dict)
    """{task set: its rewards}."""
    model: ModelFiles | None = None

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Records an error raised in the block instead of propagating it."""
        try:
            yield
        except ConfigError as error:
            self.faults += error.faults
        except StropError as error:
            self.faults.append(" ".join(str(error).split()))

    def look_at_packages(self) -> None:
        """Checks that the packages are installed and that training can use the engine."""
        policy, model = self.recipe.policy, self.recipe.model
        converts = not is_converted(model.name)
        needed = [*NEEDED, *(["peft"] if model.lora.rank else []), *(["gguf"] if converts else [])]
        needed += ["deepspeed"] * self.recipe.launch.engine.startswith("zero")
        needed += ["bitsandbytes"] * (model.quantization is not None)
        if absent := [name for name in needed if not is_installed(name)]:
            extras = ",".join(["train", *(EXTRAS[name] for name in absent if name in EXTRAS)])
            self.faults.append(f"training needs {', '.join(absent)}: pip install 'strop[{extras}]'")
        self.faults += quantised_faults(self.recipe, self.samples)
        if (kernel := model.attention or "").startswith("flash_attention") and not is_installed("flash_attn"):
            how = "pip install flash-attn, or leave it out"
            self.faults.append(f"model.attention={kernel} needs flash_attn: {how}")
        if self.samples:
            with self.noting():
                check_trainable(policy)

    def look_at_algorithms(self) -> None:
        """Builds a user's loss and advantage with their options; tries the loss on a few tokens."""
        with self.noting():
            find_advantage(self.recipe.grpo.advantage)
        if isinstance(self.recipe.grpo.loss, AddedLoss) and is_installed("torch"):
            from strop.algorithms.losses import find_loss

            with self.noting():
                find_loss(self.recipe.grpo.loss)

    def look_at_model(self) -> None:
        """Checks the model's files, its teacher, its LoRA targets and its context length."""
        config, policy = self.recipe.model, self.recipe.policy
        if not (is_installed("transformers") and is_installed("huggingface_hub")):
            return
        with self.noting():
            self.model = ModelFiles.read(config.name, config.revision)
            if self.model is not None:
                check_tokenizer(self.model.folder)
        if self.recipe.grpo.teacher and self.samples:
            from strop.training.teacher import check_teacher

            with self.noting():
                check_teacher(self.recipe, tokenizer_of(self.recipe).inner)
        model = self.model
        if model is None:
            if not is_converted(config.name):
                self.facts.append(
                    f"model: {config.name}; prompts are counted after its conversion, at its first use"
                )
            return
        size = f"{model.size / 1e6:,.1f} million weights, " if model.size else ""
        self.facts.append(f"model: {config.name}, {size}{model.context or 'any number of'} positions")
        for target in config.lora.target_modules if config.lora.rank and model.shapes else ():
            if not model.adapted([target]):
                names = dict.fromkeys(name.rpartition(".")[2] for name in model.adapted(["all-linear"]))
                there = f"there are {', '.join(names)}, and all-linear for all of them"
                self.faults.append(f"model.lora.target_modules: no layer is named {target!r}; {there}")
        longest = policy.room(longest_play(self.recipe))
        if model.context and longest > model.context:
            self.faults.append(
                f"tasks.max_prompt_tokens and sampling.max_tokens ask for {longest} tokens, and the model has "
                f"{model.context} positions; lower them"
            )

    def look_at_tasks(self, say: Callable[[str], None]) -> None:
        """Checks the task sets, their entry points and held-out tasks, and the demonstrations."""
        recipe = self.recipe
        with self.noting():
            self.sets = self.given.sets(recipe, say)
        with self.noting():
            if recipe.sft.warm_start and recipe.sft.demos:
                read_demos(Path(recipe.sft.demos))
        for one in self.sets:
            if one.name:
                sides = f"{len(one.train)} training tasks, {len(one.held_out)} held out"
                self.facts.append(f"{one.name}: {sides}")
            self.warnings += unseen(one, self.given)
        if nameless := [task for one in self.sets for task in one.tasks if not _has_entry_point(task)]:
            first, more = nameless[0], f" (and {len(nameless) - 1} more)" if len(nameless) > 1 else ""
            self.faults.append(
                f"task {first.id}{more}: its entry point {first.check.function!r} is not in its signature "
                f"{first.signature.strip().splitlines()[-1]!r:.80}; correct one of them"
            )
        config = recipe.evaluation
        if not self.samples or not self.sets or not (config.before or config.after or config.every):
            return
        if not any(one.held_out for one in self.sets):
            rest = "nothing but evaluation.extra is evaluated" if config.extra else "nothing is evaluated"
            self.warnings.append(
                f"no task is held out, so {rest}: raise tasks.held_out_fraction, or set evaluation.before=false "
                "evaluation.after=false"
            )
        for check in config.extra if config.before or config.after else ():
            with self.noting():
                self.extra += extra_tasks(self.recipe, check)

    def look_at_prompts(self) -> None:
        """Checks templates, the environment, and the length of every prompt against the model's positions."""
        tokenizer = None
        with self.noting():
            tokenizer = local_tokenizer(self.recipe, self.model) if self.model else None
            rows = self.model.vocabulary if self.model else None
            if tokenizer and rows and (last := max(tokenizer.inner.get_vocab().values())) >= rows:
                self.faults.append(
                    f"model.name={self.recipe.model.name}: its tokenizer has token ids up to {last}, its embedding "
                    f"only {rows} rows; use the tokenizer that belongs to it"
                )
        longest = 0
        for at, one in enumerate(self.sets):
            with self.noting():
                if one.recipe.task_set.template is not None:
                    load(one.recipe.task_set.template)
                environment_of([one], self.given.environment)
                if tokenizer:
                    say = self.facts.append
                    (self.sets[at],), longest = prompts_that_fit([one], self.given, tokenizer, say, longest)
        if tokenizer and self.sets:
            for check in self.recipe.evaluation.extra:
                with self.noting():  # one task shows whether the style works
                    style = played_by(self.sets[0].recipe, check.style, kind=self.given.environment)
                    check_prompts(self.extra[:1], style, tokenizer, PlayLimits.prompt)
        context = (self.model.context if self.model and self.samples else None) or 0
        answer = max(one.recipe.sampling.max_tokens for one in stages_of(self.recipe))
        if context and answer >= context:
            self.faults.append(
                f"sampling.max_tokens={answer} leaves no room for a prompt: the model {self.recipe.model.name} has "
                f"{context} positions; lower it"
            )
        elif context and longest + answer > context:
            self.warnings.append(
                f"the longest prompt has {longest} tokens and the model {context} positions, which leaves "
                f"{max(0, context - longest)} tokens of sampling.max_tokens={answer}"
            )

    def look_at_disk(self) -> None:
        """Checks the disk space for the checkpoints kept at one time and the final model."""
        if self.model is not None and self.model.size:
            self._add(disk(self.recipe, self.model, self.samples))

    def look_at_memory(self) -> None:
        """Compares planned memory and types with the machine's. It loads torch, so only if nothing else failed."""
        if not self.faults:
            self._add(memory(self.recipe))
            self._add(precision(self.recipe))

    def _add(self, found: Comparison) -> None:
        self.facts += found.facts
        self.warnings += found.warnings
        self.faults += found.faults

    def look_at_rewards(self) -> None:
        """Checks that each reward exists and accepts its arguments."""
        if self.given.rubric is not None:
            self.rubrics = {one.name: self.given.rubric for one in self.sets}
        else:
            of_sets = {one.name: one.recipe.rewards for one in self.sets} or {"": self.recipe.rewards}
            for name, rewards in of_sets.items():
                made: list[WeightedRubric] = []
                for reward in rewards:
                    with self.noting():
                        made.append(WeightedRubric.from_names([(reward.name, reward.weight)]))
                self.rubrics[name] = WeightedRubric.joined(made)
        for rubric in self.rubrics.values():
            for one in rubric.apart():
                with self.noting():
                    one.check_arguments()

    def look_at_toolchains(self) -> None:
        """Checks the compilers and interpreters of the tasks' languages, if this machine judges."""
        if isinstance(self.recipe.verifier, LocalVerifierConfig):
            tasks = (task for one in self.sets for task in one.tasks)
            self.faults += missing_programs(chain(tasks, self.extra), self.recipe.sandbox.root)

    def try_out(self, verifier: Verifier) -> None:
        """Judges a sample of references, then plays and scores a task of each set."""
        for one in self.sets:
            with self.noting():
                self._judge_references(one, verifier)
            with self.noting():
                self._play(one, verifier)

    def _judge_references(self, one: TaskSet, verifier: Verifier) -> None:
        known = sorted(tried_tasks([one]), key=lambda task: task.id)
        if not known:
            return
        tasks = rng(self.recipe.seed, "references", one.name).sample(known, min(SAMPLE, len(known)))
        verdicts = reference_verdicts(verifier, tasks)
        wrong = {task_id: verdict for task_id, verdict in verdicts.items() if not verdict.passed}
        lines = [
            f"task {task_id}: its reference fails its own tests ({why(verdict)}), so it is not trained on"
            if failed(verdict)
            else f"task {task_id}: its reference could not be judged ({why(verdict)})"
            for task_id, verdict in wrong.items()
        ]
        if len(wrong) == len(tasks):
            self.faults.append(f"{lines[0]}; none of the {len(tasks)} tried passed; see `strop audit`")
            return
        place = f"{one.name}: " if one.name else ""
        beside = sum(task.check.effective().lowered(verdicts[task.id].trust) for task in tasks)
        self.facts.append(
            f"{place}references: {len(tasks) - len(wrong)} of {len(tasks)} tried pass their own tests"
            + (f", {beside} of them only in one process with them (trust same-process)" if beside else "")
        )
        self.warnings += lines

    def _play(self, one: TaskSet, verifier: Verifier) -> None:
        """Plays and scores one task. Raises UserError if the grader fails."""
        telling = [task for task in one.train if task.reference.strip()] or one.train  # not an empty answer
        order = rng(self.recipe.seed, "preflight", one.name).sample(telling, min(SAMPLE, len(telling)))
        place, failures = f"{one.name}: " if one.name else "", 0
        for task in order:
            rollout, who = shown_play(one, task, verifier, self.given)
            if rollout.stop_reason == "deadline":
                seconds = f"play.seconds={self.recipe.play.seconds:g}"
                self.warnings.append(f"{place}a play of task {task.id} did not end within {seconds}")
                return
            verdict = rollout.verdict
            if verdict is None or not verdict.scored:
                failures += 1
                if failures < min(PLAYED, len(order)):
                    continue
                raise UserError(
                    f"task {task.id} cannot be judged: {verdict.detail if verdict else 'no verdict'}"
                )
            told, worth = self._scored(one, JudgedRollout(task, rollout, verdict))
            if worth is None or worth > 0 or verdict.passed or who != EXPERT:
                break
        else:
            self.faults.append(
                f"{place}{len(order) - failures} plays by the environment's expert earned nothing ({told}), so a "
                "policy could learn nothing; watch one with strop play, and fix the environment, its expert or the "
                "rewards"
            )
            return
        self.facts.append(f"{place}rewards of a play {who}: {told}")
        if worth == 0 and not verdict.passed:
            self.warnings.append(
                f"{place}a play {who} earned nothing, so nothing shows that a reward is possible; watch one with strop "
                "play, or give the environment an expert (demonstrate)"
            )

    def _scored(self, one: TaskSet, judged: JudgedRollout) -> tuple[str, float | None]:
        """(its scores as text, their weighted sum), for the rewards that could be tried."""
        found: list[Score] = []
        for rubric in self.rubrics[one.name].apart():
            with self.noting():
                found += rubric.score_all([judged], patient=True)[0]
        self.faults += [score.error for score in found if score.error]
        told = [f"{s.name} {'None' if s.value is None else format(s.value, '.3g')}" for s in found]
        return ", ".join(told), total(found)


def _has_entry_point(task: Task) -> bool:
    """Whether the task's signature defines what its check calls; True if it has no signature or calls nothing."""
    name = task.check.function.rpartition(".")[2]
    return not (name and task.signature) or name in task.signature
