"""Arguments that the commands of `strop tasks` share."""

from typing import Annotated, Literal

import typer

Source = Annotated[
    str,
    typer.Argument(
        help="python-functions, rust-functions, humaneval, a file or folder, hub:ID[@SPLIT], or FORMAT:PLACE"
    ),
]
Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column", "-c", help="PART=COLUMN for the columns of another data set, e.g. tests=test_list"
    ),
]
Topic = Annotated[list[str] | None, typer.Option("--topic", help="only this topic; may be repeated")]
Level = Annotated[list[int] | None, typer.Option("--level", help="only this level; may be repeated")]
Side = Annotated[
    Literal["train", "held-out"] | None, typer.Option("--split", help="only this side of the split")
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="stop after this many tasks")]


def columns_of(pairs: list[str] | None) -> dict[str, str] | None:
    """The column mapping of `PART=COLUMN` options, None when there are none. Raises UserError."""
    from strop.core.errors import UserError

    columns: dict[str, str] = {}
    for pair in pairs or []:
        part, equals, column = pair.partition("=")
        if not (part and equals and column):
            raise UserError(f"bad --column {pair!r}: write PART=COLUMN, such as statement=prompt")
        columns[part] = column
    return columns or None
