"""Prompts: exact text, the way back to code, user templates and their mistakes."""

import ast

import pytest

from strop.tasks import STYLES, load_tasks, render
from strop.tasks.prompts import CONTINUE_STOP, PROGRAM_STOP, solution
from strop_verify.core.checks import AssertsCheck, Case, CasesCheck, StdioCase, StdioCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

SIGNATURE = "from typing import Any\n\n\ndef pick(items: list[Any], at: int = 0) -> Any:"


def pick(**changes) -> Task:
    cases = [
        Case(args=[["a\nb", None], 1], expected=None, shown=True),
        Case(args=[["a\nb"]], kwargs={"at": 0}, expected="a\nb", shown=True),
        Case(args=[[7], 0], expected=7),
    ]
    fields = {
        "statement": "Return the item.\n\nIt is there.",
        "signature": SIGNATURE,
        "check": CasesCheck(entry_point="pick", cases=cases),
    }
    return Task.model_validate({**fields, **changes})


def run(code: str, name: str, *args: object) -> object:
    namespace: dict[str, object] = {}
    exec(code, namespace)
    return namespace[name](*args)  # type: ignore[operator]


def test_continue_is_a_signature_with_a_docstring_and_ends_at_its_quotes():
    prompt = render(pick(), "continue")
    assert prompt.text == (
        f'{SIGNATURE}\n    r"""Return the item.\n\n    It is there.\n\n'
        "    >>> pick(['a\\nb', None], 1)\n    >>> pick(['a\\nb'], at=0)\n    'a\\nb'\n    \"\"\""
    )
    assert prompt.messages == [] and prompt.stop == CONTINUE_STOP
    assert run(prompt.assemble("\n    return items[at]\n"), "pick", [1, 2], 1) == 2


def test_without_examples_no_gap_is_left():
    task = pick(check=AssertsCheck(entry_point="pick", code="assert pick([1]) == 1"))
    assert render(task, "continue").text == (
        f'{SIGNATURE}\n    """Return the item.\n\n    It is there.\n\n    """'
    )
    assert "Examples" not in render(task, "chat").messages[0].content


def test_triple_quotes_in_a_statement_do_not_end_the_docstring():
    prompt = render(pick(statement='Return """it""".'), "continue")
    ast.parse(prompt.assemble("\n    return 1"))


def test_chat_asks_for_a_block_and_gets_its_code_behind_the_imports():
    prompt = render(pick(), "chat")
    (message,) = prompt.messages
    assert message.role == "user" and prompt.text == "" and prompt.prefill == ""
    for part in ("Return the item.", SIGNATURE, ">>> pick(['a\\nb'], at=0)", "```python"):
        assert part in message.content
    code = prompt.assemble(
        "Sure:\n```python\ndef pick(items: list[Any], at=0) -> Any:\n    return items[at]\n```"
    )
    assert run(code, "pick", [5]) == 5
    assert prompt.assemble("```json\n{}\n```") == ""


@pytest.mark.parametrize("above", ["", '"""Picks."""\n', "# Picks.\n\n"])
@pytest.mark.parametrize("signature", [SIGNATURE, f"from __future__ import annotations\n{SIGNATURE}"])
def test_what_must_stand_first_in_an_answer_stays_first(above, signature):
    body = "import math\n\n\ndef pick(items: list[Any], at=0) -> Any:\n    return items[math.floor(at)]"
    future = "from __future__ import (\n    annotations,\n)\n"
    code = render(pick(signature=signature), "chat").assemble(f"```python\n{above}{future}{body}\n```")
    assert run(code, "pick", [5]) == 5 and code.startswith(f"{above}{future}") and SIGNATURE[:22] in code


@pytest.mark.parametrize("style", ["continue", "chat-prefilled"])
def test_an_answer_begun_anew_is_whole(style):
    whole = "from __future__ import annotations\n\n\ndef pick(items: list[Any], at=0):\n    return items[at]"
    prompt = render(pick(), style)
    for said in (
        whole,
        f"```python\n{whole}\n```",
        f"\n```py\n{whole.partition('def')[1] + whole.partition('def')[2]}",
    ):
        assert run(prompt.assemble(said), "pick", [5]) == 5
    for said in (
        "\n    return items[at]",
        " return items[at]",
        "\n    def pick(x):\n        pass\n    return 1",
    ):
        assert prompt.assemble(said) == prompt.head + said
    assert prompt.assemble("```python") == prompt.head + "```python", "nothing follows the fence"
    rust = Task.model_validate({
        "statement": "Add.", "language": "rust", "signature": "pub fn add(a: i32) -> i32", "check": {"kind": "rust"},
    })  # fmt: skip
    code = "pub fn add(a: i32) -> i32 {\n    a\n}"
    assert render(rust, style).assemble(f"```rust\n{code}\n```") == code
    program = PROGRAM.model_copy(update={"id": ""})
    assert render(program, style).assemble("```python\nprint(1)\n```") == "print(1)"


def test_an_answer_in_a_chat_is_the_block_that_defines_what_is_asked():
    said = (
        "```python\ndef pick(items, at=0):\n    return items[at]\n```\nUse:\n```python\nprint(pick([1]))\n```"
    )
    code = render(pick(), "chat").assemble(said)
    assert run(code, "pick", [5]) == 5 and "print" not in code
    rust = Task.model_validate({
        "statement": "Add.", "language": "rust", "signature": "pub fn add(a: i32) -> i32", "check": {"kind": "rust"},
    })  # fmt: skip
    said = "```rust\npub fn add(a: i32) -> i32 { a }\n```\n```rust\nfn main() { add(1); }\n```"
    assert render(rust, "chat").assemble(said) == "pub fn add(a: i32) -> i32 { a }"


