"""Graphs given by their edges; nodes are numbered from 1."""

from random import Random

from strop_tasks.generators.stdio_problems.kind import Problem, kind, lines

_EDGES = "a line with n and m, 1 <= n <= 50 and 0 <= m <= 200, then m lines with two different nodes a b each"
_WEIGHTED = "a line with n and m, 1 <= n <= 50 and 0 <= m <= 200, then m lines a b c each, c from 1 to 100"


def _graph(r: Random, *, weights: int = 0, density: float = 1.3, ordered: bool = False) -> str:
    n = r.randint(3, 8)
    rows: list[list[int]] = []
    for _ in range(r.randint(n - 1, int(n * density) + 1)):
        edge = r.sample(range(1, n + 1), 2)
        if ordered and r.random() < 0.85:
            edge.sort()
        rows.append(edge + ([r.randint(1, weights)] if weights else []))
    return lines([n, len(rows)], *rows)


def _chain(size: int, more: int = 0) -> str:
    """A chain of `size` nodes, and `more` isolated ones."""
    return lines([size + more, size - 1], *([i, i + 1] for i in range(1, size)))


def _streets(r: Random, n: int) -> str:
    """A graph in which most nodes are joined to one with a slightly lower number, plus up to two random edges."""
    rows = [[max(1, b - r.choice([1, 1, 2, 3])), b] for b in range(2, n + 1) if r.random() < 0.95]
    rows += [r.sample(range(1, n + 1), 2) for _ in range(r.randint(0, 2))]
    r.shuffle(rows)
    return lines([n, len(rows)], *rows)


_UNION = (
    "root = list(range(n + 1))\n\n"
    "def find(x):\n"
    "    while root[x] != x:\n"
    "        x = root[x]\n"
    "    return x\n\n"
)


