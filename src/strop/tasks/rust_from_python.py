"""Rust tasks out of Python ones: the statement and the cases of `python-functions` with a Rust function of ours.

A topic file in `strop/tasks/rust_from_python` is plain Rust: one public function a task, named as the Python entry
point. A doc comment above it, where there is one, is the statement in the place of the Python task's. Examples and
hidden tests are made from the task's cases and the types of the function's signature.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources

from strop.core.task import Case, CasesCheck, RustCheck, Task
from strop.tasks import builtin
from strop.tasks.builtin_rust import EDITION
from strop.tasks.rust_source import documented
from strop.tasks.rust_values import FLOATS, RustType, literal, parse_type

FOLDER = "rust_from_python"
TESTS = 4
"""Most hidden tests of a task; its hidden cases are dealt out to them."""
_ITEM = re.compile(r"^((?:///[^\n]*\n)*)(pub fn (\w+)\b.*?^\}\n)", re.M | re.S)
_HEAD = re.compile(r"pub fn (\w+)\((.*?)\)(?:\s*->\s*(.*?))?\s*\{", re.S)


def topics() -> list[str]:
    """Names of the topic files, sorted."""
    folder = resources.files("strop.tasks").joinpath(FOLDER)
    return sorted(f.name.removesuffix(".rs") for f in folder.iterdir() if f.name.endswith(".rs"))


def load() -> list[Task]:
    """Every task, by topic and in the order of its file. Raises ValueError, naming the task, for a wrong form."""
    originals: dict[str, dict[str, Task]] = {}
    for task in builtin.load():
        if isinstance(task.check, CasesCheck):
            originals.setdefault(task.topic, {})[task.check.entry_point] = task
    return [task for topic in topics() for task in read_topic(topic, originals.get(topic, {}))]


def read_topic(topic: str, originals: Mapping[str, Task]) -> Iterator[Task]:
    """The tasks of one topic file. `originals` are the Python tasks by entry point."""
    text = resources.files("strop.tasks").joinpath(FOLDER, f"{topic}.rs").read_text(encoding="utf-8")
    for comment, code, name in _ITEM.findall(text):
        try:
            if name not in originals:
                raise ValueError("python-functions has no such task in this topic")
            yield _task(topic, name, comment, code, originals[name])
        except ValueError as error:
            raise ValueError(f"{FOLDER}/{topic}.rs: {name}: {error}") from error


def rust_tests(signature: str, cases: Sequence[Case]) -> str:
    """Rust test code for the cases: `examples` for those that are shown, then hidden ones.

    Raises ValueError when a case does not fit the types of the signature.
    """
    name, parameters, result = parse_head(signature)
    lines = [(case.shown, _assertion(name, parameters, result, case)) for case in cases]
    hidden = [line for shown, line in lines if not shown]
    count = min(TESTS, len(hidden))
    named = {"examples": [line for shown, line in lines if shown]}
    named |= {f"hidden_{i + 1}": hidden[i::count] for i in range(count)}
    tests = "\n".join(_test(title, body) for title, body in named.items() if body)
    return f"#[cfg(test)]\nmod tests {{\n    use super::*;\n\n{tests}}}\n"


def parse_head(signature: str) -> tuple[str, list[RustType], RustType]:
    """(name, types of the parameters, type of the result) of a function's head, with or without its brace."""
    match = _HEAD.search(signature.rstrip(" {") + " {")
    if match is None:
        raise ValueError(f"{signature!r} is no head of a function")
    parameters = _split(" ".join(match[2].split()))
    return match[1], [parse_type(p.partition(":")[2]) for p in parameters], parse_type(match[3] or "()")


def _split(parameters: str) -> list[str]:
    """The parameters, which are parted by the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in parameters:
        depth += (letter in "<([") - (letter in ">)]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]


def _task(topic: str, name: str, comment: str, code: str, original: Task) -> Task:
    check = original.check
    assert isinstance(check, CasesCheck)
    statement = " ".join(line[3:].strip() for line in comment.splitlines()) or " ".join(
        original.statement.split()
    )
    if check.any_order or check.checker:
        raise ValueError("a case is more than a value to equal")
    match = _HEAD.match(code)
    if match is None:
        raise ValueError("its head is not 'pub fn NAME(...) -> TYPE {'")
    head = code[: match.end()].removesuffix("{").rstrip()
    _, parameters, result = parse_head(head)
    shown = [case for case in check.cases if case.shown]
    examples = [
        f"{_call(name, parameters, case, plain=True)} == {literal(case.expected, result, plain=True)}"
        for case in shown
    ]
    return Task(
        language="rust",
        statement=statement,
        signature=head,
        reference=code,
        check=RustCheck(tests=rust_tests(head, check.cases), edition=EDITION),
        topic=topic,
        level=original.level,
        source=f"rust-from-python/{topic}/{name}",
        prompt=f"{documented(head, statement, examples)} {{",
        metadata={"examples": examples},
    )


def _call(name: str, parameters: Sequence[RustType], case: Case, *, plain: bool = False) -> str:
    if case.kwargs or len(case.args) != len(parameters):
        raise ValueError(f"{len(parameters)} parameters do not fit the case {case.args} {case.kwargs}")
    inside = ", ".join(
        literal(value, kind, plain=plain) for value, kind in zip(case.args, parameters, strict=True)
    )
    return f"{name}({inside})"


def _assertion(name: str, parameters: Sequence[RustType], result: RustType, case: Case) -> str:
    call, expected = _call(name, parameters, case), literal(case.expected, result)
    if result.name in FLOATS:
        # The type is stated, so that an answer cannot bring one of its own to the comparison.
        margin = repr(1e-9 * max(1.0, abs(case.expected)))
        close = f"(found - {_operand(expected)}).abs() <= {margin}"
        return f'let found: {result.name} = {call};\nassert!({close}, "found {{found}}");'
    return f"assert_eq!({call}, {expected});"


def _operand(number: str) -> str:
    return f"({number})" if number.startswith("-") else number


def _test(title: str, body: Sequence[str]) -> str:
    lines = "".join(f"        {line}\n" for part in body for line in part.splitlines())
    return f"    #[test]\n    fn {title}() {{\n{lines}    }}\n"
