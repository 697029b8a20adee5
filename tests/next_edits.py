"""A history whose commits are cut into edits."""

from pathlib import Path

from tests.curation.test_retrieval import Made
from tests.warm import strop

SHOP = "".join(
    f"def {word}(count):\n    return count * price\n\n\n" for word in ("apples", "bread", "cheese", "dates")
)
FAR = "".join(f"x{number} = {number}\n" for number in range(60))


def built(folder: Path, *words: str) -> Path:
    """The file of next-edit tasks of a small shop."""
    repo = Made(folder / "shop")
    repo.commit("The first version of the shop", {"shop.py": SHOP, "far.py": FAR})
    repo.commit("The price is now called cost", {"shop.py": SHOP.replace("price", "cost")})
    far = FAR.replace("x1 = 1\n", "x1 = 2\n").replace("x50 = 50\n", "x50 = 51\n")
    repo.commit("Two numbers far from each other", {"far.py": far})
    more = SHOP.replace("price", "cost").replace("(count)", "(count, cost)")
    repo.commit("What things cost is given", {"shop.py": more})
    path = folder / "edits.jsonl"
    done = strop("build", "next-edit", str(repo.folder), "-o", str(path), *words)
    assert done.returncode == 0, done.stderr
    return path
