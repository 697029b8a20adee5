"""Serves Strop's plays over OpenEnv's protocol, without its package: `strop serve-environment`.

A session (`/ws`) holds one play after another, each started by `reset`. Plays run as in training, by the dispatcher,
with a policy whose completions are the client's actions. A client sees only a task's prompt; a play that could not be
judged ends with reward null. Sessions, messages and waits are limited; a connection that has sent nothing is not a
session and may be dropped for another. Anyone who reaches the port may play, except web pages (`core.listening`).
"""

import asyncio
import json
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request as Asked
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from strop.config.schema import Recipe
from strop.environments.registry import played_by
from strop.policies.tokenizer import WireTokenizer
from strop.rewards.rubric import WeightedRubric
from strop.rollouts.dispatcher import Dispatcher
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop.rollouts.groups import scored
from strop_verify.core.errors import StropError
from strop_verify.core.listening import GuardedServer, RequestGuard, read_json
from strop_verify.core.protocols import Request, Verifier
from strop_verify.core.rollout import Completion, Message, Rollout, SamplingParams
from strop_verify.core.task import Task

NAME = "strop"
MOST_BYTES = 4 << 20
"""Bytes of the largest message."""
IDLE = 3600.0
"""Seconds without a message after which a session ends."""
PATIENCE = 900.0
"""Seconds that an action may take: tools, tests, and the queue of other plays' answers."""
Code = Literal[
    "INVALID_JSON", "UNKNOWN_TYPE", "VALIDATION_ERROR", "EXECUTION_ERROR", "CAPACITY_REACHED", "SESSION_ERROR"
]


class EnvironmentAction(BaseModel):
    """A client's action: a text. `metadata`, which typed clients send, is ignored."""

    model_config = ConfigDict(extra="forbid")
    text: str
    metadata: dict[str, Any] = {}


class EnvironmentObservation(BaseModel):
    """The messages since the last action; `outcome` is the verdict's outcome once the play has ended."""

    task_id: str
    messages: list[Message]
    outcome: str = ""


class ChosenTask(BaseModel):
    """The data of `reset`: the task to play; without one, the seed selects it."""

    model_config = ConfigDict(extra="allow")
    seed: int | None = None
    episode_id: str | None = None
    split: str | None = None
    index: int | None = None
    task_id: str | None = None


class ProtocolFault(Exception):
    """An error message of the protocol."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Client:
    """The policy of a play, whose completions are a client's actions."""

    name, version = "client", 0
    tokenizer = WireTokenizer()

    def __init__(self) -> None:
        self.asked: queue.SimpleQueue[list[Message] | Rollout | StropError] = queue.SimpleQueue()
        self._waiting: Future[Completion] | None = None
        self._seen, self._answered, self._left = 0, threading.Event(), False

    def submit(self, request: Request) -> Future[Completion]:
        """See `core.protocols.Policy`."""
        future: Future[Completion] = Future()
        if self._left:
            future.set_exception(StropError("the client has left"))
            return future
        prompt = request.prompt[self._seen :]
        self._seen, self._waiting = len(request.prompt), future
        told = self.tokenizer.messages(prompt)
        self.asked.put(told or [Message(role="user", content=self.tokenizer.decode(prompt))])
        return future

    def work(self, seconds: float) -> None:
        """Waits up to `seconds` for the client."""
        self._answered.wait(seconds)
        self._answered.clear()

    def say(self, text: str) -> None:
        """Takes the client's action. Raises ProtocolFault if the play does not wait for one."""
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            raise ProtocolFault("SESSION_ERROR", "no play waits for an action: reset first")
        ids = self.tokenizer.encode(text)
        self._seen += len(ids)
        completion = Completion(token_ids=ids, logprobs=[0.0] * len(ids), text=text, finish_reason="eos")
        waiting.set_result(completion)
        self._answered.set()

    def leave(self) -> None:
        """Makes the pending request and all later ones fail, which ends the play."""
        self._left, waiting, self._waiting = True, self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_exception(StropError("the client has left"))
        self._answered.set()


