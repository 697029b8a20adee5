"""Paths through grids."""

from random import Random

from strop_tasks.generators.stdio_problems.kind import Problem, grid, kind, lines

_SIZE = "a line with the numbers of rows and columns, h and w"


@kind(4)
def maze(r: Random) -> Problem:
    """The shortest path through a maze, no longer than a limit."""
    limit, wall = r.randint(5, 20), r.choice("#X*@")
    none = r.choice(["no way", "-1", "lost", "stuck"])
    corner = r.choice(["top right", "bottom right", "bottom left"])
    goal = {"top right": "(0, w - 1)", "bottom right": "(h - 1, w - 1)", "bottom left": "(h - 1, 0)"}[corner]

    def draw(r: Random) -> str:
        h, w = r.randint(3, 7), r.randint(3, 7)
        rows = [list(row) for row in grid(r, h, w, f"{wall}..")]
        for i, j in ((0, 0), (0, w - 1), (h - 1, w - 1), (h - 1, 0)):
            rows[i][j] = "."
        return lines([h, w], *map("".join, rows))

    snake = ["." * 5, wall * 4 + ".", "." * 5, "." + wall * 4, "." * 5]
    return Problem(
        parameters={"limit": limit, "wall": wall, "none": none, "corner": corner},
        say=(
            f"You stand in the top left cell of a maze and may move up, down, left and right, not onto {wall}. "
            f"Print the smallest number of moves to the {corner} cell, or {none!r} if it takes more than {limit} or "
            "cannot be done.",
            f"Find the shortest way from the top left to the {corner} cell; cells with {wall} are walls, a move goes "
            "to one of the "
            f"four neighbours. Print its number of moves, or {none!r} if there is no way of at most {limit} moves.",
        ),
        reads=f"{_SIZE}, 1 to 30 each, then h lines of w characters, {wall} or .; both cells are free",
        prints=f"an integer, or {none} without quotes",
        program=(
            "h, w = map(int, input().split())\n"
            "rows = [input() for _ in range(h)]\n"
            "far = {(0, 0): 0}\n"
            "queue = [(0, 0)]\n"
            "for i, j in queue:\n"
            "    for a, b in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):\n"
            f'        if 0 <= a < h and 0 <= b < w and rows[a][b] != "{wall}" and (a, b) not in far:\n'
            "            far[a, b] = far[i, j] + 1\n"
            "            queue.append((a, b))\n"
            f"moves = far.get({goal}, {limit + 1})\n"
            f'print(moves if moves <= {limit} else "{none}")\n'
        ),
        draw=draw,
        edges=(
            lines([1, 1], "."),
            lines([5, 5], *snake),
            lines([2, 2], "..", ".."),
            lines([3, 3], f".{wall}.", wall * 3, f".{wall}."),
            lines([1, limit + 1], "." * (limit + 1)),
            lines([1, limit + 2], "." * (limit + 2)),
            lines([limit + 1, 1], *"." * (limit + 1)),
            lines([limit + 2, 1], *"." * (limit + 2)),
        ),
    )


