import ast
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scale import some

from strop_tasks.curation.faults.draw import faults
from strop_tasks.curation.faults.python import OPERATORS
from strop_tasks.curation.faults.routines import routines

LOOP = """def f(xs, k=0):
    total = 0
    for i in range(1, len(xs), 2):
        if xs[i] > k and not done(i):
            total += xs[i - 1]
            k = total
        elif xs[i] == -1:
            continue
        else:
            total = min(total, k)
    if k < 0:
        return 0
    return total
"""
TEXT = """def g(words, sep=" "):
    try:
        found = [w.strip() for w in words if w]
        found.append(sep)
        found.sort()
    except KeyError:
        found = sorted(words, key=len)
    while found:
        found.pop()
        if len(found) == 2:
            break
    a, b = (words[0] + 1.5) * 2, True
    for n, w in enumerate(found[1:]):
        a = join(a, b) if w in sep else b
    if a:
        log(a)
    return a - b
"""
CLASS = """class A:
    def f(self, x):
        self.size = x
        if x:
            self.kind = x
            y = x
        else:
            y = self.size
        y = y + 1
        return y
"""
SAMPLES: dict[str, tuple[str, str]] = {
    "boundary": (LOOP, "if xs[i] >= k and"),
    "turned-comparison": (LOOP, "if xs[i] < k and"),
    "opposite-comparison": (LOOP, "elif xs[i] != -1:"),
    "arithmetic": (LOOP, "xs[i + 1]"),
    "swapped-operands": (LOOP, "xs[1 - i]"),
    "lost-operand": (LOOP, "if xs[i] > k:"),
    "boolean": (LOOP, "> k or not done(i)"),
    "negated-condition": (LOOP, "if not (xs[i] > k and not done(i)):"),
    "lost-not": (LOOP, "> k and done(i)"),
    "lost-minus": (LOOP, "elif xs[i] == 1:"),
    "lost-parentheses": (TEXT, "a, b = words[0] + 1.5 * 2, True"),
    "swapped-choices": (TEXT, "a = b if w in sep else join(a, b)"),
    "lost-filter": (TEXT, "[w.strip() for w in words]"),
    "swapped-items": (TEXT, "a, b = True, (words[0] + 1.5) * 2"),
    "one-more-or-less": (TEXT, "if len(found) == 3:"),
    "other-float": (TEXT, "+ 2.5)"),
    "opposite-constant": (TEXT, "* 2, False"),
    "other-text": (TEXT, 'sep=""'),
    "other-default": (LOOP, "def f(xs, k=1):"),
    "other-first-value": (LOOP, "    total = 1\n"),
    "range-end": (LOOP, "range(1, len(xs) - 1, 2)"),
    "range-start": (LOOP, "range(0, len(xs), 2)"),
    "range-step": (LOOP, "range(1, len(xs)):"),
    "other-index": (LOOP, "if xs[i + 1] > k"),
    "slice-bound": (TEXT, "found[:]"),
    "wrong-function": (LOOP, "max(total, k)"),
    "wrong-method": (TEXT, "found.extend(sep)"),
    "swapped-arguments": (TEXT, "join(b, a)"),
    "lost-argument": (TEXT, "sorted(words)"),
    "lost-call": (TEXT, "[w for w in words if w]"),
    "counted-from-one": (TEXT, "enumerate(found[1:], 1)"),
    "same-argument": (TEXT, "join(a, a)"),
    "wrong-variable": (LOOP, "return i"),
    "wrong-attribute": (CLASS, "y = self.kind"),
    "wrong-exception": (TEXT, "except IndexError:"),
    "augmented": (LOOP, "total -= xs[i - 1]"),
    "not-augmented": (CLASS, "        y += y + 1\n"),
    "dropped-statement": (TEXT, 'words if w]\n        found.sort()\n'),
    "dropped-guard": (LOOP, "min(total, k)\n    return total\n"),
    "always": (LOOP, "min(total, k)\n    return 0\n"),
    "dropped-else": (LOOP, "            continue\n    if k < 0:"),
    "if-for-elif": (LOOP, "        if xs[i] == -1:"),
    "swapped-branches": (CLASS, "        if x:\n            y = self.size\n        else:\n            self.kind = x\n"),
    "missing-return": (LOOP, "    if k < 0:\n        pass\n"),
    "other-result": (LOOP, "return None"),
    "break-or-continue": (TEXT, "            continue\n"),
    "moved-in": (LOOP, "        return 0\n        return total\n"),
    "moved-out": (TEXT.replace("            break", "            break\n        a = 1"), "break\n    a = 1\n"),
    "swapped-statements": (TEXT, "        found.sort()\n        found.append(sep)\n"),
    "if-for-while": (TEXT.replace("        if len(found) == 2:\n            break\n", ""), "    if found:\n"),
}  # fmt: skip


