"""Who follows a repair."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol


class RepairWatch(Protocol):
    """Is told what happens, as it happens."""

    def say(self, line: str) -> None:
        """One line of the story; it may hold text of a model's."""

    def progress(self, label: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        """Long work of so many parts; the function is called after each."""
