"""The data set `rust-functions`: the topic files in `tasksets/rust_functions` as tasks.

A topic file is Rust that compiles, as rustfmt writes it: `rustc --test strings.rs && ./strings` checks it. Each task is
a module that brings its own description, reference and hidden tests:

    pub mod shout {
        //! Level 1. Return the text in capital letters.
        //!
        //! shout("hey") == "HEY"

        pub fn shout(text: &str) -> String {
            text.to_uppercase()
        }

        #[cfg(test)]
        mod tests {
            use super::*;
            ...
        }
    }

1. The first paragraph is the level and the statement; the second one has an example a line, which prompts show.
2. The function to write is the one with the module's name, or, where there is none, the last one. What stands above its
   body is the signature: imports, types, the head of an `impl`. What stands below it, such as a helper, is reference.
3. The module `tests` is the check: at least three tests, the first of which, `examples`, asserts the examples.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from strop.tasks.rust_prompts import documented
from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task

FOLDER = Path(__file__).with_name("rust_functions")
EDITION = "2021"
_TASK = re.compile(r"^pub mod (\w+) \{\n(.*?)^\}$", re.M | re.S)
_LEVEL = re.compile(r"Level ([1-5])\. ")
_FUNCTION = re.compile(r"^ *(?:pub )?fn (\w+)\b", re.M)
_BODY = re.compile(r"\s*\{$", re.M)


def topics() -> list[str]:
    """Names of the topic files, sorted."""
    return sorted(file.stem for file in FOLDER.glob("*.rs"))


def load() -> list[Task]:
    """Every task, by topic and in the order of the source. Raises ValueError, naming the task, for a wrong form."""
    return [
        task
        for topic in topics()
        for task in read_topic(topic, (FOLDER / f"{topic}.rs").read_text(encoding="utf-8"))
    ]


def read_topic(topic: str, text: str) -> Iterator[Task]:
    """The tasks of one topic file's text. Raises ValueError, naming the task, for a wrong form."""
    for match in _TASK.finditer(text):
        try:
            yield _task(topic, match[1], re.sub(r"^ {4}", "", match[2], flags=re.M))
        except ValueError as error:
            raise ValueError(f"{topic}.rs: {match[1]}: {error}") from error


def _task(topic: str, name: str, text: str) -> Task:
    description, code, tests = _parts(text)
    prose, _, shown = description.partition("\n\n")
    prose, examples = " ".join(prose.split()), shown.splitlines()
    level = _LEVEL.match(prose)
    if level is None or not examples or "" in examples:
        raise ValueError("the description must be 'Level N. STATEMENT', an empty line, and an example a line")
    statement = prose[level.end() :]
    above, head = _signature(code, name)
    return Task(
        language="rust",
        statement=statement,
        signature=above + head,
        reference=code,
        check=RustCheck(tests=tests, edition=EDITION),
        topic=topic,
        level=int(level[1]),
        source=f"rust-functions/{topic}/{name}",
        prompt=f"{above}{documented(head, statement, examples)} {{",
        metadata={"examples": examples},
    )


def _parts(text: str) -> tuple[str, str, str]:
    """Description, code and tests of a task."""
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines) if not line.startswith("//!")), len(lines))
    if "#[cfg(test)]" not in lines:
        raise ValueError("no line '#[cfg(test)]'")
    tests = lines.index("#[cfg(test)]")
    description = "\n".join(line[3:].strip() for line in lines[:first])
    return description, "\n".join(lines[first:tests]).strip() + "\n", "\n".join(lines[tests:]).strip() + "\n"


def _signature(code: str, name: str) -> tuple[str, str]:
    """What stands above the function to write, and the function's head."""
    functions = list(_FUNCTION.finditer(code))
    chosen = next((f for f in functions if f[1] == name), functions[-1] if functions else None)
    body = _BODY.search(code, chosen.start()) if chosen else None
    if chosen is None or body is None:
        raise ValueError("no function with a body on lines of its own")
    return code[: chosen.start()], code[chosen.start() : body.start()]
