"""Words and characters."""

from random import Random

from strop_tasks.generators.stdio_problems.kind import Problem, kind, letters, lines, one_each, words

_ANSWERS = (
    ("yes", "no"), ("true", "false"), ("same", "different"), ("palindrome", "other"), ("ok", "bad"),
    ("1", "0"), ("Y", "N"), ("even so", "not so"), ("good", "wrong"),
)  # fmt: skip


@kind(2)
def palindrome(r: Random) -> Problem:
    """Whether a line reads the same backwards, with some characters ignored."""
    ignore = r.choice(["spaces", "case", "spaces and case", "digits", "hyphens", "commas", "digits and case"])
    first, second = r.choice(_ANSWERS)
    code = "input()"
    if "case" in ignore:
        code += ".lower()"
    for name, chars in (("spaces", " "), ("hyphens", "-"), ("commas", ",")):
        code += f'.replace("{chars}", "")' if name in ignore else ""
    body = f"s = {code}\n"
    if "digits" in ignore:
        body += 's = "".join(c for c in s if not c.isdigit())\n'
    mark = {"spaces": " ", "hyphens": "-", "commas": ","}.get(
        ignore.split()[0], "7" if "digits" in ignore else ""
    )

    def draw(r: Random) -> str:
        half = letters(r, 2, 5, "abc")
        whole = half + half[::-1][r.randint(0, 1) :] if r.random() < 0.6 else letters(r, 4, 7, "ab")
        at = r.randint(1, len(whole) - 1)
        if "case" in ignore:
            whole = whole[:at].upper() + whole[at:]
        return lines(whole[:at] + mark + whole[at:])

    return Problem(
        parameters={"ignore": ignore, "words": f"{first}/{second}"},
        say=(
            f"Does the line read the same backwards, ignoring {ignore}? Print {first} if it does, else {second}.",
            f"Print {first} if the line, {ignore} left out of account, equals its reverse, and {second} if not.",
        ),
        reads="one line of letters, digits, spaces, hyphens and commas",
        prints="one of the two words",
        program=body + f'print("{first}" if s == s[::-1] else "{second}")\n',
        draw=draw,
        edges=("x\n", "ab\n", "Aa\n", "ab a\n", "ab-a\n", "ab,a\n", "ab1a\n", "Abc a\n"),
    )


@kind(2)
def shifted_letters(r: Random) -> Problem:
    """Caesar's cipher with a given shift."""
    k, what = r.randint(1, 25), r.choice(["lower-case", "upper-case"])
    base = "a" if what == "lower-case" else "A"
    end = "z" if base == "a" else "Z"
    return Problem(
        parameters={"k": k, "what": what},
        say=(
            f"Move every {what} letter {k} places on in the alphabet, from {end} round to {base}. Leave the rest as "
            "it is.",
            f"Encrypt the line: each {what} letter becomes the one {k} places later, and after {end} comes {base} "
            "again; other characters stay.",
        ),
        reads="one line of text",
        prints="the new line",
        program=(
            's = ""\n'
            "for c in input():\n"
            f'    if "{base}" <= c <= "{end}":\n'
            f'        c = chr((ord(c) - ord("{base}") + {k}) % 26 + ord("{base}"))\n'
            "    s += c\n"
            "print(s)\n"
        ),
        draw=lambda r: lines(" ".join(r.choice([w, w.upper()]) for w in words(r, 2, 4))),
        edges=("a A z Z\n", "abcdefghijklmnopqrstuvwxyz\n", "ABCDEFGHIJKLMNOPQRSTUVWXYZ\n", "x-Y 7\n"),
    )


def _short_form(r: Random) -> str:
    inner = r.choice(["{n}{c}", "{c}{n}"]).replace("}{", "}" + r.choice(["", "*", "x", ":", "-"]) + "{")
    return r.choice(["{}", "({})", "[{}]", "<{}>", "/{}/"]).replace("{}", inner)


@kind(3)
def run_lengths(r: Random) -> Problem:
    """Runs of equal characters, written shorter."""
    least, form = r.randint(2, 5), _short_form(r)
    shape = form.replace("{n}", "N").replace("{c}", "C")
    return Problem(
        parameters={"least": least, "form": form},
        say=(
            f"Replace every longest run of N equal characters C by {shape} if N is at least {least}; leave shorter "
            "runs as they are.",
            f"Shorten the word: a run of one character C, N times in a row, is written {shape} when N >= {least}, and "
            "stays as it is otherwise.",
        ),
        reads="one line with a word of lower-case letters",
        prints="the new word",
        program=(
            "from itertools import groupby\n\n"
            'out = ""\n'
            "for c, run in groupby(input()):\n"
            "    n = len(list(run))\n"
            f'    out += f"{form}" if n >= {least} else c * n\n'
            "print(out)\n"
        ),
        draw=lambda r: lines(
            "".join(r.choice("abcd") * r.randint(1, least + 2) for _ in range(r.randint(2, 5)))
        ),
        edges=one_each(
            "a",
            "b" * least,
            "c" * (least - 1),
            "d" * 12,
            "abab",
            "a" * least + "b" * (least - 1) + "a" * (least + 1),
        ),
    )


