"""What the tests know of processes: some kill whom they find beyond those that were there before."""

import os
import signal
import subprocess
import sys
import threading
import time

from tests.processes import alive, family
from tests.waiting import wait_until

MARK = "import subprocess; subprocess.run(['sleep', '300'])"


def test_no_child_is_missed_while_threads_end() -> None:
    ended = threading.Event()

    def threads() -> None:
        while not ended.is_set():
            one = threading.Thread(target=time.sleep, args=(0.0005,))
            one.start()
            one.join()

    processes = [subprocess.Popen([sys.executable, "-c", MARK], start_new_session=True) for _ in range(3)]
    busy = [threading.Thread(target=threads) for _ in range(3)]
    try:
        wait_until(lambda: all(family("sleep", root=one.pid) for one in processes))
        there = {*family()}
        for one in busy:
            one.start()
        assert all({*family()} >= there for _ in range(300))
        assert there >= {one.pid for one in processes} and len(family("sleep\x00300")) == 3
        (below,) = family(root=processes[0].pid)
        assert alive(below)
    finally:
        ended.set()
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(60)
    assert not alive(below) and not family(MARK) and not family(root=processes[0].pid)
