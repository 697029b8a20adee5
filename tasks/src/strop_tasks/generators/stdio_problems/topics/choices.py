"""Best choices and counts of ways: dynamic programming."""

from random import Random

from strop_tasks.generators.stdio_problems.kind import Problem, kind, lines, numbers, one_each, some


@kind(3)
def stairs(r: Random) -> Problem:
    """Ways to climb n stairs with given strides."""
    strides = sorted(r.sample(range(1, 8), r.randint(2, 3)))
    m = r.choice([97, 1000, 1009, 10007, 1000003])
    listed = ", ".join(map(str, strides[:-1])) + f" or {strides[-1]}"
    return Problem(
        parameters={"strides": " ".join(map(str, strides)), "m": m},
        say=(
            f"In how many ways can n stairs be climbed with strides of {listed} stairs? The order counts. Print the "
            f"number modulo {m}.",
            f"Count the ordered sums of {listed} that give n, modulo {m}.",
        ),
        reads="one line with an integer n, 0 to 1000",
        prints=f"the number of ways modulo {m}; there is one way to climb no stairs",
        program=(
            "n = int(input())\n"
            "ways = [1] + [0] * n\n"
            "for i in range(1, n + 1):\n"
            f"    ways[i] = sum(ways[i - s] for s in {strides} if s <= i) % {m}\n"
            "print(ways[n])\n"
        ),
        draw=lambda r: lines(r.randint(4, 60)),
        edges=one_each(0, 1, strides[0], strides[-1], sum(strides), 1000),
    )


@kind(4)
def coins(r: Random) -> Problem:
    """Fewest coins, or ways to pay, with a given set of coins."""
    values = sorted(r.sample(range(2, 30), r.randint(2, 4)))
    if r.random() < 0.5:
        values = [1, *values]
    what, none = r.choice(["fewest", "ways"]), r.choice(["impossible", "no", "-1", "none"])
    listed = ", ".join(map(str, values[:-1])) + f" and {values[-1]}"
    if what == "fewest":
        body = (
            "best = [0] + [n + 1] * n\n"
            "for i in range(1, n + 1):\n"
            f"    best[i] = min([best[i - v] + 1 for v in {values} if v <= i], default=n + 1)\n"
            f'print(best[n] if best[n] <= n else "{none}")\n'
        )
        ask = f"Print {none} if n cannot be paid exactly, else the fewest coins that do it"
    else:
        body = (
            "ways = [1] + [0] * n\n"
            f"for v in {values}:\n"
            "    for i in range(v, n + 1):\n"
            "        ways[i] += ways[i - v]\n"
            f'print(ways[n] or "{none}")\n'
        )
        ask = f"Print {none} if n cannot be paid exactly, else in how many ways; only how many of each coin counts"
    return Problem(
        parameters={"values": " ".join(map(str, values)), "what": what, "none": none},
        say=(
            f"There are coins of {listed}, as many of each as you like. {ask}.",
            f"A country has coins worth {listed}. {ask}.",
        ),
        reads="one line with an integer n, 1 to 1000",
        prints="an integer, or the word",
        program=f"n = int(input())\n{body}",
        draw=lambda r: lines(r.randint(values[-1], 8 * values[-1])),
        edges=one_each(1, 2, values[0], values[-1], values[-1] + 1, values[1] * values[-1] - 1, 1000),
    )


@kind(4)
def knapsack(r: Random) -> Problem:
    """The greatest value of items that fit, with at most k items or at most k of each kind."""
    k, many = r.randint(2, 4), r.choice([True, False])
    rule = f"at most {k} things in all" if many else f"each kind of thing at most {k} times"
    loop = (
        "best = {(0, 0): 0}\n"
        "for _ in range(n):\n"
        "    weight, value = map(int, input().split())\n"
        "    for (w, c), v in list(best.items()):\n"
        f"        if w + weight <= limit and c < {k}:\n"
        "            key = (w + weight, c + 1)\n"
        "            best[key] = max(best.get(key, 0), v + value)\n"
        if many
        else "best = {0: 0}\n"
        "for _ in range(n):\n"
        "    weight, value = map(int, input().split())\n"
        f"    for _ in range({k}):\n"
        "        for w, v in list(best.items()):\n"
        "            if w + weight <= limit:\n"
        "                best[w + weight] = max(best.get(w + weight, 0), v + value)\n"
    )
    bonus = r.randint(0, 20)
    return Problem(
        parameters={"k": k, "many": str(many), "bonus": bonus},
        say=(
            f"A bag holds a weight of at most W. You may pack {rule}. Print the greatest total value, plus {bonus}.",
            f"Choose things so that their weights add up to at most W; {rule} can be taken. Print {bonus} plus the "
            "greatest sum of values.",
        ),
        reads="a line with W, 1 to 100, and the number of things n, 1 to 12, then n lines with a weight and a value",
        prints=f"the greatest total value plus {bonus}",
        program=f"limit, n = map(int, input().split())\n{loop}print(max(best.values()) + {bonus})\n",
        draw=lambda r: lines(
            [r.randint(10, 50), n := r.randint(3, 6)],
            *([r.randint(2, 20), r.randint(1, 50)] for _ in range(n)),
        ),
        edges=(
            lines([1, 1], [2, 9]),
            lines([1, 1], [1, 9]),
            lines([k, 1], [1, 5]),
            lines([k + 1, 1], [1, 5]),
            lines([10, 3], [6, 60], [5, 45], [5, 45]),
            lines([100, 6], [1, 1], [1, 2], [1, 3], [1, 4], [1, 5], [1, 6]),
            lines([9, 2], [10, 100], [9, 1]),
        ),
    )


