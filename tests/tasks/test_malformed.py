"""Data sets as hostile text: one clear line for each bad thing, the rest goes through, memory stays bounded."""

import gzip
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from strop.cli.tasks import app
from strop.tasks import lines as bounded_lines
from strop.tasks import row_limits, sources
from strop.tasks.adapters import ADAPTERS
from strop.tasks.jsonl import write_tasks
from strop_verify.core.errors import UserError

TESTS = {"kind": "stdio", "cases": [{"stdin": "1\n", "stdout": "2\n"}]}


def own(name: str, **more: object) -> bytes:
    return json.dumps({"id": name, "statement": "Twice.", "check": TESTS, **more}).encode()


def read(file: Path, prefix: str = "") -> tuple[list[str], list[str]]:
    """(ids, lines about what was left out) of a file."""
    said: list[str] = []
    ids = [task.id for task in sources.iter_tasks(f"{prefix}{file}", on_bad=said.append)]
    assert all("\n" not in line and len(line) < 1000 for line in said)
    return ids, said


BAD_LINES = {
    b'{"id": "x", "check": {': "bad JSON: Expecting property name",
    b'{"id": "x"': "bad JSON: Expecting ',' delimiter",
    b'["a"]': "a task is a JSON object, this is list",
    b"null": "this is NoneType",
    b'{"id": "\xff\xfe"}': "not UTF-8: invalid start byte",
    own("x")[:-1] + b', "id": "y"}': "the key 'id' is given twice",
    own("x").replace(b'"1\\n"', b'"\\ud800"'): "half of a surrogate pair",
    own("x", metadata={"deep": 0}).replace(b"0}", b"[" * 200 + b"]" * 200 + b"}"): "nested deeper than 100",
    b"[" * 1_000_000: "nested deeper than 100",
    own("x", metadata={"n": 0}).replace(b'"n": 0', b'"n": NaN'): "the number nan is not a JSON value",
    own("x", metadata={"n": 0}).replace(b'"n": 0', b'"n": -Infinity'): "the number -inf is not a JSON value",
    own("x", level=0).replace(b'"level": 0', b'"level": ' + b"9" * 5000): "bad JSON: Exceeds the limit",
    own("x", level=0).replace(
        b'"level": 0', b'"level": 99'
    ): "level: Input should be less than or equal to 5",
    own("x", check=7): "check",
    own("x", statement=[1]): "statement: Input should be a valid string",
    own("x", check={**TESTS, "cases": []}): "the task has no tests",
    own("x", check={**TESTS, "tolerence": 1}): "check.tolerence: unknown key (did you mean 'tolerance'?)",
    own(
        "x", check={**TESTS, "cases": [{"stdn": ""}]}
    ): "check.cases.0.stdn: unknown key (did you mean 'stdin'?)",
    own("x", surprise=1): "unknown field 'surprise'",
    b"\x00\x01\x02": "bad JSON",
}


@pytest.mark.parametrize(("bad", "cause"), BAD_LINES.items(), ids=range(len(BAD_LINES)))
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_bad_line_is_one_line_and_the_rest_goes_through(tmp_path, bad, cause, suffix):
    body = b"\n".join([own("a"), bad, b"", own("b"), b""])
    pack = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[suffix]
    file = tmp_path / f"t.jsonl{suffix}"
    file.write_bytes(pack(body))
    ids, said = read(file)
    assert ids == ["a", "b"] and len(said) == 1
    assert said[0].startswith(f"{file}:2: ") and cause in said[0]


