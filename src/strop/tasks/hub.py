"""Rows of a data set on the Hugging Face Hub, or of a local folder laid out like one."""

from collections.abc import Iterator
from typing import Any

from strop.core.errors import UserError
from strop.tasks.optional import require


def read_rows(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields (`name[split]:row`, row) of `ID`, `ID@SPLIT` or `ID:CONFIG@SPLIT`; ID may be a local folder.

    Without a split the data set's only one is read, or "train". Raises UserError when the data set or the split cannot
    be had; the message of the `datasets` package says why.
    """
    datasets = require("datasets", package="datasets", extra="data", purpose=f"the data set {name!r}")
    rest, _, split = name.partition("@")
    identifier, _, config = rest.partition(":")
    try:
        loaded = datasets.load_dataset(identifier, config or None)
    except Exception as error:  # the package raises many kinds: connection, not found, bad files
        cause = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"cannot load the data set {identifier!r}: {cause}") from error
    chosen = split or ("train" if "train" in loaded or len(loaded) != 1 else next(iter(loaded)))
    if chosen not in loaded:
        raise UserError(
            f"the data set {identifier!r} has no split {chosen!r}: it has {', '.join(loaded)}; write hub:ID@SPLIT"
        )
    for number, row in enumerate(loaded[chosen], start=1):
        yield f"{identifier}[{chosen}]:{number}", {k: v for k, v in row.items() if v is not None}
