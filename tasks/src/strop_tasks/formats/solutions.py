"""Adds the imports that solutions from LeetCode and similar sites rely on.

These sites run a solution below their own imports (`List`, `defaultdict`, `heappush`, `inf`, ...). An answer is
verified as it is, so a reference needs the imports spelled out.
"""

import ast
import re
import warnings

from strop_verify.code.python import source as pysource
from strop_verify.code.python.source import UNPARSABLE, tree_of

_MODULES = {
    "typing": "Any Callable DefaultDict Deque Dict FrozenSet Iterable Iterator List Optional Sequence Set Tuple Union",
    "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
    "functools": "cache cmp_to_key lru_cache reduce",
    "heapq": "heapify heappop heappush heappushpop heapreplace nlargest nsmallest",
    "bisect": "bisect bisect_left bisect_right insort",
    "itertools": "accumulate chain combinations count cycle groupby islice pairwise permutations product repeat "
    "zip_longest",
    "math": "ceil comb factorial floor gcd inf isqrt lcm log2 perm sqrt",
    "string": "ascii_lowercase ascii_uppercase",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}
_WHOLE = {
    "bisect", "collections", "copy", "datetime", "functools", "heapq", "itertools", "math", "operator", "random", "re",
    "string", "sys",
}  # fmt: skip


def with_imports(code: str) -> str:
    """The code, preceded by imports of the well-known names that it uses without binding them; `bisect.x` means the
    module."""
    lines = _missing(code)
    if lines and "__future__" in code:
        return pysource.under("\n".join(lines), code)
    return "\n".join(lines) + "\n\n" + code if lines else code


def starter_signature(starter: str) -> str:
    """Starter code, preceded by an import of the `typing` names that it uses without importing them."""
    if not starter.strip() or re.search(r"^\s*(?:from|import) ", starter, re.M):
        return starter
    used = [name for name in _MODULES["typing"].split() if re.search(rf"\b{name}\b", starter)]
    return f"from typing import {', '.join(used)}\n\n\n{starter}" if used else starter


def signature(starter: str, reference: str, name: str) -> str:
    """The signature of a function task: its starter code, or else the header of the reference's function, or else
    ""."""
    if starter.strip():
        return starter_signature(starter)
    try:
        with warnings.catch_warnings(action="ignore"):
            return pysource.signature_of(reference, name)
    except UNPARSABLE:
        return ""


def _missing(code: str) -> list[str]:
    """Import lines for what the code uses without binding it; none for code that cannot be parsed."""
    try:
        nodes = list(ast.walk(tree_of(code)))
    except UNPARSABLE:
        return []
    if any(isinstance(n, ast.ImportFrom) and any(a.name == "*" for a in n.names) for n in nodes):
        return []
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    bound |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    bound |= {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(a.asname or a.name).partition(".")[0] for a in node.names}
    used = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)} - bound
    dotted = {n.value.id for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)}
    modules = sorted(used & dotted & _WHOLE)
    lines = [f"import {module}" for module in modules]
    for home in _MODULES:
        names = sorted(name for name in used - set(modules) if _HOME.get(name) == home)
        lines += [f"from {home} import {', '.join(names)}"] if names else []
    return lines
