"""The options of a repair."""

from dataclasses import dataclass
from typing import Annotated, Literal

from typer import Option

By = Literal["model", "lexical", "both"]


@dataclass(frozen=True)
class RepairPlan:
    """The settings of a repair, which are also options of the command."""

    samples: Annotated[int, Option("--samples", "-n", min=1, help="edits to sample")] = 16
    temperature: Annotated[
        float, Option("--temperature", "-t", min=0, help="temperature of all samples; 0 is greedy")
    ] = 1.0
    localise: Annotated[
        By,
        Option(
            help="what finds the files: the model, the words of the issue (BM25), or first one, then the other"
        ),
    ] = "model"
    most_files: Annotated[int, Option(min=1, help="maximum number of files to edit")] = 3
    format: Annotated[
        Literal["search-replace", "unified-diff", "whole-file", "line-range"],
        Option(help="edit format that the model is asked for"),
    ] = "search-replace"
    exact: Annotated[bool, Option("--exact", help="edits must match the files exactly")] = False
    locating: Annotated[int, Option(min=1, help="voting samples for each localisation")] = 4
    reproductions: Annotated[int, Option(min=0, help="reproduction tests to sample; 0: none")] = 8
    test_seconds: Annotated[float, Option(min=1, help="seconds for the tests of all edits")] = 900.0
    max_tokens: Annotated[int, Option(min=1, help="longest answer in tokens")] = 2000
    seed: Annotated[int, Option(min=0, help="seed of every random choice")] = 0
