"""Replaces the clean expressions of a test file by the values that they had in the unedited project.

A value is used only if two runs gave the same one, it is plain, and nothing that the tests do can change it: no object
that it is read from is passed to code that is not clean, no file that it is read from is named to such code or changed
by the edit. Loops over clean values are unrolled, and parametrized tests become one test for each set of parameters.
"""

import ast
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from strop_verify.verification.project.control_helpers import written
from strop_verify.verification.project.expression_sites import (
    NO_VALUE,
    Mention,
    Root,
    Site,
    SiteLoop,
    SiteProbe,
    in_rounds,
    plain,
)
from strop_verify.verification.project.pin_scope import (
    clean_parameters,
    enters,
    functions_of,
    names_file,
    patches,
    patches_text,
    texts_of,
    unread,
)  # fmt: skip
from strop_verify.verification.project.pure_expressions import Module
from strop_verify.verification.project.runs import PinnedValue
from strop_verify.verification.project.sites import SiteFinder

_MOST_CHARS = 400_000
_MOVES = re.compile(r"chdir|as_cwd|pytester|testdir|isolated_filesystem|working_dir")


Values = Sequence[Mapping[str, PinnedValue]]
"""For each probe of a file, its results by test id, or under "" if it has no parameters."""


@dataclass(frozen=True)
class Place:
    """A test file, and the relevant part of its surroundings."""

    home: str
    rests: tuple[str, ...]
    """The test ids, without the file."""
    hidden: frozenset[str] = frozenset()
    """Modules of the project that have the name of a standard-library module."""
    helpers: str = ""
    """Text of the conftest files."""


