"""Things that happen step by step."""

from random import Random

from strop_tasks.generators.stdio_problems.kind import Problem, kind, lines, one_each


@kind(2)
def clock(r: Random) -> Problem:
    """A time of day some minutes later or earlier."""
    minutes, way = r.randint(5, 1435), r.choice(["later", "earlier"])
    sign = "+" if way == "later" else "-"
    return Problem(
        parameters={"minutes": minutes, "way": way},
        say=(
            f"Print the time of day {minutes} minutes {way}; after 23:59 comes 00:00.",
            f"Read a time of day. Which time is it {minutes} minutes {way}? Use two digits each for hours and minutes.",
        ),
        reads="one line with a time HH:MM, 00:00 to 23:59",
        prints="a time HH:MM",
        program=(
            'h, m = map(int, input().split(":"))\n'
            f"t = (h * 60 + m {sign} {minutes}) % 1440\n"
            'print(f"{t // 60:02}:{t % 60:02}")\n'
        ),
        draw=lambda r: lines(f"{r.randint(0, 23):02}:{r.randint(0, 59):02}"),
        edges=(
            "00:00\n",
            "23:59\n",
            "12:00\n",
            "09:05\n",
            f"{(t := (1440 - minutes) % 1440) // 60:02}:{t % 60:02}\n",
        ),
    )


@kind(2)
def prices(r: Random) -> Problem:
    """A price with a discount above some amount."""
    price, many, off = r.randint(3, 90), r.randint(4, 20), r.choice([5, 10, 15, 20, 25, 30, 40, 50])
    ship, free = r.randint(3, 15), price * r.randint(3, 10)
    return Problem(
        parameters={"price": price, "many": many, "off": off, "ship": ship, "free": free},
        say=(
            f"A book costs {price} dollars. Who buys {many} or more gets {off} percent off the whole price, rounded "
            f"down to whole dollars. Then shipping of {ship} dollars is added, unless the price is {free} or more "
            "by then. Print what n books cost.",
        ),
        reads="one line with an integer n, 1 to 1000",
        prints="the cost in dollars",
        program=(
            "n = int(input())\n"
            f"cost = n * {price}\n"
            f"if n >= {many}:\n"
            f"    cost = cost * {100 - off} // 100\n"
            f"if cost < {free}:\n"
            f"    cost += {ship}\n"
            "print(cost)\n"
        ),
        draw=lambda r: lines(r.randint(1, 30)),
        edges=one_each(
            1, many - 1, many, many + 1, free // price, free // price + 1, max(1, free // price - 1), 1000
        ),
    )


@kind(3)
def last_one(r: Random) -> Problem:
    """Counting out in a circle."""
    k, left, start = r.randint(2, 15), r.randint(1, 3), r.choice(["first", "last"])
    return Problem(
        parameters={"k": k, "left": left, "start": start},
        say=(
            f"n people, numbered from 1, stand in a circle. Counting begins at the {start} of them; every {k}th "
            "leaves, and counting goes on with "
            f"the one behind. It ends when {left} {'is' if left == 1 else 'are'} left. Print who, in ascending order.",
        ),
        reads=f"one line with an integer n, {left} to 500",
        prints="a number" if left == 1 else "the numbers on one line with spaces between them",
        program=(
            "n = int(input())\n"
            "circle = list(range(1, n + 1))\n"
            f"at = {'0' if start == 'first' else 'n - 1'}\n"
            f"while len(circle) > {left}:\n"
            f"    at = (at + {k - 1}) % len(circle)\n"
            "    circle.pop(at)\n"
            "print(*circle)\n"
        ),
        draw=lambda r: lines(r.randint(left + 2, 60)),
        edges=one_each(left, left + 1, k + left, *([k] if k >= left else []), 500),
    )


@kind(3)
def account(r: Random) -> Problem:
    """A bank account with a fee and a limit."""
    start, fee, limit = r.randint(0, 100), r.randint(1, 9), r.randint(0, 200)
    return Problem(
        parameters={"start": start, "fee": fee, "limit": limit},
        say=(
            f'An account holds {start}. Line "+ x" pays in x. Line "- x" takes out x and costs a fee of {fee} '
            "more; it is refused, without a fee, "
            f"if less than {-limit} would be left afterwards. Print the final balance and how many lines were refused.",
        ),
        reads="the number of lines n, 1 to 50, then n lines with + or -, a space and an integer of 1 to 500",
        prints="two integers on one line: balance, refused lines",
        program=(
            f"balance, refused = {start}, 0\n"
            "for _ in range(int(input())):\n"
            "    sign, x = input().split()\n"
            '    if sign == "+":\n'
            "        balance += int(x)\n"
            f"    elif balance - int(x) - {fee} >= {-limit}:\n"
            f"        balance -= int(x) + {fee}\n"
            "    else:\n"
            "        refused += 1\n"
            "print(balance, refused)\n"
        ),
        draw=lambda r: lines(n := r.randint(3, 8), *([r.choice("+--"), r.randint(1, 150)] for _ in range(n))),
        edges=(
            lines(1, ["+", 1]),
            lines(1, ["-", 500]),
            lines(2, ["+", 400], ["-", 400 + start + limit - fee])
            if start + limit > fee
            else lines(1, ["-", 1]),
            lines(2, ["+", 400], ["-", 401 + start + limit - fee]),
            lines(3, ["+", 5], ["-", 2], ["-", 3]),
            lines(4, ["-", 300], ["-", 30], ["+", 300], ["-", 300]),
        ),
    )