def test_a_byte_order_mark_and_a_missing_number_are_read(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_bytes(
        b"\xef\xbb\xbf" + own("a", topic=0).replace(b'"topic": 0', b'"topic": NaN') + b"\r\n" + own("b")
    )
    assert read(file) == (["a", "b"], [])


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "no archive"])
def test_a_damaged_archive_gives_what_comes_before_it(tmp_path, suffix, damage):
    rows = [own(f"task-{n}", metadata={"noise": os.urandom(2000).hex()}) for n in range(400)]
    body = b"\n".join(rows)
    zstd = zstandard.ZstdCompressor(write_checksum=True)
    whole = gzip.compress(body) if suffix == ".gz" else zstd.compress(body)
    at = len(whole) * 3 // 4
    data = {
        "cut": whole[:at],
        "flipped": whole[:at] + bytes(b ^ 0x55 for b in whole[at : at + 64]) + whole[at + 64 :],
        "no archive": body,
    }[damage]
    file = tmp_path / f"t.jsonl{suffix}"
    file.write_bytes(data)
    ids, said = read(file)
    if damage == "cut":
        assert ids == [f"task-{n}" for n in range(len(ids))] and len(said) == 1
    assert len(ids) == 0 if damage == "no archive" else 100 < len(ids) < 400 + (damage == "flipped")
    assert ids[:100] == [f"task-{n}" for n in range(100)][: len(ids)]
    assert said and said[-1].startswith(f"cannot read {file} to its end: the compressed file is ")
    with pytest.raises(UserError, match=r"cannot read|bad JSON"):  # gzip sees a flipped byte at the end only
        list(sources.iter_tasks(str(file)))


