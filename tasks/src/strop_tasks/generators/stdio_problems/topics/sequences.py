"""Sequences of integers: stretches, intervals, windows, queries."""

from random import Random

from strop_tasks.generators.stdio_problems.kind import Problem, kind, lines, numbers, one_each, some


@kind(3)
def longest_stretch(r: Random) -> Problem:
    """The longest stretch of a list in which a condition holds."""
    k = r.randint(1, 20)
    what, test, phrase = r.choice(
        [
            ("each", f"x >= {k}", f"every integer is at least {k}"),
            ("each", f"x <= {k}", f"every integer is at most {k}"),
            ("each", f"x % {k + 1} != 0", f"no integer is divisible by {k + 1}"),
            ("next", f"x - last > {k}", f"each integer exceeds the one before it by more than {k}"),
            ("next", f"abs(x - last) <= {k}", f"neighbours differ by at most {k}"),
        ]
    )
    reset = "0" if what == "each" else "1"
    head = "best = now = 0\n" if what == "each" else "best = now = 0\nlast = None\n"
    condition = test if what == "each" else f"last is not None and {test}"
    tail = "" if what == "each" else "    last = x\n"
    return Problem(
        parameters={"test": test},
        say=(
            f"Find the length of the longest stretch of consecutive places of the list in which {phrase}.",
            f"How long is the longest part of the list, without gaps, in which {phrase}?",
        ),
        reads="one line with 1 to 200 integers, each at least 0",
        prints="the length" + (", 0 when there is none" if what == "each" else ""),
        program=(
            f"{head}for x in map(int, input().split()):\n"
            f"    now = now + 1 if {condition} else {reset}\n"
            "    best = max(best, now)\n"
            f"{tail}print(best)\n"
        ),
        draw=lambda r: lines(some(r, 0, 2 * k + 4, 4, 12)),
        edges=one_each(
            f"{k}",
            "0",
            f"{k - 1}",
            f"{k + 1} {2 * k + 2}",
            f"0 {k + 1} {k} {k - 1} {2 * k} 0",
            f"0 {k + 1} {2 * k + 2} {3 * k + 3}",
            f"{k} " * 6 + f"{k + 1}",
            f"0 {k} {2 * k} {3 * k} {4 * k + 1} {6 * k}",
        ),
    )


@kind(3)
def merged(r: Random) -> Problem:
    """Intervals that overlap or nearly touch, merged."""
    gap, what = r.randint(0, 30), r.choice(["list", "count", "length"])
    ask = {
        "list": "print the merged intervals in ascending order, a line each",
        "count": "print how many merged intervals there are",
        "length": "print the total length of the merged intervals (an interval a b has length b - a)",
    }[what]
    code = {
        "list": "for a, b in merged:\n    print(a, b)\n",
        "count": "print(len(merged))\n",
        "length": "print(sum(b - a for a, b in merged))\n",
    }[what]
    return Problem(
        parameters={"gap": gap, "what": what},
        say=(
            f"Two intervals are merged when they overlap, touch, or leave a gap of at most {gap} between them. "
            f"Merge as long as possible; then {ask}.",
            f"Merge all intervals that overlap or are at most {gap} apart, again and again. Then {ask}.",
        ),
        reads="the number of intervals n, 1 to 100, then n lines with two integers a <= b each",
        prints="the intervals" if what == "list" else "an integer",
        program=(
            "rows = sorted(tuple(map(int, input().split())) for _ in range(int(input())))\n"
            "merged = []\n"
            "for a, b in rows:\n"
            f"    if merged and a - merged[-1][1] <= {gap}:\n"
            "        merged[-1][1] = max(merged[-1][1], b)\n"
            "    else:\n"
            "        merged.append([a, b])\n" + code
        ),
        draw=lambda r: lines(
            n := r.randint(2, 6), *([a := r.randint(0, 20 + 6 * gap), a + r.randint(0, 15)] for _ in range(n))
        ),
        edges=(
            lines(1, [5, 5]),
            lines(2, [0, 4], [4 + gap, 9 + gap]),
            lines(2, [0, 4], [5 + gap, 9 + gap]),
            lines(3, [50 + gap, 90], [0, 10], [2, 5]),
            lines(3, [0, 100], [20, 30], [101 + gap, 101 + gap]),
            lines(2, [7, 9], [7, 9]),
        ),
    )


@kind(3)
def range_queries(r: Random) -> Problem:
    """Questions about parts of a list."""
    k = r.randint(2, 50)
    what, code = r.choice(
        [
            (f"the sum of the integers that are greater than {k}", f"sum(x for x in part if x > {k})"),
            (f"the number of integers that are less than {k}", f"sum(x < {k} for x in part)"),
            (f"the sum of the integers, modulo {k}", f"sum(part) % {k}"),
            (f"the largest integer, but at most {k}", f"min(max(part), {k})"),
            (f"the number of different remainders modulo {k}", f"len({{x % {k} for x in part}})"),
        ]
    )
    return Problem(
        parameters={"code": code},
        say=(
            "For each query l r print, of the integers at the places l to r of the list (counted from 1, both "
            f"included), {what}.",
            f"Answer queries about a list: a query names two places l <= r, counted from 1; print {what}, taken "
            "over the places l to r.",
        ),
        reads="a line with the list, 1 to 100 integers of 0 to 100; the number of queries q; then q lines with l and r",
        prints="q lines, an answer each",
        program=(
            "a = list(map(int, input().split()))\n"
            "for _ in range(int(input())):\n"
            "    l, r = map(int, input().split())\n"
            "    part = a[l - 1 : r]\n"
            f"    print({code})\n"
        ),
        draw=lambda r: lines(
            some(r, 0, 99, n := r.randint(4, 9), n), 3, *(sorted(numbers(r, 2, 1, n)) for _ in range(3))
        ),
        edges=(
            lines([k], 1, [1, 1]),
            lines([k - 1, k, k + 1], 3, [1, 1], [2, 2], [3, 3]),
            lines([0, 0, 0, 0], 2, [1, 4], [2, 3]),
            lines([*range(k - 2, k + 3)], 3, [1, 5], [2, 4], [1, 3]),
            lines([100, 1, 100], 1, [1, 3]),
        ),
    )


