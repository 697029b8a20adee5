"""An environment for a process in which packages are not installed: importing them fails."""

import os
from pathlib import Path

_SITE = """
import sys

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, NotInstalled())
"""


def without(folder: Path, *modules: str) -> dict[str, str]:
    """The environment of this process; `folder`, which is made, holds what makes the modules absent."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_SITE.format(absent=set(modules)))
    path = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
