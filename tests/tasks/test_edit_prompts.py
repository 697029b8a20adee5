"""Prompts for edits: what they show, what they begin, and that the oracle's edit fits every one of them."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.environments.registry import bind
from strop.environments.single_turn import SingleTurn
from strop.rewards.rubric import REWARDS
from strop.tasks.answers import answer_in
from strop.tasks.edit_prompts import reference
from strop.tasks.prompts import STYLES, render, solution
from strop_verify.core.checks import Case, CasesCheck, EditCheck
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Completion, Rollout, Turn
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.edits import FORMATS, HOLE, EditError, apply_answer

BUGGY = "def inc(x):\n    y = x\n    return y - 1\n"
FIXED = BUGGY.replace("y - 1", "y + 1")
SECOND = {"app/b.py": "B = 1\n"}


def task(form: str = "search-replace", family: str = "repair", **changes) -> Task:
    check = {"format": form, "files": {"inc.py": BUGGY}, "oracle": {"inc.py": FIXED}, **changes}
    return Task(family=family, statement="`inc(1)` returns 0.", check=EditCheck.model_validate(check))


def after(given: Task) -> dict[str, str]:
    check = given.check
    assert isinstance(check, EditCheck)
    return {p: t for p, t in {**check.files, **check.oracle}.items() if t is not None}


def fits(given: Task, style: str, template: str | None = None) -> str:
    """The oracle's answer to the prompt, which must be the oracle's edit; "" where there is none."""
    check = given.check
    assert isinstance(check, EditCheck)
    prompt = render(given, style, template)
    assert prompt.text == prompt.text.rstrip() and prompt.prefill == prompt.prefill.rstrip()
    assert (prompt.prefill or prompt.text).endswith(prompt.head)
    said = solution(given, prompt)
    if said:
        cut = re.split("|".join(map(re.escape, prompt.stop)), said)[0] if prompt.stop else said
        for text in {said, cut}:
            whole = prompt.assemble(text)
            assert apply_answer(whole, check.files, check.format) == after(given), whole
    return said


@pytest.mark.parametrize("template", [None, "chat-edit-think", "chat-edit-swe-rl"])
@pytest.mark.parametrize("family", ["repair", "swe-rl"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("style", STYLES)
def test_the_oracle_fits_every_prompt(style: str, form: str, family: str, template: str | None) -> None:
    if template and style == "continue":
        template = None
    open_end = {"files": {"inc.py": BUGGY.rstrip()}, "oracle": {"inc.py": FIXED.rstrip()}}
    both = {"files": {"inc.py": BUGGY, **SECOND}, "oracle": {"inc.py": FIXED, "app/b.py": "B = 2\nC = 3\n"}}
    fence = {"files": {"inc.py": f'"""\n```\n"""\n{BUGGY}'}, "oracle": {"inc.py": f'"""\n```\n"""\n{FIXED}'}}
    for changes in ({}, open_end, both):
        assert fits(task(form, family, **changes), style, template)
    assert fits(task(form, family, **fence), style, template)


@pytest.mark.parametrize("style", STYLES)
def test_a_hole(style: str) -> None:
    before = BUGGY.replace("    return y - 1\n", HOLE)
    given = task("infill", files={"inc.py": before}, oracle={"inc.py": FIXED})
    prompt = render(given, style)
    assert before in (prompt.text or prompt.messages[-1].content) and "   1|" not in prompt.text
    assert fits(given, style)
    if style != "chat":
        assert solution(given, prompt) == "\n    return y + 1\n```"


LINES = st.sampled_from(
    [
        "a",
        "    b = 1",
        "```",
        "",
        "=======",
        ">>>>>>> REPLACE",
        "### x.py",
        "\tc",
        "é",
        HOLE,
        "<answer>",
        "x\r",
    ]
)
TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(LINES, min_size=1, max_size=6),
    st.sampled_from(["\n", ""]),
)


@given(
    st.dictionaries(st.sampled_from(["a.py", "b/c.rs"]), st.tuples(TEXTS, TEXTS), min_size=1),
    st.sampled_from(sorted(FORMATS)),
    st.sampled_from(["repair", "swe-rl"]),
)
def test_whatever_the_files_the_solution_is_the_oracles_edit_or_none(files, form, family) -> None:
    before = {path: old for path, (old, _) in files.items()}
    made = {path: new for path, (_, new) in files.items()}
    given = task(form, family, files=before, oracle=made)
    for style in STYLES:
        said = fits(given, style)
        assert said or style != "chat" or not reference(given.check) or before == made


@pytest.mark.parametrize("form", FORMATS)
def test_the_prompt_does_not_depend_on_the_oracle(form: str) -> None:
    for style in STYLES:
        other = task(form, oracle={"inc.py": "```\n" + FIXED})
        assert render(task(form), style) == render(other, style)


def test_a_question_is_short_and_whole() -> None:
    (message,) = render(task(), "chat").messages
    assert message.content.startswith(
        f"`inc(1)` returns 0.\n\n### inc.py\n```python\n{BUGGY}```\n\nAnswer with"
    )
    assert "PATH" not in message.content and "What goes wrong" not in message.content
    assert "{" not in message.content and len(message.content) < 450
    several = render(task(files={"inc.py": BUGGY, **SECOND}), "chat").messages[0].content
    assert "### PATH\n<<<<<<< SEARCH" in several and "### app/b.py\n```python\nB = 1\n```" in several


def test_numbers_of_lines_where_the_format_needs_them() -> None:
    shown = render(task("line-range"), "chat").messages[0].content
    assert "1| def inc(x):\n2|     y = x\n3|     return y - 1\n```" in shown
    assert "3|     return y - 1" in render(task("infill"), "chat").messages[0].content
    assert "1| " not in render(task("whole-file"), "chat").messages[0].content


def test_what_goes_wrong_and_examples_of_the_judge() -> None:
    judge = CasesCheck(
        entry_point="inc",
        cases=[Case(args=[1], expected=2, shown=True), Case(args=[7], expected=8)],
    )
    given = task(judge=judge, path="inc.py").model_copy(update={"metadata": {"message": "it is less"}})
    assert "What goes wrong:\n\nit is less\n\nAnswer" in render(given, "chat").messages[0].content


def test_a_users_template(tmp_path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("{statement}\n{files}\n{examples}\n{rule}")
    judge = CasesCheck(entry_point="inc", cases=[Case(args=[1], expected=2, shown=True)])
    shown = render(task(judge=judge, path="inc.py"), "chat", file).messages[0].content
    assert ">>> inc(1)\n2\nAnswer with" in shown
    with pytest.raises(UserError, match="cannot read"):
        render(task(), "chat", "chat-edit-thinking")


def test_texts_with_braces_are_not_filled_in() -> None:
    given = task(files={"a.py": "x = '{rule}{{statement}}'\n"}, oracle={"a.py": "x\n"})
    assert "x = '{rule}{{statement}}'" in render(given, "chat").messages[0].content


def test_an_unknown_format_is_a_users_error() -> None:
    with pytest.raises(UserError, match="'sr'"):
        render(task("sr"), "chat")


def test_all_of_the_text_is_the_answer() -> None:
    said = "<think>\nhm\n</think>\nSo:\n```\nx\n```\n"
    assert answer_in(said, task()) == said == render(task(), "chat").assemble(said)


def rollout(given: Task, style: str, template: str | None = None) -> Rollout:
    environment = bind(SingleTurn, style, template)(given)
    text = solution(given, render(given, style, template))
    completion = Completion(token_ids=[1], logprobs=[0.0], text=text, finish_reason="eos")
    return Rollout(
        task_id=given.id,
        index=0,
        seed=0,
        prompt=environment.begin().shown(),
        turns=[Turn(prompt_ids=[0], completion=completion)],
        answer=environment.step(completion).answer,
    )


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("style", STYLES)
def test_rewards_of_edits_see_what_the_prompt_has_begun(style: str, form: str) -> None:
    given, verdict = task(form), Verdict(outcome=Outcome.PASSED)
    for name in ("edit_similarity", "edit_applies", "edit_format"):
        assert REWARDS[name](given, rollout(given, style), verdict) == 1.0, name


@pytest.mark.parametrize("style", ["chat", "chat-prefilled"])
def test_rewards_of_reasoning(style: str) -> None:
    given, verdict = task(family="swe-rl"), Verdict(outcome=Outcome.PASSED)
    for name in ("edit_similarity", "published_swe_rl", "strict_reasoning", "partial_reasoning"):
        assert REWARDS[name](given, rollout(given, style), verdict) == 1.0, name
    thinking = task()
    for name in ("edit_similarity", "strict_reasoning"):
        assert REWARDS[name](thinking, rollout(thinking, style, "chat-edit-think"), verdict) == 1.0
    own = thinking.model_copy(update={"metadata": {"thought": "The sign is wrong."}})
    assert "The sign is wrong." in solution(own, render(own, style, "chat-edit-think"))


@pytest.mark.parametrize("style", STYLES)
def test_an_edit_names_its_file_where_the_template_says_so(style: str, tmp_path: Path) -> None:
    text = "{statement}\n\n{files}\n\n<think>\n</think>\n<solution>\n### PATH\n<<<<<<< SEARCH\n</solution>\n"
    (tmp_path / "own.txt").write_text(text)
    given, prompt = task(), render(task(), style, str(tmp_path / "own.txt"))
    said = prompt.assemble(solution(given, prompt))
    assert "\n### inc.py\n" in said and "### inc.py" not in solution(given, render(given, style))
    verdict = Verdict(outcome=Outcome.PASSED)
    scored = rollout(given, style, str(tmp_path / "own.txt"))
    assert REWARDS["published_swe_rl"](given, scored, verdict) == 1.0


def test_no_oracle_no_solution() -> None:
    assert solution(task(oracle={}), render(task(oracle={}), "chat")) == ""
    gone = task(oracle={"inc.py": None})
    assert solution(gone, render(gone, "chat-prefilled")) == "" != solution(gone, render(gone, "chat"))
    with pytest.raises(EditError):
        FORMATS["search-replace"].render({"a": "b"}, {"a": "b"})
