"""The models of a build of bugs: one that writes bugs, one that writes statements, or neither."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from strop.policies.connection import Connection
from strop_tasks.curation.bugs import BugModels
from strop_tasks.curation.bugs.issue import IssueWriter
from strop_tasks.curation.bugs.rewrites import Rewriter
from strop_tasks.curation.bugs.server import AHEAD, Server, open_server
from strop_tasks.curation.engine.tally import Tally
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task


@dataclass(frozen=True)
class Models:
    """The open models of one build, if any."""

    servers: dict[str, Server]
    """By purpose: "rewrite", "issue"."""
    rewriter: Rewriter | None
    issues: IssueWriter | None

    @property
    def ahead(self) -> int:
        """Bugs to request before they are judged."""
        return AHEAD if self.rewriter is not None else 1

    def told(self, tasks: Iterator[Task], purpose: Callable[[Task], str]) -> Iterator[Task]:
        """The tasks, with a model's statements if requested."""
        return self.issues.written(tasks, purpose) if self.issues is not None else tasks

    def manifest(self) -> dict[str, Any]:
        """Models, calls and tokens; empty without models."""
        models = {name: {"model": s.model, **s.usage()} for name, s in self.servers.items()}
        return {"models": models} if models else {}


def _connection(models: BugModels) -> Connection:
    """The connection to the server. Raises a one-line UserError for settings that cannot work."""
    connection = Connection(
        models.rewrite_url, concurrency=models.concurrency, timeout_seconds=models.timeout,
        api_key_env=models.api_key_env,
    )  # fmt: skip
    if not models.named and models.rewrite_url:
        remedy = "add --rewrite-model NAME or --issue-model NAME"
        raise UserError(f"--rewrite-url alone has no effect: {remedy}")
    if models.named:
        connection.check_url("--rewrite-url")
    if models.rewrite_share != 1.0 and not models.rewrite_model:
        raise UserError("--rewrite-share applies to bugs that a model writes: add --rewrite-model NAME")
    if models.named and find_spec("openai") is None:
        raise UserError("asking a model needs openai: pip install 'strop[eval]'")
    return connection


@contextmanager
def open_models(settings: BugModels, folder: Path, seed: int, tally: Tally) -> Iterator[Models]:
    """Opens the models. Their answers so far are kept in `folder`. Raises UserError."""
    connection = _connection(settings)
    with ExitStack() as stack:
        named = {"rewrite": settings.rewrite_model, "issue": settings.issue_model}
        servers = {
            what: stack.enter_context(open_server(connection, model, folder / what))
            for what, model in named.items()
            if model
        }
        yield Models(
            servers,
            Rewriter(servers["rewrite"], settings.rewrite_share, seed) if "rewrite" in servers else None,
            IssueWriter(servers["issue"], seed, tally) if "issue" in servers else None,
        )