@kind(3)
def brackets(r: Random) -> Problem:
    """Whether brackets match, and how deep they nest."""
    pairs = r.sample(["()", "[]", "{}", "<>"], r.randint(2, 3))
    bad = r.choice(["no", "wrong", "-1", "broken", "bad"])
    kinds = " ".join(pairs)
    closing = "".join(p[1] for p in pairs)
    table = ", ".join(f'"{p[1]}": "{p[0]}"' for p in pairs)

    def nested(r: Random, depth: int) -> str:
        if depth == 0:
            return ""
        a, b = tuple(r.choice(pairs))
        return a + "".join(nested(r, depth - 1) for _ in range(r.randint(1, 2))) + b

    def draw(r: Random) -> str:
        s = nested(r, r.randint(1, 3))
        if r.random() < 0.45:
            at = r.randrange(len(s))
            s = s[:at] + r.choice([closing[0], "", pairs[0][0]]) + s[at + 1 :]
        return lines(s or pairs[0])

    a, b, c = pairs[0][0], pairs[0][1], pairs[1]
    return Problem(
        parameters={"pairs": kinds, "bad": bad},
        say=(
            f"The line consists of brackets of the kinds {kinds}. If every bracket is closed by its partner, in the "
            f"right order, print the greatest depth of nesting, else print {bad}.",
            f"Check the nesting of the brackets {kinds}. Print how deep they nest at most; print {bad} if they do "
            "not match.",
        ),
        reads="one line of one or more brackets",
        prints=f"an integer, or {bad}",
        program=(
            f"partner = {{{table}}}\n"
            "stack, deepest, fine = [], 0, True\n"
            "for c in input():\n"
            "    if c not in partner:\n"
            "        stack.append(c)\n"
            "        deepest = max(deepest, len(stack))\n"
            "    elif not stack or stack.pop() != partner[c]:\n"
            "        fine = False\n"
            "        break\n"
            f'print(deepest if fine and not stack else "{bad}")\n'
        ),
        draw=draw,
        edges=one_each(
            a,
            b,
            a + b,
            b + a,
            a + c[0] + b + c[1],
            (a + b) * 4,
            a * 6 + b * 6,
            a + b + b,
            c[0] + a + b + c[1] + c,
        ),
    )


@kind(4)
def edit_cost(r: Random) -> Problem:
    """Edit distance with given costs."""
    add, drop, change = r.randint(1, 5), r.randint(1, 5), r.randint(1, 9)
    return Problem(
        parameters={"add": add, "drop": drop, "change": change},
        say=(
            f"Turn the first word into the second as cheaply as possible: to insert a letter costs {add}, to delete "
            f"one {drop}, to replace one by another {change}. Print the smallest total cost.",
            f"Print the edit distance of two words, with cost {add} for an insertion, {drop} for a deletion and "
            f"{change} for a replacement, from the first word to the second.",
        ),
        reads="two lines, a word of 1 to 30 lower-case letters on each",
        prints="the smallest cost",
        program=(
            "a, b = input(), input()\n"
            f"row = [j * {add} for j in range(len(b) + 1)]\n"
            "for i, x in enumerate(a, 1):\n"
            f"    new = [i * {drop}]\n"
            "    for j, y in enumerate(b, 1):\n"
            f"        same = row[j - 1] + (0 if x == y else {change})\n"
            f"        new.append(min(same, row[j] + {drop}, new[j - 1] + {add}))\n"
            "    row = new\n"
            "print(row[-1])\n"
        ),
        draw=lambda r: lines(letters(r, 1, 9, "abcd"), letters(r, 1, 9, "abcd")),
        edges=(
            lines("a", "a"),
            lines("a", "b"),
            lines("abc", "c"),
            lines("c", "abc"),
            lines("kitten", "sitting"),
            lines("ab" * 15, "ba" * 14),
        ),
    )


def _with_common_part(r: Random, least: int) -> str:
    same = letters(r, max(1, least - 2), least + 5, "abcde")
    return lines(*(letters(r, 0, 5, "abcde") + same + letters(r, 0, 5, "abcde") for _ in range(2)))


@kind(4)
def common_part(r: Random) -> Problem:
    """Longest common subsequence or substring, with a limit below which it does not count."""
    least = r.randint(1, 8)
    what = r.choice(["subsequence", "substring"])
    word = r.choice(["none", "nothing common", "0", "-1", "short"])
    step = "max(table[i - 1][j], table[i][j - 1])" if what == "subsequence" else "0"
    best = "table[-1][-1]" if what == "subsequence" else "max(map(max, table))"
    hint = (
        "letters in the same order, gaps allowed"
        if what == "subsequence"
        else "letters that stand side by side"
    )
    return Problem(
        parameters={"what": what, "least": least, "word": word},
        say=(
            f"Print the length of the longest common {what} ({hint}) of two words; if it is less than {least}, print "
            f"{word!r}.",
            f"Two words are given. How long is their longest common {what}, that is {hint}? Below {least} print "
            f"{word!r}.",
        ),
        reads="two lines, a word of 1 to 40 lower-case letters on each",
        prints=f"the length, or {word} without quotes",
        program=(
            "a, b = input(), input()\n"
            "table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]\n"
            "for i, x in enumerate(a, 1):\n"
            "    for j, y in enumerate(b, 1):\n"
            f"        table[i][j] = table[i - 1][j - 1] + 1 if x == y else {step}\n"
            f"best = {best}\n"
            f'print(best if best >= {least} else "{word}")\n'
        ),
        draw=lambda r: _with_common_part(r, least),
        edges=(
            lines("a", "b"),
            lines("a", "a"),
            lines("abcd", "dcba"),
            lines("abcabc", "acbacb"),
            lines("x" * 20, "x" * 9),
            lines("q" * least + "r", "s" + "q" * least),
            lines("axbycz", "abc"),
        ),
    )
