"""Task families and data-set adapters, prompt templates, answer parsers."""

from strop.tasks.answers import extract_code
from strop.tasks.jsonl import write_tasks
from strop.tasks.prompts import STYLES, render
from strop.tasks.sources import load_tasks
from strop.tasks.splits import assign_splits

__all__ = ["STYLES", "assign_splits", "extract_code", "load_tasks", "render", "write_tasks"]
