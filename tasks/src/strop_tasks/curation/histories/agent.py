"""For projects where the rules fail: a policy examines the project in a jailed workspace without a network, and writes
its needs to `environment.json`: packages, which are installed after the play as the rules install them, and files that
an installation would write. The project's tests judge the result.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from pydantic import BaseModel, ValidationError

from strop.config.schema import Recipe
from strop.environments.registry import played_by
from strop.policies.open import open_policy
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop_tasks.curation.histories.environment import EnvironmentLock
from strop_tasks.curation.histories.installation import ProjectInstall, wanted
from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.rollout import SamplingParams
from strop_verify.core.snapshots import Files, data_uri, digest_of
from strop_verify.core.task import Task
from strop_verify.edits import EditError, apply_answer
from strop_verify.edits.paths import check_path
from strop_verify.verification import open_configured

TRIES = 3
NAME, FILE = "environment", "environment.json"
_ASKED = f"""The tests of this project do not run here: {{why}}

Find out what they need, and write it to {FILE}:

{{{{"requirements": ["package>=1.0"], "files": {{{{"path/of/file.py": "its text"}}}}}}}}

requirements: packages that the tests or the project import, as pip takes them. They are installed when you have
finished; there is no network here. files: what an installation of the project would write and is not there, such as a
file with its version. Nothing else that you change counts."""


class _AgentSaid(BaseModel):
    requirements: list[str] = []
    files: dict[str, str] = {}


def by_agent(
    recipe: Recipe, tree: Files, install: ProjectInstall, why: str, prove: Callable[[ProjectInstall], EnvironmentLock],
    say: Callable[[str], None],
) -> EnvironmentLock:  # fmt: skip
    """The environment that a policy finds in `TRIES` plays; each gets the previous error. Raises StropError."""
    with ExitStack() as stack:
        policy = open_policy(recipe, prompts=lambda tokenizer: {NAME: ()})
        stack.callback(getattr(policy, "close", lambda: None))
        verifier = stack.enter_context(open_configured(recipe.sandbox, recipe.verifier))
        dispatcher = dispatcher_of(recipe, policy, verifier, played_by(recipe))
        params = SamplingParams(**recipe.sampling.model_dump(include={"max_tokens", "temperature", "top_p"}))
        for number in range(TRIES):
            task = _task(tree, install.language, why)
            (rollout,) = dispatcher.play([task], 1, params, seed=recipe.seed + number, tag=NAME)
            try:
                return prove(_said(rollout.answer, tree, install))
            except StropError as error:
                why = str(error)
                say(f"play {number + 1} of {TRIES}: {why}")
    raise StropError(f"the agent found no environment in {TRIES} plays: {why}")


def _task(tree: Files, language: str, why: str) -> Task:
    judge = ProjectCheck(project=data_uri(tree), digest=digest_of(tree), failing=[NAME])
    check = EditCheck(format="whole-file", files={}, judge=judge)
    return Task(id=NAME, family=NAME, language=language, statement=_ASKED.format(why=why), check=check)


def _said(answer: str, tree: Files, install: ProjectInstall) -> ProjectInstall:
    """The installation that an answer describes. Raises UserError with a message for the next play."""
    try:
        text = apply_answer(answer, {}, "whole-file").get(FILE)
        if text is None:
            raise ValueError("it was not written")
        said = _AgentSaid.model_validate_json(text)
        for path in said.files:
            check_path(path)
            if path in tree:
                raise ValueError(f"{path} already exists")
    except ValidationError:
        raise UserError(
            f"{FILE}: requirements must be a list of texts, and files must map paths to texts"
        ) from None
    except (EditError, ValueError) as error:
        raise UserError(f"{FILE}: {' '.join(str(error).split())}") from None
    requirements = tuple(sorted(set(wanted(said.requirements, ""))))
    return replace(install, requirements=requirements, written={**install.written, **said.files}, refused="")
