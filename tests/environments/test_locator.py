"""Where in a folder by words alone: which files come first, an index that follows its folder, and hostile folders."""

import os
import random
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strop.environments import lexical_ranking, locator
from strop.environments.code_words import Bag, bag_of, kin, stem, terms
from strop.environments.lexical_ranking import WantedWord, demotion, scored, wanted
from strop.environments.locator import Locator
from strop_verify.core.errors import UserError

SOURCE = Path(__file__).parents[2] / "src" / "strop"
WORDS = [
    "price",
    "round",
    "cart",
    "tax",
    "rate",
    "parse",
    "load",
    "option",
    "lion",
    "total",
    "sum",
    "discount",
]


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def paths(folder: Path, question: str, most: int = 3) -> list[str]:
    return [place.path for place in Locator().find(folder, question, most)]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("parse_args", ("pars", "arg", "parse_args")),
        ("HTTPServer2", ("http", "server", "httpserver2")),
        ("getUserId", ("get", "user", "id", "getuserid")),
        ("prices", ("price",)),
        ("_", ()),
        ("x", ("x",)),
        ("größe_x", ("größe", "größe_x")),
        ("x" * 81, ()),
    ],
)
def test_terms(word: str, found: tuple[str, ...]) -> None:
    assert terms(word) == found


def test_words_of_one_meaning_meet() -> None:
    assert stem("normalised") == stem("normalize") == stem("normalizing") and stem("colours") == stem("color")
    assert (
        "parser" in kin(stem("parsed")) and "dir" in kin(stem("directory")) and stem("load") in kin("loader")
    )
    assert all(share < 1 and word != "pars" for word, share in kin("pars").items())


def test_what_is_defined_and_what_opens_a_file_count_more() -> None:
    text = '"""Rounds prices."""\n\ndef total(x):\n    return x + tax  # lions\n'
    counts = bag_of("a.py", text).counts
    assert counts["total"] == 4 and counts["tax"] == 1 and counts["lion"] == 2 and counts["price"] == 5
    counts = bag_of("a.js", "/* Prices. */\nres.redirect = function (url) {} // lions").counts
    assert counts["redirect"] == 4 and counts["url"] == 1 and counts["lion"] == 2 and counts["price"] == 5
    assert bag_of("a.csv", "# lions").counts == {"lion": 1}


def test_bm25_is_that_of_bm25s() -> None:
    """Its Lucene variant, in single precision."""
    bm25s = pytest.importorskip("bm25s")
    draw = random.Random(3)
    texts = [[draw.choice(WORDS) for _ in range(draw.randint(1, 60))] for _ in range(40)]
    oracle = bm25s.BM25(k1=lexical_ranking.K1, b=lexical_ranking.B, method="lucene")
    oracle.index(texts, show_progress=False)
    bags = {n: Bag({word: text.count(word) for word in text}, len(text)) for n, text in enumerate(texts)}
    asked = ["price", "lion", "tax", "nothing"]
    ours = scored([WantedWord(1.0, {word: 1.0}) for word in asked], bags).bm25
    theirs = oracle.get_scores([word for word in asked if word in oracle.vocab_dict])
    assert [ours[n] for n in bags] == pytest.approx(list(theirs), rel=1e-5, abs=1e-6) and max(theirs) > 0.4


def test_questions_without_their_common_words() -> None:
    assert [min(one.terms) for one in wanted("Where is the code that we are looking for?")] == []
    (identifier, first, second) = wanted("where is parse_args")
    assert identifier.terms == {"parse_args": 1.0} and identifier.weight > first.weight == second.weight
    assert [one.weak for one in wanted("where is the timeout handled")] == [False, True]
    assert (
        len(wanted(" ".join(f"word{'abcdefghij'[n % 10]}{n}" for n in range(900))))
        <= lexical_ranking.MOST_WORDS
    )


def test_the_right_files_of_this_project() -> None:
    """Questions in words that the files' authors did not choose."""
    folder = SOURCE / "environments"
    found = Locator()
    for question, right in (
        ("how are identifiers split into stems", "code_words.py"),
        ("which files are passed over because of links", "locator.py"),
        ("glob pattern matching", "search_pattern.py"),
        ("where is a tree unpacked", "search_tree.py"),
    ):
        assert right in [place.path for place in found.find(folder, question)[:2]], question


