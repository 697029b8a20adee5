"""Integer arithmetic, solved in one or two lines."""

from random import Random

from strop_tasks.generators.stdio_problems.kind import Problem, kind, lines, numbers, one_each

_SIGNS = {"+": "sum", "-": "difference", "*": "product"}
_PAIRS = (
    ("yes", "no"),
    ("big", "small"),
    ("high", "low"),
    ("pass", "fail"),
    ("more", "less"),
    ("open", "closed"),
)


@kind(1)
def sum_times(r: Random) -> Problem:
    """A multiple of the sum, difference or product of two integers."""
    sign, k = r.choice(list(_SIGNS)), r.randint(2, 99)
    return Problem(
        parameters={"sign": sign, "k": k},
        say=(
            f"Read two integers a and b. Print {k} times their {_SIGNS[sign]}, that is (a {sign} b) * {k}.",
            f"Given integers a and b, compute a {sign} b and multiply it by {k}.",
            f"Print the {_SIGNS[sign]} a {sign} b of two integers, multiplied by {k}.",
        ),
        reads="one line with two integers a and b",
        prints=f"the value of (a {sign} b) * {k}",
        program=f"a, b = map(int, input().split())\nprint((a {sign} b) * {k})\n",
        draw=lambda r: lines(numbers(r, 2, -50, 50)),
        edges=(lines([0, 0]), lines([1, -1]), lines([-7, 12]), lines([1000000, 3])),
    )


@kind(1)
def one_step(r: Random) -> Problem:
    """One operation with a constant."""
    sign, k = r.choice(["+", "-", "*", "//", "%"]), r.randint(2, 99)
    how = {
        "+": f"Print n plus {k}.",
        "-": f"Print n minus {k}.",
        "*": f"Print n times {k}.",
        "//": f"Print how many times {k} fits into n whole.",
        "%": f"Print what is left over when n is divided by {k}.",
    }[sign]
    return Problem(
        parameters={"sign": sign, "k": k},
        say=(f"Read an integer n. {how}", f"You are given one integer n. {how}", how),
        reads="one line with an integer n, at least 0",
        prints=f"the value of n {sign} {k}",
        program=f"n = int(input())\nprint(n {sign} {k})\n",
        draw=lambda r: lines(r.randint(0, 9 * k)),
        edges=one_each(0, 1, k - 1, k, k + 1, 100 * k, 123456),
    )


@kind(1)
def straight_line(r: Random) -> Problem:
    """a * x + b with given a and b."""
    a, b = r.randint(2, 50), r.randint(1, 99)
    sign = r.choice("+-")
    return Problem(
        parameters={"a": a, "b": b, "sign": sign},
        say=(
            f"Read an integer x and print {a} * x {sign} {b}.",
            f"Evaluate f(x) = {a} * x {sign} {b} for the given integer x.",
            f"Multiply the given integer x by {a}, then {'add' if sign == '+' else 'subtract'} {b}.",
        ),
        reads="one line with an integer x",
        prints=f"the value of {a} * x {sign} {b}",
        program=f"x = int(input())\nprint({a} * x {sign} {b})\n",
        draw=lambda r: lines(r.randint(-40, 40)),
        edges=one_each(0, 1, -1, 1000, -1000),
    )


@kind(1)
def extreme_of_three(r: Random) -> Problem:
    """The largest or smallest of three integers, plus a constant."""
    name, word = r.choice([("max", "largest"), ("min", "smallest")])
    sign, k = r.choice("+-*"), r.randint(2, 60)
    return Problem(
        parameters={"name": name, "sign": sign, "k": k},
        say=(
            f"Read three integers. Let m be the {word} of them. Print m {sign} {k}.",
            f"Find the {word} of three integers, call it m, and print m {sign} {k}.",
        ),
        reads="one line with three integers",
        prints=f"the value of m {sign} {k}",
        program=f"m = {name}(map(int, input().split()))\nprint(m {sign} {k})\n",
        draw=lambda r: lines(numbers(r, 3, -30, 30)),
        edges=(
            lines([0, 0, 0]),
            lines([-5, -9, -7]),
            lines([1, 2, 3]),
            lines([9, 5, 1]),
            lines([10, 9, 100]),
        ),
    )