class Episode:
    """A play of a task, in its own thread."""

    def __init__(
        self, task: Task, seed: int, player: Callable[[Any], Dispatcher], rubric: WeightedRubric, most: int
    ):
        self.task, self.steps, self.done = task, 0, False
        self._client = _Client()
        work = player, rubric, SamplingParams(max_tokens=most), seed
        threading.Thread(target=self._play, args=work, daemon=True, name="episode").start()

    def _play(
        self, player: Callable[[Any], Dispatcher], rubric: WeightedRubric, params: SamplingParams, seed: int
    ) -> None:
        try:
            for rollout in player(self._client).play([self.task], 1, params, seed=seed):
                self._client.asked.put(scored(rubric, [(self.task, rollout)])[0])
        except StropError as error:
            self._client.asked.put(error)
        except Exception as error:  # reported to the client, which would otherwise wait
            self._client.asked.put(StropError(f"{type(error).__name__}: {error}"))

    def act(self, text: str) -> None:
        """See `_Client.say`."""
        self._client.say(text)
        self.steps += 1

    def close(self) -> None:
        """Ends the play and releases its resources."""
        self._client.leave()

    def observe(self) -> dict[str, Any]:
        """The client's next observation. Raises ProtocolFault if the play failed or took longer than PATIENCE."""
        try:
            said = self._client.asked.get(timeout=PATIENCE)
        except queue.Empty:
            raise ProtocolFault("EXECUTION_ERROR", f"no observation within {PATIENCE:g} seconds") from None
        if isinstance(said, StropError):
            self.done = True
            raise ProtocolFault("EXECUTION_ERROR", " ".join(str(said).split()))
        if isinstance(said, list):
            return self._told(said)
        self.done = True
        verdict = said.verdict
        outcome = verdict.outcome.value if verdict else "error"
        return self._told([], reward=said.reward, outcome=outcome, stop_reason=said.stop_reason)

    def _told(
        self, messages: Sequence[Message], reward: float | None = None, outcome: str = "", **metadata: Any
    ) -> dict[str, Any]:
        told = EnvironmentObservation(task_id=self.task.id, messages=list(messages), outcome=outcome)
        observation = told.model_dump(mode="json")
        return {"observation": observation, "reward": reward, "done": self.done, "metadata": metadata}


class EnvironmentServer:
    """Lets clients play a recipe's tasks, at most `sessions` at the same time."""

    def __init__(self, recipe: Recipe, tasks: Sequence[Task], verifier: Verifier, *, sessions: int) -> None:
        self._recipe, self._sessions, self._open = recipe, sessions, 0
        self._silent: dict[asyncio.Timeout, None] = {}
        self._threads = ThreadPoolExecutor(sessions, "session")
        self._rubric = WeightedRubric.from_names([(one.name, one.weight) for one in recipe.rewards])
        self._player = partial(_player, recipe, verifier, played_by(recipe))
        self.tasks: Mapping[str, list[Task]] = {
            split: [task for task in tasks if task.split == split]
            for split in dict.fromkeys(task.split or "train" for task in tasks)
        }
        self._by_id = {task.id: task for task in tasks}
        self._all = list(tasks)
        self._drawn = 0

    def app(self) -> Starlette:
        """The ASGI application."""
        get = {
            "/health": lambda: {"status": "healthy"},
            "/schema": lambda: {
                "action": EnvironmentAction.model_json_schema(),
                "observation": EnvironmentObservation.model_json_schema(),
                "state": {"type": "object"},
            },
            "/metadata": lambda: {"name": NAME, "description": f"{len(self._all)} code tasks, run in a jail"},
            "/list_environments": lambda: [NAME],
            f"/{NAME}/splits": lambda: [
                {"name": split, "type": "train" if split == "train" else "test"} for split in self.tasks
            ],
        }
        post = {
            f"/{NAME}/num_tasks": lambda body: {"num_tasks": len(self._of(body))},
            f"/{NAME}/tasks": lambda body: {"tasks": [*map(_shown, self._of(body))], "env_name": NAME},
            f"/{NAME}/task": lambda body: {"task": _shown(self._one(ChosenTask.model_validate(body)))},
            f"/{NAME}/task_range": lambda body: {
                "tasks": [*map(_shown, self._of(body)[body.get("start") : body.get("stop")])]
            },
        }
        routes = [Route(path, partial(_answer, make)) for path, make in get.items()]
        routes += [Route(path, partial(_answer_body, make), methods=["POST"]) for path, make in post.items()]
        return Starlette(routes=[*routes, WebSocketRoute("/ws", self._session)])

    def run(self, socket: Any, host: str) -> None:
        """Serves until the process is terminated. `host` is the address that `socket` is bound to."""
        guard = RequestGuard(
            self.app(), host=host, most_bytes=MOST_BYTES, refusal=lambda _, why: {"detail": why}
        )
        GuardedServer(guard, socket, ws="websockets-sansio", ws_max_size=MOST_BYTES).run()

    def _of(self, body: Mapping[str, Any]) -> list[Task]:
        split = body.get("split", next(iter(self.tasks)))
        if split not in self.tasks:
            known = ", ".join(self.tasks)
            raise ProtocolFault("VALIDATION_ERROR", f"no split {split!r:.60}; there are {known}")
        return self.tasks[split]

    def _one(self, chosen: ChosenTask) -> Task:
        if chosen.task_id is not None:
            if chosen.task_id not in self._by_id:
                raise ProtocolFault("VALIDATION_ERROR", f"no task {chosen.task_id!r:.80}")
            return self._by_id[chosen.task_id]
        among = self._of({"split": chosen.split}) if chosen.split is not None else self._all
        if chosen.index is None:
            self._drawn += 1
            at = self._drawn - 1 if chosen.seed is None else chosen.seed
            return among[at % len(among)]
        if not 0 <= chosen.index < len(among):
            raise ProtocolFault("VALIDATION_ERROR", f"no task {chosen.index}; there are {len(among)}")
        return among[chosen.index]

    async def _session(self, socket: WebSocket) -> None:
        await socket.accept()
        try:
            text = await self._first(socket) if self._open < self._sessions else ""
            if self._open < self._sessions:
                await self._talk(socket, text)
            else:
                full = f"{self._sessions} sessions are open; try again later"
                await _say(socket, _error("CAPACITY_REACHED", full))
                await socket.close()
        except (WebSocketDisconnect, TimeoutError, KeyError):  # KeyError: a message of bytes
            pass

    async def _first(self, socket: WebSocket) -> str:
        """A client's first message. Raises TimeoutError, also for a client that is dropped for another."""
        async with asyncio.timeout(IDLE) as silence:
            self._silent[silence] = None
            if len(self._silent) > self._sessions:
                longest = next(iter(self._silent))
                del self._silent[longest]
                longest.reschedule(0)
            try:
                return await socket.receive_text()
            finally:
                self._silent.pop(silence, None)

    async def _talk(self, socket: WebSocket, text: str) -> None:
        self._open += 1
        session = ClientSession(self._one, self._begin)
        try:
            while True:
                reply = await asyncio.get_running_loop().run_in_executor(self._threads, session.reply, text)
                if reply is None:
                    await socket.close()
                    return
                await _say(socket, reply)
                text = await asyncio.wait_for(socket.receive_text(), IDLE)
        finally:
            session.close()
            self._open -= 1

    def _begin(self, task: Task, seed: int) -> Episode:
        return Episode(task, seed, self._player, self._rubric, self._recipe.sampling.max_tokens)


