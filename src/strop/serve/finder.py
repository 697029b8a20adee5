"""`PlaceFinder`: where in a folder something is, by plays of `search` on folders of one's own, with one policy.

The MCP server of `strop serve-search` has one tool that answers this, on stdin and stdout or over HTTP (streamable,
without sessions), behind the guard of `core.listening`.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from socket import socket as Socket
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from strop import __version__
from strop.config.schema import Recipe
from strop.environments.registry import played_by
from strop.environments.search_tree import SearchTree, tree_of_check
from strop.evaluation.answering import Unjudged
from strop.evaluation.baselines import with_baseline
from strop.policies.open import open_policy
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop.rollouts.encoding import opening_ids
from strop.rollouts.services import Threads
from strop_verify.core.checks import RetrievalCheck
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.listening import GuardedServer, RequestGuard
from strop_verify.core.protocols import Environment, Policy
from strop_verify.core.ranges import Ranges, merged, read_ranges, write_ranges
from strop_verify.core.rollout import SamplingParams
from strop_verify.core.task import Task
from strop_verify.core.text import printable

if TYPE_CHECKING:
    from mcp.server import MCPServer

TASK = "search"
"""The id of what is asked, in a file of scripted answers."""
MOST_LINES = 200
"""Lines of an answer that are shown."""
WIDTH = 200
_GRACE = 2.0
"""Seconds that closing waits for a question that is looked into."""


@dataclass(frozen=True)
class Found:
    """An answer.

    places   those of the folder's files and lines, in the order of the answer
    lines    path to (number, text) of what stands there
    unknown  what the answer names that is not there
    why      why there is no place, one line
    """

    places: Ranges
    lines: dict[str, list[tuple[int, str]]]
    unknown: tuple[str, ...] = ()
    why: str = ""

    def text(self, *, lines: bool, below: str = "") -> str:
        """PATH:FIRST-LAST of each file, then its lines, MOST_LINES in all; `below`: a folder in front of paths."""
        return printable("\n".join(self._rows(lines, f"{below}/" if below else "")))

    def _rows(self, lines: bool, prefix: str) -> Iterator[str]:
        room = MOST_LINES
        for path, spans in self.places.items():
            yield prefix + write_ranges({path: spans})
            held = self.lines[path] if lines else []
            for number, line in held[:room]:
                yield f"{number:6}  {line[:WIDTH]}".rstrip() + " [cut]" * (len(line) > WIDTH)
            if len(held) > room:
                yield f"        [{len(held) - room} more lines]"
            room = max(0, room - len(held))


class PlaceFinder:
    """Opens the policy of a recipe and asks it, one question after the other, from any thread."""

    def __init__(self, recipe: Recipe) -> None:
        """Raises UserError where the model or a package is missing."""
        if recipe.task_set.environment.type != "search":
            raise UserError(f"tasks.environment.type={recipe.task_set.environment.type} is not search")
        self._recipe, self._lock = recipe, threading.Lock()
        self._policy = None if recipe.policy.script else open_policy(recipe)

    def __enter__(self) -> "PlaceFinder":
        return self

    def __exit__(self, *_: object) -> None:
        getattr(self._policy, "close", lambda: None)()
        self._lock.acquire(timeout=_GRACE)  # so that a question of another thread gives its tree back

    def find(
        self, folder: Path, question: str, watched: Callable[[Environment], Environment] = lambda one: one
    ) -> Found:
        """What the policy names, at temperature 0, of the files as they are now; git's own where it is a checkout.

        watched  may look at the play's environment as it plays

        Raises UserError, and VerificationError for a folder that holds nothing or too much.
        """
        if not folder.is_dir():
            raise UserError(f"there is no folder {folder}")
        if not question.strip():
            raise UserError("the question is empty; say what is looked for")
        check = RetrievalCheck(tree=str(folder.resolve()), truth={})
        task = Task(id=TASK, family="search", statement=question, check=check)
        with self._lock, tree_of_check(check, keep=False) as tree, ExitStack() as stack:
            environment = played_by(self._recipe)
            player = dispatcher_of(
                self._recipe,
                self._policy or self._scripted(task, stack),
                Unjudged(),
                lambda task: watched(environment(task)),
            )
            params = SamplingParams(temperature=0.0, top_p=1.0, max_tokens=self._recipe.sampling.max_tokens)
            (rollout,) = player.play([task], 1, params, seed=self._recipe.seed)
            if rollout.stop_reason == "answered":
                return _found(rollout.answer, tree)
            return Found({}, {}, why=rollout.verdict.detail if rollout.verdict else rollout.stop_reason)

    def _scripted(self, task: Task, stack: ExitStack) -> Policy:
        """A baseline's answer, or a file's, which is known for one task alone."""
        recipe = with_baseline(self._recipe, [task], stack)
        environment = played_by(recipe)
        return open_policy(
            recipe,
            prompts=lambda tokenizer: {task.id: opening_ids(environment(task).begin(), tokenizer)},
        )


def _found(answer: str, tree: SearchTree) -> Found:
    """The places of an answer that are there."""
    places: dict[str, list[tuple[int, int]]] = {}
    shown: dict[str, list[tuple[int, str]]] = {}
    unknown: list[str] = []
    for path, spans in read_ranges(answer).items():
        texts = tree.lines(path) if path in tree.texts else []
        inside = merged((first, min(last, len(texts))) for first, last in spans if first <= len(texts))
        if inside:
            places[path] = inside
            shown[path] = [(n, texts[n - 1]) for first, last in inside for n in range(first, last + 1)]
        else:
            unknown.append(write_ranges({path: spans}))
    why = "" if places else f"the answer names only what is not there: {', '.join(unknown)}"
    return Found(places, shown, tuple(unknown), why[:500])


PATH = "/mcp"
"""Of the URL."""
_WHAT = """Finds where in the repository something is: the files and lines that matter for a request.
Answers with PATH:FIRST-LAST of each file and with those lines."""
_Question = Annotated[
    str,
    Field(
        description="what is looked for, in words, such as an issue's text; name identifiers that are known"
    ),
]
_Below = Annotated[
    str, Field(description="look only in this folder, a path relative to the repository's top")
]


def serve_pipes(finder: PlaceFinder, root: Path) -> None:
    """Serves until stdin ends. Nothing outside of `root` is looked at."""
    threads = Threads()
    server = _server(finder, root, threads)
    threads.submit(server.run).result()  # in a thread as well: reading stdin cannot be interrupted


def serve_http(finder: PlaceFinder, root: Path, listening: Socket, host: str) -> None:
    """Serves at PATH until a signal, where `host` is listened on."""
    from mcp.server.transport_security import TransportSecuritySettings

    app = _server(finder, root, Threads()).streamable_http_app(
        streamable_http_path=PATH, json_response=True, stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the guard's
    )  # fmt: skip
    GuardedServer(RequestGuard(app, host=host), listening).run()


def _server(finder: PlaceFinder, root: Path, threads: Threads) -> "MCPServer":
    """The server with its tool. `threads`: which keep no process alive, so that it ends at once, whatever goes on."""
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import ToolAnnotations

    server = MCPServer("strop-search", version=__version__, log_level="WARNING")
    logging.disable(logging.DEBUG)  # bm25s

    only_reads = ToolAnnotations(read_only_hint=True)

    @server.tool(description=_WHAT, structured_output=False, annotations=only_reads)
    async def search_code(question: _Question, folder: _Below = ".") -> str:
        try:
            place = (root / folder).resolve()
            if not place.is_relative_to(root):
                raise ToolError(f"{folder!r:.200} is outside of the repository")
            found = await asyncio.wrap_future(threads.submit(lambda: finder.find(place, question)))
        except (StropError, ValueError) as error:
            raise ToolError(" ".join(str(error).split())) from error
        below = place.relative_to(root).as_posix()
        return found.text(lines=True, below="" if below == "." else below) or f"no place found: {found.why}"

    return server
