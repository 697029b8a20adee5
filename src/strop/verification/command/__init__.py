"""Any toolchain that is a list of commands: languages described in YAML, and tasks that bring their own steps."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strop.verification.command.toolchain import CommandToolchain

__all__ = ["CommandToolchain"]


def __getattr__(name: str) -> Any:
    if name == "CommandToolchain":
        from strop.verification.command.toolchain import CommandToolchain

        return CommandToolchain
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
