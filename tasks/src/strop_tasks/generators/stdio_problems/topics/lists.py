"""Lists of integers: windows, pairs, runs, queries."""

from random import Random

from strop_tasks.generators.stdio_problems.kind import Problem, kind, lines, numbers, one_each, some

_LIST = "one line with one or more integers"


@kind(2)
def neighbours(r: Random) -> Problem:
    """How many neighbouring pairs of a list differ by enough."""
    k = r.randint(1, 15)
    test, phrase = r.choice(
        [
            ("y - x > {k}", "b is more than {k} greater than a"),
            ("x - y > {k}", "b is more than {k} less than a"),
            ("abs(x - y) <= {k}", "a and b differ by at most {k}"),
            ("(x + y) % ({k} + 1) == 0", "a + b is divisible by {k} + 1"),
        ]
    )
    return Problem(
        parameters={"k": k, "test": test},
        say=(
            "Count the places where two neighbours a, b (b right behind a) of the list are such that "
            f"{phrase.format(k=k)}.",
            f"For how many pairs of consecutive integers a, b does it hold that {phrase.format(k=k)}?",
        ),
        reads=_LIST,
        prints="the count",
        program=(
            f"a = list(map(int, input().split()))\nprint(sum({test.format(k=k)} for x, y in zip(a, a[1:])))\n"
        ),
        draw=lambda r: lines(some(r, 0, 3 * k, 3, 10)),
        edges=one_each(
            "5",
            f"0 {k}",
            f"0 {k + 1}",
            f"{k} 0 {k}",
            f"{k + 1} 0",
            f"0 {k + 1} {2 * k + 2} {2 * k + 2}",
            "-4 -9 -1 -1 -30",
        ),
    )


@kind(2)
def running(r: Random) -> Problem:
    """Running totals, maxima or minima with a constant."""
    k = r.randint(2, 40)
    what, step = r.choice(
        [
            (f"totals so far, modulo {k}", f"t = (t + x) % {k}"),
            (f"totals so far, never above {k} (a total above it becomes {k})", f"t = min(t + x, {k})"),
            (
                f"totals so far, beginning again at 0 after a total of {k} or more was printed",
                f"t = (t if t < {k} else 0) + x",
            ),
        ]
    )
    return Problem(
        parameters={"k": k, "what": what[:20]},
        say=(
            f"Print, for each integer of the list, the {what}.",
            f"Walk through the list and print the {what}.",
        ),
        reads="one line with one or more integers, each at least 0",
        prints="one integer for each of the list, on one line with spaces between them",
        program=f"t, out = 0, []\nfor x in map(int, input().split()):\n    {step}\n    out.append(t)\nprint(*out)\n",
        draw=lambda r: lines(some(r, 0, k, 3, 8)),
        edges=one_each("0", f"{k}", f"{k + 1} 1", f"{k - 1} 1 1", f"1 {k - 1} 2 {k} 3", f"{5 * k + 2} 4 9"),
    )


@kind(2)
def turned(r: Random) -> Problem:
    """A list rotated by k places, or in blocks of k reversed."""
    k = r.randint(2, 15)
    what, code = r.choice(
        [
            (f"with its first {k} integers moved to the end", f"a[{k}:] + a[:{k}]"),
            (f"with its last {k} integers moved to the front", f"a[-{k}:] + a[:-{k}]"),
            (f"with its first {k} integers reversed", f"a[:{k}][::-1] + a[{k}:]"),
            (f"with its last {k} integers reversed", f"a[:-{k}] + a[-{k}:][::-1]"),
            (f"with its first {k} integers sorted in ascending order", f"sorted(a[:{k}]) + a[{k}:]"),
            (f"with its last {k} integers sorted in ascending order", f"a[:-{k}] + sorted(a[-{k}:])"),
            (
                f"without the integers at the places {k}, {2 * k}, {3 * k}, ..., counted from 1",
                f"[x for i, x in enumerate(a, 1) if i % {k}]",
            ),
        ]
    )
    return Problem(
        parameters={"code": code},
        say=(f"Print the list {what}.", f"Read a line of integers and print it {what}."),
        reads=f"one line with at least {k} integers",
        prints="the new list on one line with spaces between the integers",
        program=f"a = list(map(int, input().split()))\nprint(*({code}))\n",
        draw=lambda r: lines(numbers(r, k + r.randint(0, 6), -9, 60)),
        edges=(
            lines(range_list := [*range(k, 0, -1)]),
            lines([*range_list, 0]),
            lines([*range(30, 0, -1)]),
            lines([7, 1] * k),
            lines([*range(-k, k)]),
        ),
    )


