"""Integers and their digits, divisors and sequences."""

from random import Random

from strop_tasks.generators.stdio_problems.kind import Problem, kind, lines, numbers, one_each


@kind(2)
def digit_sum(r: Random) -> Problem:
    """Sum or count of the digits of n that fulfil a condition."""
    k = r.randint(1, 8)
    test, phrase = r.choice(
        [
            (f"int(d) > {k}", f"greater than {k}"),
            (f"int(d) < {k + 1}", f"less than {k + 1}"),
            (f"int(d) != {k}", f"other than {k}"),
            (f"int(d) % {k + 1} == 0", f"divisible by {k + 1}"),
        ]
    )
    code, word = r.choice([("int(d)", "Add up"), ("1", "Count")])
    return Problem(
        parameters={"test": test, "word": word},
        say=(
            f"{word} the digits of n that are {phrase}.",
            f"Look at the decimal digits of n. {word} those that are {phrase} and print the result.",
        ),
        reads="one line with an integer n, at least 0, without leading zeros",
        prints="the result, 0 when there is no such digit",
        program=f"n = input()\nprint(sum({code} for d in n if {test}))\n",
        draw=lambda r: lines(r.randint(10 ** (d := r.randint(1, 11)), 10 ** (d + 1))),
        edges=one_each(0, k, k + 1, k - 1, 1234567890, 11 * k, 99999, 10**20),
    )


@kind(2)
def nth_term(r: Random) -> Problem:
    """Term n of a sequence in which each step multiplies and adds."""
    start, a, b = r.randint(0, 9), r.randint(1, 5), r.randint(1, 20)
    if start * (a - 1) + b == 0:
        b += 1
    step = f"add {b}" if a == 1 else f"multiply by {a} and add {b}"
    return Problem(
        parameters={"start": start, "a": a, "b": b},
        say=(
            f"A sequence begins with {start}; to get the next term, {step}. Print term number n, where {start} is "
            "term 0.",
            f"Start with {start} and n times {step}. Print what you end with.",
        ),
        reads="one line with an integer n, 0 to 60",
        prints="the value after n steps",
        program=f"x = {start}\nfor _ in range(int(input())):\n    x = x * {a} + {b}\nprint(x)\n",
        draw=lambda r: lines(r.randint(2, 50)),
        edges=one_each(0, 1, 2, 60),
    )


@kind(2)
def sum_of_multiples(r: Random) -> Problem:
    """Sum or count of the numbers up to n that p or q divides."""
    p, q = sorted(r.sample(range(2, 25), 2))
    word, test, phrase = r.choice(
        [
            ("or", f"i % {p} == 0 or i % {q} == 0", f"divisible by {p} or by {q}"),
            ("and", f"i % {p} == 0 and i % {q} == 0", f"divisible by both {p} and {q}"),
            ("not", f"i % {p} == 0 and i % {q} != 0", f"divisible by {p} but not by {q}"),
        ]
    )
    if word == "not" and q % p and p % q == 0:
        word, test, phrase = "or", f"i % {p} == 0 or i % {q} == 0", f"divisible by {p} or by {q}"
    code, how = r.choice([("i", "Add up"), ("1", "Count")])
    return Problem(
        parameters={"test": test, "how": how},
        say=(
            f"{how} the integers from 1 to n, n included, that are {phrase}.",
            f"{how} all i with 1 <= i <= n that are {phrase}. Print the result.",
        ),
        reads="one line with an integer n, 1 to 5000",
        prints="the result",
        program=f"n = int(input())\nprint(sum({code} for i in range(1, n + 1) if {test}))\n",
        draw=lambda r: lines(r.randint(p * q, 3000)),
        edges=one_each(1, p - 1 or 1, p, q, p * q - 1, p * q, 5000),
    )


@kind(2)
def fizz(r: Random) -> Problem:
    """Count to n, with words in place of some multiples."""
    p, q = r.sample(range(2, 12), 2)
    first, second = r.sample(["fizz", "buzz", "ping", "pong", "tick", "tock", "hop", "clap"], 2)
    return Problem(
        parameters={"p": p, "q": q, "first": first, "second": second},
        say=(
            f"Count from 1 to n. Print {first} in place of multiples of {p}, {second} in place of multiples of {q}, "
            f"and {first}{second} in place of multiples of both.",
            f"For i = 1, ..., n print {first} if {p} divides i, {second} if {q} does, {first}{second} if both do, "
            "else i itself.",
        ),
        reads="one line with an integer n, 1 to 100",
        prints="n lines",
        program=(
            "for i in range(1, int(input()) + 1):\n"
            f'    word = "{first}" * (i % {p} == 0) + "{second}" * (i % {q} == 0)\n'
            "    print(word or i)\n"
        ),
        draw=lambda r: lines(r.randint(3, 40)),
        edges=one_each(1, min(p, q), max(p, q), 100),
    )


