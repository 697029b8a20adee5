"""The kinds of `needs-feedback`: their statements, and the options for the fact that the statements omit."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

Arguments = list[Any]


@dataclass(frozen=True)
class FactKind:
    """One kind of task.

    name       topic of its tasks
    statements phrasings; {place} is one of `PLACES`
    functions  names that the function may have
    parameters, returns  their text in the signature
    body       the expression that the function returns; {o} is the option
    options    the K options, all equally likely
    draw       draws the arguments of a test
    public     draws the arguments of the public test, whose result reveals the option; None: the same as `draw`
    """

    name: str
    statements: tuple[str, ...]
    functions: tuple[str, ...]
    parameters: str
    returns: str
    body: str
    options: tuple[Any, ...]
    draw: Callable[[Random], Arguments]
    public: Callable[[Random], Arguments] | None = None

    def signature(self, function: str) -> str:
        """The function's first line."""
        return f"def {function}({self.parameters}) -> {self.returns}:"

    def program(self, function: str, option: Any) -> str:
        """The whole function, with one option for the fact."""
        return f"{self.signature(function)}\n    return {self.body.format(o=option)}\n"


PLACES = (
    "bakery", "harbour", "museum", "library", "clinic", "farm", "garage", "hotel", "school", "theatre", "airport",
    "brewery", "cinema", "factory", "gallery", "garden", "kitchen", "laboratory", "lighthouse", "mill", "nursery",
    "observatory", "orchard", "pharmacy", "quarry", "railway", "shipyard", "stadium", "studio", "tannery", "tavern",
    "temple", "vineyard", "warehouse", "workshop", "zoo", "bank", "circus", "dairy", "embassy", "ferry", "foundry",
    "inn", "market", "mine", "monastery", "office", "palace", "post office", "prison",
)  # fmt: skip
_NAMES = (
    "Ann", "Bob", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ida", "Jon", "Kim", "Leo", "Mia", "Ned", "Ola",
)  # fmt: skip
_WORDS = (
    "red", "fig", "oak", "sun", "map", "tin", "sea", "owl", "ink", "jam", "elm", "box", "cup", "ash", "rye",
)  # fmt: skip


def _phrase(r: Random) -> Arguments:
    return [" ".join(r.sample(_WORDS, r.randint(2, 3)))]


def _number(r: Random) -> Arguments:
    return [r.randint(2, 99)]


def _numbers(least: int, most: int) -> Callable[[Random], Arguments]:
    return lambda r: [[r.randint(1, 99) for _ in range(r.randint(least, most))]]


def _always(*values: Any) -> Callable[[Random], Arguments]:
    return lambda r: [*values]


def _one_of(values: tuple[str, ...]) -> Callable[[Random], Arguments]:
    return lambda r: [r.choice(values)]


_name, _word = _one_of(_NAMES), _one_of(_WORDS)
_DIGITS = (3, 4, 5, 6, 7, 8, 9, 10)
_MARKS = ("-", "/", "|", "_", ":", "+", ".", "~")

