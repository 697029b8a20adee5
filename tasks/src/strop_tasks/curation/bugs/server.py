"""A model on an OpenAI-compatible server, with a synchronous interface. Paid answers are kept in a folder and reused by
later runs; see `engine.paid_calls`.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from strop.policies.connection import Connection
from strop_tasks.curation.engine import paid_calls
from strop_tasks.curation.engine.paid_calls import Calls, Question, QuestionRefused, Response, Stopped
from strop_verify.core.errors import StropError
from strop_verify.core.ids import content_hash, derive_seed

_COMMAND = "strop build bugs"
MAX_TOKENS, TEMPERATURE = 4096, 1.0
AHEAD = 32  # answers requested in advance; the same on every machine, because the choice depends on it


@contextmanager
def open_server(connection: Connection, model: str, path: Path) -> "Iterator[Server]":
    """A model whose answers are kept in a folder. Raises UserError if the folder is in use or holds something else.

    At the end unsent calls are dropped; calls in flight get a few seconds to finish, and are kept.
    """
    connection = replace(connection, model=model, temperature=TEMPERATURE, max_tokens=MAX_TOKENS)
    with paid_calls.opened(path, {"calls": _COMMAND}, _COMMAND), Calls(connection, path) as calls:
        yield Server(model, calls)


@dataclass
class Server:
    """Asks one model, from any thread."""

    model: str
    _calls: Calls
    _asked: dict[str, "Future[Response]"] = field(default_factory=dict)

    def ask(self, stage: str, key: str, number: int, seed: int, values: dict[str, str]) -> "Future[Response]":
        """Asks the question of the template `stage`; `key` and `number` identify it in this build."""
        clean = {name: value.encode(errors="replace").decode() for name, value in values.items()}
        asked = paid_calls.messages(paid_calls.template("bugs", stage), clean)
        drawn = derive_seed(seed, stage, key, number) % 2**31
        known = content_hash([self.model, TEMPERATURE, MAX_TOKENS, drawn, stage, number, asked], length=32)
        if known not in self._asked:
            question = Question(known, stage, number, key, drawn, asked)
            self._asked[known] = self._calls.ask(question)
        return self._asked[known]

    def text(self, response: "Future[Response]") -> str | None:
        """The answer, None if the server refuses this question. Raises UserError or StropError if it fails."""
        try:
            return response.result().text
        except QuestionRefused:
            if self._calls.failure is not None:  # all questions are refused: the settings are wrong
                raise self._failure() from None
            return None
        except Stopped:
            raise self._failure() from None

    def usage(self) -> dict[str, int]:
        """Paid calls and their tokens over all runs with this folder."""
        paid = self._calls.usage
        tokens = {"prompt_tokens": paid.tokens_in.total(), "completion_tokens": paid.tokens_out.total()}
        return {"calls": paid.calls.total(), **tokens}

    def _failure(self) -> StropError:
        """What ended the calls, with the option names of this command."""
        failure = self._calls.failure or StropError("the calls were stopped")
        text = str(failure)
        for name in ("url", "model"):
            text = text.replace(f" --{name}", f" --rewrite-{name}")
        return type(failure)(text)
