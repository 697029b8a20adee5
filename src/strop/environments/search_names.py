"""Short names for the files of a tree: f1, f2, ... in the order in which a play was shown them.

A small model copies `f3:12` more often right than `src/shop/checkout/cart.py:12`, and a path is shown once.
"""

from collections.abc import Container


class ShortNames:
    """Of one play."""

    def __init__(self) -> None:
        self._short: dict[str, str] = {}

    def __contains__(self, path: str) -> bool:
        return path in self._short

    def shorten(self, text: str, paths: Container[str]) -> str:
        """What a tool said of these paths. In front of the first line about a file stands a line with both its names;
        a line that is a path becomes that line.
        """
        rows = list[str]()
        for row in text.split("\n"):
            path, colon, rest = row.partition(":")
            if path not in paths:
                rows.append(row)
                continue
            if path not in self._short:
                self._short[path] = f"f{len(self._short) + 1}"
                rows.append(f"{self._short[path]} = {path}")
            elif not colon:
                rows.append(f"{self._short[path]} = {path}")
            if colon:
                rows.append(f"{self._short[path]}:{rest}")
        return "\n".join(rows)

    def write(self, places: str) -> str:
        """Places with the short names of files that were shown."""
        return "\n".join(self._mapped(self._short, line) for line in places.split("\n"))

    def read(self, places: str) -> str:
        """Places, or a path alone, with the names of the tree."""
        paths = {short: path for path, short in self._short.items()}
        return "\n".join(self._mapped(paths, line) for line in places.split("\n"))

    @staticmethod
    def _mapped(names: dict[str, str], line: str) -> str:
        path, colon, rest = line.strip().rpartition(":") if ":" in line else (line.strip(), "", "")
        return names[path] + colon + rest if path in names else line