@kind(4)
def windows(r: Random) -> Problem:
    """A value computed from every window of k integers."""
    k = r.randint(2, 20)
    what, code = r.choice(
        [
            ("largest integer", "max(w)"),
            ("smallest integer", "min(w)"),
            ("difference between its largest and smallest integer", "max(w) - min(w)"),
            ("number of different integers", "len(set(w))"),
            ("median (the lower one when there are two in the middle)", f"sorted(w)[{(k - 1) // 2}]"),
        ]
    )
    return Problem(
        parameters={"k": k, "what": what[:12]},
        say=(
            f"For each window of {k} consecutive integers of the list, from left to right, print the {what}.",
            f"Slide a window of length {k} over the list and print, for each of its positions, the {what}.",
        ),
        reads=f"one line with {k} to 300 integers",
        prints="an integer for each window, on one line with spaces between them",
        program=(
            "a = list(map(int, input().split()))\n"
            f"windows = [a[i : i + {k}] for i in range(len(a) - {k - 1})]\n"
            f"print(*[{code} for w in windows])\n"
        ),
        draw=lambda r: lines(numbers(r, k + r.randint(1, 8), -9, 30)),
        edges=(
            lines([*range(k)]),
            lines([4] * (k + 3)),
            lines([*range(3 * k, 0, -1)]),
            lines([9, -9] * k),
            lines([5, 1, 8] * k),
        ),
    )


@kind(4)
def rising(r: Random) -> Problem:
    """The longest subsequence with a rule for its steps."""
    k = r.randint(1, 30)
    test, phrase = r.choice(
        [
            (
                f"a[i] - a[j] >= {k}",
                f"each chosen integer is at least {k} greater than the one chosen before it",
            ),
            (
                f"a[j] - a[i] >= {k}",
                f"each chosen integer is at least {k} less than the one chosen before it",
            ),
            (
                f"abs(a[i] - a[j]) <= {k}",
                f"each chosen integer differs by at most {k} from the one chosen before it",
            ),
            (
                f"0 < a[i] - a[j] <= {k}",
                f"each chosen integer is greater than the one chosen before it, by at most {k}",
            ),
        ]
    )
    return Problem(
        parameters={"test": test},
        say=(
            f"Choose integers of the list, from left to right and with gaps as you like, so that {phrase}. How many "
            "can be chosen at most?",
            f"Print the length of the longest subsequence of the list in which {phrase}.",
        ),
        reads="one line with 1 to 100 integers",
        prints="the greatest number of integers",
        program=(
            "a = list(map(int, input().split()))\n"
            "best = [1] * len(a)\n"
            "for i in range(len(a)):\n"
            "    for j in range(i):\n"
            f"        if {test}:\n"
            "            best[i] = max(best[i], best[j] + 1)\n"
            "print(max(best))\n"
        ),
        draw=lambda r: lines(some(r, 0, 4 * k + 9, 6, 16)),
        edges=(
            lines([5]),
            lines([3] * 7),
            lines([*range(0, 10 * k, k)]),
            lines([*range(10 * k, 0, -k)]),
            lines([0, k, k - 1, 2 * k, 2 * k - 1]),
            lines([9, 1, 8, 2, 7, 3, 6, 4, 5]),
            lines([k + 1, 0, 2 * k + 2, k + 2, 3 * k + 3]),
        ),
    )


@kind(4)
def inversions(r: Random) -> Problem:
    """Pairs in the wrong order, by more than k."""
    k, far = r.randint(0, 20), r.randint(1, 6)
    return Problem(
        parameters={"k": k, "far": far},
        say=(
            f"Count the pairs of places i < j with j - i >= {far} and a[i] > a[j] + {k} in the list a.",
            f"How many pairs i < j of places, at least {far} apart, are there whose first integer exceeds the "
            f"second by more than {k}?",
        ),
        reads="one line with 1 to 300 integers",
        prints="the count",
        program=(
            "a = list(map(int, input().split()))\n"
            f"print(sum(a[i] > a[j] + {k} for j in range(len(a)) for i in range(j - {far - 1})))\n"
        ),
        draw=lambda r: lines(some(r, 0, 30 + k, far + 3, far + 12)),
        edges=(
            lines([1]),
            lines([*range(12)]),
            lines([*range(12 * (k + 1), 0, -k - 1)]),
            lines([k] * far + [0]),
            lines([k + 1] * far + [0]),
            lines([k + 1] * (far - 1) + [0]) if far > 1 else lines([0, k + 1]),
            lines([50, 0] * 6),
        ),
    )