@kind(4)
def lattice_ways(r: Random) -> Problem:
    """Ways through a grid with allowed moves, modulo a number."""
    m, mark = r.choice([97, 101, 1009, 10007, 1000003, 1000000007]), r.choice("#X*")
    more = {"diagonally right and down": (1, 1), "two cells down": (2, 0), "two cells to the right": (0, 2)}
    extra = r.choice([*more, "none"])
    moves, jump = [(0, 1), (1, 0)], ""
    if extra in more:
        moves.append(more[extra])
        jump = f", or {extra}" + (" (the cell between may be blocked)" if "two" in extra else "")
    code = "".join(
        f"        if i >= {a} and j >= {b}:\n            total += ways[i - {a}][j - {b}]\n".replace(
            "i >= 0 and ", ""
        )
        .replace(" and j >= 0", "")
        .replace("i - 0", "i")
        .replace("j - 0", "j")
        for a, b in moves
    )
    return Problem(
        parameters={"m": m, "mark": mark, "extra": extra},
        say=(
            f"Count the ways from the top left to the bottom right cell, modulo {m}. A move goes one cell to the "
            f"right, one cell down{jump}; cells with {mark} must not be entered.",
            "In how many ways can a piece get from the top left to the bottom right cell of the board without "
            f"standing on {mark}? It moves one cell right or one cell down{jump}. Print the number modulo {m}.",
        ),
        reads=f"{_SIZE}, 1 to 40 each, then h lines of w characters, {mark} or .",
        prints=f"the number of ways modulo {m}, 0 when the first or last cell is blocked",
        program=(
            "h, w = map(int, input().split())\n"
            "rows = [input() for _ in range(h)]\n"
            "ways = [[0] * w for _ in range(h)]\n"
            "for i in range(h):\n"
            "    for j in range(w):\n"
            f'        if rows[i][j] == "{mark}":\n'
            "            continue\n"
            "        total = 1 if i == j == 0 else 0\n"
            f"{code}"
            f"        ways[i][j] = total % {m}\n"
            "print(ways[-1][-1])\n"
        ),
        draw=lambda r: lines(
            [h := r.randint(2, 9), w := r.randint(2, 9)],
            "." + (g := grid(r, h, w, mark + "......"))[0][1:],
            *g[1:-1],
            g[-1][:-1] + ".",
        ),
        edges=(
            lines([1, 1], "."),
            lines([1, 1], mark),
            lines([2, 2], "..", ".."),
            lines([3, 3], *["..."] * 3),
            lines([20, 20], *["." * 20] * 20),
            lines([3, 3], f".{mark}.", f".{mark}.", f".{mark}."),
            lines([1, 4], f".{mark}.."),
            lines([4, 1], ".", mark, ".", "."),
        ),
    )


@kind(5)
def digit_paths(r: Random) -> Problem:
    """The cheapest path across a grid of digits, where turns cost extra."""
    turn, first = r.randint(1, 60), r.choice([True, False])
    entry = (
        "the costs of all its cells, the first included" if first else "the costs of the cells that it enters"
    )
    return Problem(
        parameters={"turn": turn, "first": str(first)},
        say=(
            "Each cell of a grid has a cost, 1 to 9. A way from the top left to the bottom right cell moves up, "
            f"down, left or right. It costs {entry}, plus {turn} for each turn, that is for each move in another "
            "direction than the one before. Print the smallest cost.",
        ),
        reads=f"{_SIZE}, 1 to 15 each, then h lines of w digits",
        prints="the smallest cost",
        program=(
            "from heapq import heappop, heappush\n\n"
            "h, w = map(int, input().split())\n"
            "cost = [list(map(int, input())) for _ in range(h)]\n"
            f"heap = [({'cost[0][0]' if first else '0'}, 0, 0, -1)]\n"
            "done = set()\n"
            "while heap:\n"
            "    paid, i, j, last = heappop(heap)\n"
            "    if (i, j) == (h - 1, w - 1):\n"
            "        print(paid)\n"
            "        break\n"
            "    if (i, j, last) in done:\n"
            "        continue\n"
            "    done.add((i, j, last))\n"
            "    for way, (a, b) in enumerate(((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1))):\n"
            "        if 0 <= a < h and 0 <= b < w:\n"
            f"            more = {turn} if last not in (-1, way) else 0\n"
            "            heappush(heap, (paid + cost[a][b] + more, a, b, way))\n"
        ),
        draw=lambda r: lines([h := r.randint(3, 6), w := r.randint(3, 6)], *grid(r, h, w, "123456789")),
        edges=(
            lines([1, 1], "7"),
            lines([1, 4], "1291"),
            lines([4, 1], *"1291"),
            lines([2, 2], "19", "11"),
            lines([3, 3], "111", "991", "111"),
            lines([3, 5], "19111", "19191", "11191"),
            lines([4, 4], "1999", "1199", "9119", "9911"),
        ),
    )
