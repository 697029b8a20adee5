"""The functions of toy repositories, and the faults that each can have.

In a template $thing, $things, $field and $other are words of the domain, $n and $m two different numbers, $sep and $bad
two different separators, $CONSTANT and $WRONG two constants of the package's settings. The docstring describes the
correct behaviour.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from string import Template
from typing import Any

from strop_tasks.generators.toy_repositories.domains import NAMES

Words = Mapping[str, Any]
"""Placeholder -> its value, a string or a number."""


@dataclass(frozen=True)
class ToyFault:
    """A fault: `wrong` replaces `right` in the function."""

    kind: str
    right: str
    wrong: str


@dataclass(frozen=True)
class FunctionTemplate:
    """A function of three to seven lines. `takes`: the kinds of its arguments (`argument`)."""

    text: str
    takes: tuple[str, ...]
    faults: tuple[ToyFault, ...] = field(repr=False)

    def filled(self, words: Words) -> str:
        """The correct source, filled with these words."""
        return Template(self.text).substitute(words)

    def broken(self, fault: ToyFault, words: Words) -> str:
        """The source with a fault, filled with these words."""
        head, quotes, body = self.text.rpartition('"""')
        if fault.kind == "default":
            head = head.replace(fault.right, fault.wrong, 1)
        else:
            body = body.replace(fault.right, fault.wrong, 1)
        return Template(head + quotes + body).substitute(words)


def argument(kind: str, words: Words, r: Random) -> Any:
    """A drawn argument; numbers are often close to $n. Raises ValueError for an unknown kind."""
    n, low = words["n"], r.randint(1, 30)
    near = r.choice([n - 1, n, n, n + 1, low])
    match kind:
        case "record":
            return {
                "name": r.choice(NAMES), words["field"]: near, words["other"]: r.choice([low + 1, n, n + 2])
            }  # fmt: skip
        case "records":
            names = r.sample(NAMES, r.randint(2, 3))
            return [argument("record", words, r) | {"name": name} for name in names]
        case "numbers":
            return [r.randint(1, 30) for _ in range(r.randint(2, 4))]
        case "number":
            return near
        case "limit":
            return words["limit"] + r.choice([-1, 0, 0, 1, 5])
        case "end":
            return r.randint(6, 11)
        case "few":
            return r.randint(2, 5)
        case "names":
            return r.sample(NAMES, r.randint(3, 5))
        case "many names":
            return r.sample(NAMES, r.randint(n + 2, n + 3))
        case "some names":
            return r.sample(NAMES[:6], r.randint(2, 4))
        case "name":
            return r.choice(NAMES[:6])
        case "text":
            return f"{r.choice(['', ' '])}{r.choice(NAMES).title()} {r.choice(NAMES)}{r.choice(['', '  '])}"
        case "letters":
            return r.choice(["a", "e", "o"])
        case "title":
            return "".join(c.upper() if r.random() < 0.4 else c for c in r.choice(NAMES) + r.choice(NAMES))
        case "line":
            return words["sep"].join(r.sample(NAMES, 3)) + r.choice(["", words["bad"] + "x"])
    raise ValueError(f"unknown kind of argument {kind!r}")


