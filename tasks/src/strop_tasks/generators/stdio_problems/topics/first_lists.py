"""Problems on a line of integers, solved in one or two lines."""

from collections.abc import Sequence
from random import Random

from strop_tasks.generators.stdio_problems.kind import Problem, kind, lines, one_each, some

_FOLDS = {
    "sum(a)": "sum",
    "max(a)": "largest",
    "min(a)": "smallest",
    "len(a)": "number of integers",
    "max(a) - min(a)": "difference between the largest and the smallest",
}
_TESTS = {
    "x > {k}": "greater than {k}",
    "x < {k}": "less than {k}",
    "x % {k} == 0": "divisible by {k}",
    "x == {k}": "equal to {k}",
    "x % {k} != 0": "not divisible by {k}",
}
_SUMMED = ("x % {k} == 0", "x > {k}", "x < {k}", "x % {k} != 0")


def _test(r: Random, k: int, tests: Sequence[str]) -> tuple[str, str]:
    """A drawn condition on x, as code and in words."""
    test = r.choice(tests)
    return test.format(k=k), _TESTS[test].format(k=k)


@kind(1)
def fold_plus(r: Random) -> Problem:
    """Sum, extreme, count or spread of a line of integers, with a constant."""
    code, sign, k = r.choice(list(_FOLDS)), r.choice("+*"), r.randint(2, 40)
    what = _FOLDS[code]
    inner = f"({code})" if "-" in code and sign == "*" else code
    word = "plus" if sign == "+" else "times"
    noun = f"{what} of the integers" if what in ("largest", "smallest", "sum") else what
    return Problem(
        parameters={"code": code, "sign": sign, "k": k},
        say=(
            f"Read a line of integers. Print the {noun} {word} {k}.",
            f"Let t be the {noun} on the line. Print t {sign} {k}.",
        ),
        reads="one line with one or more integers",
        prints=f"the {noun}, {word} {k}",
        program=f"a = list(map(int, input().split()))\nprint({inner} {sign} {k})\n",
        draw=lambda r: lines(some(r, -20, 40)),
        edges=one_each("0", "-7", "5 5 5", "-3 -9 -4", "100 9 30", "3 -2"),
    )


@kind(1)
def count_where(r: Random) -> Problem:
    """How many integers of a line fulfil a condition."""
    k = r.randint(2, 30)
    test, phrase = _test(r, k, [*_TESTS])
    return Problem(
        parameters={"test": test},
        say=(
            f"Count the integers of the line that are {phrase}.",
            f"How many of the given integers are {phrase}?",
        ),
        reads="one line with one or more integers, each at least 0",
        prints="the count",
        program=f"a = list(map(int, input().split()))\nprint(sum({test} for x in a))\n",
        draw=lambda r: lines([x if r.random() < 0.6 else k * r.randint(0, 4) for x in some(r, 0, 2 * k + 3)]),
        edges=one_each(
            str(k),
            f"{k} {k} {k}",
            f"{k - 1} {k} {k + 1}",
            f"0 {k * 10} {k * 10 + 1}",
            f"{k + 1}",
            f"{k - 1}",
        ),
    )


@kind(1)
def each_changed(r: Random) -> Problem:
    """Every integer of a line after one operation."""
    sign, k = r.choice(["+", "-", "*", "%"]), r.randint(2, 30)
    how = {"+": f"plus {k}", "-": f"minus {k}", "*": f"times {k}", "%": f"modulo {k}"}[sign]
    return Problem(
        parameters={"sign": sign, "k": k},
        say=(
            f"Print every integer x of the line as x {sign} {k}, in the same order.",
            f"Read a line of integers and print each of them {how} (x {sign} {k}), on one line.",
        ),
        reads="one line with one or more integers, each at least 0",
        prints="the new integers on one line with spaces between them",
        program=f"a = list(map(int, input().split()))\nprint(*[x {sign} {k} for x in a])\n",
        draw=lambda r: lines(some(r, 0, 3 * k, 2, 7)),
        edges=one_each("0", f"{k}", f"{k - 1} {k} {k + 1}", f"1000 {k * 7} 3 3 3"),
    )


@kind(1)
def first_sorted(r: Random) -> Problem:
    """The k smallest or largest integers of a line, in order."""
    k, (reverse, word) = r.randint(1, 6), r.choice([("", "smallest"), (", reverse=True", "largest")])
    part, which = r.choice([(f"[:{k}]", ""), (f"[{k}:]", "all but ")])
    times = r.randint(1, 9)
    order = f"in {'ascending' if not reverse else 'descending'} order" + (
        f", each times {times}" if times > 1 else ""
    )
    what = f"{which}the {k} {word} integers"
    items = f"a{part}" if times == 1 else f"[x * {times} for x in a{part}]"
    return Problem(
        parameters={"k": k, "word": word, "which": which, "times": times},
        say=(f"Print {what} of the line, {order}.", f"Sort the integers and print {what}, {order}."),
        reads="one line with at least 7 integers",
        prints="integers on one line with spaces between them",
        program=f"a = sorted(map(int, input().split()){reverse})\nprint(*{items})\n",
        draw=lambda r: lines(some(r, -30, 60, 7, 10)),
        edges=one_each("7 6 5 4 3 2 1", "1 1 1 2 2 2 3 3 3", "-1 -2 -3 -10 -20 0 5", "9 10 100 11 2 30 4"),
    )


@kind(2)
def sum_where(r: Random) -> Problem:
    """The sum of the integers of a line that fulfil a condition."""
    k = r.randint(2, 20)
    test, phrase = _test(r, k, _SUMMED)
    return Problem(
        parameters={"test": test},
        say=(
            f"Add up the integers of the line that are {phrase}.",
            f"Print the sum of all integers that are {phrase}; 0 if there are none.",
        ),
        reads="one line with one or more integers, each at least 0",
        prints="the sum",
        program=f"a = list(map(int, input().split()))\nprint(sum(x for x in a if {test}))\n",
        draw=lambda r: lines([x if r.random() < 0.6 else k * r.randint(0, 4) for x in some(r, 0, 2 * k + 3)]),
        edges=one_each(str(k), f"{k + 1}", f"{k - 1}", f"{k - 1} {k} {k + 1}", f"0 {k * 10} {k * 10 + 1}"),
    )


@kind(2)
def kept_where(r: Random) -> Problem:
    """The integers of a line that fulfil a condition, or a word when there are none."""
    k, none = r.randint(2, 20), r.choice(["none", "nil", "empty", "-"])
    test, phrase = _test(r, k, _SUMMED[:3])
    return Problem(
        parameters={"test": test, "none": none},
        say=(
            f"Print the word {none} if no integer of the line is {phrase}, else those that are, in their order.",
            f"Keep the integers of the line that pass a test and print them in order, or {none} if there are none. The "
            f"test: the integer is {phrase}.",
        ),
        reads="one line with one or more integers, each at least 0",
        prints="the integers on one line with spaces between them, or the word",
        program=(
            "a = list(map(int, input().split()))\n"
            f"b = [x for x in a if {test}]\n"
            f'print(*b if b else ["{none}"])\n'
        ),
        draw=lambda r: lines([x if r.random() < 0.6 else k * r.randint(0, 4) for x in some(r, 0, 2 * k + 3)]),
        edges=one_each(str(k), f"{k + 1}", f"{k - 1}", f"{k + 1} {k} {k - 1}", f"{k * 10 + 1} 0 {k * 10}"),
    )
