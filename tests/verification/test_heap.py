import json
import subprocess
import sys

import pytest

PAGES = """
import json, os, resource, sys
from strop_verify.verification.python.fork_server import fill_holes

small = [bytes(100) for _ in range(20_000)]
large = [bytes(2_000) for _ in range(4_000)]
small[::30] = [b""] * len(small[::30])  # about one hole a page
large[::2] = [b""] * len(large[::2])
if sys.argv[1] == "filled":
    fill_holes()
near, far = os.pipe()
if not os.fork():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    kept = [bytes(100) for _ in range(600)], [bytes(2_000) for _ in range(20)]
    after = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    os.write(far, json.dumps(after - before).encode())
    os._exit(0)
os.wait()
print(os.read(near, 100).decode())
"""


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="the layout of CPython's heap")
def test_a_child_of_a_filled_heap_touches_fewer_pages() -> None:
    def faults(kind: str) -> int:
        command = [sys.executable, "-c", PAGES, kind]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        return int(json.loads(done.stdout))

    holes, filled = faults("holes"), faults("filled")
    assert holes > 500  # the case is a real one
    assert filled < 250
