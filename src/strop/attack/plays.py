"""Plays the scripts of `strop_verify.attacks.plays` with the dispatcher that training uses."""

from collections.abc import Sequence
from functools import partial

from strop.environments.registry import bind, find_environment
from strop.policies.scripted import Script, ScriptedPolicy
from strop.rollouts.dispatcher import Dispatcher
from strop_verify.attacks.plays import TURN, environment_of
from strop_verify.core.play import PlayLimits
from strop_verify.core.protocols import Verifier
from strop_verify.core.rollout import Rollout, SamplingParams
from strop_verify.core.task import Task
from strop_verify.sandbox import Folder, Limits, open_box

_LIMITS = Limits(dir_bytes=16 << 20, file_bytes=8 << 20, processes=32)
"""The limits of a play's folder."""


def played(task: Task, script: str, verifier: Verifier, jail: str) -> list[Rollout]:
    """Plays a script twice, and returns both plays."""
    open_one = partial(open_box, jail=jail)
    dispatcher = Dispatcher(
        ScriptedPolicy(_script(script.split(TURN))),
        verifier,
        bind(find_environment(environment_of(task)), "chat"),
        limits=PlayLimits(plays=1, turns=20),
        open_one=open_one,
        open_folder=partial(Folder, open_one, limits=_LIMITS),
    )
    return list(dispatcher.play([task], 2, SamplingParams(max_tokens=1 << 18), seed=0))


def _script(turns: Sequence[str]) -> Script:
    """Replies with the turns of a play in order, starting over when the first prompt comes again."""
    first: list[int] = []
    at = 0

    def say(prompt: Sequence[int], seed: int, index: int) -> str:
        nonlocal at
        if not first:
            first.extend(prompt)
        at = 0 if list(prompt) == first else at + 1
        return turns[at] if at < len(turns) else "..."

    return say