class ClientSession:
    """One client's plays, as replies to its messages."""

    def __init__(self, choose: Callable[[ChosenTask], Task], begin: Callable[[Task, int], Episode]) -> None:
        self._choose, self._begin = choose, begin
        self._episode: Episode | None = None
        self._id: str | None = None

    def reply(self, text: str) -> dict[str, Any] | None:
        """The reply to a message; None ends the session. Blocks while tools and tests run."""
        try:
            try:
                message = read_json(text)
            except ValueError as error:
                raise ProtocolFault("INVALID_JSON", str(error)) from None
            if not isinstance(message, dict) or not isinstance(data := message.get("data") or {}, dict):
                raise ProtocolFault("VALIDATION_ERROR", "a message is an object with type and data")
            match message.get("type"):
                case "reset":
                    seen = self._reset(ChosenTask.model_validate(data))
                    return {"type": "observation", "data": seen}
                case "step":
                    seen = self._step(EnvironmentAction.model_validate(data))
                    return {"type": "observation", "data": seen}
                case "state":
                    steps = self._episode.steps if self._episode else 0
                    return {"type": "state", "data": {"episode_id": self._id, "step_count": steps}}
                case "close":
                    return None
                case other:
                    raise ProtocolFault(
                        "UNKNOWN_TYPE", f"{other!r:.60}: a message is reset, step, state or close"
                    )
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            return _error("VALIDATION_ERROR", f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
        except ProtocolFault as fault:
            return _error(fault.code, str(fault))

    def close(self) -> None:
        """Ends the current play."""
        if self._episode is not None:
            self._episode.close()

    def _reset(self, chosen: ChosenTask) -> dict[str, Any]:
        task = self._choose(chosen)
        self.close()
        self._id = chosen.episode_id
        self._episode = self._begin(task, chosen.seed or 0)
        return self._episode.observe()

    def _step(self, action: EnvironmentAction) -> dict[str, Any]:
        if self._episode is None or self._episode.done:
            raise ProtocolFault("SESSION_ERROR", "no play waits for an action: reset first")
        self._episode.act(action.text)
        return self._episode.observe()


def _player(recipe: Recipe, verifier: Verifier, environment: Any, policy: Any) -> Dispatcher:
    player = dispatcher_of(recipe, policy, verifier, environment)
    player.order = "as-ready"
    return player


def _shown(task: Task) -> dict[str, Any]:
    """The fields of a task that clients may see."""
    return {"id": task.id, "task_id": task.id, "statement": task.statement, "language": task.language}


def _error(code: Code, message: str) -> dict[str, Any]:
    return {"type": "error", "data": {"message": message, "code": code}}


async def _say(socket: WebSocket, reply: dict[str, Any]) -> None:
    await socket.send_text(json.dumps(reply))


async def _answer(make: Callable[[], Any], request: Asked) -> JSONResponse:
    return JSONResponse(make())


async def _answer_body(make: Callable[[Any], Any], request: Asked) -> JSONResponse:
    try:
        body = read_json(await request.body() or b"{}")
    except ValueError as error:
        return JSONResponse({"detail": str(error)}, status_code=400)
    try:
        return JSONResponse(make(body if isinstance(body, dict) else {}))
    except (ValueError, TypeError, ProtocolFault) as error:
        return JSONResponse({"detail": " ".join(str(error).split())[:200]}, status_code=422)