@kind(1)
def two_lines(r: Random) -> Problem:
    """A formula of two integers that stand on lines of their own."""
    p, q, sign = r.randint(2, 20), r.randint(2, 20), r.choice("+-")
    return Problem(
        parameters={"p": p, "q": q, "sign": sign},
        say=(
            f"Read two integers, a and then b. Print {p} * a {sign} {q} * b.",
            f"The first line holds a, the second b. Compute {p} * a {sign} {q} * b.",
        ),
        reads="two lines, an integer on each: a, then b",
        prints=f"the value of {p} * a {sign} {q} * b",
        program=f"a = int(input())\nb = int(input())\nprint({p} * a {sign} {q} * b)\n",
        draw=lambda r: lines(*numbers(r, 2, -20, 40)),
        edges=(lines(0, 0), lines(1, 0), lines(0, 1), lines(-3, -8), lines(5000, 700)),
    )


@kind(1)
def threshold(r: Random) -> Problem:
    """One of two words, by a comparison with a constant."""
    sign, phrase = r.choice(
        [(">", "greater than"), ("<", "less than"), (">=", "at least"), ("<=", "at most")]
    )
    k, (first, second) = r.randint(2, 90), r.choice(_PAIRS)
    return Problem(
        parameters={"sign": sign, "k": k, "words": f"{first}/{second}"},
        say=(
            f"Read an integer n. Print {first} or {second}: {first} exactly if n is {phrase} {k}.",
            f"Which word fits n, {first} or {second}? Print it; {first} means that n is {phrase} {k}.",
        ),
        reads="one line with an integer n",
        prints="one of the two words",
        program=f'n = int(input())\nprint("{first}" if n {sign} {k} else "{second}")\n',
        draw=lambda r: lines(r.randint(0, 2 * k)),
        edges=one_each(k - 1, k, k + 1, -k - 3, 3 * k + 5),
    )


@kind(1)
def divisible(r: Random) -> Problem:
    """One of two words, by divisibility."""
    k = r.randint(2, 40)
    first, second = r.choice([("yes", "no"), ("even", "odd"), ("fits", "left over"), ("true", "false")])
    return Problem(
        parameters={"k": k, "words": f"{first}/{second}"},
        say=(
            f"Read an integer n. Print {first} or {second}: {first} exactly if n is divisible by {k}.",
            f"Print one of the words {first} and {second}, {first} when n is a multiple of {k}.",
        ),
        reads="one line with an integer n, at least 0",
        prints="one of the two words",
        program=f'n = int(input())\nprint("{first}" if n % {k} == 0 else "{second}")\n',
        draw=lambda r: lines(r.choice([k * r.randint(1, 30), r.randint(0, 30 * k)])),
        edges=one_each(0, 1, k, k + 1, 100 * k, 2 * k - 1),
    )


@kind(1)
def boxes(r: Random) -> Problem:
    """Whole boxes and what is left over."""
    k = r.randint(3, 200)
    return Problem(
        parameters={"k": k},
        say=(
            f"A box holds {k} eggs. Given n eggs, print how many boxes are filled and how many eggs are left.",
            f"Pack n books into boxes of {k}. Print the number of full boxes and the number of books left over.",
            f"A page has room for {k} stamps. Print how many pages n stamps fill, and how many stamps remain.",
        ),
        reads="one line with an integer n, at least 0",
        prints="two integers on one line: what is full, then what is left",
        program=f"n = int(input())\nprint(n // {k}, n % {k})\n",
        draw=lambda r: lines(r.randint(0, 20 * k)),
        edges=one_each(0, k - 1, k, k + 1, 1000 * k + 2),
    )


@kind(1)
def count_up(r: Random) -> Problem:
    """Numbers from a start to n in steps, a line each."""
    start, step = r.randint(0, 9), r.randint(1, 12)
    return Problem(
        parameters={"start": start, "step": step},
        say=(
            f"Read an integer n. Print {start}, {start + step}, {start + 2 * step}, ... in steps of {step}, as long as "
            "the numbers are at most n.",
            f"Count from {start} in steps of {step} and stop before the numbers exceed n.",
        ),
        reads=f"one line with an integer n, at least {start}",
        prints="one number a line",
        program=f"n = int(input())\nfor i in range({start}, n + 1, {step}):\n    print(i)\n",
        draw=lambda r: lines(r.randint(start, start + 12 * step)),
        edges=one_each(start, start + 1, start + step, start + 3 * step, start + 5 * step - 1),
    )