@kind(3)
def primes_with_rest(r: Random) -> Problem:
    """How many primes up to n leave a given remainder."""
    k = r.randint(3, 20)
    rest = r.choice([x for x in range(1, k) if all(k % d or x % d for d in range(2, k + 1))])
    return Problem(
        parameters={"k": k, "rest": rest},
        say=(
            f"Count the primes p with p <= n that leave the remainder {rest} when divided by {k}.",
            f"How many prime numbers up to n, n included, are equal to {rest} modulo {k}?",
        ),
        reads="one line with an integer n, 1 to 1000",
        prints="the count",
        program=(
            "n = int(input())\n"
            "primes = [p for p in range(2, n + 1) if all(p % d for d in range(2, int(p**0.5) + 1))]\n"
            f"print(sum(p % {k} == {rest} for p in primes))\n"
        ),
        draw=lambda r: lines(r.randint(20, 1000)),
        edges=one_each(1, 2, 3, 25, 49, 997, 1000),
    )


@kind(3)
def in_base(r: Random) -> Problem:
    """n in another base, perhaps padded."""
    base, width = r.randint(2, 16), r.randint(1, 12)
    return Problem(
        parameters={"base": base, "width": width},
        say=(
            f"Write n in base {base}, with lower-case letters for digits above 9, padded with zeros in front to at "
            f"least {width} digits.",
            f"Convert n to base {base} (digits 0-9, then a, b, ...). Fill up with leading zeros to a width of {width}; "
            "longer numbers stay as they are.",
        ),
        reads="one line with an integer n, at least 0",
        prints=f"n in base {base}, at least {width} digits",
        program=(
            "n = int(input())\n"
            'digits = ""\n'
            "while n:\n"
            f'    digits = "0123456789abcdef"[n % {base}] + digits\n'
            f"    n //= {base}\n"
            f"print(digits.zfill({width}))\n"
        ),
        draw=lambda r: lines(r.randint(0, 10 ** r.randint(1, 9))),
        edges=one_each(0, 1, base - 1, base, base**width - 1, base**width, 10**15),
    )


@kind(3)
def collatz_like(r: Random) -> Problem:
    """Steps of a rule on n until it stops."""
    p, add, m = r.choice([2, 3, 4, 5]), r.randint(1, 30), r.choice([20, 30, 50, 100, 200])
    return Problem(
        parameters={"p": p, "add": add, "limit": m},
        say=(
            f"Repeat: if n is divisible by {p}, replace it by n / {p}, else by n + {add}. Stop after {m} steps, or "
            "as soon as n is 1. Print the number of steps made and the last n.",
            f"In one step n becomes n / {p} when {p} divides it and n + {add} otherwise. Make steps until n is 1, "
            f"but at most {m}. Print how many were made, and n.",
        ),
        reads="one line with an integer n, 1 to 10000",
        prints="two integers on one line: steps, last n",
        program=(
            "n = int(input())\n"
            "steps = 0\n"
            f"while n != 1 and steps < {m}:\n"
            f"    n = n // {p} if n % {p} == 0 else n + {add}\n"
            "    steps += 1\n"
            "print(steps, n)\n"
        ),
        draw=lambda r: lines(r.randint(2, 10000)),
        edges=one_each(1, p, p * p, p + 1, 9999, 10000),
    )


@kind(2)
def common_divisor(r: Random) -> Problem:
    """Greatest common divisor or least common multiple with a constant."""
    k = r.choice([x for x in range(6, 200) if any(x % d == 0 for d in range(2, x))])
    code, name = r.choice([("gcd", "greatest common divisor"), ("lcm", "least common multiple")])
    return Problem(
        parameters={"code": code, "k": k},
        say=(f"Print the {name} of n and {k}.", f"Find the {name} of {k} and the given integer n."),
        reads="one line with an integer n, at least 1",
        prints=f"the {name}",
        program=f"from math import {code}\n\nprint({code}(int(input()), {k}))\n",
        draw=lambda r: lines(
            r.choice([r.randint(1, 300), k * r.randint(1, 9), *(d for d in range(1, k) if k % d == 0)])
        ),
        edges=one_each(1, k, 2 * k, k + 1, 2, 3, 30030, 1024, 3**7),
    )