@kind(4)
def spaced_sum(r: Random) -> Problem:
    """The greatest sum of list items that are far enough apart."""
    gap, fee = r.randint(1, 6), r.randint(0, 12)
    cost = f"; each chosen integer costs {fee}, which is subtracted" if fee else ""
    return Problem(
        parameters={"gap": gap, "fee": fee},
        say=(
            f"Choose integers of the list, none or more, so that at least {gap} "
            f"place{'s lie' if gap > 1 else ' lies'} between any two that "
            f"are chosen{cost}. Print the greatest possible sum.",
            f"Between two chosen places of the list there must be {gap} or more that are not chosen{cost}. Print "
            "the greatest sum of chosen integers; choosing none gives 0.",
        ),
        reads="one line with 1 to 200 integers",
        prints="the greatest sum",
        program=(
            "a = list(map(int, input().split()))\n"
            "best = [0]\n"
            "for i, x in enumerate(a):\n"
            f"    best.append(max(best[-1], best[max(i - {gap}, 0)] + x - {fee}))\n"
            "print(best[-1])\n"
        ),
        draw=lambda r: lines(some(r, -5, 50, gap + 3, gap + 9)),
        edges=one_each(
            "-4",
            f"{fee}",
            f"{fee + 1}",
            "20 20 20 20 20 20 20 20 20",
            "50 1 1 1 1 1 1 50",
            "-1 -2 -3",
            " ".join(["30"] * (gap + 1)),
            " ".join(["30"] * (gap + 2)),
        ),
    )


@kind(5)
def no_long_runs(r: Random) -> Problem:
    """How many words over an alphabet have no long runs."""
    size, most, m = r.randint(3, 7), r.randint(1, 6), r.choice([97, 1009, 10007, 1000003, 998244353])
    alphabet = ", ".join("abcdefg"[:size])
    return Problem(
        parameters={"size": size, "most": most, "m": m},
        say=(
            f"Count the words of n letters out of {alphabet} in which no letter stands more than {most} "
            f"time{'s' * (most > 1)} in a row, modulo {m}.",
            f"A word is good if none of its letters is repeated more than {most} time{'s' * (most > 1)} in a row. "
            f"How many good words of length n can be made of the letters {alphabet}? Print the number modulo {m}.",
        ),
        reads="one line with an integer n, 1 to 2000",
        prints=f"the number of words modulo {m}",
        program=(
            "n = int(input())\n"
            f"run = [{size}] + [0] * {most - 1}  # run[i]: words that end in a run of i + 1 equal letters\n"
            "for _ in range(n - 1):\n"
            f"    run = [sum(run) * {size - 1} % {m}, *run[:-1]]\n"
            f"print(sum(run) % {m})\n"
        ),
        draw=lambda r: lines(r.randint(4, 60)),
        edges=one_each(1, most, most + 1, most + 2, 3, 2000),
    )


@kind(5)
def paid_jobs(r: Random) -> Problem:
    """Jobs with times and pay, and a pause between them."""
    pause, fixed = r.randint(0, 15), r.randint(0, 20)
    return Problem(
        parameters={"pause": pause, "fixed": fixed},
        say=(
            f"Each job begins at a, ends at b and pays c. You do one job at a time and need {pause} minutes between "
            "the end of a "
            f"job and the beginning of the next. Each job you take also costs you {fixed}. Print the greatest profit.",
            f"Choose jobs (begin a, end b, pay c) such that each chosen one begins at least {pause} after the end "
            f"of the one before. The profit is the sum of pay, less {fixed} for each chosen job. Print the greatest "
            "profit; 0 for no job at all.",
        ),
        reads="the number of jobs n, 1 to 100, then n lines with a, b and c each, a < b",
        prints="the greatest profit",
        program=(
            "jobs = sorted((b, a, c) for a, b, c in (map(int, input().split()) for _ in range(int(input()))))\n"
            "best = [0]\n"
            "for i, (b, a, c) in enumerate(jobs):\n"
            f"    before = sum(end + {pause} <= a for end, _, _ in jobs[:i])\n"
            f"    best.append(max(best[-1], best[before] + c - {fixed}))\n"
            "print(best[-1])\n"
        ),
        draw=lambda r: lines(
            n := r.randint(3, 8),
            *([a := r.randint(0, 90), a + r.randint(5, 30), r.randint(10, 90)] for _ in range(n)),
        ),
        edges=(
            lines(1, [0, 5, fixed]),
            lines(1, [0, 5, fixed + 1]),
            lines(2, [0, 10, 50], [10 + pause, 20 + pause, 50]),
            lines(2, [0, 10, 50], [9 + pause, 20 + pause, 60]),
            lines(3, [0, 100, 90], [0, 10, 60], [50, 60, 70]),
            lines(2, [30, 40, 25], [30, 40, 99]),
            lines(4, [0, 1, 1], [100, 101, 2], [200, 201, 30], [300, 301, 40]),
        ),
    )


