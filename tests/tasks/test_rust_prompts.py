"""Prompts of Rust tasks: what is asked in each style and form, and the way back to a program that is whole."""

from pathlib import Path

import pytest

from strop.tasks import STYLES, load_tasks, render
from strop.tasks.prompts import solution
from strop.tasks.rust_prompts import judged_by_own_tests, opening, own_tests
from strop_verify.core.checks import Case, CasesCheck, RustCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

FORMS = ("function", "function-and-tests")
TESTS = """#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples() {
        assert_eq!(double(2), 4);
    }

    #[test]
    fn hidden() {
        assert_eq!(double(-3), -6);
    }
}
"""
TASK = Task(
    language="rust",
    statement="Return n doubled.",
    signature="pub fn double(n: i64) -> i64",
    reference="pub fn double(n: i64) -> i64 {\n    if n == 0 {\n        return 0;\n    }\n    2 * n\n}\n",
    check=RustCheck(tests=TESTS),
    metadata={"examples": ["double(2) == 4"], "broken": "fn double() {}", "message": "error: it is broken"},
)


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return load_tasks("rust-functions")


def test_continue_is_the_documented_signature():
    prompt = render(TASK, "continue")
    assert prompt.text == ("/// Return n doubled.\n///\n/// double(2) == 4\npub fn double(n: i64) -> i64 {")
    assert prompt.stop == ("\n}",)


@pytest.mark.parametrize("style", ["continue", "chat-prefilled"])
@pytest.mark.parametrize(
    "completion",
    [
        "\n    2 * n",
        "\n    2 * n\n}",
        "\n    2 * n\n}\n\nfn main() {}\n",
        "\n    2 * n\n}\n```\nThis doubles it.",
    ],
)
def test_a_body_is_closed_once_and_what_follows_is_cut(style, completion):
    assert render(TASK, style).assemble(completion).endswith("-> i64 {\n    2 * n\n}\n")


def test_the_body_of_a_method_closes_method_and_impl():
    task = TASK.model_copy(
        update={
            "signature": "pub struct P(i64);\n\nimpl P {\n    pub fn double(&self) -> i64",
            "prompt": None,
        }
    )
    prompt = render(task, "continue")
    assert prompt.text.startswith("pub struct P(i64);\n\nimpl P {\n    /// Return n doubled.")
    assert prompt.assemble("\n        2 * self.0\n    }\n").endswith("{\n        2 * self.0\n    }\n}\n")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("form", FORMS)
def test_solutions_are_the_references_again(tasks, style, form):
    without = 0
    for task in tasks:
        prompt = render(task, style, None, form)
        assert prompt.text == prompt.text.rstrip() and prompt.prefill == prompt.prefill.rstrip()
        said = solution(task, prompt, form)
        if not said:  # its reference has a helper below the function
            assert form == "function" and style != "chat" and task.reference.count("\n}\n") > 1
            without += 1
            continue
        cut = min([at for stop in prompt.stop if (at := said.find(stop)) >= 0], default=len(said))
        code = "\n".join(
            line for line in prompt.assemble(said[:cut]).splitlines() if not line.lstrip().startswith("///")
        )
        plain = "\n".join(line for line in task.reference.splitlines() if not line.lstrip().startswith("///"))
        expected = plain.strip() + (f"\n\n{own_tests(task)}" if form == "function-and-tests" else "")
        assert "".join(code.split()) == "".join(expected.split()), task.source
    assert without <= 20


def test_own_tests_show_the_examples_and_nothing_hidden():
    assert "double(2)" in own_tests(TASK) and "-3" not in own_tests(TASK)
    assert own_tests(TASK).count("{") == own_tests(TASK).count("}")


def test_own_judge_takes_the_trusted_tests_away_and_keeps_the_id():
    judged = judged_by_own_tests(TASK)
    assert judged.check == RustCheck() and judged.id == TASK.id
    assert own_tests(judged) == own_tests(TASK) != "", "examples of a warm start bring tests all the same"
    python = Task(statement="x", check=CasesCheck(entry_point="f", cases=[Case(expected=1)]))
    assert judged_by_own_tests(python) is python


def test_chat_asks_for_tests_only_where_they_are_wanted():
    (message,) = render(TASK, "chat").messages
    assert "pub fn double(n: i64) -> i64 {" in message.content and "#[cfg(test)]" not in message.content
    system, user = render(TASK, "chat", None, "function-and-tests").messages
    assert system.role == "system" and "#[cfg(test)]" in system.content and "double(2) == 4" in user.content


def test_templates_can_show_tests_and_what_is_to_be_repaired(tmp_path):
    file = tmp_path / "t.txt"
    file.write_text("{statement}\n\n{tests}\n\n{broken}\n\n{message}\n")
    content = render(TASK, "chat", str(file)).messages[0].content
    assert TESTS.strip() in content and "fn double() {}" in content and "error: it is broken" in content
    shown = render(TASK, "chat", Path(__file__).parents[2] / "src/strop/recipes/prompts/rust-tests-shown.txt")
    assert TESTS.strip() in shown.messages[0].content and TASK.signature in shown.messages[0].content


def test_repairs_have_a_prompt_of_their_own():
    task = TASK.model_copy(update={"family": "rust-fix"})
    for style in STYLES:
        prompt = render(task, style)
        shown = prompt.text + "".join(m.content for m in prompt.messages)
        assert "fn double() {}" in shown and "error: it is broken" in shown


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(UserError, match="has no signature to continue"):
        render(TASK.model_copy(update={"signature": ""}), "continue")
    python = Task(
        statement="x", signature="def f():", check=CasesCheck(entry_point="f", cases=[Case(expected=1)])
    )
    with pytest.raises(UserError, match=r"tasks.answer='function-and-tests' is for Rust"):
        render(python, "continue", None, "function-and-tests")


def test_opening_keeps_a_ready_prompt():
    assert opening(TASK.model_copy(update={"prompt": "pub fn double(n: i64) -> i64 { "})).endswith("i64 {")
