"""Finds the clean expressions of a test file, and what to evaluate to get their values.

Each is rewritten in terms of module names and parameters only, so that it can be evaluated by itself; inside loops over
clean values it yields a tuple per loop. An expression that passes a mutable object to code that is not clean is marked:
other expressions that read the object are then not pinned.
"""

import ast
import copy
from collections import Counter
from collections.abc import Iterable

from strop_verify.core.syntax import syntax_tree
from strop_verify.verification.project.control_helpers import call_of
from strop_verify.verification.project.expression_sites import Bound, Mention, Root, Site, SiteLoop, SiteProbe
from strop_verify.verification.project.pure_expressions import Function, Module, times_bound

_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_NESTED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_MOST_SITES = 600
_MANY = 99


class SiteFinder:
    """Finds the sites of a module and of some of its functions."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.sites: list[Site] = []
        """Outermost sites."""
        self.probes: list[SiteProbe] = []
        self.loops: dict[ast.For, SiteLoop] = {}
        self.unsafe: list[Mention] = []
        """What is read by code that may run at any time, such as nested functions."""
        self.roots: dict[str, Root] = {}
        """Roots of the module's names."""

    def look(
        self,
        tree: ast.Module,
        functions: Iterable[tuple[str, Function, frozenset[str]]],
        others: Iterable[ast.AST],
    ) -> None:
        """`functions`: qualified name, function, clean parameters; `others`: code that may do anything."""
        for name in sorted(self.module.clean_names):
            self.roots[name] = Root(probe=self.probe("", name, False), loads=_MANY)
        outer = SiteScope(self, tree, "", frozenset())
        outer.block(tree.body, (), None)
        for one in others:
            outer.unsafe(one)
        for owner, function, parameters in functions:
            SiteScope(self, function, owner, parameters).block(function.body, (), None)

    def probe(self, owner: str, text: str, parameters: bool) -> SiteProbe:
        """Adds a numbered probe."""
        self.probes.append(SiteProbe(owner, text, parameters, len(self.probes)))
        return self.probes[-1]