@kind(4)
def power_modulo(r: Random) -> Problem:
    """Queries of a linear recurrence modulo a constant, for n too large to iterate to."""
    a, b, m = r.randint(1, 9), r.randint(1, 9), r.choice([97, 1009, 9973, 10007, 998244353, 1000000007])
    return Problem(
        parameters={"a": a, "b": b, "m": m},
        say=(
            f"Let f(0) = 0, f(1) = 1 and f(n) = {a} * f(n - 1) + {b} * f(n - 2). Print f(n) modulo {m} for each query.",
            f"A sequence begins 0, 1; each later term is {a} times the last plus {b} times the one before it. For each "
            f"query n print term n, counted from 0, modulo {m}. Walking to n is too slow.",
        ),
        reads="the number of queries q, 1 to 10, then q lines with an integer n each, 0 to 10^18",
        prints="q lines, an answer each",
        program=(
            f"M = {m}\n\n"
            "def product(x, y):\n"
            "    return [[sum(x[i][k] * y[k][j] for k in range(2)) % M for j in range(2)] for i in range(2)]\n\n"
            "for _ in range(int(input())):\n"
            "    n = int(input())\n"
            f"    result, base = [[1, 0], [0, 1]], [[{a}, {b}], [1, 0]]\n"
            "    while n:\n"
            "        if n & 1:\n"
            "            result = product(result, base)\n"
            "        base = product(base, base)\n"
            "        n >>= 1\n"
            "    print(result[1][0])\n"
        ),
        draw=lambda r: lines(3, *(r.randint(0, 10 ** r.randint(1, 18)) for _ in range(3))),
        edges=(lines(1, 0), lines(2, 1, 2), lines(1, 10**18), lines(4, 3, 10, 100, 1000)),
    )


@kind(5)
def counted_numbers(r: Random) -> Problem:
    """Numbers in a range whose digit sum is divisible by k: a dynamic program over digits."""
    k, banned = r.randint(3, 15), r.randint(0, 9)
    return Problem(
        parameters={"k": k, "banned": banned},
        say=(
            f"Count the integers x with 1 <= x <= n whose digit sum is divisible by {k} and that do not contain the "
            f"digit {banned}.",
            f"How many integers from 1 to n have no digit {banned} and a sum of digits that is a multiple of {k}? "
            "n is far too large to try them all.",
        ),
        reads="one line with an integer n, 1 to 10^18",
        prints="the count",
        program=(
            "digits = list(map(int, input()))\n"
            f"K, BANNED = {k}, {banned}\n"
            "free = {}\n"
            "tight = (0, False)  # sum of the digits of n so far, whether any digit was placed\n"
            "alive = True\n"
            "for d in digits:\n"
            "    new = {}\n\n"
            "    def add(total, begun, x, ways):\n"
            "        if x == BANNED and (begun or x):\n"
            "            return\n"
            "        key = ((total + x) % K, begun or x > 0)\n"
            "        new[key] = new.get(key, 0) + ways\n\n"
            "    for (total, begun), ways in free.items():\n"
            "        for x in range(10):\n"
            "            add(total, begun, x, ways)\n"
            "    if alive:\n"
            "        for x in range(d):\n"
            "            add(*tight, x, 1)\n"
            "        alive = not (d == BANNED and (tight[1] or d))\n"
            "        tight = ((tight[0] + d) % K, tight[1] or d > 0)\n"
            "    free = new\n"
            "answer = free.get((0, True), 0)\n"
            "if alive and tight == (0, True):\n"
            "    answer += 1\n"
            "print(answer)\n"
        ),
        draw=lambda r: lines(r.randint(1, 10 ** r.randint(2, 18))),
        edges=one_each(1, 9, 10, 99, 100, 555, 12345, 10**18, 10**18 - 1),
    )


@kind(3)
def missing_numbers(r: Random) -> Problem:
    """Which numbers of a range are missing."""
    low, size = r.randint(0, 20), r.randint(5, 20)
    high = low + size
    return Problem(
        parameters={"low": low, "high": high},
        say=(
            f"Print, in ascending order, the integers from {low} to {high} that do not stand in the list; print "
            "none if all of them do.",
            f"Which integers of {low}, ..., {high} are missing? Print them in ascending order, or none.",
        ),
        reads="one line with one or more integers, unsorted, perhaps repeated or outside of the range",
        prints="the missing integers on one line with spaces between them, or the word none",
        program=(
            "seen = set(map(int, input().split()))\n"
            f"missing = [x for x in range({low}, {high + 1}) if x not in seen]\n"
            'print(*missing or ["none"])\n'
        ),
        draw=lambda r: lines(
            r.sample(range(low, high + 1), r.randint(2, size)) + numbers(r, 2, low - 3, high + 3)
        ),
        edges=one_each(
            low,
            high,
            " ".join(map(str, range(low, high + 1))),
            " ".join(map(str, range(low + 1, high))),
            " ".join(map(str, range(high + 2, low - 2, -1))),
            f"{low - 1} {high + 1}",
        ),
    )
