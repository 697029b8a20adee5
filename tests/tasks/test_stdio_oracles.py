"""stdio-problems: references of the harder kinds against slow answers that read the statement another way."""

import re
from collections.abc import Callable
from itertools import combinations, pairwise, permutations, product
from math import prod

import pytest

from strop_tasks.generators.stdio_problems import compiled
from strop_tasks.generators.stdio_problems.kind import all_kinds
from strop_verify.core.ids import rng

Parameters = dict[str, int | str]
KINDS = {kind.name: kind for kind in all_kinds()}


def rows_of(text: str) -> list[list[int]]:
    return [[int(word) for word in line.split()] for line in text.splitlines()]


def counted_numbers(p: Parameters, text: str) -> object:
    k, banned = int(p["k"]), str(p["banned"])
    if int(text) > 20_000:
        return None
    return sum(sum(map(int, str(x))) % k == 0 and banned not in str(x) for x in range(1, int(text) + 1))


def no_long_runs(p: Parameters, text: str) -> object:
    n, size, most = int(text), int(p["size"]), int(p["most"])
    if size**n > 5000:
        return None
    bad = re.compile(rf"(.)\1{{{most}}}")
    return sum(not bad.search("".join(word)) for word in product("abcdefg"[:size], repeat=n)) % int(p["m"])


def spaced_sum(p: Parameters, text: str) -> object:
    a = [x - int(p["fee"]) for x in rows_of(text)[0]]
    if len(a) > 11:
        return None
    chosen = (c for n in range(len(a) + 1) for c in combinations(range(len(a)), n))
    fine = (c for c in chosen if all(j - i > int(p["gap"]) for i, j in pairwise(c)))
    return max(sum(a[i] for i in c) for c in fine)


def paid_jobs(p: Parameters, text: str) -> object:
    jobs = sorted(map(tuple, rows_of(text)[1:]))
    best = 0
    for n in range(len(jobs) + 1):
        for chosen in combinations(jobs, n):
            if all(y[0] - x[1] >= int(p["pause"]) for x, y in pairwise(chosen)):
                best = max(best, sum(c - int(p["fixed"]) for _, _, c in chosen))
    return best


def fair_parts(p: Parameters, text: str) -> object:
    a, k = [x + int(p["extra"]) for x in rows_of(text)[0]], int(p["k"])
    if len(a) > 13:
        return None
    cuts = ((0, *c, len(a)) for c in combinations(range(1, len(a)), k - 1))
    sums = [[sum(a[i:j]) for i, j in pairwise(c)] for c in cuts]
    return min(map(max, sums)) if p["what"] == "largest" else max(map(min, sums))


def round_trip(p: Parameters, text: str) -> object:
    points = rows_of(text)[1:]

    def step(a: list[int], b: list[int]) -> int:
        far = [abs(x - y) for x, y in zip(a, b, strict=True)]
        return (max(far) if "larger" in str(p["measure"]) else sum(far)) + int(p["fixed"])

    walks = (
        [points[0], *rest, *([points[0]] if p["back"] == "True" else [])] for rest in permutations(points[1:])
    )
    return min(sum(step(a, b) for a, b in pairwise(w)) for w in walks)


def knapsack(p: Parameters, text: str) -> object:
    (limit, n), *things = rows_of(text)
    k = int(p["k"])
    if p["many"] == "True":
        sets = (c for size in range(min(k, n) + 1) for c in combinations(things, size))
        values = [sum(v for _, v in c) for c in sets if sum(w for w, _ in c) <= limit]
    else:
        counts = product(range(k + 1), repeat=n)
        totals = ((sum(c * t[0] for c, t in zip(cs, things, strict=True)), cs) for cs in counts)
        values = [sum(c * t[1] for c, t in zip(cs, things, strict=True)) for w, cs in totals if w <= limit]
    return max(values) + int(p["bonus"])


