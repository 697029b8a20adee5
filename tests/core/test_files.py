"""Files that appear whole: anything but a regular file is written to, never replaced."""

import os
import threading
from pathlib import Path

from strop_verify.core import files


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    seen: list[bytes] = []
    reader = threading.Thread(target=lambda: seen.append(pipe.read_bytes()))
    reader.start()
    files.write_json(pipe, {"a": 1})
    reader.join(timeout=300)
    assert pipe.is_fifo() and b'"a"' in seen[0]
    assert [p.name for p in tmp_path.iterdir()] == ["pipe.json"]
