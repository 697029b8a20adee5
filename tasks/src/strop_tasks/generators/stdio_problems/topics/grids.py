"""Grids of characters or integers."""

from random import Random

from strop_tasks.generators.stdio_problems.kind import Problem, grid, kind, lines, numbers

_SIZE = "a line with the numbers of rows and columns, h and w"


def _marked(r: Random, marks: str, low: int = 2, high: int = 6) -> str:
    h, w = r.randint(low, high), r.randint(low, high)
    return lines([h, w], *grid(r, h, w, marks))


@kind(2)
def row_values(r: Random) -> Problem:
    """A value computed from every row or column of a matrix."""
    k = r.randint(2, 30)
    what, code = r.choice(
        [
            ("its sum plus {k}", "sum(x) + {k}"),
            ("its largest integer times {k}", "max(x) * {k}"),
            ("how many of its integers are greater than {k}", "sum(y > {k} for y in x)"),
            ("its sum modulo {k}", "sum(x) % {k}"),
            ("its smallest integer minus {k}", "min(x) - {k}"),
        ]
    )
    unit, over = r.choice([("row", "rows"), ("column", "zip(*rows)")])
    return Problem(
        parameters={"k": k, "what": what, "unit": unit},
        say=(
            f"For each {unit} of a matrix print {what.format(k=k)}.",
            f"Read a matrix. Print, for every {unit}, {what.format(k=k)}.",
        ),
        reads="a line with the numbers of rows and columns, then the rows, integers of 0 to 100",
        prints=f"an integer for each {unit}, on one line with spaces between them",
        program=(
            "h, w = map(int, input().split())\n"
            "rows = [list(map(int, input().split())) for _ in range(h)]\n"
            f"print(*[{code.format(k=k)} for x in {over}])\n"
        ),
        draw=lambda r: lines(
            [h := r.randint(2, 4), w := r.randint(2, 4)], *(numbers(r, w, 0, 2 * k) for _ in range(h))
        ),
        edges=(
            lines([1, 1], [k]),
            lines([1, 1], [k + 1]),
            lines([1, 3], [k - 1, k, k + 1]),
            lines([3, 1], [k + 1], [0], [k]),
            lines([2, 2], [0, 100], [100, 0]),
        ),
    )


@kind(2)
def moved_grid(r: Random) -> Problem:
    """A grid rotated or mirrored, with one character in place of another."""
    what, code = r.choice(
        [
            ("turned by 90 degrees clockwise", "zip(*rows[::-1])"),
            ("turned by 90 degrees counter-clockwise", "[*zip(*rows)][::-1]"),
            ("turned by 180 degrees", "[row[::-1] for row in rows[::-1]]"),
            ("mirrored, left to right", "[row[::-1] for row in rows]"),
            ("upside down, the last row first", "rows[::-1]"),
            ("with rows and columns swapped (transposed)", "zip(*rows)"),
        ]
    )
    old, new = r.sample("#.*o+", 2)
    return Problem(
        parameters={"what": what, "old": old, "new": new},
        say=(
            f"Print the picture {what}, and with {new} in place of every {old}.",
            f"Replace each {old} of the picture by {new} and print it {what}.",
        ),
        reads=f"{_SIZE}, then h lines of w characters out of # . * o +",
        prints="the new picture",
        program=(
            "h, w = map(int, input().split())\n"
            "rows = [input() for _ in range(h)]\n"
            f"for row in {code}:\n"
            f'    print("".join(row).replace("{old}", "{new}"))\n'
        ),
        draw=lambda r: _marked(r, "#.*o+" + old, 2, 4),
        edges=(
            lines([1, 1], "#"),
            lines([1, 5], "#.*o+"),
            lines([5, 1], *"#.*o+"),
            lines([2, 3], "##.", "o+*"),
        ),
    )


