"""The parts of Python and its standard library whose results depend only on arguments and files.

Nothing listed reads a clock, the environment or the process, and nothing changes its arguments.
"""

BUILTINS = frozenset(
    """
    abs all any ascii bin bool bytes chr complex dict divmod enumerate filter float format frozenset hex int
    isinstance len list map max min next iter oct open ord pow range repr reversed round set slice sorted str sum
    tuple zip object __file__ True False None
    """.split()  # noqa: SIM905
)
LIBRARY = {
    "ast": "literal_eval",
    "base64": "*",
    "binascii": "*",
    "bz2": "open compress decompress",
    "cmath": "*",
    "codecs": "open encode decode",
    "collections": "Counter OrderedDict deque",
    "copy": "copy deepcopy",
    "csv": "reader DictReader excel",
    "datetime": "date datetime time timedelta timezone UTC",
    "decimal": "Decimal",
    "difflib": "unified_diff ndiff get_close_matches",
    "fractions": "Fraction",
    "functools": "reduce partial cmp_to_key",
    "gzip": "open decompress",
    "hashlib": "*",
    "heapq": "nlargest nsmallest merge",
    "html": "escape unescape",
    "inspect": "cleandoc",
    "io": "open StringIO BytesIO",
    "ipaddress": "*",
    "itertools": "*",
    "json": "loads load dumps",
    "lzma": "open compress decompress",
    "math": "*",
    "operator": "itemgetter attrgetter methodcaller add sub mul truediv floordiv mod neg eq ne lt le gt ge",
    "os": "fspath fsencode fsdecode sep linesep path",
    "os.path": "join dirname basename abspath normpath splitext split realpath relpath isabs commonprefix",
    "pathlib": "Path PurePath PurePosixPath PosixPath",
    "pprint": "pformat",
    "re": "compile match search fullmatch findall finditer sub subn split escape I M S X DOTALL VERBOSE MULTILINE",
    "statistics": "*",
    "string": "*",
    "struct": "*",
    "textwrap": "*",
    "tomllib": "load loads",
    "unicodedata": "*",
    "urllib.parse": "*",
    "uuid": "UUID",
    "zlib": "*",
}
_PURE_TYPES = (str, bytes, int, float, complex, tuple, frozenset, range)
_MORE_METHODS = """
get keys values items read readline readlines read_text read_bytes open with_name with_suffix with_stem
joinpath resolve absolute relative_to as_posix is_absolute hexdigest digest getvalue group groups groupdict
span start end match search fullmatch findall finditer sub subn most_common elements isoformat strftime
strptime fromisoformat date time total_seconds toordinal weekday isoweekday isocalendar combine
limit_denominator quantize
"""
METHODS = frozenset(
    name for kind in _PURE_TYPES for name in dir(kind) if not name.startswith("_")
) | frozenset(_MORE_METHODS.split())
LISTING = frozenset({"glob", "rglob", "iterdir", "exists", "is_file", "is_dir"})
"""Methods that ask which files exist: clean only before a test has run."""
CHANGING = {
    "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "setdefault", "add", "discard",
}  # fmt: skip
OPENERS = frozenset({"open"})


def permitted(full: str) -> bool:
    """Whether a dotted name is a listed member."""
    module, _, name = full.rpartition(".")
    names = LIBRARY.get(module, "")
    return bool(name) and not name.startswith("_") and (names == "*" or name in names.split())


def is_library(name: str) -> bool:
    """Whether a dotted name is in a module that clean expressions may use."""
    return name.partition(".")[0] in {"builtins", *(one.partition(".")[0] for one in LIBRARY)}
