"""Task families and data-set adapters, prompt templates, answer parsers.

Generators of tasks are modules of `generators.zip`, which `tasksets/` is packed into: `strop.tasks.stdio_problems`, ...
"""

from pathlib import Path

from strop.tasks.answers import extract_code
from strop.tasks.jsonl import write_tasks
from strop.tasks.prompts import STYLES, render
from strop.tasks.sources import load_tasks
from strop.tasks.splits import assign_splits

__all__ = ["STYLES", "assign_splits", "extract_code", "load_tasks", "render", "write_tasks"]

GENERATORS = Path(__file__).with_name("generators.zip")
__path__.append(str(GENERATORS))