def test_every_operator_has_a_sample():
    assert set(SAMPLES) == set(OPERATORS) and len(OPERATORS) >= 30


@pytest.mark.parametrize("name", SAMPLES)
def test_an_operator_makes_the_fault_that_it_says(name):
    source, wanted = SAMPLES[name]
    assert wanted not in source
    made = list(faults(source, operators=[name]))
    assert any(wanted in fault.text for fault in made), [fault.text for fault in made]
    assert all(fault.operators == (name,) for fault in made)


def test_docstrings_annotations_and_what_is_outside_of_functions_stay():
    source = (
        '"""1 < 2"""\nLIMIT = 1 < 2\n\n\n@cached(1 + 1)\ndef f(x: "1 < 2") -> "1 + 2":\n    """0 < 1"""\n'
        "    return x < 1  # 1 < 2\n"
    )
    made = [fault.text for fault in faults(source)]
    assert made
    head, tail = source[: source.index("return")], "  # 1 < 2\n"
    assert all(text.startswith(head) and text.endswith(tail) for text in made if "return" in text)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("unit", ["    ", "\t"])
def test_a_method_is_changed_in_its_place(end, unit):
    source = (
        "# ünï\fcode\nclass A:\n    # é\n    @property\n    def f(self, ä):\n"
        "        if ä > 1:\n            ä -= 1\n        return ä\n"
    )
    source = source.replace("    ", unit).replace("\n", end)
    made = list(faults(source, "A.f"))
    assert len(made) > 10
    lines = source.split(end)
    for fault in made:
        first, last = fault.lines
        assert 5 <= first <= last <= 9
        assert fault.text.split(end)[: first - 2] == lines[: first - 2]
        assert fault.text.endswith(end.join(lines[last + 1 :]))
        ast.parse(fault.text)
    assert any(fault.text == source.replace("> 1", ">= 1") for fault in made)


def test_several_faults_at_once_are_apart_and_of_other_operators():
    made = list(faults(LOOP, at_once=(2, 3), seed=3))
    assert {len(fault.operators) for fault in made} == {2, 3}
    assert all(len(set(fault.operators)) == len(fault.operators) for fault in made)
    assert len({fault.shape for fault in made}) == len(made)


def test_the_same_seed_gives_the_same_order_and_another_one_another():
    def order(**options):
        return [fault.text for fault in faults(LOOP + TEXT, **options)]

    assert order(seed=1) == order(seed=1)
    assert order(seed=1) != order(seed=2) and order(seed=1) != order(seed=1, key="x")
    assert sorted(order(seed=1)) == sorted(order(seed=2))


def test_functions_take_turns():
    names = [fault.function for fault in faults(LOOP + TEXT + CLASS)][:6]
    assert sorted(names[:3]) == ["A.f", "f", "g"] and sorted(names[3:]) == ["A.f", "f", "g"]


@given(st.text(max_size=60) | st.lists(st.sampled_from(
    ["def f(a):", "    return a", "  if a < 1:", "pass", "class A:", "\tx = 0", "", "else:", "'''", "\\"]
)).map("\n".join))  # fmt: skip
def test_any_text_is_taken(text):
    for fault in faults(text):
        assert fault.text != text
        ast.parse(fault.text)


def _modules():
    folder = Path(sysconfig.get_path("stdlib"))
    return [folder / name for name in ("bisect.py", "textwrap.py", "heapq.py", "shlex.py", "statistics.py")]


@pytest.mark.parametrize("path", some(_modules(), 2), ids=lambda p: p.stem)
def test_faults_of_real_modules_compile_differ_and_leave_the_rest_as_it_was(path):
    source = path.read_bytes().decode()
    original, seen = source.split("\n"), {source}
    by_name = {routine.name: routine for routine in routines(source)}
    for number, fault in enumerate(faults(source, at_once=(1, 2))):
        if number == 400:
            break
        assert fault.text not in seen
        seen.add(fault.text)
        routine = by_name[fault.function]
        lines = fault.text.split("\n")
        assert lines[: routine.first - 1] == original[: routine.first - 1]
        after = original[routine.last :]
        assert not after or lines[-len(after) :] == after
        if number % 20 == 0:
            assert ast.dump(ast.parse(fault.text)) != ast.dump(ast.parse(source))
    assert len(seen) > 40
