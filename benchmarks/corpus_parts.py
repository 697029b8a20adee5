"""Operations on lists of integers that combine into many millions of different problems, each with words and code.

A problem is two to four operations followed by one that gives a number. Every operation has several wordings, two ways
to write it, and a function that computes it, so a problem's statement, reference and tests come from one source.
"""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

Value = Any


class Part(NamedTuple):
    """One operation. `{k}` is its parameter, `{v}` the variable in the code."""

    words: tuple[str, ...]
    short: str
    """Code as one expression."""
    long: str
    """The same as statements that change `{v}`; `{t}`, `{u}` are free names."""
    run: Callable[[Value, int], Value]
    lowest: int = 2
    highest: int = 40


def _rotated(v: list[int], k: int) -> list[int]:
    return v[k % len(v) :] + v[: k % len(v)] if v else v


STEPS = (
    Part(
        ("add {k} to every number", "increase each entry by {k}", "shift all values up by {k}"),
        "[x + {k} for x in {v}]",
        "{t} = []\nfor {u} in {v}:\n    {t}.append({u} + {k})\n{v} = {t}",
        lambda v, k: [x + k for x in v],
    ),
    Part(
        (
            "multiply every number by {k}",
            "scale each entry by a factor of {k}",
            "replace all values by {k} times themselves",
        ),
        "[x * {k} for x in {v}]",
        "{t} = []\nfor {u} in {v}:\n    {t}.append({u} * {k})\n{v} = {t}",
        lambda v, k: [x * k for x in v],
    ),
    Part(
        (
            "replace every number by its remainder modulo {k}",
            "reduce each entry modulo {k}",
            "take all values mod {k}",
        ),
        "[x % {k} for x in {v}]",
        "{t} = []\nfor {u} in {v}:\n    {t}.append({u} % {k})\n{v} = {t}",
        lambda v, k: [x % k for x in v],
        3,
    ),
    Part(
        (
            "keep only the numbers that are greater than {k}",
            "throw away each entry that is at most {k}",
            "retain just the values above {k}",
        ),
        "[x for x in {v} if x > {k}]",
        "{t} = []\nfor {u} in {v}:\n    if {u} > {k}:\n        {t}.append({u})\n{v} = {t}",
        lambda v, k: [x for x in v if x > k],
        -20,
        30,
    ),
    Part(
        (
            "remove the multiples of {k}",
            "delete each entry that {k} divides",
            "drop all values divisible by {k}",
        ),
        "[x for x in {v} if x % {k} != 0]",
        "{t} = []\nfor {u} in {v}:\n    if {u} % {k} != 0:\n        {t}.append({u})\n{v} = {t}",
        lambda v, k: [x for x in v if x % k],
        2,
        9,
    ),
    Part(
        (
            "cap every number at {k}",
            "lower each entry above {k} to {k}",
            "limit all values to a maximum of {k}",
        ),
        "[min(x, {k}) for x in {v}]",
        "{t} = []\nfor {u} in {v}:\n    {t}.append({u} if {u} < {k} else {k})\n{v} = {t}",
        lambda v, k: [min(x, k) for x in v],
        -10,
        40,
    ),
    Part(
        (
            "rotate the list to the left by {k} places",
            "move the first {k} entries, cyclically, to the end",
            "turn the sequence {k} positions leftwards",
        ),
        "{v}[{k} % len({v}):] + {v}[:{k} % len({v})] if {v} else {v}",
        "for {u} in range({k}):\n    if {v}:\n        {v} = {v}[1:] + {v}[:1]",
        _rotated,
        1,
        9,
    ),
    Part(
        (
            "replace every number by its distance to {k}",
            "turn each entry into how far it is from {k}",
            "take the absolute difference of all values with {k}",
        ),
        "[abs(x - {k}) for x in {v}]",
        "{t} = []\nfor {u} in {v}:\n    {t}.append({u} - {k} if {u} > {k} else {k} - {u})\n{v} = {t}",
        lambda v, k: [abs(x - k) for x in v],
        -15,
        35,
    ),
    Part(
        (
            "multiply each number by its index counted from {k}",
            "weigh each entry by its position, the first one being {k}",
            "scale all values by their place in the sequence, where places start at {k}",
        ),
        "[x * i for i, x in enumerate({v}, {k})]",
        "{t} = []\n{u} = {k}\nfor {w} in {v}:\n    {t}.append({w} * {u})\n    {u} = {u} + 1\n{v} = {t}",
        lambda v, k: [x * i for i, x in enumerate(v, k)],
        0,
        9,
    ),
    Part(
        (
            "sort the numbers by their remainder modulo {k}, keeping the order of equal ones",
            "arrange the entries stably by what is left when divided by {k}",
            "order all values by their residue mod {k}, ties as they were",
        ),
        "sorted({v}, key=lambda x: x % {k})",
        "{t} = []\nfor {u} in range({k}):\n    for {w} in {v}:\n        if {w} % {k} == {u}:\n"
        "            {t}.append({w})\n{v} = {t}",
        lambda v, k: sorted(v, key=lambda x: x % k),
        2,
        12,
    ),
    Part(
        (
            "replace the list by its running sums that begin at {k}",
            "turn the entries into prefix totals with {k} as the start",
            "accumulate the values one after the other, starting from {k}",
        ),
        "[{k} + sum({v}[:i + 1]) for i in range(len({v}))]",
        "{t} = []\n{u} = {k}\nfor {w} in {v}:\n    {u} += {w}\n    {t}.append({u})\n{v} = {t}",
        lambda v, k: [k + sum(v[: i + 1]) for i in range(len(v))],
        0,
        30,
    ),
)
"""List to list."""

