"""Lines of words, and records."""

from random import Random

from strop_tasks.generators.stdio_problems.kind import Problem, kind, lines, one_each, words

_SHORT = ("map", "sun", "ant", "box", "cat", "dog", "owl", "jam")


@kind(2)
def words_by_length(r: Random) -> Problem:
    """The words of a line longer or shorter than k, or how many there are."""
    k = r.randint(2, 8)
    sign, phrase = r.choice([(">", "longer than"), ("<", "shorter than"), ("==", "exactly")])
    what = r.choice(["count", "list", "letters", "longest"])
    how, code = {
        "count": ("Count the words that are", "print(len(w))"),
        "list": ("Print, in their order and on one line, the words that are", 'print(*w or ["none"])'),
        "longest": (
            "Print the first, in the alphabet, of the words that are",
            'print(min(w, default="none"))',
        ),
        "letters": ("Print the total number of letters of the words that are", 'print(len("".join(w)))'),
    }[what]
    long = f"{phrase} {k} characters{' long' if sign == '==' else ''}"
    return Problem(
        parameters={"k": k, "sign": sign, "what": what},
        say=(f"{how} {long}.", f"Read a line of words. {how} {long}."),
        reads="one line of lower-case words with single spaces between them",
        prints={"list": "the words, or none when there are none", "longest": "the word, or none"}.get(
            what, "an integer"
        ),
        program=f"w = [x for x in input().split() if len(x) {sign} {k}]\n{code}\n",
        draw=lambda r: lines([w.lower() for w in words(r, 3, 8)] + ["y" * r.choice([k - 1, k, k + 1])]),
        edges=one_each(
            "a",
            "a" * k,
            "b" * (k + 1),
            f"{'c' * (k - 1)} {'d' * k} {'e' * (k + 1)}",
            "x yy zzz wwww vvvvv uuuuuu ttttttt",
        ),
    )


@kind(2)
def frequent(r: Random) -> Problem:
    """The most or least frequent letters or words, ties by the alphabet."""
    unit, split = r.choice([("word", "input().split()"), ("letter", 'input().replace(" ", "")')])
    most, k = r.choice(["most", "least"]), r.randint(1, 4)
    key = "(-s.count(x), x)" if most == "most" else "(s.count(x), x)"
    some = unit if k == 1 else f"{k} {unit}s"
    join, joined = r.choice(
        [(" ", "spaces"), ("-", "hyphens"), (",", "commas"), ("/", "slashes"), ("+", "plus signs")]
    )
    return Problem(
        parameters={"unit": unit, "most": most, "k": k, "join": join},
        say=(
            f"Print the {some} that occur{'s' if k == 1 else ''} {most} often in the line; ties go to the one that "
            "is first in the alphabet.",
            f"Order the different {unit}s of the line by how often they occur, {most} often first, equal ones "
            f"alphabetically. Print the first {k}.",
        ),
        reads=f"one line of lower-case words, with at least {k} different {unit}s",
        prints=f"the {unit}{'' if k == 1 else 's'} in that order, on one line with {joined} between them",
        program=f's = {split}\nprint("{join}".join(sorted(set(s), key=lambda x: {key})[:{k}]))\n',
        draw=lambda r: lines(["sun", "map", "ant", "ox", *r.choices(r.sample(_SHORT, 5), k=9)]),
        edges=one_each("ab bc cd da", "bb aa cc bb dd aa", "c c c b b a d", "a b c d e f", "z y x z y z w"),
    )