KINDS = (
    FactKind(
        "greeting",
        ("The {place} greets everyone with one word of its own. Return that word, a space and the name.",
         "A sign at the {place} shows its greeting word, a space and the guest's name. Return the text of the sign."),
        ("greet", "welcome", "sign"), "name: str", "str", "'{o} ' + name",
        ("Hello", "Hi", "Hey", "Welcome", "Howdy", "Aloha", "Ciao", "Hola"), _name,
    ),
    FactKind(
        "separator",
        ("The {place} joins the parts of a code with one character. Return the code.",
         "Codes of the {place} are parts with a fixed character between them. Return the code of these parts."),
        ("code", "join_parts", "label"), "parts: list", "str", "'{o}'.join(parts)", _MARKS,
        lambda r: [r.sample(_WORDS, r.randint(2, 4))],
    ),
    FactKind(
        "unit",
        ("The {place} writes a weight as the number, a space and its unit. Return that text.",
         "Return a weight as the {place} prints it: the number, a space, the unit in use there."),
        ("weight", "show_weight", "scale"), "n: int", "str", "str(n) + ' {o}'",
        ("kg", "g", "lb", "t", "oz", "mg", "st", "ct"), _number,
    ),
    FactKind(
        "offset",
        ("The {place} adds a fixed number to every count. Return the count that it reports.",
         "Return n plus the number of seats that the {place} always keeps free."),
        ("report", "count", "seats"), "n: int", "int", "n + {o}", _DIGITS, _number, _always(0),
    ),
    FactKind(
        "factor",
        ("Every box at the {place} holds the same number of jars. Return how many jars are in n boxes.",
         "Return the price of n tickets at the {place}, where each costs the same."),
        ("total", "jars", "price"), "n: int", "int", "n * {o}", _DIGITS, _number, _always(1),
    ),
    FactKind(
        "padding",
        ("The {place} fills codes on the left up to 6 characters with one character. Return the filled code.",
         "Return the code as the {place} prints it, 6 wide, filled up on the left with its filling character."),
        ("fill", "pad", "widen"), "code: str", "str", "code.rjust(6, '{o}')",
        ("#", "*", ".", "-", "_", "0", "~", "x"), _word,
    ),
    FactKind(
        "ending",
        ("The {place} keeps its files under the name, a dot and one fixed ending. Return the file's name.",
         "Return the file name that the {place} uses for a topic: the topic, a dot and its usual ending."),
        ("file_name", "path", "file_of"), "name: str", "str", "name + '.{o}'",
        ("txt", "csv", "log", "dat", "xml", "pdf", "doc", "bak"), _word,
    ),
    FactKind(
        "prefix",
        ("Numbers of the {place} begin with three fixed letters and a dash. Return the whole number as text.",
         "Return the paper's mark as the {place} writes it: its letters, a dash and n."),
        ("mark", "number", "paper"), "n: int", "str", "'{o}-' + str(n)",
        ("INV", "ORD", "TKT", "REF", "BIL", "DOC", "REC", "JOB"), _number,
    ),
    FactKind(
        "place_in_list",
        ("Of eight readings the {place} uses the one at a fixed place. Return that reading.",
         "Return the one of eight values that the {place} looks at; it always stands at the same index."),
        ("reading", "pick", "chosen"), "items: list", "int", "items[{o}]", tuple(range(8)), _numbers(8, 8),
        _always([*range(8)]),
    ),
    FactKind(
        "first_few",
        ("The {place} keeps the first few items of a list, always as many. Return those.",
         "Return the beginning of the list, as long as the {place} wants it."),
        ("keep", "top", "beginning"), "items: list", "list", "items[:{o}]", tuple(range(1, 9)), _numbers(9, 11),
        _always([*range(1, 10)]),
    ),
    FactKind(
        "step",
        ("The {place} takes an item, leaves out a fixed number, takes the next, and so on. Return those it takes.",
         "Return the items at every k-th place from the first on, for the k of the {place}."),
        ("every", "thin", "sampled"), "items: list", "list", "items[::{o}]", tuple(range(2, 10)), _numbers(10, 12),
        _always([*range(10)]),
    ),
    FactKind(
        "rounding",
        ("The {place} rounds to a fixed number of decimal places. Return the rounded value.",
         "Return x with as many decimal places as the {place} keeps, rounded."),
        ("rounded", "tidy", "shorten"), "x: float", "float", "round(x, {o})", tuple(range(1, 7)),
        lambda r: [r.randint(1, 9) + r.randint(1_111_111, 9_999_999) / 10_000_000], _always(3.14159265),
    ),
    FactKind(
        "verdict_word",
        ("The {place} has one word for 50 and more; for less it says 'low'. Return the word.",
         "Return 'low' for n under 50, and otherwise the word that the {place} uses."),
        ("grade", "level", "state"), "n: int", "str", "'{o}' if n >= 50 else 'low'",
        ("high", "good", "pass", "fine", "okay", "safe", "top", "full"), lambda r: [r.randint(20, 99)],
        lambda r: [r.randint(60, 99)],
    ),
    FactKind(
        "least",
        ("The {place} charges n, but never less than its least price. Return what it charges.",
         "Return n, or the smallest order that the {place} takes where n is smaller."),
        ("charge", "at_least", "order"), "n: int", "int", "max(n, {o})", (5, 10, 15, 20, 25, 30, 35, 40), _number,
        _always(0),
    ),
    FactKind(
        "most",
        ("The {place} lets in n people, but never more than its limit. Return how many get in.",
         "Return n, or the highest number that the {place} allows where n is higher."),
        ("admit", "at_most", "limited"), "n: int", "int", "min(n, {o})", (50, 60, 70, 80, 90, 100, 120, 150),
        lambda r: [r.randint(10, 200)], _always(999),
    ),
    FactKind(
        "missing",
        ("Return the stock of an item; for what is not listed the {place} gives a fixed number.",
         "Look the item up in the {place}'s table. Return its number, or the usual one where it is missing."),
        ("look_up", "stock_of", "find"), "stock: dict, item: str", "int", "stock.get(item, {o})",
        (-1, 0, 1, 5, 9, 10, 99, 100),
        lambda r: [{word: r.randint(11, 98) for word in r.sample(_WORDS, 3)}, r.choice(_WORDS)],
        lambda r: [{}, r.choice(_WORDS)],
    ),
    FactKind(
        "currency",
        ("The {place} writes a price as its currency's three letters, a space and the number. Return that.",
         "Return the text on the price tag of the {place}: the currency, a space and n."),
        ("price_tag", "cost", "fee"), "n: int", "str", "'{o} ' + str(n)",
        ("USD", "EUR", "GBP", "JPY", "CHF", "SEK", "NOK", "DKK"), _number,
    ),
    FactKind(
        "order",
        ("The {place} stores the three parts as a tuple in an order of its own. Return the tuple.",
         "Return a, b and c as a tuple, in the order in which the {place} lists them."),
        ("ordered", "row", "parts"), "a: int, b: int, c: int", "tuple", "{o}",
        ("(a, b, c)", "(a, c, b)", "(b, a, c)", "(b, c, a)", "(c, a, b)", "(c, b, a)"),
        lambda r: r.sample(range(1, 99), 3), _always(1, 2, 3),
    ),
    FactKind(
        "start",
        ("The {place} numbers its n lines one after another, from a first number of its own. Return the numbers.",
         "Return the list of n numbers in a row that the {place} gives out; the first is always the same."),
        ("numbers", "lines", "tickets"), "n: int", "list", "list(range({o}, {o} + n))",
        (0, 1, 5, 10, 50, 100, 500, 1000), lambda r: [r.randint(2, 6)], _always(1),
    ),
    FactKind(
        "last_mark",
        ("The {place} ends each line with one fixed mark. Return the line with it.",
         "Return the text followed by the mark that the {place} puts at the end."),
        ("close", "end_line", "finish"), "text: str", "str", "text + '{o}'",
        (".", "!", "?", ";", ":", "*", "#", "~"), _phrase,
    ),
    FactKind(
        "brackets",
        ("The {place} puts a word between two marks of its own. Return the word with them.",
         "Return the text as the {place} quotes it: one mark before it and one behind."),
        ("quote", "wrap", "enclose"), "text: str", "str", "'{o[0]}' + text + '{o[1]}'",
        ("()", "[]", "{}", "<>", "||", "**", "//", "##"), _word,
    ),
    FactKind(
        "spaces",
        ("The {place} allows no spaces and writes one character for each. Return the text without spaces.",
         "Return the text with every space replaced by the character that the {place} uses."),
        ("replace_spaces", "slug", "packed"), "text: str", "str", "text.replace(' ', '{o}')",
        ("-", "_", ".", "/", "+", ":", "~", "*"), _phrase,
    ),
    FactKind(
        "key",
        ("The {place} wants the number in a dict under one fixed key. Return the dict.",
         "Return a dict with n under the key that the {place} reads."),
        ("record", "entry", "as_dict"), "n: int", "dict", "{{'{o}': n}}",
        ("total", "count", "value", "size", "amount", "sum", "score", "number"), _number,
    ),
    FactKind(
        "empty",
        ("Return the first number of the list; for an empty one the {place} has a number of its own.",
         "The {place} shows the first item, or a fixed number where there are none. Return what it shows."),
        ("first", "head", "shown"), "items: list", "int", "items[0] if items else {o}",
        (-1, 0, 1, 9, 10, 99, 100, -9), _numbers(0, 3), _always([]),
    ),
    FactKind(
        "between",
        ("The {place} writes two names with a fixed word between them, and spaces around it. Return that.",
         "Return a and b joined by the word that the {place} puts between them, with spaces."),
        ("couple", "both", "title"), "a: str, b: str", "str", "a + ' {o} ' + b",
        ("and", "or", "plus", "with", "then", "versus", "near", "after"), lambda r: r.sample(_WORDS, 2),
    ),
    FactKind(
        "tag",
        ("The {place} puts each text into one HTML element, always the same. Return the element.",
         "Return the text between the opening and the closing tag that the {place} uses."),
        ("html", "element", "tagged"), "text: str", "str", "'<{o}>' + text + '</{o}>'",
        ("b", "i", "u", "p", "em", "li", "td", "h1"), _word,
    ),
    FactKind(
        "title",
        ("The {place} adds a space and the same letters to each name. Return the full name.",
         "Return the name as the {place} prints it: the name, a space and a fixed title."),
        ("full_name", "titled", "badge"), "name: str", "str", "name + ' {o}'",
        ("Jr", "Sr", "PhD", "MD", "Esq", "II", "III", "IV"), _name,
    ),
    FactKind(
        "surcharge",
        ("Return the sum of the items and the fixed fee of the {place}.",
         "The {place} adds the prices up and puts a fixed charge on top. Return what is to be paid."),
        ("bill", "to_pay", "due"), "items: list", "int", "sum(items) + {o}", (10, 20, 30, 40, 50, 60, 70, 80),
        _numbers(1, 4), _always([]),
    ),
    FactKind(
        "letters",
        ("The {place} changes the letters of a text in its own way. Return the changed text.",
         "Return the text in the form in which the {place} prints texts."),
        ("changed", "printed", "form"), "text: str", "str", "text.{o}",
        ("upper()", "lower()", "title()", "capitalize()", "swapcase()", "casefold()[::-1]"),
        lambda r: [f"{w[:-1]}{w[-1].upper()} {v[0]}{v[1].upper()}{v[2:]}" for w, v in [r.sample(_WORDS, 2)]],
        _always("heLLo woRld"),
    ),
    FactKind(
        "ends",
        ("Return the whole numbers from a to b as the {place} counts them: it has its own rule for the two ends.",
         "The {place} lists the days from a to b, some with and some without the ends. Return the list."),
        ("days", "span", "counted"), "a: int, b: int", "list", "list(range(a{o[0]}, b{o[1]}))",
        (("", ""), ("", " + 1"), (" + 1", ""), (" + 1", " + 1"), ("", " - 1"), (" + 1", " - 1")),
        lambda r: [a := r.randint(0, 20), a + r.randint(3, 6)], _always(2, 6),
    ),
)  # fmt: skip
"""All kinds. A test proves that each kind's public test distinguishes its options."""