def test_a_prefilled_chat_begins_the_answer():
    prompt = render(pick(), "chat-prefilled")
    assert prompt.prefill == "```python\n" + SIGNATURE
    assert prompt.messages == render(pick(), "chat").messages
    assert {"\n`", "\nd"} <= set(prompt.stop), "the fence, or any other line at the margin, ends the function"
    for end in ("", "\n```", "\n```\nIt returns the item.\n```python\nother"):
        assert prompt.assemble("\n    return items[at]" + end) == SIGNATURE + "\n    return items[at]"


@pytest.mark.parametrize("style", STYLES)
def test_no_prompt_ends_in_white_space(style):
    for task in load_tasks("python-functions", limit=50) + load_tasks("humaneval"):
        prompt = render(task, style)
        texts = [prompt.text, prompt.prefill, *(m.content for m in prompt.messages)]
        assert any(texts) and all(t == t.rstrip() for t in texts)


def test_humaneval_is_continued_from_its_own_prompt():
    for task in load_tasks("humaneval"):
        prompt = render(task, "continue")
        assert task.prompt is not None and prompt.text == task.prompt.rstrip()
        body = task.reference.removeprefix(task.prompt)
        ast.parse(prompt.assemble("\n" + body))


def test_stop_strings_do_not_cut_a_reference():
    for task in load_tasks("python-functions") + load_tasks("humaneval"):
        body = task.reference.removeprefix(task.prompt or task.signature).strip("\n")
        if task.reference.startswith(task.prompt or task.signature):  # else helpers stand between
            assert not [s for s in CONTINUE_STOP if s in "\n" + body], task.source


def test_programs_are_asked_for_in_chat():
    task = Task(
        statement="Add.", check=StdioCheck(cases=[StdioCase(stdin="1 2\n", stdout="3\n", shown=True)])
    )
    content = render(task, "chat").messages[0].content
    assert "Input:\n1 2\nOutput:\n3" in content and "standard input" in content


PROGRAM = Task(
    family="program",
    statement='Print the """sum""".',
    reference="a, b = map(int, input().split())\nprint(a + b)\n",
    check=StdioCheck(cases=[StdioCase(stdin="1 2\n", stdout="3\n", shown=True)]),
)


def test_a_program_is_continued_from_a_docstring_that_is_no_part_of_it():
    prompt = render(PROGRAM, "continue")
    assert prompt.text == "\"\"\"\nPrint the '''sum'''.\n\nInput:\n1 2\nOutput:\n3\n\"\"\""
    assert prompt.head == "" and prompt.stop == PROGRAM_STOP
    target = solution(PROGRAM, prompt)
    assert target == "\n" + PROGRAM.reference.strip()
    assert prompt.assemble(target) == target and not [s for s in PROGRAM_STOP if s in target]
    slashed = PROGRAM.model_copy(update={"statement": r"Print \n."})
    assert ast.get_docstring(ast.parse(render(slashed, "continue").text), clean=False).startswith(
        "\nPrint \\n."
    )


def test_a_prefilled_chat_begins_a_program_with_its_fence_alone():
    prompt = render(PROGRAM, "chat-prefilled")
    assert prompt.prefill == "```python" and prompt.messages == render(PROGRAM, "chat").messages
    target = solution(PROGRAM, prompt)
    assert target.endswith("\n```") and prompt.assemble(target).strip() == PROGRAM.reference.strip()


def test_only_python_programs_can_be_continued():
    with pytest.raises(UserError, match="no signature"):
        render(PROGRAM.model_copy(update={"language": "c"}), "continue")


def test_a_program_in_a_users_template(tmp_path):
    shot = tmp_path / "shot.txt"
    shot.write_text("# {statement}\n{examples}\n# Program:\n")
    prompt = render(PROGRAM, "continue", shot)
    assert prompt.text.endswith("3\n# Program:") and prompt.assemble("\nprint(1)") == "\nprint(1)"


def test_a_users_template_with_shots_and_a_system_message(tmp_path):
    shots = tmp_path / "shots.txt"
    shots.write_text('def one():\n    return {{x}} {1: 2}\n\n\n{signature}\n    """{statement}"""\n')
    prompt = render(pick(statement="Do."), "continue", shots)
    assert prompt.text == f'def one():\n    return {{x}} {{1: 2}}\n\n\n{SIGNATURE}\n    """Do."""'
    assert prompt.head == f'{SIGNATURE}\n    """Do."""'
    chat = tmp_path / "chat.txt"
    chat.write_text("[system]\nBe brief.\n[user]\n{statement}\n")
    messages = render(pick(statement="Do."), "chat", str(chat)).messages
    assert [(m.role, m.content) for m in messages] == [("system", "Be brief."), ("user", "Do.")]


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("a\n{statment}", r"t.txt:2: unknown placeholder {statment} \(did you mean 'statement'\?\)"),
        ("{dialect}", r"unknown placeholder \{dialect\}"),
        ("  \n", "is empty"),
        (None, "cannot read the prompt template"),
    ],
)
def test_a_bad_template_is_one_clear_line(tmp_path, content, wanted):
    file = tmp_path / "t.txt"
    if content is not None:
        file.write_text(content)
    with pytest.raises(UserError, match=wanted) as caught:
        render(pick(), "chat", file)
    assert "\n" not in str(caught.value)


def test_unknown_style_and_task_without_statement():
    with pytest.raises(UserError, match=r"unknown prompt style 'chatt' \(did you mean 'chat'\?\)"):
        render(pick(), "chatt")
    with pytest.raises(UserError, match="no statement"):
        render(pick(statement=""), "chat")
