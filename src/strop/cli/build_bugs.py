"""`strop build bugs`: repair tasks from code that has tests."""

import sys
import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

PER_TASK = 6
_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "PKG-INFO", "Cargo.toml")


def bugs(
    source: Annotated[
        str, typer.Argument(help="a project (folder or sdist .tar.gz), or Python tasks: a name or a file")
    ],
    out: Annotated[Path, typer.Option("--output", "-o", help="file of task lines to write; .gz compresses")],
    seed: Annotated[int, typer.Option(help="decides which bugs are made")] = 0,
    count: Annotated[int, typer.Option(min=1, help="for a project: maximum number of tasks")] = 300,
    per_task: Annotated[
        int | None,
        typer.Option(min=1, help="maximum bugs from one task (default 6) or one function of a project"),
    ] = None,
    language: Annotated[
        Literal["python", "rust"] | None,
        typer.Option(help="for a project; default: rust if there is a Cargo.toml"),
    ] = None,
    max_file_chars: Annotated[
        int | None, typer.Option(min=1, help="for a project: only files of at most this many characters")
    ] = None,
    faults: Annotated[str, typer.Option(help="faults in one bug: a number, or a range such as 1-2")] = "1",
    format: Annotated[str, typer.Option(help="how the repair must be written")] = "search-replace",
    min_passing: Annotated[
        int, typer.Option(min=0, help="minimum number of tests that pass despite the bug")
    ] = 0,
    max_lines: Annotated[
        int | None, typer.Option(min=1, help="only references of at most this many lines")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="read only this many tasks of the source")] = None,
    topic: Annotated[list[str] | None, typer.Option("--topic", help="only this topic; repeatable")] = None,
    level: Annotated[list[int] | None, typer.Option("--level", help="only this level; repeatable")] = None,
    split: Annotated[
        Literal["train", "held-out"] | None, typer.Option("--split", help="only this side of the split")
    ] = None,
    rewrite_url: Annotated[
        str, typer.Option(help="OpenAI-compatible server, such as http://127.0.0.1:8000/v1")
    ] = "",
    rewrite_model: Annotated[
        str, typer.Option(help="model that rewrites functions with a bug, named as on the server")
    ] = "",
    rewrite_share: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="share of the tried bugs that the model writes")
    ] = 1.0,
    issue_model: Annotated[
        str, typer.Option(help="model that writes the statements, on the same server")
    ] = "",
    api_key_env: Annotated[
        str, typer.Option(help="environment variable that holds the server's key")
    ] = "OPENAI_API_KEY",
    concurrency: Annotated[int, typer.Option(min=1, max=1024, help="concurrent calls")] = 16,
    timeout: Annotated[float, typer.Option(min=1.0, help="seconds one call may take")] = 600.0,
    workers: Annotated[
        int | None, typer.Option(min=1, help="batches verified at a time; one per core by default")
    ] = None,
    allow_unsafe: Annotated[
        bool, typer.Option("--allow-unsafe", help="run without a jail if none is available")
    ] = False,
) -> None:
    """Make repair tasks: put faults into code and keep those that its tests catch.

    Also writes OUTPUT.manifest.json, with counts and reasons. A model's answers are kept in OUTPUT.calls, so running
    the same command again pays for nothing twice. See docs/bugs.md.
    """
    from strop.cli.build_bugs_run import from_project, from_tasks
    from strop.core.errors import UserError
    from strop.curation.bugs.from_tasks import Wish
    from strop.curation.bugs.models import Asking, open_models
    from strop.curation.bugs.server import Connection
    from strop.curation.bugs.tally import Tally
    from strop.reports import files

    manifest = out.with_name(f"{out.name}.manifest.json")
    if not out.name.endswith((".jsonl", ".jsonl.gz")):
        raise UserError(f"--output {out}: name a file that ends in .jsonl or .jsonl.gz")
    for path in (out, manifest):
        files.check_writable(path)
    started = time.monotonic()
    least_most, chosen = _faults(faults), _format(format)
    connection = Connection(rewrite_url, api_key_env, concurrency, timeout)
    asking = Asking(connection, rewrite_model, issue_model, rewrite_share)
    asking.check()
    settings = {"source": source, "seed": seed, "per_task": per_task, "faults": faults, "format": format}
    if rewrite_model or issue_model:
        settings |= {
            "rewrite_model": rewrite_model,
            "rewrite_share": rewrite_share,
            "issue_model": issue_model,
        }
    project, tally = _is_project(source), Tally()
    filters = {"limit": limit, "topic": topic, "level": level, "split": split, "max-lines": max_lines}
    _check_source(project, {**filters, "min-passing": min_passing or None},
                  {"language": language, "max-file-chars": max_file_chars})  # fmt: skip
    with open_models(asking, out.with_name(f"{out.name}.calls"), seed, tally, _say) as models:
        if project:
            from_project(
                Path(source), out, seed, least_most, chosen, count, per_task, language, max_file_chars, workers,
                allow_unsafe, models, tally,
            )  # fmt: skip
            settings |= {"count": count, "language": language, "max_file_chars": max_file_chars}
        else:
            wish = Wish(seed, per_task or PER_TASK, least_most, min_passing, max_lines, chosen)
            only = {"limit": limit, "topics": topic, "levels": level, "split": split}
            from_tasks(source, only, out, wish, workers, allow_unsafe, models, tally)
            settings |= {
                "per_task": wish.per_task,
                "min_passing": min_passing,
                "max_lines": max_lines,
                **only,
            }
    files.write_json(manifest, {"settings": settings, **tally.manifest(), **models.manifest()})
    _summarise(tally.manifest(), time.monotonic() - started, out)


