"""Implement tasks: a Python function is masked in its file, and its docstring describes it. See docs/build.md.

The form and the filters are those of the data set that CodeRepairRL was trained on (ASSERT-KTH/stack-smol-docstrings).
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from typer import Option

from strop_tasks.curation.engine.tally import TallyLayout

Mask = Literal["body", "function"]
Format = Literal["search-replace", "unified-diff", "whole-file", "line-range", "infill"]


@dataclass(frozen=True)
class ImplementSettings:
    """Settings of `strop build implement`."""

    format: Annotated[Format, Option(help="edit format of the answer")] = "search-replace"
    mask: Annotated[
        Mask, Option(help="part to mask: everything after the docstring, or the whole function, as published")
    ] = "body"
    filters: Annotated[
        str, Option(help="filters for functions: published, sound, none, or names separated by commas")
    ] = "published"
    column: Annotated[str, Option(help="for a data set: the column that holds the files")] = "content"
    max_file_chars: Annotated[int, Option(min=1, help="longer files are left out")] = 20_000
    per_file: Annotated[int | None, Option(min=1, help="maximum tasks per file, drawn by the seed")] = None
    limit: Annotated[int | None, Option(min=1, help="stop after this many tasks")] = None
    held_out: Annotated[float, Option(min=0.0, max=1.0, help="share of files to hold out")] = 0.35
    seed: Annotated[int, Option(help="seed for the split, and for the tasks that --per-file keeps")] = 0
    tests: Annotated[
        bool, Option("--tests", help="the source is a project, whose tests judge the answers in the jail")
    ] = False


LAYOUT = TallyLayout(
    ("tasks", "files", "skipped", "functions", "filtered", "unusable", "splits"),
    lambda task: [("splits", str(task.split))],
)
