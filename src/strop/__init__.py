"""Strop trains code language models on compilers and tests.

`strop.log_reward` and `strop.logging_to` log calls of your own functions; see docs/logging.md.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strop.reports.call_log import logging_to as logging_to
    from strop.reports.sinks.calls import log_reward as log_reward

__version__ = "0.1.0"

_LATER = {"log_reward": "strop.reports.sinks.calls", "logging_to": "strop.reports.call_log"}


def __getattr__(name: str) -> Any:
    """What is imported when it is asked for, so that `import strop` stays light."""
    if name not in _LATER:
        raise AttributeError(f"module 'strop' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