def _is_project(source: str) -> bool:
    """Whether the source is a project, as a folder or packed, rather than tasks."""
    path = Path(source)
    if path.is_dir():
        return any((path / mark).exists() for mark in _MARKS)
    return source.endswith((".tar.gz", ".tgz"))


def _check_source(project: bool, for_tasks: dict[str, Any], for_projects: dict[str, Any]) -> None:
    """Raises UserError for an option that belongs to the other kind of source."""
    from strop.core.errors import UserError

    why = "for tasks, not for a project" if project else "for a project, not for tasks"
    for name, value in (for_tasks if project else for_projects).items():
        if value is not None:
            raise UserError(f"--{name} is {why}: leave it out")


def _faults(text: str) -> tuple[int, int]:
    """The least and the most faults of one bug."""
    from strop.core.errors import UserError

    least, dash, most = text.partition("-")
    numbers = [least, most if dash else least]
    if all(n.isdecimal() and n.isascii() for n in numbers) and 1 <= int(numbers[0]) <= int(numbers[1]) <= 8:
        return int(numbers[0]), int(numbers[1])
    raise UserError(f"--faults {text!r}: write a number from 1 to 8, or two such as 1-2")


def _format(name: str) -> str:
    from strop.core.errors import UserError
    from strop.edits import FORMATS
    from strop.tasks.rows import suggestion

    if name not in FORMATS:
        raise UserError(
            f"--format {name!r}: unknown{suggestion(name, list(FORMATS))}; there are {', '.join(FORMATS)}"
        )
    return name


def _say(text: str) -> None:
    from strop.core.text import printable

    print(printable(text), file=sys.stderr, flush=True)


def _summarise(counts: dict[str, Any], seconds: float, out: Path) -> None:
    from strop.core.text import printable

    unusable = ", ".join(f"{count} {reason}" for reason, count in counts["unusable"].items())
    kept = sum(1 for row in counts["operators"].values() if row["kept"])
    print(
        printable(
            f"{counts['tasks']} repair tasks from {counts['originals']} originals in {seconds:.0f} s, by {kept} "
            f"operators; left out: {unusable or 'none'}; {out}"
        )
    )