def test_whole_functions_are_shown(tmp_path: Path) -> None:
    body = "".join(f"    x{n} = {n}\n" for n in range(100))
    head = "import os\n\n\n# How prices\n# are rounded.\n@cached\ndef round_price(price):\n"
    text = f"{head}{body}    return price\n\n\ndef f():\n    pass\n"
    (place,) = Locator().find(write(tmp_path, **{"a.py": text}), "where are prices rounded")
    assert place.spans == ((4, 108),) and place.lines[2] == (6, "@cached") and place.score > 0


def test_programs_come_before_tests_and_documents(tmp_path: Path) -> None:
    text = "def round_price(price):\n    return price\n"
    names = ["tests/test_cart.py", "docs/cart.py", "shop/cart.py", "vendor/cart.py"]
    write(tmp_path, **dict.fromkeys(names, text), **{"README.md": "round_price rounds a price\n"})
    assert paths(tmp_path, "where are prices rounded?")[0] == "shop/cart.py"
    assert paths(tmp_path, "where is the rounding of prices tested?")[0] == "tests/test_cart.py"
    assert set(paths(tmp_path, "round_price", 9)) >= {"shop/cart.py"}
    for name, least in (
        ("a/testing.py", 1.0),
        ("test/x.py", 0.5),
        ("x.test.js", 0.5),
        ("a.min.js", 0.5),
        ("x.json", 0.5),
        ("a/exceptions.py", 0.6),
    ):
        assert (demotion(name) == 1.0) == (least == 1.0), name
    assert (
        demotion("docs/x.md", "where is it documented") == demotion("tests/x.py", "where is it tested") == 1.0
    )
    assert demotion("a/exceptions.py", "which error is raised") == 1.0


def test_names_that_a_question_holds(tmp_path: Path) -> None:
    many = {f"shop/m{n}.py": "def load_cart(cart):\n    return cart\n" for n in range(5)}
    write(tmp_path, **many, **{"shop/totals.py": "x = 1\n", "deep/cache.py": "y = 1\n"})
    assert paths(tmp_path, "the cart is wrong, see shop/totals.py line 1")[0] == "shop/totals.py"
    assert paths(tmp_path, "what is in the cache")[0] == "deep/cache.py"
    assert paths(tmp_path, "load_cart")[0] == "shop/m0.py"  # equal scores in the order of names


def test_nothing_is_found_where_only_common_words_are(tmp_path: Path) -> None:
    write(tmp_path, **{"a.py": "def handle(value):\n    return get(value)\n"})
    assert paths(tmp_path, "where are lions handled") == [] == paths(tmp_path, "where is the")
    assert paths(tmp_path, "where is it handled") == ["a.py"]  # there is nothing else to go by


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_an_index_that_followed_its_folder_is_one_made_anew(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    draw = random.Random(seed)
    folder = tmp_path_factory.mktemp("followed")
    write(folder, **{"keep.py": "def total():\n    return price\n"})
    kept = Locator()
    for _ in range(4):
        for _ in range(draw.randint(1, 4)):
            path = folder / f"{draw.choice('ab')}/{draw.choice(WORDS)}.py"
            if path.exists() and draw.random() < 0.4:
                path.unlink()
            else:
                name, *rest = draw.sample(WORDS, draw.randint(2, 8))
                write(folder, **{str(path.relative_to(folder)): f"def {name}():\n    {' '.join(rest)}\n"})
        question = " ".join(draw.sample(WORDS, 3))
        assert kept.find(folder, question, 9) == Locator().find(folder, question, 9)
        assert kept.find(folder, question, 9) == Locator().find(folder, question, 9)


def test_only_files_that_changed_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, **{f"{word}.py": f"def {word}():\n    pass\n" for word in WORDS})
    found, seen = Locator(), list[str]()
    monkeypatch.setattr(locator, "bag_of", lambda path, text: seen.append(path) or bag_of(path, text))
    assert found.find(tmp_path, "lions")[0].path == "lion.py" and len(seen) == len(WORDS)
    time.sleep(0.01)
    write(tmp_path, **{"tax.py": "def lion_tax():\n    return lion\n"})
    assert found.find(tmp_path, "lion tax")[0].path == "tax.py"
    assert seen[len(WORDS) :] == ["tax.py"]


