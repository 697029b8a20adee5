"""`strop repair`: prints a fix for one issue of a repository as a diff. The repository is not changed."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from strop.cli.options import EngineOptions, grouped, say
from strop.repair.plan import RepairPlan
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.text import printable

if TYPE_CHECKING:
    from strop.config.schema import Recipe
    from strop.repair.asking import Asker
    from strop.repair.record import RepairReport
    from strop.repair.repository import RepositoryTexts


@dataclass(frozen=True)
class AskingOptions:
    """Options of the model's prompts and of the tests."""

    model: Annotated[
        str, Option("--model", "-m", help="model to use, written as for strop eval: MODEL or ENGINE:MODEL")
    ] = ""
    style: Annotated[
        Literal["chat", "continue"], Option(help="continue: one text, for models without a chat template")
    ] = "chat"
    max_prompt_tokens: Annotated[int, Option(min=256, help="longest prompt in tokens")] = 6000
    tests: Annotated[bool, Option("--tests/--no-tests", help="run tests to rerank the edits")] = True
    allow_unsafe: Annotated[
        bool, Option("--allow-unsafe", help="run tests without a jail if none is available")
    ] = False


@grouped
def repair(
    repository: Annotated[Path, Argument(metavar="REPO", help="folder of the repository; it is not changed")],
    plan: RepairPlan,
    asking: AskingOptions,
    engine: EngineOptions,
    overrides: Annotated[
        list[str] | None, Argument(metavar="[KEY=VALUE...]", help="recipe overrides, as for strop eval")
    ] = None,
    issue: Annotated[str, Option(help="file with the text of the issue; - for stdin")] = "",
    file: Annotated[
        list[str] | None, Option("--file", help="a file to edit, instead of localising; repeatable")
    ] = None,
    output: Annotated[
        Path | None, Option("--output", "-o", help="file for the diff, instead of stdout")
    ] = None,
    json: Annotated[Path | None, Option("--json", help="file for every candidate with its scores")] = None,
) -> None:
    """Look for an edit that fixes an issue, and print it as a diff that git apply accepts.

    Files and lines are localised, then edits are sampled and reranked by regression tests, by reproduction tests that
    the model writes, and by majority. stdout holds the diff and nothing else; progress goes to stderr. With the
    scripted engine, MODEL is a file of answers whose task_id is a stage: files, lines, edits or tests. Exit code 1
    if no edit applies. See docs/search.md.
    """
    from strop.repair.pipeline import repair as look
    from strop.repair.repository import read_repository
    from strop.repair.testing import ProjectTests
    from strop_verify.core import files

    for path in filter(None, (output, json)):
        files.check_writable(path)
    text = _issue(issue)
    repo = read_repository(repository)
    given = _given(file or [], repo)
    recipe = _recipe(asking, engine, plan, overrides or [])
    with ExitStack() as stack:
        runner = None
        if asking.tests:
            runner = ProjectTests(repository, repo.language, recipe.sandbox, _Watch().say)
            stack.callback(runner.close)
        asker = _asker(recipe, asking.style, plan, stack)
        report = look(repo, text, asker, plan, watch=_Watch(), tests=runner, given=given)
    if json is not None:
        files.write_json(json, report.model_dump(mode="json"))
    if not report.diff:
        raise StropError(
            f"none of the {plan.samples} sampled edits applies; raise --samples or name another model"
        )
    _give(report, output)


class _Watch:
    def say(self, line: str) -> None:
        """Prints one line of at most 1,000 characters."""
        say(" ".join(line.split("\n"))[:1000])

    @contextmanager
    def progress(self, label: str, total: int) -> Iterator[Callable[[], None]]:
        """Shows a line of progress."""
        from strop.reports.terminal.progress import Progress

        done = count(1)
        with Progress(label, total) as shown:
            yield lambda: shown.at(next(done), None, total)


def _issue(name: str) -> str:
    """The text of the issue. Raises UserError."""
    if not name:
        raise UserError("--issue is missing: name a file with the text of the issue, or - for stdin")
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or error
        raise UserError(f"cannot read the issue {name}: {cause}") from error
    if not text.strip():
        raise UserError(f"the issue {name} is empty; describe what is wrong")
    return text


def _given(names: list[str], repository: "RepositoryTexts") -> list[str]:
    from strop.tasks.rows import suggestion

    for name in names:
        if name not in repository.files:
            raise UserError(
                f"--file {name}: the repository has no such text file{suggestion(name, list(repository.files))}; "
                "give a path relative to it"
            )
        if repository.is_test(name):
            raise UserError(f"--file {name}: tests and their settings cannot be edited")
    return list(dict.fromkeys(names))


def _recipe(asking: AskingOptions, engine: EngineOptions, plan: RepairPlan, overrides: list[str]) -> "Recipe":
    from strop.cli.models import recipe_for

    if not asking.model:
        raise UserError("--model is missing: name a model, such as openai:NAME@http://HOST:PORT/v1")
    options = [
        f"seed={plan.seed}",
        f"tasks.max_prompt_tokens={asking.max_prompt_tokens}",
        f"sampling.max_tokens={plan.max_tokens}",
        *(["sandbox.allow_unsafe=true"] if asking.allow_unsafe else []),
    ]
    return recipe_for(asking.model, engine, options, overrides)


def _asker(recipe: "Recipe", style: str, plan: RepairPlan, stack: ExitStack) -> "Asker":
    from strop.policies.open import open_policy
    from strop.policies.scripted import ScriptedPolicy
    from strop.repair.asking import Asker, PolicyOf
    from strop_verify.core.protocols import Policy

    policy: Policy
    policy_of: PolicyOf | None = None
    if answers := recipe.policy.script:
        policy = ScriptedPolicy({}, name=answers)

        def policy_of(stage: str, ids: Sequence[int]) -> Policy:
            return ScriptedPolicy.from_answers(answers, {stage: ids})
    else:
        policy = open_policy(recipe)
        stack.callback(getattr(policy, "close", lambda: None))
    return Asker(
        policy, seed=plan.seed, style=style, max_prompt_tokens=recipe.task_set.max_prompt_tokens,
        policy_of=policy_of,
    )  # fmt: skip


def _give(report: "RepairReport", output: Path | None) -> None:
    """Writes the diff unchanged; on a terminal, with control characters escaped."""
    from strop_verify.core import files

    data = report.diff.encode("utf-8")
    if output is not None:
        with files.atomic(output) as file:
            file.write(data)
    elif sys.stdout.isatty():
        print(printable(report.diff), end="")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
