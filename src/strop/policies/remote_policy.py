"""Base class of policies that get their answers from servers, which a separate thread asks."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeVar

from strop_verify.core.protocols import Request
from strop_verify.core.rollout import Completion

T = TypeVar("T")


class AskingPolicy:
    """Base class: a subclass implements `_ask`, and may implement `_opening` and `_closing`."""

    def __init__(self) -> None:
        """The thread starts with the first request, and again with the first one after `close`."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._in_flight: set[Future[Completion]] = set()

    def submit(self, request: Request) -> Future[Completion]:
        """Sends a request; see `core.protocols.Policy`."""
        future = self._begin(self._ask(request))
        self._in_flight.add(future)
        return future

    def work(self, seconds: float) -> None:
        """Waits for a completion; see `core.protocols.Policy`."""
        self._in_flight = {future for future in self._in_flight if not future.done()}
        wait(self._in_flight, timeout=seconds, return_when=FIRST_COMPLETED)

    def close(self) -> None:
        """Cancels all requests. Safe to call twice."""
        loop, thread, self._loop = self._loop, self._thread, None
        if loop is None or thread is None:
            return
        for future in self._in_flight:
            future.cancel()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    async def _ask(self, request: Request) -> Completion:
        """The completion of a request."""
        raise NotImplementedError

    def _opening(self) -> None:
        """Called before the thread starts."""

    async def _closing(self) -> None:
        """Called last, after all requests have ended."""

    def _begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Runs a coroutine in the thread."""
        if self._loop is None:
            self._opening()
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._run, args=(self._loop,), daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        """The thread: runs requests until the loop is stopped, then cancels those that are left."""
        asyncio.set_event_loop(loop)
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(self._closing())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
