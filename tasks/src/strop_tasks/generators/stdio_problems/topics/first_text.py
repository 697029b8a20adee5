"""Problems on a line of text, solved in one or two lines."""

from random import Random

from strop_tasks.generators.stdio_problems.kind import WORDS, Problem, kind, lines, one_each, text, words

_CHANGES = {
    "s[::-1]": "reversed",
    "s.upper()": "in upper case",
    "s.lower()": "in lower case",
    "s[::-1].upper()": "reversed and in upper case",
    "s.swapcase()": "with upper and lower case swapped",
}
_ENDS = ("!", "?", ".", "#", "*", "...", "!!", " <", " ok", ";", "-", "+")


@kind(1)
def changed_line(r: Random) -> Problem:
    """A line reversed or in another case, perhaps followed by a suffix."""
    change, end = r.choice(list(_CHANGES)), r.choice(("", *_ENDS))
    behind = f", followed by {end!r}" if end else ""
    how = f"{_CHANGES[change]}{behind}"
    return Problem(
        parameters={"change": change, "end": end},
        say=(f"Read a line of text and print it {how}.", f"Print the given line {how}."),
        reads="one line of text",
        prints=f"the line {how}",
        program=f"s = input()\nprint({change}{f' + {chr(34)}{end}{chr(34)}' if end else ''})\n",
        draw=lambda r: lines(" ".join(r.choice([w, w.upper(), w.title()]) for w in words(r, 1, 4))),
        edges=("a\n", "Ab\n", "noon Day\n", "x1 Y2 z3\n"),
    )


@kind(1)
def copies(r: Random) -> Problem:
    """A line several times, on lines of its own or joined."""
    n, join = r.randint(2, 12), r.choice(["\\n", "", "-", ", ", "/", "+", " "])
    how = {"\\n": "each on a line of its own", "": "on one line with nothing between them"}.get(
        join, f"on one line with {join!r} between them"
    )
    return Problem(
        parameters={"n": n, "join": join},
        say=(f"Print the given line {n} times, {how}.", f"Read a line and print {n} copies of it, {how}."),
        reads="one line of text",
        prints=f"{n} copies of the line",
        program=f's = input()\nprint("{join}".join([s] * {n}))\n',
        draw=lambda r: lines(text(r, 1, 2)),
        edges=("a\n", "a-b\n", "1 2 3\n"),
    )


@kind(1)
def count_letters(r: Random) -> Problem:
    """How many characters of a line belong to a set of letters."""
    wanted = r.choice(["aeiou", "aeiouy", *r.sample("abcdefghilmnoprstuw", 8)]) + r.choice(
        ["", "x", "z", "q"]
    )
    named = f"one of the letters {', '.join(wanted)}" if len(wanted) > 1 else f"the letter {wanted}"
    return Problem(
        parameters={"letters": wanted},
        say=(
            f"Count how many characters of the line are {named}.",
            f"Read a line of lower-case text. How many of its characters are {named}?",
        ),
        reads="one line of lower-case text",
        prints="the count",
        program=f's = input()\nprint(sum(c in "{wanted}" for c in s))\n',
        draw=lambda r: lines(text(r, 1, 5).lower() + " " + r.choice(wanted) * r.randint(0, 5)).replace(
            " \n", "\n"
        ),
        edges=one_each(
            "b c d", wanted, wanted * 3, f"k{wanted[-1]}k", "the quick brown fox jumps over the lazy dog"
        ),
    )


@kind(1)
def greeting(r: Random) -> Problem:
    """A sentence around a name."""
    word = r.choice(
        ["Hello", "Good morning", "Welcome", "Goodbye", "Dear", "Hi", "Thanks", "Congratulations"]
    )
    mark = r.choice(["!", ".", "?", "!!", "..."])
    sign = r.choice([", ", " ", ": ", " - "])
    return Problem(
        parameters={"word": word, "mark": mark, "sign": sign},
        say=(
            f"Read a name and print {word}{sign}NAME{mark} with the name in place of NAME.",
            f"Greet the person: for the name NAME, print {word}{sign}NAME{mark} on one line.",
        ),
        reads="one line with a name",
        prints="the greeting",
        program=f'name = input()\nprint("{word}{sign}" + name + "{mark}")\n',
        draw=lambda r: lines(" ".join(w.title() for w in words(r, 1, 2))),
        edges=("Al\n", "Mary Ann Lee\n", "O'Neil\n"),
    )