@kind(3)
def game_points(r: Random) -> Problem:
    """Points of a dice game with a rule for repetitions."""
    bonus, face, end = r.randint(2, 30), r.randint(1, 6), r.randint(20, 60)
    return Problem(
        parameters={"bonus": bonus, "face": face, "end": end},
        say=(
            f"Throws of a die are added up. A throw equal to the one before it brings {bonus} points more. A {face} "
            f"brings nothing of its own (but counts as a repetition). The game ends as soon as {end} points are "
            "reached or there are no more throws. Print the points and the number of throws made.",
        ),
        reads="one line with 1 to 100 integers of 1 to 6",
        prints="two integers on one line: points, throws",
        program=(
            "points = throws = last = 0\n"
            "for x in map(int, input().split()):\n"
            "    throws += 1\n"
            f"    points += (0 if x == {face} else x) + ({bonus} if x == last else 0)\n"
            "    last = x\n"
            f"    if points >= {end}:\n"
            "        break\n"
            "print(points, throws)\n"
        ),
        draw=lambda r: lines(r.choices(range(1, 7), k=r.randint(4, 20))),
        edges=one_each(
            face,
            f"{face} {face}",
            "1 2 3 4 5 6",
            "6 6 6 6 6 6 6 6 6 6 6 6",
            f"{face % 6 + 1} {face} {face % 6 + 1}",
            "5 5",
        ),
    )


@kind(5)
def cache_misses(r: Random) -> Problem:
    """A cache that evicts by a rule."""
    size, keep = r.randint(2, 6), r.randint(2, 30)
    rule, code = r.choice(
        [
            ("that was not asked for the longest time", "min(cache, key=lambda x: used[x])"),
            ("that has been there the longest time", "min(cache, key=lambda x: came[x])"),
            ("with the largest number", "max(cache)"),
            (
                "that was asked for the fewest times so far (of several, the smallest number)",
                "min(cache, key=lambda x: (often[x], x))",
            ),
        ]
    )
    return Problem(
        parameters={"size": size, "keep": keep, "rule": code},
        say=(
            f"A cache holds {size} pages. A request for a page that is not there is a miss and costs {keep}; one "
            "for a page that is there costs 1. After a miss the page is put in, and if the cache was full, the page "
            f"{rule} goes first. Print the number of misses and the total cost.",
        ),
        reads="one line with 1 to 200 page numbers of 0 to 99; the cache is empty at first",
        prints="two integers on one line: misses, cost",
        program=(
            "cache, misses, cost = set(), 0, 0\n"
            "used, came, often = {}, {}, {}\n"
            "for now, page in enumerate(map(int, input().split())):\n"
            "    used[page] = now\n"
            "    often[page] = often.get(page, 0) + 1\n"
            "    if page in cache:\n"
            "        cost += 1\n"
            "        continue\n"
            "    misses += 1\n"
            f"    cost += {keep}\n"
            f"    if len(cache) == {size}:\n"
            f"        cache.remove({code})\n"
            "    cache.add(page)\n"
            "    came[page] = now\n"
            "print(misses, cost)\n"
        ),
        draw=lambda r: lines(r.choices(range(size + 2), k=r.randint(8, 20))),
        edges=(
            lines([5]),
            lines([5, 5, 5]),
            lines([*range(size), *range(size)]),
            lines([*range(size + 1), *range(size + 1)]),
            lines([*range(size), 0, size, 0, 1]),
            lines([*range(size + 1, 0, -1), size + 1, 1, 2]),
            lines([0, 0, 0, *range(size + 1), 0, 1, 2, 0]),
        ),
    )


@kind(5)
def counters(r: Random) -> Problem:
    """Customers at several counters."""
    desks, extra = r.randint(1, 4), r.randint(0, 9)
    what, code = r.choice(
        [
            ("the longest time that a customer waits", "max(waits)"),
            ("the sum of all waiting times", "sum(waits)"),
            ("the minute from which on all counters are free again", "max(free)"),
            ("how many customers wait at all", "sum(w > 0 for w in waits)"),
        ]
    )
    return Problem(
        parameters={"desks": desks, "extra": extra, "what": what},
        say=(
            f"A bank has {desks} counter{'s' * (desks > 1)}. Customers are served in the order of the input, each at "
            "the counter that is free first; a counter is free again "
            f"{extra} minutes after the end of a service. Print {what}.",
        ),
        reads="the number of customers n, 1 to 100, then n lines, by time: minute of arrival, minutes of service",
        prints="an integer",
        program=(
            f"free, waits = [0] * {desks}, []\n"
            "for _ in range(int(input())):\n"
            "    arrival, minutes = map(int, input().split())\n"
            "    start = max(arrival, min(free))\n"
            "    waits.append(start - arrival)\n"
            f"    free[free.index(min(free))] = start + minutes + {extra}\n"
            f"print({code})\n"
        ),
        draw=lambda r: lines(
            n := r.randint(desks + 1, desks + 6),
            *([at, r.randint(1, 24)] for at in sorted(r.choices(range(12), k=n))),
        ),
        edges=(
            lines(1, [0, 5]),
            lines(1, [50, 5]),
            lines(2, [0, 10], [10, 10]),
            lines(2, [0, 10], [10 + extra, 10]),
            lines(desks + 1, *[[3, 7]] * (desks + 1)),
            lines(desks * 2 + 1, *[[0, 20 + i] for i in range(desks * 2 + 1)]),
            lines(3, [0, 60], [30, 5], [31, 5]),
        ),
    )
