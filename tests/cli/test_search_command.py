"""Where in a folder: asked in the terminal, and by the official MCP client of a server that runs beside it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.without import without

SOURCE = Path(__file__).resolve().parents[2] / "src"
PATH = os.pathsep.join([str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])])
CART = "class Cart:\n    def total(self, prices):\n        return sum(prices)\n"
TAX = "RATE = 0.2\n\n\ndef tax(total):\n    return total * RATE\n"
BM25 = ("-m", "scripted:bm25-chunks")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A checkout with a file that git does not know."""
    folder = tmp_path / "project" / "shop"
    folder.mkdir(parents=True)
    (folder / "cart.py").write_text(CART)
    (folder / "tax.py").write_text(TAX)
    subprocess.run(["git", "init", "--quiet", tmp_path / "project"], check=True)
    subprocess.run(["git", "-C", tmp_path / "project", "add", "."], check=True)
    (folder / "build.py").write_text("zebra = 1\n")
    return tmp_path / "project"


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    def written(*answers: str) -> str:
        lines = (json.dumps({"task_id": "search", "answer": answer}) + "\n" for answer in answers)
        (tmp_path / "script.jsonl").write_text("".join(lines))
        return f"scripted:{tmp_path / 'script.jsonl'}"

    return written


def test_places_with_their_lines(strop: Any, shop: Path) -> None:
    done = strop("search", shop, "where is the tax rate?", *BM25)
    assert (done.returncode, done.stdout, done.stderr) == (0, "shop/tax.py:1-5\n", "")
    done = strop("search", shop, "where is the tax rate?", *BM25, "--show")
    assert done.stdout.splitlines()[:2] == ["shop/tax.py:1-5", "     1  RATE = 0.2"]
    done = strop("search", shop, "zebra", *BM25)
    assert done.returncode == 1 and not done.stdout and done.stderr.startswith("no place found: ")


@pytest.mark.jail
def test_a_model_looks_around_and_only_what_is_there_is_printed(
    strop: Any, shop: Path, script: Callable[..., str]
) -> None:
    finish = "<finish>shop/tax.py:4-99\nshop/none.py:1\nshop/cart.py:2</finish>"
    model = script("<grep>RATE</grep>\n<read>shop/tax.py @@ 1</read>", finish)
    done = strop("search", shop, "tax", "-m", model, "-v")
    assert done.returncode == 0, done.stderr
    way, _, answer = done.stdout.rpartition("\n\n")
    assert "shop/tax.py:1: RATE = 0.2" in way
    assert answer == "shop/tax.py:4-5\nshop/cart.py:2\n"
    assert done.stderr == "note: the answer also names shop/none.py:1, which does not exist\n"
    done = strop("search", shop, "tax", "-m", script("<finish>shop/none.py:1</finish>"))
    assert done.returncode == 1 and "all places in the answer are missing: shop/none.py:1" in done.stderr


def test_words_alone_find_places_without_a_model(strop: Any, shop: Path) -> None:
    done = strop("search", shop, "where is the tax rate?")
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("shop/tax.py:4-5\n")
    done = strop("search", shop, "how are totals taxed", "--show", "-v")
    assert done.stderr.startswith("note: this search uses no model") and done.stdout.splitlines()[:3] == [
        "shop/tax.py:4-5", "     4  def tax(total):", "     5      return total * RATE",
    ]  # fmt: skip
    done = strop("search", shop, "zebra")  # of a file that git does not know
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith(
        "no place found: no file holds"
    )
    assert done.stderr.count("\n") == 1


def test_what_is_said_to_models_is_not_said_to_people(
    strop: Any, shop: Path, script: Callable[..., str]
) -> None:
    for answer, said in (
        ("I do not know.", "the answer names no place"),
        ("<finish></finish>", "the answer names no place"),
    ):
        done = strop("search", shop, "tax", "-m", script(answer))
        assert (done.returncode, done.stderr) == (1, f"no place found: {said}\n")
    done = strop("search", shop, "tax", "-m", script(*["<grep>RATE</grep>"] * 9))
    assert done.stderr == "no place found: the model used all its messages without naming a place\n"


def test_mistakes(strop: Any, shop: Path, tmp_path: Path) -> None:
    for words, said in (
        (("none", "tax", *BM25), "there is no folder none"),
        ((shop, " ", *BM25), "the question is empty"),
        ((shop, "tax", "-m", "scripted:oracle"), "name scripted:bm25-chunks"),
        ((shop, "tax", *BM25, "tasks.environment=workspace"), "must be search here"),
        ((shop, "tax", "seed=1"), "seed=1 is for a model, but none is named; add -m MODEL"),
        ((shop, "tax", "--engine", "vllm"), "add -m MODEL"),
        ((shop, ""), "the question is empty"),
    ):
        done = strop("search", *words)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1
    done = strop("serve-search", *BM25, "--root", "none")
    assert done.returncode == 2 and "--root none: no such folder" in done.stderr


def asked(arguments: list[str], ask: Callable[[Any], Awaitable[None]]) -> None:
    """Calls the server's tool by the official client, in processes of their own."""
    mcp = pytest.importorskip("mcp")

    async def session() -> None:
        environment = {"PYTHONPATH": PATH}
        command = ["-m", "strop.cli", "serve-search", *arguments]
        server = mcp.StdioServerParameters(command=sys.executable, args=command, env=environment)
        async with mcp.Client(server, read_timeout_seconds=120) as client:
            await ask(client)

    asyncio.run(session())