def test_a_half_last_line_is_named(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_bytes(own("a") + b"\n" + own("b")[:-30])
    ids, said = read(file)
    assert ids == ["a"] and len(said) == 1 and f"{file}:2: bad JSON" in said[0]


def test_a_json_array_and_its_bad_items(tmp_path):
    file = tmp_path / "t.json"
    file.write_bytes(b"[\n" + own("a") + b",\n7,\n" + own("b") + b"\n]")
    ids, said = read(file)
    assert ids == ["a", "b"] and said == [f"{file}:[2]: bad item: a task is a JSON object, this is int"]
    file.write_bytes(b"[" + own("a"))
    assert read(file)[0] == []


def test_a_folder_reads_on_after_a_damaged_file(tmp_path):
    (tmp_path / "1.jsonl.gz").write_bytes(gzip.compress(own("a"))[:-4])
    (tmp_path / "2.jsonl").write_bytes(own("b"))
    (tmp_path / "settings.json").write_text("{}")
    ids, said = read(tmp_path)
    assert ids == ["b"] and len(said) == 1 and "cut off" in said[0]


@given(st.lists(st.binary(max_size=60), max_size=12), st.integers(1, 40), st.integers(1, 7))
def test_lines_are_those_of_the_bytes(parts, limit, block):
    """Whatever the blocks: lines up to the limit come out as they are, longer ones are counted and left out."""
    body = b"\n".join(parts)
    blocks = (body[i : i + block] for i in range(0, len(body), block))
    found = list(bounded_lines._split(blocks, limit, bounded_lines._Damage()))
    wanted = body.split(b"\n")
    wanted = wanted[:-1] if wanted[-1] == b"" else wanted
    assert found == [(n, x if len(x) <= limit else None) for n, x in enumerate(wanted, start=1)]


def test_inflate_bounds_what_comes_out():
    for pack in (zlib.compress, gzip.compress, zstandard.compress):
        assert row_limits.inflate(pack(b"x" * 1000), "w", 1000) == b"x" * 1000
        with pytest.raises(UserError, match="w: compressed data unpacks to more than 999 bytes"):
            row_limits.inflate(pack(b"x" * 1000), "w", 999)
        with pytest.raises(UserError, match=r"w: compressed data is (cut off|damaged)"):
            row_limits.inflate(pack(os.urandom(1000))[:-9], "w")
    with pytest.raises(UserError, match="damaged"):
        row_limits.inflate(b"no archive", "w")


BOMB = """
import resource, sys
limit = {mib} << 20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from strop.tasks import row_limits, sources
said = []
ids = [task.id for task in sources.iter_tasks(sys.argv[1], on_bad=said.append)]
print(ids, said)
"""


def in_little_memory(source: str, mib: int = 1500) -> str:
    """What a process with so much address space says of a source."""
    done = subprocess.run(
        [sys.executable, "-c", BOMB.format(mib=mib), source], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.soak(20)
@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_bomb_of_one_line_is_skipped_in_bounded_memory(tmp_path, suffix):
    file = tmp_path / f"bomb.jsonl{suffix}"
    packer = zstandard.ZstdCompressor().compressobj() if suffix == ".zst" else zlib.compressobj(wbits=31)
    block = b"[" * (1 << 22)
    with file.open("wb") as out:
        out.write(packer.compress(own("a") + b"\n"))
        for _ in range(512):  # 2 GiB
            out.write(packer.compress(block))
        out.write(packer.compress(b"\n" + own("b") + b"\n") + packer.flush())
    assert file.stat().st_size < 8 << 20
    said = in_little_memory(str(file))
    assert said.startswith("['a', 'b'] [") and said.count(":2: a line of more than 256 MiB: left out") == 1


@pytest.mark.soak(10)
def test_a_test_case_of_100_mb_is_read_and_written(tmp_path):
    file = tmp_path / "big.jsonl"
    check = {**TESTS, "cases": [{"stdin": "7" * 100_000_000, "stdout": "2\n"}]}
    file.write_bytes(own("a", check=check) + b"\n" + own("b") + b"\n")
    assert in_little_memory(str(file), 2500).startswith("['a', 'b'] []")


@pytest.mark.soak(10)
def test_private_tests_that_are_a_bomb(tmp_path):
    import base64

    rows = ADAPTERS["livecodebench"].sample()
    packer = zlib.compressobj()
    bomb = b"".join([*(packer.compress(b"[" * (1 << 22)) for _ in range(256)), packer.flush()])  # 1 GiB
    bad = {**rows[0], "question_id": "bomb", "private_test_cases": base64.b64encode(bomb).decode()}
    file = tmp_path / "l.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in [rows[0], bad, rows[1]]))
    said = in_little_memory(f"livecodebench:{file}")
    assert "abc1_a" in said and "bomb'" not in said.partition("]")[0]
    assert said.count("private_test_cases: compressed data unpacks to more than 256 MiB: left out") == 1


def test_parquet_of_wrong_types_and_broken_parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = ADAPTERS["apps"].sample()[:2]
    file = tmp_path / "t.parquet"
    for column, value in (
        ("question", 7),
        ("input_output", 1.5),
        ("solutions", [1, 2]),
        ("starter_code", b"\xff"),
    ):
        parquet.write_table(arrow.Table.from_pylist([{**rows[0], column: value}]), file)
        ids, said = read(file, "apps:")
        assert ids == [] and len(said) == 1 and said[0].startswith(f"{file}:1: ")
    raw = arrow.array([b"fine", b"\xff\xfe"]).cast(arrow.binary())
    text = arrow.Array.from_buffers(arrow.string(), 2, raw.buffers())
    columns = {name: [row[name] for row in rows] for name in rows[0] if name != "question"}
    parquet.write_table(arrow.table({**columns, "question": text}), file)
    ids, said = read(file, "apps:")
    assert ids == ["apps/0"] and len(said) == 1 and f"{file}:2: not UTF-8" in said[0]
    parquet.write_table(arrow.Table.from_pylist(rows * 4000), file, row_group_size=4000)
    data = bytearray(file.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 2000] = b"\x55" * 2000
    file.write_bytes(data)
    ids, said = read(file, "apps:")
    assert len(ids) < 8000 and len(said) == 1 and "cannot read" in said[0]


@pytest.mark.soak(10)
def test_a_parquet_bomb_is_left_out(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "t.parquet"
    good = ADAPTERS["apps"].sample()[0]
    schema = arrow.Table.from_pylist([good]).schema
    with parquet.ParquetWriter(file, schema, compression="zstd", use_dictionary=False) as writer:
        writer.write_table(arrow.Table.from_pylist([good]))
        writer.write_table(arrow.Table.from_pylist([{**good, "question": "x" * (300 << 20)}], schema=schema))
        writer.write_table(arrow.Table.from_pylist([{**good, "problem_id": 1}], schema=schema))
    assert file.stat().st_size < 1 << 20
    ids, said = read(file, "apps:")
    assert (
        ids == ["apps/0", "apps/1"] and len(said) == 1 and "column 'question' unpacks to 300 MiB" in said[0]
    )


def invoke(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


def test_import_counts_names_and_caps_what_is_left_out(tmp_path):
    file, out = tmp_path / "t.jsonl", tmp_path / "out.jsonl.zst"
    file.write_bytes(b"\n".join([own("a"), own("a"), *[b"{"] * 30, own("b", topic="\x1b[31m\x9b")]))
    result = invoke("import", str(file), "-o", str(out))
    assert result.exit_code == 0 and result.stdout == f"2 tasks, 31 rows left out: {out}\n"
    said = result.stderr.splitlines()
    assert said[20] == "... and 11 more (--verbose prints all)"
    assert sum("the id 'a' occurs twice" in line for line in said[:20]) == 1
    assert [line.split()[:3] for line in said[-2:]] == [["30", "left", "out:"], ["1", "left", "out:"]]
    assert read(out) == (["a", "b"], [])
    verbose = invoke("import", str(file), "-o", str(out), "--verbose").stderr.splitlines()
    assert len(verbose) - len(said) == 10
    assert invoke("import", str(file), "-o", str(out), "--strict").exit_code == 1


def test_import_of_nothing_fails_and_writes_nothing(tmp_path):
    file, out = tmp_path / "t.jsonl", tmp_path / "out.jsonl"
    out.write_text("as it was\n")
    for body, why in ((b"{\n{\n", "every row was left out"), (b"", "it is empty")):
        file.write_bytes(body)
        result = invoke("import", str(file), "-o", str(out))
        assert isinstance(result.exception, UserError) and why in str(result.exception)
        assert out.read_text() == "as it was\n" and sorted(p.name for p in tmp_path.iterdir()) == [
            "out.jsonl",
            "t.jsonl",
        ]


def test_convert_refuses_what_a_format_cannot_hold(tmp_path):
    out = tmp_path / "o.parquet"
    for source, form in (("tool-worlds:2", "verl"), ("humaneval", "apps")):
        out.write_bytes(b"as it was")
        result = invoke("convert", source, "--to", form, "-o", str(out), "--limit", "2")
        assert isinstance(result.exception, UserError) and out.read_bytes() == b"as it was"
    result = invoke("convert", "humaneval", "--to", "verl", "-o", str(out), "--limit", "2")
    assert result.exit_code == 0 and result.stdout == f"2 tasks, 0 rows left out: {out}\n"
    result = invoke("import", str(out), "-o", str(tmp_path / "back.jsonl"))
    assert result.exit_code == 0 and "read as format 'verl'" in result.stderr
    for arguments, why in (
        (["convert", str(out), "--to", "verll", "-o", "x"], "did you mean 'verl'"),
        (["convert", str(out), "--to", "strop", "-o", "x"], "strop tasks import"),
        (["show", "--format", "appps"], "did you mean 'apps'"),
        (["import", "apps:", "-o", "x"], "names no data set"),
        (["import", "apps:nothing.jsonl", "-o", str(tmp_path / "x")], "no such file"),
    ):
        result = invoke(*arguments)
        assert isinstance(result.exception, UserError) and why in str(result.exception)


@pytest.mark.soak(12)
def test_a_stream_of_tasks_takes_little_memory(tmp_path):
    """Twenty thousand tasks of 10 KB, 200 MB in all, pass through import in far less."""
    file, out = tmp_path / "t.jsonl.zst", tmp_path / "out.jsonl.zst"
    tasks = next(iter(ADAPTERS["strop"].read(json.loads(own("a")), "here")))
    write_tasks(
        (tasks.model_copy(update={"id": str(n), "statement": "word " * 2000}) for n in range(20_000)), file
    )
    code = (
        "import atexit, re; from strop.cli import main; "
        "atexit.register(lambda: print(re.search(r'VmHWM:.*', open('/proc/self/status').read())[0])); main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "tasks", "import", str(file), "-o", str(out)],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert "20000 tasks, 0 rows left out" in done.stdout
    assert int(done.stdout.split()[-2]) < 220_000, "KiB"


def test_where_the_hub_has_no_address_nothing_is_tried_again(monkeypatch):
    pytest.importorskip("datasets")
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "https://hub.invalid")
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserError, match=r"cannot load the data set 'nobody/nothing': .*OfflineModeIsEnabled"):
        list(sources.iter_tasks("mbpp:hub:nobody/nothing"))
    assert not constants.HF_HUB_OFFLINE
