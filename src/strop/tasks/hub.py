"""Rows of a data set on the Hugging Face Hub, or of a local folder laid out like one. Its code is never run."""

from collections.abc import Iterator
from typing import Any

from strop.core.errors import UserError
from strop.core.optional import require
from strop.tasks.bounded import plain_row
from strop.tasks.lines import Report, fail


def read_rows(name: str, report: Report = fail) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields (`name[split]:row`, row) of `ID`, `ID@SPLIT` or `ID:CONFIG@SPLIT`; ID may be a local folder.

    Without a split the data set's only one is read, or "train". Raises UserError when the data set or the split cannot
    be had; the message of the `datasets` package says why. A row that cannot be read ends the set and is reported.
    """
    datasets = require("datasets", package="datasets", extra="data", purpose=f"the data set {name!r}")
    rest, _, split = name.partition("@")
    identifier, _, config = rest.partition(":")
    try:
        loaded = datasets.load_dataset(identifier, config or None)
    except Exception as error:  # the package raises many kinds: connection, not found, bad files
        raise UserError(f"cannot load the data set {identifier!r}: {_cause(error)}") from error
    chosen = split or ("train" if "train" in loaded or len(loaded) != 1 else next(iter(loaded)))
    if chosen not in loaded:
        raise UserError(
            f"the data set {identifier!r} has no split {chosen!r}: it has {', '.join(loaded)}; write hub:ID@SPLIT"
        )
    place = f"{identifier}[{chosen}]"
    rows = enumerate(loaded[chosen], start=1)
    while True:
        try:
            number, row = next(rows)
        except StopIteration:
            return
        except Exception as error:  # as above
            report(f"{place}: cannot be read on: {_cause(error)}")
            return
        try:
            kept = plain_row(row, f"{place}:{number}")
        except UserError as error:
            report(str(error))
        else:
            yield f"{place}:{number}", kept


def _cause(error: Exception) -> str:
    return " ".join(str(error).split())[:500] or type(error).__name__