@pytest.mark.soak(18)
@pytest.mark.parametrize("model", [BM25, ()], ids=["baseline", "words"])
def test_the_official_client_asks_of_files_as_they_are_now(
    shop: Path, tmp_path: Path, model: tuple[str, ...]
) -> None:
    async def ask(client: Any) -> None:
        (tool,) = (await client.list_tools()).tools
        assert tool.name == "search_code" and tool.input_schema["required"] == ["question"]

        async def answer(**arguments: str) -> tuple[bool, str]:
            result = await client.call_tool("search_code", arguments)
            (content,) = result.content
            return result.is_error, content.text

        place = (
            "shop/tax.py:1-5\n     1  RATE = 0.2\n     2\n"
            if model
            else "shop/tax.py:4-5\n     4  def tax(total):\n"
        )
        for folder in (".", "shop"):
            failed, text = await answer(question="where is the tax rate?", folder=folder)
            assert not failed and text.startswith(place), text
        failed, text = await answer(question="lions")
        assert not failed and text.startswith("no place found: ")
        (shop / "shop" / "cart.py").write_text("lions = 3\n")
        assert await answer(question="lions") == (False, "shop/cart.py:1\n     1  lions = 3")
        (shop / "out").symlink_to(tmp_path)
        for folder, said in (
            ("..", "outside"),
            ("/etc", "outside"),
            ("out", "outside"),
            ("none", "no folder"),
        ):
            failed, text = await answer(question="tax", folder=folder)
            assert failed and said in text

    asked([*model, "--root", str(shop)], ask)


@contextmanager
def served(shop: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server without a model, and the line that says that it is there."""
    pytest.importorskip("mcp")
    command = [sys.executable, "-m", "strop.cli", "serve-search", "--root", str(shop), *words]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": PATH},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        try:
            assert process.stderr is not None
            yield process, process.stderr.readline()
        finally:
            process.kill()


@pytest.mark.parametrize("words", [(), ("--port", "0")], ids=["stdin", "http"])
def test_ctrl_c_ends_a_server_whose_client_is_silent(shop: Path, words: tuple[str, ...]) -> None:
    with served(shop, *words) as (process, said), ExitStack() as stack:
        assert said.startswith("search_code over MCP")
        if words:  # with a client that waits for news
            url, accept = wait_until_it_listens(said), {"Accept": "text/event-stream"}
            stack.enter_context(httpx.stream("GET", url, headers=accept, timeout=120))
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


def wait_until_it_listens(said: str) -> str:
    """The URL of a server that is told by its first line, once it answers."""
    url = said.split()[4].rstrip(",")
    assert (
        httpx.post(url, content="x", timeout=120).status_code == 400
    )  # of no type; a GET would wait for news
    return url


def test_over_http_the_official_client_asks_and_pages_of_elsewhere_cannot(shop: Path) -> None:
    mcp = pytest.importorskip("mcp")
    with served(shop, "--port", "0") as (process, said):
        url = wait_until_it_listens(said)
        assert url.startswith("http://127.0.0.1:") and url.endswith("/mcp") and str(shop) in said

        async def ask(question: str, folder: str) -> tuple[bool, str]:
            async with mcp.Client(url, read_timeout_seconds=120) as client:
                result = await client.call_tool("search_code", {"question": question, "folder": folder})
                return result.is_error, result.content[0].text

        async def two() -> list[tuple[bool, str]]:
            return await asyncio.gather(ask("where is the tax rate?", "shop"), ask("tax", ".."))

        found, outside = asyncio.run(two())
        assert not found[0] and found[1].startswith("shop/tax.py:4-5\n     4  def tax(total):\n")
        assert outside[0] and outside[1].endswith("'..' is outside the repository")

        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        accept = {"Accept": "application/json, text/event-stream"}
        port = url.split(":")[2].removesuffix("/mcp")
        for headers, status in (
            ({}, 200),
            ({"Host": f"localhost:{port}"}, 200),
            ({"Origin": f"http://localhost:{port}"}, 403),
            ({"Content-Type": "text/plain"}, 400),
        ):
            answer = httpx.post(url, json=call, headers={**accept, **headers}, timeout=120)
            assert answer.status_code == status, (headers, answer.text)
            assert ("search_code" in answer.text) == (status == 200)
        process.terminate()
        assert process.wait(60) == 0


def test_an_address_that_says_nothing_is_refused(strop: Any, shop: Path) -> None:
    done = strop("serve-search", *BM25, "--root", shop, "--port", "0", "--host", "0.0.0.0")
    assert done.returncode == 2 and "name the one address" in done.stderr


def test_without_the_package_it_says_what_to_install(tmp_path: Path) -> None:
    environment = without(tmp_path / "site", "mcp")
    environment["PYTHONPATH"] += f"{os.pathsep}{SOURCE}"
    command = [sys.executable, "-m", "strop.cli", "serve-search"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 2 and done.stderr.endswith("pip install 'strop[mcp]'\n")
