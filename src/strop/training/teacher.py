"""Teachers: distillation on the policy's own samples, as a term of each token's advantage.

A teacher computes its log-probabilities T of what the policy sampled. The advantage of a sampled token is increased by

    weight * (T - mu),    mu: the log-probability with which it was sampled

whose expected gradient is that of the reverse KL of the policy to the teacher at that token (GKD, arXiv 2306.13649; as
an advantage: Thinking Machines' On-Policy Distillation, October 2025). No gradient flows through this term: that of the
estimate log pi - T itself is 0 in expectation.

The teacher is another model with the same tokenizer, in this process or on a server, or the policy itself, with its
current weights or their average over the steps. As its own teacher the policy sees more than when it sampled: the
reference solution (OPSD, arXiv 2601.18734) or why this answer failed (SDPO, arXiv 2601.20802). With `on: failed` the
teacher judges failed answers and the reward all others (SRPO, arXiv 2604.02288, section 3).
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from strop.config.schema import Recipe
from strop.config.training import TeacherConfig
from strop.environments.feedback import clipped, failures
from strop.policies.loading import load_model, load_tokenizer, resolve_dtype
from strop.policies.open import longest_answers, longest_play
from strop.rollouts.encoding import opening_ids
from strop.tasks.prompts import render
from strop.training.backend import computes_in_bfloat16
from strop.training.learner import update_ways
from strop.training.logps import micro_batches, token_logps, update_of
from strop.training.memory import has_turns
from strop.training.setup import RunParts
from strop.training.teacher_server import TeacherServer
from strop_verify.core.errors import UserError
from strop_verify.core.play import Opening
from strop_verify.core.progress import PROGRESS
from strop_verify.core.rollout import Rollout, Sample
from strop_verify.core.task import Task

MOST_FEEDBACK = 2000
"""Maximum number of characters shown to a teacher about why an answer failed."""
PROBE = "def f(x):\n\treturn x  # \u00e9\u4e2d\U0001f600 1234567\r\n\f<|im_start|><think></s> if  a!=b:"
"""Text on which two tokenizers are compared."""
AVERAGE = "teacher.safetensors"
"""A checkpoint's file with a self-teacher's own copies of the trained weights."""
Drawn = tuple[Rollout, Sample]


class Teacher:
    """Adds a teacher's part to the advantages of samples. Collective, like the learner."""

    def __init__(self, recipe: Recipe, config: TeacherConfig, parts: RunParts) -> None:
        """Loads the teacher. Raises UserError for a model that cannot teach this policy."""
        self.config, self._parts = config, parts
        self._tasks = {task.id: task for task in parts.train}
        self._sets = {task.id: one.recipe.task_set for one in parts.sets for task in one.train}
        self._own = parts.backend if not config.name and config.update_rate == 1 else None
        self._model: Any = None
        self._server = TeacherServer(config) if config.url else None
        if config.name and not config.url:
            dtype = resolve_dtype(recipe.model.sampling_dtype)
            device = str(parts.backend.device)
            model = load_model(config.name, dtype=dtype, revision=config.revision, device=device)
            self._model = model.requires_grad_(False)
        elif parts.backend.in_parts:
            raise UserError(f"grpo.teacher: launch.engine={recipe.launch.engine} trains a sharded model, which cannot "
                            "be its own teacher; set grpo.teacher.name")  # fmt: skip
        elif not self._own:
            self._model = deepcopy(parts.backend.model)
        self._padded = False
        if not self._server:
            computed, longest = self._model or parts.backend.model, longest_play(longest_answers(recipe))
            self._padded = update_of(computed, ways=update_ways(recipe), longest=longest).padded
        self._gap = self._count = 0.0

    def taught(self, recipe: Recipe, drawn: Sequence[Drawn]) -> list[Sample]:
        """The samples with the teacher's part in their advantages. `recipe` is that of the stage that sampled them."""
        seen = [self._seen(rollout, sample) for rollout, sample in drawn]
        values = self._logps(recipe, [one for one in seen if one is not None])
        left, found = iter(values), list[Sample]()
        for (_, sample), one in zip(drawn, seen, strict=True):
            if one is not None:
                found.append(self._with(sample, next(left)))
            else:
                keeps = self.config.rewards
                found.append(sample if keeps else replace(sample, advantages=[0.0] * len(sample.ids)))
        return found

    @torch.no_grad()
    def follow(self) -> None:
        """Moves the weights of a self-teacher towards the policy's after a step."""
        if self.config.update_rate < 1:
            for own, policy in self._averaged().values():
                own.lerp_(policy, self.config.update_rate)

    def save(self, folder: Path) -> None:
        """Writes a self-teacher's own weights into a checkpoint."""
        if self.config.update_rate < 1:
            save_file(
                {name: own.contiguous() for name, (own, _) in self._averaged().items()}, folder / AVERAGE
            )

    @torch.no_grad()
    def load(self, checkpoint: Path) -> None:
        """Reads the self-teacher's weights that `save` wrote."""
        if self.config.update_rate < 1:
            values = load_file(checkpoint / AVERAGE)
            for name, (own, _) in self._averaged().items():
                own.copy_(values[name])

    def _averaged(self) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
        """{name: (the teacher's, the policy's)} of the weights that are trained."""
        own = dict(self._model.named_parameters())
        policy = self._parts.backend.model.named_parameters()
        return {name: (own[name].data, weight.data) for name, weight in policy if weight.requires_grad}

    def measured(self) -> dict[str, float]:
        """The mean of mu - T since the last call, an estimate of the reverse KL in nats per token."""
        found = {"teacher_kl": self._gap / self._count} if self._count else {}
        self._gap = self._count = 0.0
        return found

    def _with(self, sample: Sample, values: Sequence[float]) -> Sample:
        keeps = self.config.rewards and self.config.on == "all"
        advantages, left = list[float](sample.advantages), iter(values)
        for place, keep in enumerate(sample.mask):
            if keep:
                gap = next(left) - sample.logprobs[place]
                advantages[place] = keeps * advantages[place] + self.config.weight * gap
                self._gap, self._count = self._gap - gap, self._count + 1
        return replace(sample, advantages=advantages)

    def _seen(self, rollout: Rollout, sample: Sample) -> Sample | None:
        """A sample as the teacher reads it; None if the teacher does not judge it and the reward's advantage stays."""
        passed = rollout.verdict is not None and rollout.verdict.passed
        if not sample.tokens or (passed and self.config.on == "failed"):
            return None
        if self.config.shows == "nothing":
            return sample
        task = self._tasks[rollout.task_id]
        if not (more := shown(task, rollout, self.config.shows)):
            return None
        prompt = self._prompt(task, more)
        if prompt == rollout.prompt_ids:
            raise UserError(
                f"grpo.teacher.shows={self.config.shows}: the prompt of task {task.id} has no place for it, since its "
                "template shows no statement; use another tasks.template"
            )
        ids = [*prompt, *sample.ids[sample.prompt :]]
        mask = [*([0] * len(prompt)), *sample.mask[sample.prompt :]]
        nothing = [0] * len(ids)
        return Sample(ids, mask, nothing, nothing, nothing, len(prompt))

    def _prompt(self, task: Task, more: str) -> list[int]:
        """The task's prompt with `more` after the statement or, for a plain-text prompt, in comments before it."""
        config = self._sets[task.id]
        told = task.model_copy(update={"statement": f"{task.statement}\n\n{more}"})
        prompt = render(told, config.style, config.template, config.answer)
        if not prompt.messages:
            mark = "//" if task.language == "rust" else "#"
            said = "".join(f"{mark} {line}".rstrip() + "\n" for line in more.splitlines())
            text = render(task, config.style, config.template, config.answer).text
            return self._parts.tokenizer.encode_text(f"{said}\n{text}")
        opening = Opening(messages=tuple(prompt.messages), prefill=prompt.prefill)
        return opening_ids(opening, self._parts.tokenizer)

    def _logps(self, recipe: Recipe, seen: Sequence[Sample]) -> list[list[float]]:
        """Log-probabilities of each sample's tokens in the loss, computed by all processes together."""
        ranks = self._parts.ranks
        numbers = range(ranks.rank, len(seen), ranks.world)
        if self._server:
            mine = list(zip(numbers, self._server.logps([seen[one] for one in numbers]), strict=True))
        else:
            mine = self._computed(recipe, seen)
        found = dict(pair for share in ranks.gather(mine) for pair in share)
        return [found[number] for number in range(len(seen))]

    @torch.no_grad()
    def _computed(self, recipe: Recipe, seen: Sequence[Sample]) -> list[tuple[int, list[float]]]:
        """(number, log-probabilities) of the samples that this process computes."""
        ranks = self._parts.ranks
        number_of = {id(sample): number for number, sample in enumerate(seen)}
        parts = list(micro_batches(seen, recipe.optim.micro_batch_tokens, padded=self._padded))
        model = self._own.wrapped if self._own else self._model
        head = self._own.head(model) if self._own else model.get_output_embeddings()
        model.eval()
        mine: list[tuple[int, list[float]]] = []
        bfloat16 = computes_in_bfloat16(recipe)
        for part in parts[ranks.rank :: ranks.world]:
            PROGRESS.beat()
            with torch.autocast(self._parts.backend.device.type, dtype=torch.bfloat16, enabled=bfloat16):
                logps, _ = token_logps(model, part, head=head, temperature=recipe.sampling.temperature)
            values = logps.float().split([sample.tokens for sample in part])
            mine += [(number_of[id(one)], each.tolist()) for one, each in zip(part, values, strict=True)]
        return mine