_TEXT = '''
def total_$field($things):
    """Adds the $field of all $things."""
    total = 0
    for $thing in $things:
        total += $thing["$field"]
    return total
# records
# operator: += -> -=
# start: = 0 -> = 1
# key: "$field" -> "$other"
# return: return total -> return len($things)

def count_${things}_from(${things}):
    """Counts $things with a $field of at least $n."""
    found = [one for one in $things if one["$field"] >= $n]
    return len(found)
# records
# comparison: >= -> >
# comparison: >= -> <
# constant: >= $n -> >= $m
# key: "$field" -> "$other"
# return: len(found) -> len($things)

def ${thing}_label(name, number):
    """Name and number with "$sep" between them."""
    return name + "$sep" + str(number)
# name number
# separator: "$sep" -> "$bad"
# swapped: name + "$sep" + str(number) -> str(number) + "$sep" + name

def clean_$thing(text):
    """The text in lower case, without space at its ends."""
    return text.strip().lower()
# text
# call: .strip().lower() -> .lower()
# call: .strip().lower() -> .strip()
# method: .lower() -> .upper()

def sorted_$things(names):
    """The names of the $things in alphabetical order."""
    return sorted(names)
# names
# call: sorted(names) -> list(names)
# order: sorted(names) -> sorted(names, reverse=True)

def first_$things(names, count=$n):
    """The first names: $n, or as many as are asked for."""
    return names[:count]
# many names
# default: count=$n -> count=$m
# off by one: [:count] -> [:count + 1]
# off by one: [:count] -> [:count - 1]
# slice: [:count] -> [count:]

def ${field}_growth(old, new):
    """By how much $field grew from old to new."""
    return new - old
# number few
# swapped: new - old -> old - new
# operator: new - old -> new + old

def split_$thing(line):
    """The parts of a line, which "$sep" separates."""
    return line.split("$sep")
# line
# separator: "$sep" -> "$bad"
# return: line.split("$sep") -> list(line)

def is_small_$thing($thing):
    """Whether its $field is below $n."""
    return $thing["$field"] < $n
# record
# comparison: < -> <=
# comparison: < -> >
# constant: < $n -> < $m
# key: "$field" -> "$other"

def missing_$things(wanted, there):
    """The names that are wanted but not there."""
    return [name for name in wanted if name not in there]
# some names, some names
# negation: not in -> in
# variable: name in wanted -> name in there

def average_$field(values):
    """The mean of the values, rounded down; 0 without any."""
    if not values:
        return 0
    return sum(values) // len(values)
# numbers
# operator: // -> *
# negation: if not values -> if values
# call: sum(values) // -> max(values) //
# off by one: len(values) -> (len(values) + 1)

def limited_$field(value):
    """The value, but at most $n."""
    return min(value, $n)
# number
# function: min -> max
# constant: $n -> $m

def ${things}_by_name($things):
    """Name to $field of each of the $things."""
    found = {}
    for one in $things:
        found[one["name"]] = one["$field"]
    return found
# records
# key: one["$field"] -> one["$other"]
# swapped: [one["name"]] = one["$field"] -> [one["$field"]] = one["name"]
# return: return found -> return one

def top_$thing($things):
    """Name of the one with the largest $field."""
    best = max($things, key=lambda one: one["$field"])
    return best["name"]
# records
# function: max -> min
# key: one["$field"] -> one["$other"]
# return: best["name"] -> best["$field"]

def ${field}_range(values):
    """The largest value less the smallest."""
    low = min(values)
    high = max(values)
    return high - low
# numbers
# operator: high - low -> high + low
# function: low = min -> low = max
# variable: high - low -> high - high
# swapped: high - low -> low - high

def last_$thing(names):
    """The last of the names."""
    return names[-1]
# names
# off by one: [-1] -> [-2]
# index: [-1] -> [0]

def ${thing}_code(name, number):
    """The first 3 letters in upper case, then the number."""
    start = name[:3].upper()
    return start + str(number)
# title number
# constant: [:3] -> [:4]
# call: name[:3].upper() -> name[:3]
# swapped: start + str(number) -> str(number) + start

def add_$field(value, extra=$n):
    """The value and something extra: $n, if nothing is said."""
    return value + extra
# number
# default: extra=$n -> extra=$m
# operator: value + extra -> value - extra
# variable: value + extra -> value + value

def ${field}_percent(part, whole):
    """The part of the whole in percent, rounded down."""
    return part * 100 // whole
# few number
# constant: 100 -> 10
# swapped: part * 100 // whole -> whole * 100 // part
# operator: * 100 -> + 100

def ${things}_line(names):
    """The names in alphabetical order, with "$sep" between."""
    return "$sep".join(sorted(names))
# names
# call: sorted(names) -> names
# separator: "$sep" -> "$bad"

def has_$thing(names, name):
    """Whether the name is among the names."""
    return name in names
# some names, name
# negation: name in -> name not in
# comparison: name in names -> name == names[0]

def ${thing}_numbers(start, end):
    """The numbers from start to end, both included."""
    return list(range(start, end + 1))
# few end
# off by one: end + 1 -> end
# off by one: range(start -> range(start + 1
# swapped: (start, end + 1) -> (end, start + 1)

def longest_$thing(names):
    """The longest of the names; the first of equal ones."""
    return max(names, key=len)
# names
# function: max -> min
# call: (names, key=len) -> (names)

def count_${thing}_letter(text, letter):
    """How often the letter is in the text, small or capital."""
    return text.lower().count(letter)
# title letters
# call: text.lower() -> text
# method: lower() -> upper()
# return: text.lower().count(letter) -> text.lower().find(letter)

def ${field}_left(whole, used):
    """What is left of the whole; never below 0."""
    if used > whole:
        return 0
    return whole - used
# number number
# comparison: used > whole -> used < whole
# operator: whole - used -> whole + used
# return: return 0 -> return used

def ${things}_in_order($things):
    """The names of the $things, largest $field first."""
    found = sorted($things, key=lambda one: -one["$field"])
    return [one["name"] for one in found]
# records
# order: -one -> one
# key: -one["$field"] -> -one["$other"]
# variable: in found -> in $things

def ${thing}_initials(names):
    """The first letters of the names in upper case."""
    letters = [name[0] for name in names]
    return "".join(letters).upper()
# names
# index: name[0] -> name[-1]
# call: "".join(letters).upper() -> "".join(letters)
# separator: "".join -> "$sep".join

def grown_$field(value, years):
    """The value after some years, each of which adds $n."""
    for _ in range(years):
        value += $n
    return value
# number few
# operator: += -> -=
# constant: $n -> $m
# off by one: range(years) -> range(years - 1)

def total_${thing}_cost(count, each):
    """What so many cost in all, $CONSTANT added once."""
    return count * each + $CONSTANT
# few number
# constant: $CONSTANT -> $WRONG
# operator: count * each -> count + each
# operator: + $CONSTANT -> - $CONSTANT

def is_${field}_allowed(value):
    """Whether the value is not above $CONSTANT."""
    return value <= $CONSTANT
# limit
# comparison: <= -> <
# comparison: <= -> >
# constant: $CONSTANT -> $WRONG

def scaled_$field(value):
    """The value times $CONSTANT."""
    return value * $CONSTANT
# number
# constant: $CONSTANT -> $WRONG
# operator: value * -> value +

def without_$thing(names, name):
    """The names, except for this one."""
    return [one for one in names if one != name]
# some names, name
# comparison: one != name -> one == name
# variable: one != name -> one != names

def second_$thing(names):
    """The second of the names in alphabetical order."""
    ordered = sorted(names)
    return ordered[1]
# names
# variable: ordered[1] -> names[1]
# off by one: [1] -> [2]
# call: sorted(names) -> list(names)
'''


def _template(block: str) -> FunctionTemplate:
    lines = block.strip().splitlines()
    takes, *faults = [line[2:] for line in lines if line.startswith("# ")]
    kinds = takes.split(", ") if "," in takes or takes in _SPACED else takes.split()
    return FunctionTemplate(
        "\n".join(line for line in lines if not line.startswith("# ")) + "\n",
        tuple(kinds),
        tuple(_fault(line) for line in faults),
    )


def _fault(line: str) -> ToyFault:
    kind, _, change = line.partition(": ")
    right, _, wrong = change.partition(" -> ")
    return ToyFault(kind, right, wrong)


_SPACED = ("many names", "some names")
FUNCTIONS = tuple(map(_template, _TEXT.strip().split("\n\n")))
KINDS = sorted({fault.kind for function in FUNCTIONS for fault in function.faults})
"""All kinds of faults that functions can have."""