@kind(5)
def fair_parts(r: Random) -> Problem:
    """A list cut into k parts so that the largest sum is minimal, or the smallest maximal."""
    k, what = r.randint(2, 6), r.choice(["largest", "smallest"])
    extra = r.randint(0, 25)
    inner, outer = ("max", "min") if what == "largest" else ("min", "max")
    goal = "small" if what == "largest" else "large"
    worst = "10**9" if what == "largest" else "-(10**9)"
    start = "0" if what == "largest" else "10**9"
    return Problem(
        parameters={"k": k, "what": what, "extra": extra},
        say=(
            f"Cut the list into {k} parts of neighbours, none of them empty. A part is worth the sum of its integers "
            f"plus {extra} for each "
            f"integer. Cut so that the {what} worth of a part is as {goal} as possible, and print it.",
            f"Divide the list, in its order, among {k} people; everybody gets at least one integer. A share counts "
            f"its sum plus {extra} times its length. Print the {what} share when it is made as {goal} as possible.",
        ),
        reads=f"one line with {k} to 60 integers of 0 to 100",
        prints=f"the {what} worth",
        program=(
            f"a = [int(x) + {extra} for x in input().split()]\n"
            f"best = [{start}] + [{worst}] * len(a)\n"
            f"for _ in range({k}):\n"
            f"    new = [{worst}] * (len(a) + 1)\n"
            "    for j in range(1, len(a) + 1):\n"
            "        total = 0\n"
            "        for i in range(j - 1, -1, -1):\n"
            "            total += a[i]\n"
            f"            new[j] = {outer}(new[j], {inner}(best[i], total))\n"
            "    best = new\n"
            "print(best[-1])\n"
        ),
        draw=lambda r: lines(numbers(r, k + r.randint(1, 7), 0, 60)),
        edges=(
            lines([1] * k),
            lines([0] * (k + 2)),
            lines([*range(10, 10 + k)]),
            lines([100] + [1] * (2 * k)),
            lines([*range(40, 40 - 3 * k, -1)]),
            lines([50, 0] * k),
        ),
    )


@kind(5)
def round_trip(r: Random) -> Problem:
    """The shortest tour or walk through all points, by trying subsets."""
    fixed, back = r.randint(0, 30), r.choice([True, False])
    measure, code = r.choice(
        [
            ("|x1 - x2| + |y1 - y2|", "abs(p[i][0] - p[j][0]) + abs(p[i][1] - p[j][1])"),
            ("the larger of |x1 - x2| and |y1 - y2|", "max(abs(p[i][0] - p[j][0]), abs(p[i][1] - p[j][1]))"),
        ]
    )
    end = "returns to the first point" if back else "ends wherever it likes"
    result = "c + step(i, 0)" if back else "c"
    return Problem(
        parameters={"fixed": fixed, "back": str(back), "measure": measure},
        say=(
            f"A walk begins at the first point, visits every other point exactly once and {end}. Each step from one "
            f"point to another costs {measure}, plus {fixed}. Print the smallest total cost.",
        ),
        reads="the number of points n, 2 to 7, then n lines with integers x and y each",
        prints="the smallest total cost",
        program=(
            "n = int(input())\n"
            "p = [tuple(map(int, input().split())) for _ in range(n)]\n\n"
            "def step(i, j):\n"
            f"    return {code} + {fixed}\n\n"
            "best = {(1, 0): 0}\n"
            "for _ in range(n - 1):\n"
            "    new = {}\n"
            "    for (seen, i), c in best.items():\n"
            "        for j in range(n):\n"
            "            if not seen >> j & 1:\n"
            "                key = (seen | 1 << j, j)\n"
            "                new[key] = min(new.get(key, 10**9), c + step(i, j))\n"
            "    best = new\n"
            f"print(min({result} for (_, i), c in best.items()))\n"
        ),
        draw=lambda r: lines(n := r.randint(3, 5), *(numbers(r, 2, 0, 40) for _ in range(n))),
        edges=(
            lines(2, [0, 0], [0, 0]),
            lines(2, [0, 0], [3, 5]),
            lines(3, [0, 0], [10, 0], [5, 0]),
            lines(4, [5, 5], [0, 0], [10, 10], [0, 10]),
            lines(4, [0, 0], [-7, 0], [9, 0], [0, 4]),
            lines(5, [0, 0], [1, 1], [2, 2], [3, 3], [9, 1]),
        ),
    )