class FilePins:
    """What can be pinned in one parsed file. Without `values`, it only lists what to probe."""

    def __init__(
        self, tree: ast.Module, place: Place, values: Values = (), changed: Collection[str] = ()
    ) -> None:
        self.tree, self.place, self._values, self._changed = tree, place, values, changed
        self._module = Module(tree, place.hidden)
        self._finder = SiteFinder(self._module)
        wanted = {rest.partition("[")[0].rpartition("::")[2] for rest in place.rests}
        self.functions = [one for one in functions_of(tree, wanted) if not self._module.helper(one[0])]
        self.parameters = {
            owner: clean_parameters(function, marks, self._module)
            for owner, function, marks in self.functions
        }
        functions = [(owner, one, self.parameters[owner]) for owner, one, _ in self.functions]
        self._finder.look(
            tree, functions, unread(tree, wanted, self._module, {one for _, one, _ in functions})
        )
        self._sites: dict[ast.AST, Site] = {}
        for site in self._finder.sites:
            self._register(site)
        self._room = _MOST_CHARS
        self._judge()

    def probes(self) -> list[SiteProbe]:
        """What to evaluate; nothing if no clean expression calls more than a few simple built-ins."""
        worth = any(
            isinstance(node, ast.Call) and not _plain_range(node)
            for site in self._finder.sites
            for node in ast.walk(site.node)
        )
        return self._finder.probes if worth else []

    def value(self, site: Site, test: str, rounds: Mapping[SiteLoop, int]) -> ast.expr | None:
        """What to write in place of a site in a test, in these iterations of the loops around it."""
        told = self.told(site.probe, test)
        if told is None or not told.value or not self.allowed(site, test):
            return None
        value = in_rounds(plain(told.value), site.loops, rounds)
        text = "" if value is NO_VALUE else repr(value)
        if not text or len(text) > self._room:
            return None
        self._room -= len(text)
        return written(value)

    def allowed(self, site: Site, test: str, counts: SiteLoop | None = None) -> bool:
        """Whether its value, or how many iterations it gives loop `counts`, is independent of the project's code."""
        told = self.told(site.probe, test)
        if told is None or site.owner in self._patched or self._meets(site, counts):
            return False
        if not self._read_once(site.mentions, site.around, test):
            return False
        return self._reads_alike(site, test, told)

    def _given(self, probe: SiteProbe) -> Mapping[str, PinnedValue]:
        return self._values[probe.number] if probe.number < len(self._values) else {}

    def told(self, probe: SiteProbe, test: str) -> PinnedValue | None:
        """The result of a probe in a test."""
        return self._given(probe).get(test if probe.parameters else "")

    def literal(self, probe: SiteProbe, test: str) -> str:
        """The result of a probe as a literal, or an empty text."""
        told = self.told(probe, test)
        return told.value if told else ""

    def loop(self, node: ast.AST) -> SiteLoop | None:
        """The statement's loop record, if it is a loop over clean values."""
        return self._finder.loops.get(node) if isinstance(node, ast.For) else None

    def site(self, node: ast.AST) -> Site | None:
        """The expression's site, if it is one."""
        return self._sites.get(node)

    def _register(self, site: Site) -> None:
        self._sites[site.node] = site
        for inner in site.inside:
            self._register(inner)

    def _judge(self) -> None:
        """Finds what is passed to other code: mutable objects and file names."""
        self._unsafe = _closure(self._finder.unsafe)
        self._handed: dict[ast.AST, set[str]] = {}
        for site in self._finder.sites:
            if site.escapes:
                given = self._given(site.probe)
                handed = self._handed.setdefault(site.owner, set())
                for told in given.values():
                    handed.update(told.named)
                if not given or any(told.kind != "fixed" for told in given.values()):
                    self._unsafe += _closure(site.mentions)
        tops = {site.node for site in self._finder.sites}
        for _, function, _ in self.functions:
            self._handed.setdefault(function, set()).update(texts_of(function, tops))
        others = [one for _, one, _ in self.functions if not one.name.startswith("test")]
        self._everywhere = {name for one in others for name in self._handed[one]}
        all_patched = any(patches(one, self._module) for one in others) or patches_text(self.place.helpers)
        self._patched = {
            function for _, function, _ in self.functions if all_patched or patches(function, self._module)
        }
        self._moves = bool(_MOVES.search(ast.unparse(self.tree) + self.place.helpers))

    def _read_once(self, mentions: Collection[Mention], around: ast.AST | None, test: str) -> bool:
        """Whether objects that change when read, such as files, are read in one place, as often as they are made."""
        for root in {mention.root for mention in mentions}:
            told = self.told(root.probe, test) if root.probe else None
            if told is None or (told.kind == "other" and (root.loads > 1 or root.around is not around)):
                return False
            if not self._read_once(root.made_of, root.made_in, test):
                return False
        return True

    def _meets(self, site: Site, counts: SiteLoop | None) -> bool:
        """Whether an object that it is read from is passed on; with `counts`, passing on parts does not matter."""
        for one, via in _closure(site.mentions):
            if self._fixed(one.root):
                continue
            for other, other_via in self._unsafe:
                below = counts is not None and (other_via is counts.root or len(other.path) > len(one.path))
                if one.meets(other) and not below and not (via is other_via and one.root is not via):
                    return True
        return False

    def _fixed(self, root: Root) -> bool:
        """Whether nothing can change what a name holds."""
        given = self._given(root.probe) if root.probe else {}
        return bool(given) and all(told.kind == "fixed" for told in given.values())

    def _reads_alike(self, site: Site, test: str, told: PinnedValue) -> bool:
        reads = set(told.reads)
        for root in {one.root for one, _ in _closure(site.mentions)}:
            if root.probe and (also := self.told(root.probe, test)):
                reads |= set(also.reads)
        for path in self._changed:
            if path in reads or os.path.dirname(path) in reads:
                return False
        if isinstance(site.owner, ast.Module):
            return True
        handed = self._handed.get(site.owner, set()) | self._everywhere
        if any(names_file(text, path) for path in reads for text in handed):
            return False
        return not told.relative or not (self._moves or enters(site.owner, self._sites))


def _closure(mentions: Collection[Mention]) -> list[tuple[Mention, Root]]:
    """Mentions and what they are made of, each with the root that led to it."""
    found = []
    for mention in mentions:
        found.append((mention, mention.root))
        todo, seen = list(mention.root.made_of), {mention.root}
        while todo:
            one = todo.pop()
            found.append((one, mention.root))
            if one.root not in seen:
                seen.add(one.root)
                todo += one.root.made_of
    return found


def _plain_range(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in ("range", "len", "pow", "str", "list", "int")
