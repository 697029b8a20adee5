"""Expressions with unusual rules."""

from random import Random

from strop_tasks.generators.stdio_problems.kind import Problem, kind, lines, one_each


@kind(4)
def stack_machine(r: Random) -> Problem:
    """Postfix notation with unusual operations."""
    m = r.choice([10, 12, 24, 60, 97, 100, 128, 365, 1000, 1009])
    p, q = r.randint(2, 9), r.randint(1, 9)
    ops = {
        "@": (f"{p} * a + {q} * b", f"{p} * a + {q} * b"),
        "&": ("the larger of the two", "max(a, b)"),
        "~": (f"a - {q} * b", f"a - {q} * b"),
    }
    third = r.choice(list(ops)[1:])
    text, code = ops[third]
    return Problem(
        parameters={"m": m, "p": p, "q": q, "third": third},
        say=(
            "Evaluate an expression in postfix notation. Integers go on a stack; an operator takes the top b and "
            f"the a below it and puts back: + gives a + b, * gives a * b, @ gives {ops['@'][0]}, {third} gives "
            f"{text}, each modulo {m} (0 to {m - 1}). Print what is left.",
        ),
        reads=f"one line with a correct expression: integers 0 to 99 and operators + * @ {third}, spaces between them",
        prints=f"the value on the stack, modulo {m}",
        program=(
            "stack = []\n"
            "for word in input().split():\n"
            "    if word.isdigit():\n"
            f"        stack.append(int(word) % {m})\n"
            "        continue\n"
            "    b, a = stack.pop(), stack.pop()\n"
            '    if word == "+":\n'
            "        c = a + b\n"
            '    elif word == "*":\n'
            "        c = a * b\n"
            '    elif word == "@":\n'
            f"        c = {ops['@'][1]}\n"
            "    else:\n"
            f"        c = {code}\n"
            f"    stack.append(c % {m})\n"
            "print(stack[0])\n"
        ),
        draw=lambda r: lines(_postfix(r, r.randint(2, 6), f"+*@{third}")),
        edges=one_each(
            "0",
            f"{min(m, 99)}",
            "3 4 +",
            "7 8 *",
            "5 6 @",
            f"5 6 {third}",
            f"9 2 3 {third} @",
            f"99 98 * 97 {third} 1 2 + *",
        ),
    )


def _postfix(r: Random, operators: int, signs: str) -> str:
    if operators == 0:
        return str(r.randint(0, 99))
    left = r.randint(0, operators - 1)
    return f"{_postfix(r, left, signs)} {_postfix(r, operators - 1 - left, signs)} {r.choice(signs)}"


@kind(5)
def odd_arithmetic(r: Random) -> Problem:
    """Expressions with brackets and an unusual operator precedence."""
    order = r.sample(["+", "-", "*"], 3)
    m = r.randint(50, 9999)
    return Problem(
        parameters={"order": "".join(order), "m": m},
        say=(
            f"Evaluate an expression in which {order[0]} binds closest, then {order[1]}, then {order[2]}; equal "
            "operators go from left to right, and brackets "
            f"come first. Print the value modulo {m}, as a number of 0 to {m - 1}.",
        ),
        reads="one line with an expression of integers 0 to 99, the operators + - * and brackets, without spaces",
        prints=f"the value modulo {m}",
        program=(
            "import re\n\n"
            'tokens = re.findall(r"\\d+|[-+*()]", input())[::-1]\n'
            f'rank = {{"{order[0]}": 3, "{order[1]}": 2, "{order[2]}": 1}}\n\n'
            "def value(least):\n"
            "    token = tokens.pop()\n"
            '    if token == "(":\n'
            "        a = value(1)\n"
            "        tokens.pop()\n"
            "    else:\n"
            "        a = int(token)\n"
            "    while tokens and rank.get(tokens[-1], 0) >= least:\n"
            "        sign = tokens.pop()\n"
            "        b = value(rank[sign] + 1)\n"
            '        a = a + b if sign == "+" else a - b if sign == "-" else a * b\n'
            "    return a\n\n"
            f"print(value(1) % {m})\n"
        ),
        draw=lambda r: lines(_infix(r, r.randint(2, 6))),
        edges=one_each(
            "7",
            "0-1",
            "2+3*4",
            "2*3+4",
            "9-4-3",
            "9-4+3",
            "2*(3+4)-5*6",
            "((8))-(2-(5-9))*3",
            "1+2-3*4-5+6*7",
        ),
    )


def _infix(r: Random, operators: int) -> str:
    if operators == 0:
        return str(r.randint(0, 99))
    left = r.randint(0, operators - 1)
    both = f"{_infix(r, left)}{r.choice('+-*')}{_infix(r, operators - 1 - left)}"
    return f"({both})" if r.random() < 0.3 else both
