"""Texts of made rollouts: prompts, answers and compiler errors in Python and Rust."""

import random
import re

NAMES = ["sum_of_evens", "count_words", "largest_gap", "reversed_digits", "longest_run", "is_balanced", "whole_part",
         "merge_sorted", "nth_prime", "letter_counts", "rotate_left", "clamp_all"]  # fmt: skip
_ASKED = [
    "Return the sum of the even numbers in values.", "Count the words of text, split at white space.",
    "Return the largest difference between neighbours.", "Return number with its digits in reverse order.",
    "Return the length of the longest run of equal items.", "Return true if every bracket is closed.",
    "Return the whole part of number as an integer.", "Merge two sorted lists into one that is sorted.",
    "Return the nth prime, counting from one.", "Count how often each letter occurs in text.",
    "Move the first n items to the end.", "Bring every value into the range from low to high.",
]  # fmt: skip
_PYTHON = [
    "    {a} = sum({b} for {b} in values if {b} % {n} == 0)", "    {a} = sorted(values, key=lambda {b}: -{b})[:{n}]",
    "    for {b} in range(len(values)):\n        {a} = max({n}, values[{b}] - {n})",
    '    if not values:  # nothing to do\n        return "{a}"', "    {a}, {b} = divmod({n}, {m})",
    "    {a} = [{b} ** 2 for {b} in values if {b} > {n}]", "    while {n} > 0 and {a} < {m}:\n        {a} += {n}",
]  # fmt: skip
_RUST = [
    "    let {a}: i64 = values.iter().filter(|{b}| *{b} % {n} == 0).sum();",
    "    let mut {a} = Vec::with_capacity({n});",
    "    for {b} in values.iter().skip({n}) {{\n        {a}.push(*{b} + {n});\n    }}",
    '    if values.is_empty() {{ return String::from("{a}"); }}', "    let {a} = match {n} {{ {m} => 1, _ => {n} }};",
    "    values.windows({n}).map(|{b}| {b}[0] - {b}[1]).max().unwrap_or({m}) // {a}",
]  # fmt: skip
_WORDS = [
    "total",
    "count",
    "best",
    "item",
    "left",
    "right",
    "value",
    "index",
    "seen",
    "result",
    "current",
    "width",
]
_CODES = ["E0308]: mismatched types", "E0425]: cannot find value `item` in this scope", "E0382]: use of moved value",
          "E0599]: no method named `sort_by` found for reference `&[i64]` in the current scope"]  # fmt: skip


def prompt_of(language: str, task: int) -> str:
    """The prompt of task number `task`, in the style `continue`."""
    name, asked = f"{NAMES[task % len(NAMES)]}_{task}", _ASKED[task % len(_ASKED)]
    if language == "rust":
        return f"/// {asked}\n///\n/// {name}(&[1, 2, 4]) == 6\npub fn {name}(values: &[i64]) -> i64 {{"
    return (
        f'def {name}(values: list[int]) -> int:\n    """{asked}\n\n    >>> {name}([1, 2, 4])\n    6\n    """'
    )


def answer_of(language: str, task: int, tokens: int, rng: random.Random) -> str:
    """What a policy might go on with, `tokens` tokens long or a little longer."""
    lines, length = [""], 0
    while length < tokens:
        line = rng.choice(_RUST if language == "rust" else _PYTHON).format(
            a=rng.choice(_WORDS), b=rng.choice(_WORDS)[:3], n=rng.randrange(10), m=rng.randrange(10, 99)
        )
        lines.append(line)
        length += len(pieces_of(line)) + 1
    return "\n".join(lines)


def pieces_of(text: str) -> list[str]:
    """The text in pieces, as a tokenizer would cut it; joined they are the text."""
    return re.findall(r"\n +|\s?\w+|\s?[^\w\s]|\s", text)


def rust_error(rng: random.Random) -> str:
    """What rustc says of a wrong answer."""
    line, code = rng.randrange(4, 12), rng.choice(_CODES)
    return (
        f"error[{code}\n --> src/lib.rs:{line}:6\n  |\n{line} |     values.iter().sum()\n"
        "  |     ------ ^^^ here\n  |\nhelp: consider a literal\n  |\n6 |     values.iter().sum::<i64>()\n"
        f"  |                      +++++++\n\nerror: aborting; {rng.randrange(4)} warnings emitted\n"
    )