LAST = (
    Part(
        (
            "return the sum of what is left, plus {k}",
            "the answer is the total plus {k}",
            "give back {k} more than all of it added up",
        ),
        "sum({v}) + {k}",
        "{t} = {k}\nfor {u} in {v}:\n    {t} += {u}",
        lambda v, k: sum(v) + k,
        0,
        40,
    ),
    Part(
        (
            "return the largest number, or {k} for an empty list",
            "the answer is the maximum, {k} if nothing remains",
            "give back the greatest value; with none there it is {k}",
        ),
        "max({v}, default={k})",
        "{t} = {k}\nif {v}:\n    {t} = {v}[0]\n    for {u} in {v}:\n        if {u} > {t}:\n            {t} = {u}",
        lambda v, k: max(v, default=k),
        -30,
        40,
    ),
    Part(
        (
            "return the smallest number, or {k} for an empty list",
            "the answer is the minimum, {k} if nothing remains",
            "give back the least value; with none there it is {k}",
        ),
        "min({v}, default={k})",
        "{t} = {k}\nif {v}:\n    {t} = {v}[0]\n    for {u} in {v}:\n        if {u} < {t}:\n            {t} = {u}",
        lambda v, k: min(v, default=k),
        -30,
        40,
    ),
    Part(
        (
            "return the alternating sum, the first number counted positive, times {k}",
            "the answer is {k} times first minus second plus third and so on",
            "give back the total with signs plus and minus in turn, multiplied by {k}",
        ),
        "{k} * (sum({v}[::2]) - sum({v}[1::2]))",
        "{t} = 0\n{w} = {k}\nfor {u} in {v}:\n    {t} += {u} * {w}\n    {w} = -{w}",
        lambda v, k: k * (sum(v[::2]) - sum(v[1::2])),
        1,
        30,
    ),
    Part(
        (
            "return the sum of the squares modulo {k}",
            "the answer is what is left when the total of the squared entries is divided by {k}",
            "give back the squares added up, mod {k}",
        ),
        "sum(x * x for x in {v}) % {k}",
        "{t} = 0\nfor {u} in {v}:\n    {t} = ({t} + {u} * {u}) % {k}",
        lambda v, k: sum(x * x for x in v) % k,
        50,
        997,
    ),
)
"""List to number."""

OPENINGS = (
    ("You are given a list of integers. First, ", "; then ", "; finally, ", "."),
    (
        "Write a function over a sequence of whole numbers. Begin with this: ",
        ". After that: ",
        ". At the end: ",
        ".",
    ),
    ("For an array of integers do the following in turn. ", ", next ", ", and last of all ", "."),
    (
        "Consider some integers in a given order. Start like this: ",
        ", afterwards ",
        ". To conclude, ",
        ". That is all.",
    ),
)
Problem = tuple[tuple[int, int], ...]
"""(operation, parameter) of each step; the last one is of `LAST`."""


def problem(r: random.Random) -> Problem:
    """Two to four operations and a last one."""
    steps = [r.randrange(len(STEPS)) for _ in range(r.randint(2, 4))]
    last = r.randrange(len(LAST))
    return (
        *((s, r.randint(STEPS[s].lowest, STEPS[s].highest)) for s in steps),
        (last, r.randint(LAST[last].lowest, LAST[last].highest)),
    )


def parts(which: Problem) -> list[tuple[Part, int]]:
    """The operations with their parameters."""
    return [*((STEPS[s], k) for s, k in which[:-1]), (LAST[which[-1][0]], which[-1][1])]


def solve(which: Problem, given: list[int]) -> int:
    """The answer to one input."""
    value: Value = list(given)
    for part, k in parts(which):
        value = part.run(value, k)
    return int(value)


def statement(which: Problem, wording: random.Random) -> str:
    """The problem in words; another state of the generator gives another wording."""
    opening, between, end, stop = wording.choice(OPENINGS)
    said = [wording.choice(part.words).format(k=k) for part, k in parts(which)]
    return opening + between.join(said[:-1]) + end + said[-1] + stop


def code(
    which: Problem, style: random.Random, names: tuple[str, ...] = ("solve", "values", "kept", "one", "two")
) -> str:
    """The reference; another state of the generator writes some steps in another way."""
    entry, v, t, u, w = names
    lines = [f"def {entry}({v}):"]
    for at, (part, k) in enumerate(parts(which)):
        last = at == len(which) - 1
        if style.random() < 0.5:
            text = part.short.format(k=k, v=v)
            lines.append(f"    {'return' if last else f'{v} ='} {text}")
        else:
            block = part.long.format(k=k, v=v, t=t, u=u, w=w)
            lines.extend(f"    {line}" for line in block.splitlines())
            if last:
                lines.append(f"    return {t}")
    return "\n".join(lines) + "\n"