def coins(p: Parameters, text: str) -> object:
    n, values = int(text), [int(v) for v in str(p["values"]).split()]
    if prod(n // v + 1 for v in values) > 60_000:
        return None
    ways = [
        c
        for c in product(*(range(n // v + 1) for v in values))
        if sum(x * v for x, v in zip(c, values, strict=True)) == n
    ]
    if not ways:
        return p["none"]
    return min(map(sum, ways)) if p["what"] == "fewest" else len(ways)


def power_modulo(p: Parameters, text: str) -> object:
    queries = [n for (n,) in rows_of(text)[1:]]
    if max(queries) > 2000:
        return None
    terms = [0, 1]
    while len(terms) <= max(queries):
        terms.append(int(p["a"]) * terms[-1] + int(p["b"]) * terms[-2])
    return "\n".join(str(terms[n] % int(p["m"])) for n in queries)


def digit_paths(p: Parameters, text: str) -> object:
    """Bellman and Ford's way: improve every (cell, direction) until nothing changes."""
    size, *lines = text.splitlines()
    h, w = map(int, size.split())
    cost = [[int(c) for c in line] for line in lines]
    ways = ((1, 0), (-1, 0), (0, 1), (0, -1))
    start = cost[0][0] if p["first"] == "True" else 0
    best = {(0, 0, d): start for d in range(4)}
    changed = h * w > 1
    while changed:
        changed = False
        for (i, j, d), paid in list(best.items()):
            for e, (a, b) in enumerate(ways):
                x, y = i + a, j + b
                if 0 <= x < h and 0 <= y < w:
                    total = paid + cost[x][y] + (int(p["turn"]) if e != d else 0)
                    if total < best.get((x, y, e), 10**9):
                        best[x, y, e], changed = total, True
    return min(best[h - 1, w - 1, d] for d in range(4) if (h - 1, w - 1, d) in best)


def cheapest_net(p: Parameters, text: str) -> object:
    (n, m), *cables = rows_of(text)
    if m > 14:
        return None
    priced = [(a, b, c + (int(p["extra"]) if c > int(p["limit"]) else 0)) for a, b, c in cables]
    totals = []
    for chosen in combinations(priced, n - 1):
        joined = {1}
        for _ in chosen:
            joined |= {x for a, b, _ in chosen if {a, b} & joined for x in (a, b)}
        if len(joined) == n:
            totals.append(sum(c for _, _, c in chosen))
    return min(totals, default=p["none"])


def cheapest_route(p: Parameters, text: str) -> object:
    (n, _), *roads = rows_of(text)
    best = {1: 0}
    for _ in range(n):
        for a, b, c in roads:
            for x, y in ((a, b), (b, a)) if p["way"] == "both" else ((a, b),):
                if x in best:
                    best[y] = min(best.get(y, 10**9), best[x] + c + int(p["toll"]))
    return best.get(n, p["none"])


def rising(p: Parameters, text: str) -> object:
    a, test = rows_of(text)[0], str(p["test"])
    if len(a) > 12:
        return None
    rule = eval(f"lambda a, j, i: {test}")  # the parameter itself: a[i] is chosen behind a[j]
    for n in range(len(a), 0, -1):
        for chosen in combinations(range(len(a)), n):
            if all(rule(a, j, i) for j, i in pairwise(chosen)):
                return n
    return None


def odd_arithmetic(p: Parameters, text: str) -> object:
    """Innermost brackets first; then each operator of a flat expression in its order, from the left."""

    def flat(expression: str) -> int:
        items = _items(expression)
        for sign in str(p["order"]):
            while sign in items:
                at = items.index(sign)
                a, b = int(items[at - 1]), int(items[at + 1])
                items[at - 1 : at + 2] = [a + b if sign == "+" else a - b if sign == "-" else a * b]
        return int(items[0])

    expression = text.strip()
    while found := re.search(r"\(([^()]*)\)", expression):
        value = flat(found[1])
        expression = expression[: found.start()] + str(value).replace("-", "m") + expression[found.end() :]
    return flat(expression) % int(p["m"])


def _items(expression: str) -> list[int | str]:
    """Integers, with m for a minus sign of their own, and operators."""
    words = re.findall(r"m?\d+|[-+*]", expression)
    return [word if word in "+-*" else int(word.replace("m", "-")) for word in words]


ORACLES: dict[str, Callable[[Parameters, str], object]] = {
    "counted-numbers": counted_numbers,
    "no-long-runs": no_long_runs,
    "spaced-sum": spaced_sum,
    "paid-jobs": paid_jobs,
    "fair-parts": fair_parts,
    "round-trip": round_trip,
    "knapsack": knapsack,
    "coins": coins,
    "power-modulo": power_modulo,
    "digit-paths": digit_paths,
    "cheapest-net": cheapest_net,
    "cheapest-route": cheapest_route,
    "rising": rising,
    "odd-arithmetic": odd_arithmetic,
}


@pytest.mark.parametrize("name", ORACLES)
def test_a_reference_agrees_with_a_slow_answer(name):
    compared = 0
    for seed in range(20):
        r = rng("oracle", name, seed)
        problem = KINDS[name].make(r)
        run = compiled(problem.program)
        for text in [*problem.edges, *(problem.draw(r) for _ in range(5))]:
            expected = ORACLES[name](problem.parameters, text)
            if expected is not None:
                assert run(text).strip() == str(expected), (name, problem.parameters, text)
                compared += 1
    assert compared >= 60, f"{name}: only {compared} inputs are small enough"
