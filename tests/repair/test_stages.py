"""Localisation, prompts and reproduction tests, each alone."""

from strop.policies.scripted import ScriptedPolicy
from strop.repair import files_stage, lines_stage
from strop.repair.asking import Asker, prompt
from strop.repair.outline import grown, numbered, pieces
from strop.repair.reproduce import test_files as found_tests
from strop_verify.core.rollout import Message

from .conftest import ISSUE


def asker(limit=6000, style="chat"):
    return Asker(ScriptedPolicy({}), seed=0, style=style, max_prompt_tokens=limit)


def test_the_lexical_order_has_programs_first_and_no_tests(repository):
    order = files_stage.lexical_order(repository, ISSUE)
    assert order[0] == "shop/totals.py"
    assert order[-1] == "README.md" and not any(path.startswith("tests/") for path in order)
    assert sorted(order) == sorted(repository.editable)


def test_pieces_are_ordered_by_words_where_no_place_is_named():
    text = "def load():\n    return 1\n\n\ndef round_price(price):\n    return int(price)\n"
    files = {"a.py": text, "b.py": "def other():\n    pass\n"}
    found = {path: pieces(path, one) for path, one in files.items()}
    assert lines_stage.by_words("prices are rounded twice", files, found)[0] == ("a.py", 1)
    assert len(lines_stage.by_words("lions", files, found)) == 3


def test_files_are_named_in_any_way():
    paths = ["src/a/util.py", "src/b/util.py", "src/b/main.py", "Makefile"]
    answer = "<think>src/a/util.py</think>1. `src/b/util.py`: here\n- ./Makefile\n* see b/main.py.\nutil.py /etc/x ../x"
    assert files_stage.named(answer, paths) == ["src/b/util.py", "Makefile", "src/b/main.py"]
    assert files_stage.named("x" * 10**6 + "\n" * 10**5, paths) == []


def test_files_are_chosen_by_votes_then_place_then_words():
    order = ["w.py", "x.py", "y.py", "z.py"]
    choose = files_stage.choose
    got = choose(["y.py\nz.py", "z.py\ny.py", "z.py", "?"], order, 2, "model")
    assert [(f.path, f.votes, f.by) for f in got] == [("z.py", 3, "model"), ("y.py", 2, "model")]
    assert [f.path for f in choose(["y.py\nx.py", "x.py\ny.py"], order, 1, "model")] == ["x.py"]
    assert [(f.path, f.by) for f in choose(["y.py"], order, 2, "both")] == [
        ("y.py", "model"),
        ("w.py", "lexical"),
    ]
    assert [(f.path, f.by) for f in choose(["nothing"], order, 2, "model")] == [
        ("w.py", "lexical"),
        ("x.py", "lexical"),
    ]


def test_the_tree_is_cut_to_what_fits(repository):
    order = [f"folder/{'x' * 40}{n}.py" for n in range(500)]
    messages, shown = files_stage.tree_prompt(asker(1000), ISSUE, order, 3)
    assert 20 < shown < 500 and asker(1000).fits(messages)
    assert order[shown - 1] in messages[0].content and order[shown] not in messages[0].content


SOURCE = '''
import os

@cache
def first(a,
          b):
    return a


class Box:
    """A box."""

    size = 3

    def open(self):
        return 1

    async def close(self):
        return 2
'''


def test_pieces_of_python():
    got = [(p.name, p.first, p.last, p.heads) for p in pieces("x.py", SOURCE)]
    assert got == [
        ("first", 4, 7, (5, 6)), ("Box", 10, 14, (10,)), ("Box.open", 15, 16, (15,)), ("Box.close", 18, 19, (18,)),
    ]  # fmt: skip
    windows = pieces("x.rs", "\n" * 50 + "pub fn f() {}\n" + "\n" * 30)
    assert [(p.first, p.last, p.heads) for p in windows] == [(1, 40, (1,)), (41, 80, (51,)), (81, 81, (81,))]
    assert [p.first for p in pieces("x.py", "def f(:\n" + "x\n" * 50)] == [1, 41]


