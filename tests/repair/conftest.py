import textwrap

import pytest

from strop.repair.repository import read_repository

FILES = {
    "README.md": "# Prices\n\nAdds up the total of prices with a discount.\n",
    "shop/__init__.py": "",
    "shop/totals.py": '''
        """Sums of prices."""


        def total(prices, discount=0):
            """The sum of the prices, less a discount in percent."""
            amount = 0
            for price in prices:
                amount += price
            return amount - amount * discount / 10  # per mille, per cent


        def mean(prices):
            """The mean price, 0 for none."""
            return total(prices) / len(prices)
    ''',
    "shop/names.py": '''
        """Names of goods."""


        def label(name, width=10):
            """The name, cut to a width."""
            return name[:width].title()
    ''',
    "tests/test_totals.py": """
        from shop.names import label
        from shop.totals import mean, total


        def test_total():
            assert total([1, 2, 3]) == 6


        def test_mean():
            assert mean([2, 4]) == 3


        def test_label():
            assert label("pear") == "Pear"
    """,
}
ISSUE = """total() takes off ten times the discount

`total([100], discount=10)` gives 0.0, but ten percent off 100 is 90.
"""


@pytest.fixture
def folder(tmp_path):
    """A small project with a fault that its tests do not show."""
    root = tmp_path / "repo"
    for path, text in FILES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip("\n"))
    return root


@pytest.fixture
def repository(folder):
    return read_repository(folder)


def block(path, search, replace):
    return f"### {path}\n```\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n```\n"


OLD = "    return amount - amount * discount / 10  # per mille, per cent"
RIGHT = block("shop/totals.py", OLD, "    return amount - amount * discount / 100")
RIGHT_TOO = block("shop/totals.py", OLD, "    return amount - amount*discount/100  # per cent")
BREAKS = block("shop/totals.py", OLD, "    return amount * (100 - discount)")
NEEDLESS = block("shop/totals.py", OLD, "    return amount - amount * discount / 50")