def shown(task: Task, rollout: Rollout, shows: str) -> str:
    """What a teacher sees besides the task; "" if there is nothing to show."""
    if shows == "reference":
        code = task.reference.strip()
        return f"A correct solution:\n```{task.language}\n{code}\n```" if code else ""
    said = failures(task, rollout.verdict) if rollout.verdict is not None else ""
    return f"An earlier answer failed:\n{clipped(said, MOST_FEEDBACK)}" if said else ""


def check_teacher(recipe: Recipe, policy: Any) -> None:
    """Raises UserError for a teacher with another tokenizer, or one that cannot be shown what it should see.
    `policy` is the policy's tokenizer.
    """
    config = recipe.grpo.teacher
    if config is None:
        return
    if config.shows != "nothing" and has_turns(recipe):
        raise UserError(
            f"grpo.teacher.shows={config.shows}: plays of several turns cannot be shown again; use tasks.environment "
            "single-turn, or shows=nothing"
        )
    key, place = ("tokenizer", config.tokenizer) if config.tokenizer else ("name", config.name)
    if place and (fault := tokenizer_fault(place, config.revision, policy, key)):
        raise UserError(f"grpo.teacher.{key}={place}: {fault}; a teacher needs the policy's own tokenizer")
    if config.url:
        TeacherServer(config).check(PROBE, policy(PROBE, add_special_tokens=False)["input_ids"])


def tokenizer_fault(name: str, revision: str | None, policy: Any, key: str = "name") -> str:
    """How a teacher's tokenizer differs from the policy's; "" if it does not. `key` of grpo.teacher names it. Raises
    UserError if there is none.
    """
    try:
        own = load_tokenizer(name, revision)
    except UserError as error:
        raise UserError(str(error).replace("model.name=", f"grpo.teacher.{key}=")) from error
    theirs, ours = own.get_vocab(), policy.get_vocab()
    if theirs != ours:
        word = min(
            (word for word in theirs.keys() | ours.keys() if theirs.get(word) != ours.get(word)), key=str
        )
        return f"token {word!r} has the id {theirs.get(word)}, but {ours.get(word)} in the policy's"
    if own(PROBE)["input_ids"] != policy(PROBE)["input_ids"]:
        return "it splits text into other tokens"
    return ""
