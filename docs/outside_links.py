"""For MkDocs: links out of docs/ (examples, the README) have no page here and become names of files."""

import re
from typing import Any


def on_page_markdown(markdown: str, *, page: Any, **_: object) -> str:
    """The page with such links as text; of a page in a folder, links to the folder above stay."""
    depth = page.file.src_uri.count("/")
    outside = re.compile(rf"\[([^\]]+)\]\((?:\.\./){{{depth + 1}}}([^)]+)\)")
    return outside.sub(
        lambda link: f"{link[1]} (`{link[2]}`)" if link[1] != link[2] else f"`{link[2]}`", markdown
    )
