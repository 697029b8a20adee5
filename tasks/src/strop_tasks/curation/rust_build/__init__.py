"""`strop build rust`: verified Rust tasks from prompts written for Python, by any OpenAI-compatible model.

`build.build` is the entry point; docs/rust.md says what the folder of a build holds.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from strop.cli.options import AllowUnsafe, Jail, VerifyWorkers, columns_of
from strop_verify.core.errors import UserError

if TYPE_CHECKING:
    from strop.policies.connection import Connection


@dataclass(frozen=True)
class RustBuildSettings:
    """One build and its server. The fields of `identity` must stay the same when a build is resumed."""

    url: Annotated[str, Option(help="OpenAI-compatible server, such as http://127.0.0.1:8000/v1")] = ""
    model: Annotated[str, Option(help="name of the model on the server")] = ""
    column: Annotated[
        list[str] | None, Option("--column", "-c", help="statement=COLUMN, id=COLUMN for another data set")
    ] = None
    limit: Annotated[int | None, Option(min=1, help="stop after this many prompts")] = None
    draw: Annotated[
        bool,
        Option(
            "--draw", help="draw the prompts from the whole source by --seed instead of taking the first ones"
        ),
    ] = False
    attempts: Annotated[
        int, Option(min=1, max=8, help="answers per prompt; each retry gets the error of the last")
    ] = 1
    temperature: Annotated[float, Option(min=0.0, max=2.0, help="sampling temperature")] = 0.7
    max_tokens: Annotated[int, Option(min=16, help="maximum tokens in one response")] = 2048
    seed: Annotated[int, Option(help="seed for sampling and the split")] = 0
    concurrency: Annotated[int, Option(min=1, max=1024, help="concurrent calls")] = 16
    timeout: Annotated[float, Option(min=1.0, help="time limit of a call in seconds")] = 600.0
    api_key_env: Annotated[str, Option(help="environment variable that holds the key")] = "OPENAI_API_KEY"
    price_in: Annotated[float | None, Option(min=0.0, help="price of a million prompt tokens")] = None
    price_out: Annotated[float | None, Option(min=0.0, help="price of a million completion tokens")] = None
    max_cost: Annotated[float | None, Option(min=0.0, help="stop when the calls have cost this much")] = None
    parts: Annotated[str, Option(help="proportions of train, test and eval")] = "15000,1000,500"
    workers: VerifyWorkers = None
    jail: Jail = "auto"
    allow_unsafe: AllowUnsafe = False

    @property
    def drawn_by(self) -> int | None:
        """The seed for drawing prompts; None: take the first ones."""
        return self.seed if self.draw else None

    @property
    def columns(self) -> dict[str, str]:
        """Maps parts of a prompt to columns of external rows. Raises UserError."""
        return columns_of(self.column) or {}

    @property
    def shares(self) -> tuple[int, int, int]:
        """Proportions of train, test and eval. Raises UserError."""
        words = self.parts.split(",")
        if len(words) != 3 or not all(word.strip().isdecimal() for word in words):
            raise UserError(
                f"--parts {self.parts!r}: write three numbers for train,test,eval, such as 15000,1000,500"
            )
        train, test, evaluation = map(int, words)
        return train, test, evaluation

    def connection(self) -> "Connection":
        """The connection to the model's server."""
        from strop.policies.connection import Connection

        return Connection(
            self.url, self.model, self.temperature, self.max_tokens, self.concurrency, self.timeout,
            api_key_env=self.api_key_env, price_in=self.price_in, price_out=self.price_out, max_cost=self.max_cost,
        )  # fmt: skip

    def check(self) -> None:
        """Raises UserError for settings that cannot work."""
        if (self.price_in is None) != (self.price_out is None):
            raise UserError("a cost needs both prices: add --price-in and --price-out")
        if self.max_cost is not None and self.price_in is None:
            raise UserError("--max-cost needs prices: add --price-in and --price-out, per million tokens")
        if sum(self.shares) == 0:
            raise UserError(f"--parts {self.parts}: give three numbers, at least one of them above 0")
        if unused := set(self.columns) - {"statement", "id"}:
            raise UserError(f"--column {min(unused)}=...: only statement=COLUMN and id=COLUMN are used here")

    def check_server(self) -> None:
        """Raises UserError if no server or model is named."""
        self.connection().check_url("--url")
        if not self.model:
            raise UserError("no model named: add --model NAME, as the server names it")

    def identity(self, source: str, templates: str) -> dict[str, Any]:
        """The settings that all runs of one build share. `templates`: a hash of the prompt templates."""
        names = ("columns", "model", "temperature", "max_tokens", "attempts", "seed")
        return {"source": source, **{name: getattr(self, name) for name in names}, "templates": templates}