def test_what_was_read_in_time_is_kept(tmp_path: Path) -> None:
    write(tmp_path, **{"a.py": "lions = 1\n"})
    found = Locator(seconds=-1)
    with pytest.raises(UserError, match=r"0 of 1 files were read .* ask again to continue"):
        found.find(tmp_path, "lions")
    found.seconds = 60
    assert found.find(tmp_path, "lions")[0].path == "a.py"


def test_hostile_folders(tmp_path: Path) -> None:
    """Nothing outside is read, nothing waits, and no name breaks an answer's lines."""
    outside = write(tmp_path / "outside", **{"secret.py": "lions = 'secret'\n"})
    folder = write(
        tmp_path / "in", **{"a.py": "lions = 1\n", "z\n.py": "lions = 2\n", "\x1b[2J.py": "lions = 3\n"}
    )
    (folder / "passwd.py").symlink_to("/etc/passwd")
    (folder / "out").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.py")
    (folder / "binary.py").write_bytes(b"lions\0\xff" * 100)
    (folder / "latin.py").write_bytes(b"lions = '\xe4'\n")
    (folder / os.fsdecode(b"\xff.py")).write_text("lions = 4\n")
    (folder / "long.py").write_text("lions = '" + "/*" * 225_000 + '"""' * 150_000 + "\n")
    (folder / "huge.py").write_text("lions = 1\n" * 200_000)
    began = time.monotonic()
    found = Locator().find(folder, "where are the lions root", 20)
    assert {place.path for place in found} <= {"a.py", "latin.py", "long.py"} and found[0].path in (
        "a.py",
        "latin.py",
    )
    assert time.monotonic() - began < 20
    git = ["git", "-C", str(folder)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "add", "-f", "a.py", "passwd.py"], check=True)
    subprocess.run([*git, "config", "core.fsmonitor", f"touch {tmp_path}/ran"], check=True)
    (folder / "a.py").unlink()
    (folder / "a.py").symlink_to(outside / "secret.py")
    with pytest.raises(UserError, match="no files"):
        Locator().find(folder, "lions")
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_git_knows_but_that_became_a_link(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", **{"a.py": "lions = 'secret'\n"})
    folder = write(tmp_path / "in", **{"sub/a.py": "lions = 1\n", "b.py": "tigers = 1\n"})
    subprocess.run(["git", "-C", folder, "init", "--quiet"], check=True)
    subprocess.run(["git", "-C", folder, "add", "."], check=True)
    assert paths(folder, "lions") == ["sub/a.py"]
    (folder / "sub" / "a.py").unlink()
    (folder / "sub").rmdir()
    (folder / "sub").symlink_to(outside)
    assert paths(folder, "lions") == []


def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="no files"):
        Locator().find(tmp_path, "lions")
    with pytest.raises(UserError, match="there is no folder"):
        Locator().find(tmp_path / "none", "lions")
    write(tmp_path, **{"a.py": "", "b.py": "lions"})
    with pytest.raises(UserError, match="question is empty"):
        Locator().find(tmp_path, " ")
    assert paths(tmp_path, "lions") == ["b.py"] and paths(tmp_path, "a.py") == []
    monkeypatch.setattr(locator, "MOST_FILES", 1)
    with pytest.raises(UserError, match=re.escape("more than 1 files; name a folder in it")):
        Locator().find(tmp_path, "lions")


def test_threads_give_the_stems_of_one_alone() -> None:
    ends = ("ization", "fulness", "ingly", "ations", "ousness", "ibilities", "ments", "ators")
    middles = map(chr, range(97, 123))
    words = [f"con{middle}{end}" for middle in middles for end in ends]
    alone = [stem(word) for word in words]
    for _ in range(5):
        stem.cache_clear()
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(stem, words)) == alone
