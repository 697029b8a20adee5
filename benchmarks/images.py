"""Times the set-up of an image as the root of a play: `python benchmarks/images.py oci:PLACE [--plays 50]`.

The image is unpacked once into an empty cache. Then set-ups of a play are timed, from the request for its folder to the
end of its first program (`true`), in a fresh jail and in one that served another play. For comparison: copies of the
files, whole or as hard links, which a play's writes would change.
"""

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from strop_verify.sandbox import Folder, Limits, open_box
from strop_verify.sandbox.image import Image, open_image


def main() -> None:
    """Prints one line per measurement, in milliseconds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", metavar="oci:PLACE")
    parser.add_argument("--plays", type=int, default=50)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["STROP_CACHE"] = cache
        open_box().close()  # the jail is probed, and Python copied
        began = time.perf_counter()
        image = open_image(asked.source)
        once = time.perf_counter() - began
        files = sum(1 for layer in image.layers for _ in Path(layer).rglob("*"))
        size = sum(path.lstat().st_size for layer in image.layers for path in Path(layer).rglob("*"))
        print(f"{len(image.layers)} layers, {files} files and folders, {size / 2**20:.0f} MiB")
        print(f"unpacked, once: {once * 1000:.0f} ms")
        _say("known again", _timed(lambda: open_image(asked.source), asked.plays))
        _say("set-up in a fresh jail", _timed(lambda: _play(image), asked.plays))
        with Folder(lambda: open_box(image=image), limits=Limits(wall_seconds=60)) as folder:
            folder.run(["true"])
            _say("set-up in a warm jail", _timed(lambda: (folder.empty(), folder.run(["true"])), asked.plays))
        _say("the same without an image, fresh", _timed(lambda: _play(None), asked.plays))
        for name, link in (("copied", False), ("hard links", True)):
            _say(f"{name}, without a jail", _timed(lambda link=link: _copy(image, cache, link=link), 3))


def _play(image: Image | None) -> None:
    with Folder(lambda: open_box(image=image), limits=Limits(wall_seconds=60)) as folder:
        assert folder.run(["true"]).status == 0


def _copy(image: Image, cache: str, *, link: bool) -> None:
    copied = os.link if link else shutil.copy2
    with tempfile.TemporaryDirectory(dir=cache) as target:
        for layer in reversed(image.layers):
            shutil.copytree(layer, target, symlinks=True, dirs_exist_ok=True, copy_function=copied)


def _timed(action: Callable[[], object], count: int) -> list[float]:
    found = []
    for _ in range(count):
        began = time.perf_counter()
        action()
        found.append((time.perf_counter() - began) * 1000)
    return sorted(found)


def _say(name: str, found: list[float]) -> None:
    high = found[min(len(found) - 1, int(0.95 * len(found)))]
    print(f"{name}: {statistics.median(found):.1f} ms, 95 % within {high:.1f}")


if __name__ == "__main__":
    main()