@kind(4)
def groups_of_friends(r: Random) -> Problem:
    """Connected parts: how many are large enough, or the size of the largest or smallest."""
    least = r.randint(2, 15)
    what, code = r.choice(
        [
            (f"how many groups have at least {least} people", f"sum(s >= {least} for s in sizes)"),
            (f"how many people are in groups of fewer than {least}", f"sum(s for s in sizes if s < {least})"),
            (
                f"the size of the largest group, but 0 if it has fewer than {least} people",
                f"max([s for s in sizes if s >= {least}], default=0)",
            ),
            (
                f"by how many people the groups of at least {least} exceed that, all together",
                f"sum(max(s - {least}, 0) for s in sizes)",
            ),
        ]
    )

    return Problem(
        parameters={"code": code},
        say=(
            "Among n people, friends, and friends of friends and so on, form a group; who has no friend is a group "
            f"alone. Print {what}.",
            "n people are numbered from 1; each edge is a friendship. A group is a connected part of this graph. "
            f"Print {what}.",
        ),
        reads=_EDGES,
        prints="an integer",
        program=(
            "n, m = map(int, input().split())\n" + _UNION + "for _ in range(m):\n"
            "    a, b = map(int, input().split())\n"
            "    root[find(a)] = find(b)\n"
            "ends = [find(x) for x in range(1, n + 1)]\n"
            "sizes = [ends.count(x) for x in set(ends)]\n"
            f"print({code})\n"
        ),
        draw=lambda r: lines(
            [n := r.randint(6, 24), m := r.randint(n // 2, n)],
            *(r.sample(range(1, n + 1), 2) for _ in range(m)),
        ),
        edges=(
            lines([1, 0]),
            _chain(least),
            _chain(least - 1, 1),
            _chain(least + 1, 3),
            lines([4, 3], [1, 2], [2, 1], [1, 2]),
            lines([50, 0]),
            lines([2 * least, 2 * least - 2], *([i, i + 1] for i in range(1, 2 * least) if i != least)),
        ),
    )


@kind(4)
def within_steps(r: Random) -> Problem:
    """The number of nodes within some steps of a node."""
    k, way = r.randint(1, 9), r.choice(["both", "forth"])
    what, test = r.choice([("at most", "<="), ("exactly", "=="), ("more than", ">")])
    street = (
        "streets that can be used in both directions" if way == "both" else "one-way streets, from a to b"
    )
    back = "    near[b].append(a)\n" if way == "both" else ""
    none = "; places that cannot be reached do not count" if what == "more than" else ""
    return Problem(
        parameters={"k": k, "way": way, "what": what},
        say=(
            f"Places are joined by {street}. How many places, other than place 1, have a shortest way from place 1 "
            f"of {what} {k} street{'s' * (k > 1)}{none}?",
            f"The edges are {street}. Count the places, without place 1, to which the shortest way from place 1 has "
            f"{what} {k} street{'s' * (k > 1)}{none}.",
        ),
        reads=_EDGES,
        prints="the count",
        program=(
            "n, m = map(int, input().split())\n"
            "near = [[] for _ in range(n + 1)]\n"
            "for _ in range(m):\n"
            "    a, b = map(int, input().split())\n"
            "    near[a].append(b)\n" + back + "far = {1: 0}\n"
            "queue = [1]\n"
            "for a in queue:\n"
            "    for b in near[a]:\n"
            "        if b not in far:\n"
            "            far[b] = far[a] + 1\n"
            "            queue.append(b)\n"
            f"print(sum(d {test} {k} for x, d in far.items() if x != 1))\n"
        ),
        draw=lambda r: _streets(r, r.randint(k + 2, 2 * k + 6)),
        edges=(
            lines([1, 0]),
            lines([4, 0]),
            _chain(k),
            _chain(k + 1),
            _chain(k + 2),
            lines([9, 8], *([i + 1, i] for i in range(1, 9))),
            lines([5, 4], *([1, i] for i in range(2, 6))),
            lines([10, 10], *([i, i % 10 + 1] for i in range(1, 11))),
            lines([3, 2], [2, 3], [3, 2]),
        ),
    )


@kind(5)
def cheapest_route(r: Random) -> Problem:
    """The cheapest route between two nodes, with a toll for each edge."""
    toll, way = r.randint(1, 20), r.choice(["both", "forth"])
    none = r.choice(["no", "none", "-1", "impossible"])
    road = "roads that can be used in both directions" if way == "both" else "one-way roads from a to b"
    back = f"    near[b].append((a, c + {toll}))\n" if way == "both" else ""
    return Problem(
        parameters={"toll": toll, "way": way, "none": none},
        say=(
            f"Towns are joined by {road}. To use a road of length c costs c plus a toll of {toll}. Print the "
            f"smallest cost of a trip from town 1 to town n, or {none!r} if there is no way.",
            f"A graph has {road}; each use of one costs its length c and {toll} more. Print the cost of the "
            f"cheapest way from 1 to n, {none!r} if n cannot be reached.",
        ),
        reads=_WEIGHTED,
        prints=f"an integer, or {none} without quotes",
        program=(
            "from heapq import heappop, heappush\n\n"
            "n, m = map(int, input().split())\n"
            "near = [[] for _ in range(n + 1)]\n"
            "for _ in range(m):\n"
            "    a, b, c = map(int, input().split())\n"
            f"    near[a].append((b, c + {toll}))\n" + back + "best = {}\n"
            "heap = [(0, 1)]\n"
            "while heap:\n"
            "    paid, a = heappop(heap)\n"
            "    if a not in best:\n"
            "        best[a] = paid\n"
            "        for b, c in near[a]:\n"
            "            heappush(heap, (paid + c, b))\n"
            f'print(best.get(n, "{none}"))\n'
        ),
        draw=lambda r: _graph(r, weights=60, density=2.5, ordered=True),
        edges=(
            lines([1, 0]),
            lines([2, 0]),
            lines([2, 1], [1, 2, 5]),
            lines([2, 1], [2, 1, 5]),
            lines([3, 3], [1, 2, 10], [2, 3, 10], [1, 3, 20 + toll]),
            lines([3, 3], [1, 2, 1], [2, 3, 1], [1, 3, 3 + toll]),
            lines([2, 3], [1, 2, 90], [1, 2, 7], [1, 2, 30]),
        ),
    )


@kind(5)
def job_order(r: Random) -> Problem:
    """The first topological order by number, or the time that all jobs take."""
    what, base = r.choice(["order", "time"]), r.randint(1, 30)
    step, none = r.randint(1, 15), r.choice(["impossible", "cycle", "no order", "deadlock"])
    parameters: dict[str, int | str] = {"what": what, "none": none}
    if what == "time":
        parameters |= {"base": base, "step": step}
        ask = (
            f"Job i takes {base} + {step} * i minutes, and any number of jobs can be done at the same time. Print "
            "after how many minutes all jobs are done at the earliest"
        )
        final = f"    end[a] += {base} + {step} * a\n    for b in after[a]:\n        end[b] = max(end[b], end[a])\n"
        result = "max(end)"
    else:
        low = r.choice(["smallest", "largest"])
        parameters["low"] = low
        ask = f"Print an order of all jobs: at each point the one with the {low} number that can begin comes next"
        final, result = "    for b in after[a]:\n", "*order"
    pick = "max(ready)" if parameters.get("low") == "largest" else "min(ready)"
    return Problem(
        parameters=parameters,
        say=(
            f"Edges a b mean that job a must be done before job b begins. {ask}; print {none!r} if the jobs wait for "
            "each other.",
            f"n jobs depend on each other: for each edge a b, job b can begin only when a is done. {ask}, or "
            f"{none!r} if there is a cycle.",
        ),
        reads=_EDGES,
        prints=f"{'an integer' if what == 'time' else 'the jobs on one line'}, or {none} without quotes",
        program=(
            "n, m = map(int, input().split())\n"
            "after = [[] for _ in range(n + 1)]\n"
            "missing = [0] * (n + 1)\n"
            "for _ in range(m):\n"
            "    a, b = map(int, input().split())\n"
            "    after[a].append(b)\n"
            "    missing[b] += 1\n"
            "ready = [a for a in range(1, n + 1) if not missing[a]]\n"
            "order, end = [], [0] * (n + 1)\n"
            "while ready:\n"
            f"    a = {pick}\n"
            "    ready.remove(a)\n"
            "    order.append(a)\n"
            f"{final}"
            "        missing[b] -= 1\n"
            "        if not missing[b]:\n"
            "            ready.append(b)\n"
            f'print({result}) if len(order) == n else print("{none}")\n'
        ),
        draw=lambda r: _graph(r, density=1.6, ordered=True),
        edges=(
            lines([1, 0]),
            lines([5, 0]),
            lines([2, 2], [1, 2], [2, 1]),
            lines([4, 3], [4, 3], [3, 2], [2, 1]),
            lines([4, 2], [4, 1], [3, 2]),
            lines([5, 5], [1, 2], [1, 2], [2, 5], [3, 5], [4, 1]),
            lines([6, 6], [1, 2], [2, 3], [3, 1], [4, 5], [5, 6], [4, 6]),
        ),
    )


@kind(5)
def cheapest_net(r: Random) -> Problem:
    """A spanning tree of least total cost, with a surcharge on long edges."""
    limit, extra, none = r.randint(20, 80), r.randint(5, 60), r.choice(["no", "-1", "none", "apart"])
    return Problem(
        parameters={"limit": limit, "extra": extra, "none": none},
        say=(
            "Cables can be laid between houses: each line a b c offers one of length c. A cable costs its length, "
            f"and {extra} more if it is longer than {limit}. Print the smallest total cost that joins all houses, "
            f"directly or through others; print {none!r} if it cannot be done.",
        ),
        reads=_WEIGHTED,
        prints=f"an integer, or {none} without quotes",
        program=(
            "n, m = map(int, input().split())\n" + _UNION + "cables = []\n"
            "for _ in range(m):\n"
            "    a, b, c = map(int, input().split())\n"
            f"    cables.append((c + {extra} if c > {limit} else c, a, b))\n"
            "total, parts = 0, n\n"
            "for cost, a, b in sorted(cables):\n"
            "    if find(a) != find(b):\n"
            "        root[find(a)] = find(b)\n"
            "        total += cost\n"
            "        parts -= 1\n"
            f'print(total if parts == 1 else "{none}")\n'
        ),
        draw=lambda r: _graph(r, weights=100, density=2.5),
        edges=(
            lines([1, 0]),
            lines([2, 0]),
            lines([2, 1], [1, 2, limit]),
            lines([2, 1], [1, 2, limit + 1]),
            lines([3, 3], [1, 2, 5], [2, 3, 6], [1, 3, 7]),
            lines([4, 2], [1, 2, 1], [3, 4, 1]),
            lines([2, 3], [1, 2, 9], [2, 1, 3], [1, 2, 100]),
            lines([3, 3], [1, 2, limit], [2, 3, limit], [1, 3, limit]),
        ),
    )