class SiteScope:
    """The sites of one function, or of the module itself."""

    def __init__(self, finder: SiteFinder, node: ast.AST, owner: str, parameters: frozenset[str]) -> None:
        self._finder, self._node, self._owner = finder, node, owner
        self._early = isinstance(node, ast.Module)
        self._times = times_bound(node)
        names_read = (one for one in ast.walk(node) if isinstance(one, ast.Name))
        self._loads = Counter(one.id for one in names_read if isinstance(one.ctx, ast.Load))
        names = sorted(name for name in parameters if self._times.get(name) == 1)
        root = Root(loads=_MANY)
        if names:
            root.probe = finder.probe(owner, f"({', '.join(names)},)", True)
        self._bound = {name: Bound(Mention(root, (name,)), parameter=name) for name in names}

    def block(self, body: list[ast.stmt], loops: tuple[SiteLoop, ...], around: ast.AST | None) -> None:
        """Reads statements in order."""
        for statement in body:
            self._statement(statement, loops, around)

    def _statement(self, node: ast.stmt, loops: tuple[SiteLoop, ...], around: ast.AST | None) -> None:
        def look(one: ast.expr | None, inert: bool = False) -> None:
            self._expression(one, loops, around, inert)

        if isinstance(node, _NESTED):
            if self._early and isinstance(node, ast.FunctionDef | ast.ClassDef):
                self._outer(node)
            else:
                self.unsafe(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            bound = (
                not self._early and len(targets) == 1 and self._bind(targets[0], node.value, loops, around)
            )
            look(node.value, inert=bound or (self._early and all(isinstance(t, ast.Name) for t in targets)))
            for target in targets:
                self._stored(target)
        elif isinstance(node, ast.For):
            loop = self._loop(node, loops, around)
            look(node.iter, inert=loop is not None)
            self.block(node.body, (*loops, loop) if loop else loops, node)
            self.block(node.orelse, loops, around)
        elif isinstance(node, ast.With):
            for item in node.items:
                if isinstance(item.optional_vars, ast.Name):
                    self._bind(item.optional_vars, item.context_expr, loops, around)
                look(item.context_expr, inert=True)
            self.block(node.body, loops, around)
        elif isinstance(node, ast.If | ast.While):
            look(node.test, inert=True)
            self.block(node.body, loops, node if isinstance(node, ast.While) else around)
            self.block(node.orelse, loops, around)
        elif isinstance(node, ast.Try):
            for part in (node.body, *(one.body for one in node.handlers), node.orelse, node.finalbody):
                self.block(part, loops, around)
        elif isinstance(node, ast.Assert):
            look(node.test, inert=True)
        elif isinstance(node, ast.Expr | ast.Return):
            look(node.value)
        else:
            self.unsafe(node)

    def _outer(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        """A function or class of the module: values in its parametrize marks, and the class's own statements."""
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("parametrize"):
                for one in mark.args[1:2]:
                    self._expression(one, (), None, inert=True)
        if isinstance(node, ast.ClassDef):
            if times_bound(node).keys() & self._times.keys():
                self.unsafe(node)  # a name in it may hide the module's
            else:
                self.block(node.body, (), None)

    def _stored(self, target: ast.expr) -> None:
        """Marks objects that an assignment changes as unsafe."""
        if isinstance(target, ast.Attribute | ast.Subscript):
            self.unsafe(target)
        elif isinstance(target, ast.Tuple | ast.List):
            for one in target.elts:
                self._stored(one)

    def unsafe(self, node: ast.AST) -> None:
        """Marks everything that unanalysed code reads: it may be changed at any time."""
        for one in ast.walk(node):
            if isinstance(one, ast.Name):
                self._finder.unsafe += self._mentions(one)

    def _bind(
        self, target: ast.expr, value: ast.expr, loops: tuple[SiteLoop, ...], around: ast.AST | None
    ) -> bool:
        if not self._clean(value):
            return False
        inlined, mentions = self._inlined(value), self._mentions(value)
        alias = next(iter(mentions)) if len(mentions) == 1 and _path_of(value) else None
        root = alias.root if alias else Root(tuple(mentions), around=around, made_in=around)
        if not alias:
            root.probe = self._probe(inlined, loops, value)
        return self._names(target, inlined, Mention(root, alias.path if alias else ()), loops)

    def _names(
        self, target: ast.expr, value: ast.expr | None, part: Mention, loops: tuple[SiteLoop, ...]
    ) -> bool:
        if isinstance(target, ast.Name):
            if self._times.get(target.id) != 1:
                return False
            part.root.loads += self._loads[target.id]
            self._bound[target.id] = Bound(part, value, loops)
            return True
        if not isinstance(target, ast.Tuple) or any(isinstance(one, ast.Starred) for one in target.elts):
            return False
        bound = True
        for number, one in enumerate(target.elts):
            listed = None if value is None else call_of("list", copy.deepcopy(value))
            item = listed and ast.Subscript(value=listed, slice=ast.Constant(number), ctx=ast.Load())
            bound &= self._names(one, item, Mention(part.root, (*part.path, number)), loops)
        return bound

    def _loop(self, node: ast.For, loops: tuple[SiteLoop, ...], around: ast.AST | None) -> SiteLoop | None:
        if self._early or not self._clean(node.iter):
            return None
        names = {one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)}
        if any(self._times.get(name) != 1 for name in names):
            return None
        inlined = self._inlined(node.iter)
        root = Root(tuple(self._mentions(node.iter)), around=node, made_in=around)
        length = self._probe(call_of("len", call_of("list", inlined)), loops, node.iter)
        root.probe = self._probe(call_of("tuple", inlined), loops, node.iter)
        loop = SiteLoop(node, inlined, loops, root, length, root.probe)
        self._finder.loops[node] = loop
        return loop if self._names(node.target, None, Mention(root), (*loops, loop)) else None

    def _expression(
        self, node: ast.AST | None, loops: tuple[SiteLoop, ...], around: ast.AST | None, inert: bool
    ) -> None:
        stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        if node is None or stored or isinstance(node, ast.Constant):
            return
        if isinstance(node, ast.expr) and self._clean(node):
            if site := self._site(node, loops, around, escapes=not inert):
                self._finder.sites.append(site)
            return
        called = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
        same = isinstance(node, ast.Compare) and any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)
        if (
            same
            or isinstance(node, ast.Lambda | ast.JoinedStr)
            or called in ("id", "assertIs", "assertIsNot")
        ):
            self.unsafe(node)  # runs later, or depends on identity, which a copy lacks
            return
        hidden: dict[str, Bound] = {}
        if isinstance(node, _COMPREHENSIONS):
            around = node
            names = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
            hidden = {name: self._bound.pop(name) for name in names if name in self._bound}
        passes = isinstance(node, ast.UnaryOp | ast.BoolOp | ast.Tuple | ast.List | ast.Dict)
        quiet = isinstance(node, ast.Compare) or called.startswith("assert") or called == "approx"
        for child in ast.iter_child_nodes(node):
            if isinstance(node, ast.Call) and child is node.func:
                child = getattr(child, "value", None) or ast.Constant(None)
                self._expression(child, loops, around, inert=False)
            elif isinstance(child, ast.expr | ast.keyword | ast.comprehension):
                self._expression(child, loops, around, inert=quiet or (passes and inert))
        self._bound |= hidden

    def _site(
        self, node: ast.expr, loops: tuple[SiteLoop, ...], around: ast.AST | None, escapes: bool
    ) -> Site | None:
        mentions = frozenset(self._mentions(node))
        calls = any(isinstance(one, ast.Call) for one in ast.walk(node))
        if not (mentions or calls) or len(self._finder.probes) > _MOST_SITES:
            return None
        probe = self._probe(self._inlined(node), loops, node)
        site = Site(node, probe, mentions, loops, around, escapes, self._node)
        if not isinstance(node, ast.JoinedStr | _COMPREHENSIONS | ast.Lambda):
            for child in ast.iter_child_nodes(node):
                inner = (
                    child.value if isinstance(child, ast.Attribute) and isinstance(node, ast.Call) else child
                )
                inner = inner.value if isinstance(inner, ast.keyword) else inner
                if not isinstance(inner, ast.expr) or not self._clean(inner):
                    continue
                if below := self._site(inner, loops, around, escapes=False):
                    site.inside.append(below)
        return site

    def _probe(self, inlined: ast.expr, loops: tuple[SiteLoop, ...], node: ast.expr) -> SiteProbe:
        text = ast.unparse(inlined)
        for loop in reversed(loops):
            text = f"tuple({text} for {ast.unparse(loop.node.target)} in {ast.unparse(loop.iterable)})"
        names = {bound.parameter for bound in self._bound.values()} - {""}
        used = {one.id for one in ast.walk(syntax_tree(text)) if isinstance(one, ast.Name)}
        return self._finder.probe(self._owner, text, bool(names & used))

    def _clean(self, node: ast.AST) -> bool:
        inner = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
        for one in ast.walk(node):
            if isinstance(one, ast.comprehension):
                inner |= {name.id for name in ast.walk(one.target) if isinstance(name, ast.Name)}
        if inner & self._times.keys() and not self._early:
            return False
        unknown = self._times.keys() - self._bound.keys() if not self._early else set()
        if any(isinstance(one, ast.Name) and one.id in unknown for one in ast.walk(node)):
            return False
        return self._finder.module.clean(node, frozenset(self._bound), early=self._early)

    def _inlined(self, node: ast.expr) -> ast.expr:
        bound = self._bound

        class Inline(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.expr:
                value = bound[node.id].value if node.id in bound else None
                return node if value is None else copy.deepcopy(value)

        made = Inline().visit(copy.deepcopy(node))
        assert isinstance(made, ast.expr)
        return made

    def _mentions(self, node: ast.AST) -> set[Mention]:
        """The parts of clean names that an expression reads."""
        steps: list[object] = []
        inner = node
        while isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Constant):
            steps.insert(0, inner.slice.value)
            inner = inner.value
        if isinstance(inner, ast.Name):
            module = self._finder.module
            if (self._early or inner.id not in self._times) and module.helper(inner.id):
                return {Mention(self._finder.roots[one]) for one in module.read_by(inner.id)}
            known = self._mention(inner.id)
            return {Mention(known.root, (*known.path, *steps))} if known else set()
        return {one for child in ast.iter_child_nodes(node) for one in self._mentions(child)}

    def _mention(self, name: str) -> Mention | None:
        if name in self._bound:
            return self._bound[name].mention
        if self._early or name not in self._times:
            root = self._finder.roots.get(name)
            return Mention(root) if root and self._finder.module.once(name) else None
        return None


def _path_of(node: ast.expr) -> bool:
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        node = node.value
    return isinstance(node, ast.Name)
