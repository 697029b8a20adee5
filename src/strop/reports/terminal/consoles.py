"""Consoles: width, colours, and the handling of characters that an encoding lacks.

NO_COLOR (no-color.org) and dumb terminals turn off colours and bold; a dumb terminal's cursor is not moved either.
Without a terminal, lines are not wrapped.
"""

import os
import sys
from typing import IO

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

_ENDLESS = 10_000
"""Columns without a terminal."""


def console(file: IO[str] | None = None) -> Console:
    """A console for `file`, stdout by default. Characters that its encoding lacks are escaped."""
    file = file or sys.stdout
    reconfigure = getattr(file, "reconfigure", None)
    if callable(reconfigure):
        reconfigure(errors="backslashreplace")
    made = Console(file=file, highlight=False, color_system=None if os.environ.get("NO_COLOR") else "auto")
    return (
        made if made.is_terminal else Console(file=file, highlight=False, width=_ENDLESS, color_system=None)
    )


def moves(made: Console) -> bool:
    """Whether it is a terminal whose cursor can be moved, for live updates."""
    return made.is_terminal and not made.is_dumb_terminal


def draws(made: Console) -> bool:
    """Whether it can show block and box characters."""
    return made.encoding.startswith("utf")


def fits(made: Console, table: Table) -> bool:
    """Whether a table fits into the console without a cell being broken."""
    wide = made.options.update(width=_ENDLESS)
    return Measurement.get(made, wide, table).maximum <= made.width