@kind(3)
def grouped_words(r: Random) -> Problem:
    """Words grouped by a property, one group per line."""
    what, key = r.choice(
        [
            ("first letter", "w[0]"),
            ("last letter", "w[-1]"),
            ("length", "len(w)"),
            ("number of vowels", 'sum(c in "aeiou" for c in w)'),
        ]
    )
    order, code = r.choice(
        [
            ("in the order of the line", "group"),
            ("sorted alphabetically", "sorted(group)"),
            ("in reverse order of the line", "group[::-1]"),
        ]
    )
    sign = r.choice([":", " ->", " =", " |"])
    return Problem(
        parameters={"what": what, "order": order, "sign": sign},
        say=(
            f"Group the words by their {what}. For each group, in ascending order of the {what}, print a line: the "
            f"{what}, "
            f'"{sign}", a space, and the words {order}.',
        ),
        reads="one line of lower-case words with single spaces between them",
        prints=f'a line for each group, such as "X{sign} word word"',
        program=(
            "groups = {}\n"
            "for w in input().split():\n"
            f"    groups.setdefault({key}, []).append(w)\n"
            "for key, group in sorted(groups.items()):\n"
            f'    print(f"{{key}}{sign}", *{code})\n'
        ),
        draw=lambda r: lines([w.lower() for w in words(r, 4, 9)]),
        edges=one_each("a", "cab bad cab abb", "zebra apple zoo ant zip", "bbb aa c dddd a"),
    )


@kind(3)
def table_of_records(r: Random) -> Problem:
    """Totals by name, filtered and sorted."""
    least, order = r.randint(5, 60), r.choice(["name", "total"])
    by = "names in alphabetical order" if order == "name" else "totals from high to low, equal totals by name"
    key = "t" if order == "name" else "(-t[1], t[0])"
    return Problem(
        parameters={"least": least, "order": order},
        say=(
            "Each line holds a name and an integer. Add up the integers of every name and print the names whose "
            f"total is at least {least}, with their totals: {by}.",
            f"Sum the points of each player. Print every player with at least {least} points in all, {by}.",
        ),
        reads="the number of lines n, 1 to 50, then n lines with a name and an integer of 0 to 100 each",
        prints='a line "NAME TOTAL" each, or the word nobody',
        program=(
            "totals = {}\n"
            "for _ in range(int(input())):\n"
            "    name, points = input().split()\n"
            "    totals[name] = totals.get(name, 0) + int(points)\n"
            f"rows = sorted((t for t in totals.items() if t[1] >= {least}), key=lambda t: {key})\n"
            "for name, total in rows:\n"
            "    print(name, total)\n"
            "if not rows:\n"
            '    print("nobody")\n'
        ),
        draw=lambda r: lines(
            n := r.randint(3, 8),
            *([r.choice(["Anna", "Bob", "Clara", "Dan"]), r.randint(0, least)] for _ in range(n)),
        ),
        edges=(
            lines(1, ["Anna", least]),
            lines(1, ["Anna", least - 1]),
            lines(2, ["Bob", least], ["Anna", least]),
            lines(3, ["Bob", least - 1], ["Anna", least + 5], ["Bob", 1]),
            lines(2, ["Al", 0], ["Bo", 0]),
            lines(4, ["Zoe", 90], ["Amy", 80], ["Kim", 95], ["Amy", 20]),
        ),
    )


@kind(2)
def title_rule(r: Random) -> Problem:
    """Every kth word changed."""
    k = r.randint(2, 5)
    how, code = r.choice(
        [
            ("in upper case", "w[i].upper()"),
            ("reversed", "w[i][::-1]"),
            ("left out", '""'),
            ("in brackets", '"[" + w[i] + "]"'),
        ]
    )
    start = r.randint(1, k)
    return Problem(
        parameters={"k": k, "how": how, "start": start},
        say=(
            f"Print the words of the line with word number {start}, {start + k}, {start + 2 * k}, ... (counted from "
            f"1) {how}.",
            f"Beginning with word number {start}, every word that is a multiple of {k} places on is printed {how}; the "
            "other words stay as they are.",
        ),
        reads="one line with at least 5 lower-case words, with single spaces between them",
        prints="the words on one line with single spaces between them",
        program=(
            "w = input().split()\n"
            f"for i in range({start - 1}, len(w), {k}):\n"
            f"    w[i] = {code}\n"
            "print(*[x for x in w if x])\n"
        ),
        draw=lambda r: lines([w.lower() for w in words(r, 5, 9)]),
        edges=("ab cd ef gh ij\n", "a b c d e f g h i j k l m n\n", "same same same same same same\n"),
    )