@kind(4)
def regions(r: Random) -> Problem:
    """Regions of equal marks: how many are large enough, or the size of the largest."""
    mark, least = r.choice("#*o@"), r.randint(1, 5)
    diagonal, most = r.choice([True, False]), r.choice([True, False])
    if diagonal:
        steps = "[(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]"
        sides = "side by side, one above the other or diagonally"
    else:
        steps = "[(1, 0), (-1, 0), (0, 1), (0, -1)]"
        sides = "side by side or one above the other"
    if most:
        result = f"sum(s >= {least} for s in sizes)"
        ask = f"how many regions have at least {least} cells"
    else:
        result = f"max([s for s in sizes if s >= {least}], default=0)"
        ask = f"the number of cells of the largest region, or 0 if none has at least {least}"
    return Problem(
        parameters={"mark": mark, "least": least, "diagonal": str(diagonal), "most": str(most)},
        say=(
            f"Cells with {mark} that lie {sides} belong to one region. Print {ask}.",
            f"A region is a set of {mark} cells that hang together; cells hang together when they lie {sides}. Print "
            f"{ask}.",
        ),
        reads=f"{_SIZE}, 1 to 30 each, then h lines of w characters, {mark} or .",
        prints="an integer",
        program=(
            "h, w = map(int, input().split())\n"
            "rows = [input() for _ in range(h)]\n"
            f'left = {{(i, j) for i in range(h) for j in range(w) if rows[i][j] == "{mark}"}}\n'
            f"steps = {steps}\n"
            "sizes = []\n"
            "while left:\n"
            "    todo, size = [left.pop()], 0\n"
            "    while todo:\n"
            "        i, j = todo.pop()\n"
            "        size += 1\n"
            "        for a, b in steps:\n"
            "            if (i + a, j + b) in left:\n"
            "                left.remove((i + a, j + b))\n"
            "                todo.append((i + a, j + b))\n"
            "    sizes.append(size)\n"
            f"print({result})\n"
        ),
        draw=lambda r: _marked(r, f"{mark}.{r.choice(mark + '.')}", 3, 8),
        edges=(
            lines([1, 1], "."),
            lines([1, 1], mark),
            lines([3, 3], f"{mark}.{mark}", f".{mark}.", f"{mark}.{mark}"),
            lines([2, 9], mark * least + "." * (9 - least), "." * 9),
            lines([2, 9], mark * (least - 1) + "." * (10 - least), "." * 9),
            lines([4, 4], *[mark * 4] * 4),
            lines([2, 4], f"{mark}..{mark}", f".{mark}{mark}."),
        ),
    )


@kind(4)
def cells(r: Random) -> Problem:
    """A cellular automaton with a given rule, some generations on."""
    born = sorted(r.sample(range(1, 6), r.randint(1, 2)))
    stay = sorted(r.sample(range(0, 6), r.randint(1, 3)))
    steps = r.randint(1, 5)
    return Problem(
        parameters={"born": "".join(map(str, born)), "stay": "".join(map(str, stay)), "steps": steps},
        say=(
            "Cells are alive (#) or dead (.). In each generation, all at once, a dead cell with "
            f"{' or '.join(map(str, born))} living neighbours (of 8) comes alive, and a living cell stays alive "
            f"with {' or '.join(map(str, stay))}, else it dies. Print the grid after {steps} "
            f"generation{'s' * (steps > 1)}; outside of it everything is dead.",
        ),
        reads=f"{_SIZE}, 1 to 20 each, then h lines of w characters, # or .",
        prints="the grid",
        program=(
            "h, w = map(int, input().split())\n"
            "rows = [input() for _ in range(h)]\n"
            'alive = {(i, j) for i in range(h) for j in range(w) if rows[i][j] == "#"}\n'
            f"for _ in range({steps}):\n"
            "    new = set()\n"
            "    for i in range(h):\n"
            "        for j in range(w):\n"
            "            near = sum((i + a, j + b) in alive for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b)\n"
            f"            if near in ({stay} if (i, j) in alive else {born}):\n"
            "                new.add((i, j))\n"
            "    alive = new\n"
            "for i in range(h):\n"
            '    print("".join("#" if (i, j) in alive else "." for j in range(w)))\n'
        ),
        draw=lambda r: _marked(r, "#.", 3, 6),
        edges=(
            lines([1, 1], "#"),
            lines([1, 3], "###"),
            lines([3, 3], "...", "###", "..."),
            lines([4, 4], *["####"] * 4),
            lines([3, 3], "...", ".#.", "..."),
        ),
    )


@kind(3)
def robot(r: Random) -> Problem:
    """A robot on a field that wraps around."""
    size, step = r.randint(5, 20), r.randint(1, 4)
    at = r.choice(["north", "east", "south", "west"])
    start = {"north": "0, 1", "east": "1, 0", "south": "0, -1", "west": "-1, 0"}[at]
    return Problem(
        parameters={"size": size, "step": step, "at": at},
        say=(
            f"A robot stands at x = 0, y = 0 of a field of {size} by {size} cells and looks {at} (north: y grows, "
            f"east: x grows). L and R turn it by 90 degrees to the left and right, F moves it {step} "
            f"cell{'s' * (step > 1)} ahead; who leaves the field on one side comes in again on the opposite one. "
            "Print x and y at the end.",
        ),
        reads="one line of 1 to 100 letters L, R and F",
        prints=f"x and y on one line, each 0 to {size - 1}",
        program=(
            "x = y = 0\n"
            f"dx, dy = {start}\n"
            "for c in input():\n"
            '    if c == "L":\n'
            "        dx, dy = -dy, dx\n"
            '    elif c == "R":\n'
            "        dx, dy = dy, -dx\n"
            "    else:\n"
            f"        x, y = (x + {step} * dx) % {size}, (y + {step} * dy) % {size}\n"
            "print(x, y)\n"
        ),
        draw=lambda r: lines("".join(r.choices("LRFFF", k=r.randint(4, 30)))),
        edges=(
            "F\n",
            "L\n",
            "LF\n",
            "RF\n",
            "RRFFF\n",
            "F" * size + "\n",
            "FLFLFLF\n",
            "F" * (size - 1) + "RFF\n",
        ),
    )