def test_ranges_and_views():
    assert grown([(5, 6), (1, 2), (7, 9)], 8) == [(1, 2), (5, 8)]
    assert grown([(5, 5)], 100, around=10) == [(1, 15)]
    assert numbered("a\nb\nc\n", [1, 3]) == "1| a\n...\n3| c\n"
    view = lines_stage.view({"a.py": "1\n2\n3\n4\n5\n"}, {"a.py": [(2, 3)]})
    assert view == "### a.py\n```\n[lines 1-1 are not shown]\n2\n3\n[lines 4-5 are not shown]\n```\n"
    assert lines_stage.view({"a.py": "```\nx"}, {"a.py": None}) == "### a.py\n````\n```\nx\n````\n"


def test_places_are_read_in_any_way():
    files = {"x.py": SOURCE, "y.py": "\n" * 30}
    found = {path: pieces(path, text) for path, text in files.items()}
    answer = "### y.py\nlines: 3-5, 7 to 9\nline 12\nlines 90-99\n8-4\n`x.py`:\nfunction: open\nclass: Box\n"
    answer += "method `Box.close`"
    assert lines_stage.places(answer, files, found) == [
        ("y.py", 3, 5), ("y.py", 7, 9), ("y.py", 12, 12), ("x.py", 15, 16), ("x.py", 10, 14), ("x.py", 18, 19),
    ]  # fmt: skip
    assert lines_stage.places("lines 3-5", files, found) == []
    assert lines_stage.places("lines 3-5", {"y.py": files["y.py"]}, found) == [("y.py", 3, 5)]


def test_lines_are_chosen_by_votes_as_long_as_they_fit():
    files = {"y.py": "x\n" * 400}
    found = {"y.py": pieces("y.py", files["y.py"])}

    def fits(ranges):
        return sum(b - a + 1 for spans in ranges.values() for a, b in spans) <= 50

    answers = ["lines 100-110", "lines 300-310\nlines 100-110", "lines 200-205"]
    ranges, places = lines_stage.choose(answers, "issue", files, found, fits)
    assert (ranges, places) == ({"y.py": [(90, 120)]}, 3)  # another one would be too much
    ranges, places = lines_stage.choose(["none"], "issue", files, found, lambda ranges: True)
    assert places == 0 and ranges == {"y.py": [(1, 400)]}


def test_prompts_hold_the_issue_to_the_letter():
    issue = "braces {files} {{x}} [user]\n[assistant]\n  deep"
    (message,) = prompt("edit", {"issue": issue, "files": "### a.py\n", "rules": "RULES"})
    assert issue in message.content and message.role == "user" and "RULES" in message.content


def test_a_long_issue_is_cut_in_its_middle():
    text = "begin " + "x" * 50_000 + " end"
    cut = asker(1000).clipped(text, 0.4)
    assert cut.startswith("begin") and cut.endswith(" end") and len(cut) < 2000 and "[... cut ...]" in cut
    assert asker(1000).clipped("short", 0.4) == "short"


def test_a_model_without_chat_gets_one_text():
    one = asker(style="continue")
    ids = one.encode([Message(role="system", content="a"), Message(role="user", content="b")])
    assert one.policy.tokenizer.decode(ids) == "a\n\nb\n\nAnswer:"


def test_test_files_of_answers(repository):
    good = "```python\nfrom shop.totals import total\n\ndef test_a():\n    assert total([100], 10) == 90\n```"
    same = "Here:\n```python\nfrom shop.totals import total\ndef test_a(): assert total([100], 10) == 90  # yes\n```"
    other = "```python\nclass TestIt:\n    def test_b(self): 1 / 0\ndef helper(): pass\nasync def test_c(): pass\n```"
    got = found_tests([good, "no code", "```python\ndef (\n```", other, same, "\0", "x = 1"], repository)
    assert [(f.votes, f.ids) for f in got] == [
        (2, ("tests/test_strop_issue_1.py::test_a",)),
        (1, ("tests/test_strop_issue_2.py::TestIt::test_b", "tests/test_strop_issue_2.py::test_c")),
    ]
    assert got[0].text.startswith("from shop")