@kind(2)
def ranked(r: Random) -> Problem:
    """The kth largest or smallest different integer."""
    k, word = r.randint(2, 9), r.choice(["largest", "smallest"])
    none = r.choice(["none", "no", "-", "too few"])
    order = ", reverse=True" if word == "largest" else ""
    return Problem(
        parameters={"k": k, "word": word, "none": none},
        say=(
            f"Print number {k} of the {word} different integers of the list, so that equal ones count once; print "
            f"{none!r} if there are fewer than {k} different ones.",
            f"Remove repetitions, then print the integer that is number {k} among the {word}, or {none!r} if there "
            "is none.",
        ),
        reads=_LIST,
        prints=f"the integer, or {none} without quotes",
        program=(
            f"a = sorted(set(map(int, input().split())){order})\n"
            f'print(a[{k - 1}] if len(a) >= {k} else "{none}")\n'
        ),
        draw=lambda r: lines(some(r, -9, 20, k, k + 6)),
        edges=one_each(
            "1",
            "3 3 3 3 3 3 3",
            " ".join(map(str, range(k))),
            " ".join(map(str, range(k - 1))),
            "10 9 100 11 8 2 1 -5",
        ),
    )


@kind(2)
def best_block(r: Random) -> Problem:
    """The best sum of k neighbours."""
    k, word = r.randint(2, 20), r.choice(["largest", "smallest"])
    name = "max" if word == "largest" else "min"
    what = r.choice(["sum", "place"])
    ask = f"the {word} sum of {k} consecutive integers"
    code = {"sum": f"print({name}(sums))", "place": f"print(sums.index({name}(sums)) + 1)"}[what]
    return Problem(
        parameters={"k": k, "word": word, "what": what},
        say=(
            f"Find {ask} of the list."
            if what == "sum"
            else f"At which place, counted from 1, do the {k} neighbours with the {word} sum begin? The first "
            "such place counts.",
        ),
        reads=f"one line with at least {k} integers",
        prints="the sum" if what == "sum" else "the place",
        program=(
            "a = list(map(int, input().split()))\n"
            f"sums = [sum(a[i : i + {k}]) for i in range(len(a) - {k - 1})]\n{code}\n"
        ),
        draw=lambda r: lines(numbers(r, k + r.randint(2, 8), -20, 30)),
        edges=(
            lines([5] * k),
            lines([*range(2 * k)]),
            lines([*range(2 * k, 0, -1)]),
            lines([-1, -2] * k),
            lines([0, 9] * k + [0]),
        ),
    )


@kind(3)
def pairs(r: Random) -> Problem:
    """How many pairs have a given sum, difference or divisibility."""
    k = r.randint(2, 30)
    test, phrase = r.choice(
        [
            ("x + y == {k}", "a sum of {k}"),
            ("abs(x - y) == {k}", "a difference of {k} (the larger minus the smaller)"),
            ("(x + y) % {k} == 0", "a sum divisible by {k}"),
            ("x * y % {k} == 0", "a product divisible by {k}"),
            ("x + y < {k}", "a sum less than {k}"),
        ]
    )
    return Problem(
        parameters={"k": k, "test": test},
        say=(
            f"Count the pairs i < j of places of the list whose two integers have {phrase.format(k=k)}.",
            "In how many ways can two integers be picked from the list, at different places, that have "
            f"{phrase.format(k=k)}?",
        ),
        reads="one line with 1 to 100 integers, each at least 0",
        prints="the count",
        program=(
            "from itertools import combinations\n\n"
            "a = list(map(int, input().split()))\n"
            f"print(sum({test.format(k=k)} for x, y in combinations(a, 2)))\n"
        ),
        draw=lambda r: lines(some(r, 0, k + 2, 4, 10)),
        edges=one_each(
            f"{k}",
            f"0 {k}",
            f"{k} {k} {k}",
            f"1 {k - 1} {k + 1}",
            "0 0 0",
            f"{k // 2} {k - k // 2} {k + k // 2} {k}",
        ),
    )
