"""For MkDocs: links out of docs/ (examples, the README) have no page here and become names of files. The search shows
pages that explain before lists of all names.
"""

import re
from typing import Any

RANKS = {
    "tutorials/own-task.md": 3.0, "rewards.md": 3.0, "training.md": 2.0, "trouble.md": 1.5, "evaluation.md": 1.5,
    "report.md": 1.5, "edits.md": 1.5, "install.md": 1.5, "models.md": 1.4, "gpu.md": 1.2, "plays.md": 1.3,
    "rust.md": 1.2, "data-sets.md": 1.1, "attacks.md": 0.5, "reference/recipe.md": 0.7, "reference/": 0.3,
}  # fmt: skip
"""Weight in the search of pages, or of those in a folder, relative to others."""


def on_page_markdown(markdown: str, *, page: Any, **_: object) -> str:
    """The page with such links as text; of a page in a folder, links to the folder above stay."""
    boost = next((rank for name, rank in RANKS.items() if page.file.src_uri.startswith(name)), None)
    if boost is not None:
        page.meta["search"] = {"boost": boost}
    depth = page.file.src_uri.count("/")
    outside = re.compile(rf"\[([^\]]+)\]\((?:\.\./){{{depth + 1}}}([^)]+)\)")
    return outside.sub(
        lambda link: f"{link[1]} (`{link[2]}`)" if link[1] != link[2] else f"`{link[2]}`", markdown
    )