@kind(1)
def part_of_line(r: Random) -> Problem:
    """The first or last characters of a line, or the line without them."""
    k = r.randint(2, 15)
    part, phrase = r.choice(
        [
            (f"s[:{k}]", f"the first {k} characters"),
            (f"s[-{k}:]", f"the last {k} characters"),
            (f"s[{k}:]", f"all but the first {k} characters"),
            (f"s[:-{k}]", f"all but the last {k} characters"),
            (f"s[::{k}]", f"every {k}th character, beginning with the first,"),
            (f"s[{k - 1}]", f"character number {k}, counted from 1,"),
        ]
    )
    return Problem(
        parameters={"part": part},
        say=(f"Print {phrase} of the line.", f"Read a line and print {phrase} of it."),
        reads="one line of at least 16 letters and digits",
        prints=f"{phrase.rstrip(',')}",
        program=f"s = input()\nprint({part})\n",
        draw=lambda r: lines("".join(words(r, 5, 8))),
        edges=("abcdefghijklmnop\n", "0123456789abcdefghijABCDEFGHIJ\n"),
    )


@kind(1)
def replaced(r: Random) -> Problem:
    """One character in place of another."""
    old, new = r.choice("aeiorstn "), r.choice("-_*.+#xX")
    named = "space" if old == " " else f"letter {old}"
    return Problem(
        parameters={"old": old, "new": new},
        say=(
            f"Replace every {named} of the line by {new}.",
            f"Print the line with {new} in place of every {named}.",
        ),
        reads="one line of text",
        prints="the new line",
        program=f's = input()\nprint(s.replace("{old}", "{new}"))\n',
        draw=lambda r: lines(text(r, 2, 5)),
        edges=one_each("k", "to see the ants run into a nest", f"{old}{old}k{old}k", "KEEP THESE LETTERS"),
    )


@kind(1)
def joined_words(r: Random) -> Problem:
    """Two words in the other order, joined."""
    sign = r.choice(
        ["-", "_", ", ", " and ", " or ", "+", "/", "=", " > ", "@", ".", ":", " before ", " loves "]
    )
    order = r.choice(["ab", "ba", "aba", "bab", "abb", "aab", "bba", "baa"])
    return Problem(
        parameters={"sign": sign, "order": order},
        say=(
            f'Read two words a and b. Print the words {", ".join(order)} in this order, with "{sign}" between them.',
            f'Print "{sign.join(order)}" with the two given words in place of a and b.',
        ),
        reads="one line with two words a and b",
        prints="the joined words",
        program=f'a, b = input().split()\nprint("{sign}".join([{", ".join(order)}]))\n',
        draw=lambda r: lines(words(r, 2, 2)),
        edges=("a b\n", "b a\n", "yes no\n", "x x\n"),
    )


@kind(1)
def length_plus(r: Random) -> Problem:
    """Length of a line, or its number of words, with a constant."""
    sign, k = r.choice("+*"), r.randint(2, 50)
    what, code = r.choice([("characters, spaces included", "len(s)"), ("words", "len(s.split())")])
    word = "plus" if sign == "+" else "times"
    return Problem(
        parameters={"what": what, "sign": sign, "k": k},
        say=(
            f"Let n be the number of {what}, of the given line. Print n {sign} {k}.",
            f"Count the {what}, of a line and print the count {word} {k}.",
        ),
        reads="one line of text",
        prints=f"the count {word} {k}",
        program=f"s = input()\nprint({code} {sign} {k})\n",
        draw=lambda r: lines(text(r, 1, 8)),
        edges=("a\n", "a b\n", "one two three four five\n"),
    )


@kind(1)
def word_number(r: Random) -> Problem:
    """The word at a given place of a line, changed."""
    k = r.randint(1, 9)
    place, at = r.choice(
        [
            (f"word number {k} from the left, counted from 1", k - 1),
            (f"word number {k} from the right, counted from 1", -k),
        ]
    )
    change, how = r.choice([("", ""), (".upper()", " in upper case"), ("[::-1]", " reversed")])
    return Problem(
        parameters={"at": at, "change": change},
        say=(f"Print {place}, of the line{how}.", f"Read a line of words and print {place}{how}."),
        reads="one line with at least 9 words, with single spaces between them",
        prints=f"the word{how}",
        program=f"words = input().split()\nprint(words[{at}]{change})\n",
        draw=lambda r: lines(r.sample(WORDS, r.randint(9, 12))),
        edges=("a b c d e f g h i\n", "Zoe Y X w V u T s R q P\n"),
    )


@kind(1)
def between_marks(r: Random) -> Problem:
    """A line between a given start and end, or with its ends cut."""
    front, back = r.sample(["<", ">", "[", "]", "(", ")", "*", "|", "=", "--", "##", "{", "}", "/"], 2)
    return Problem(
        parameters={"front": front, "back": back},
        say=(
            f"Print the line with {front} in front of it and {back} behind it, without spaces between.",
            f"Put {front} before and {back} after the given line.",
        ),
        reads="one line of text",
        prints="the line between the two marks",
        program=f's = input()\nprint("{front}" + s + "{back}")\n',
        draw=lambda r: lines(text(r, 1, 3)),
        edges=("a\n", "1 2\n", f"{front}\n", f"x {back}\n"),
    )
