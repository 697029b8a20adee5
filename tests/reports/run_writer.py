"""A process that writes a run as training does, holding its lock, a word on stdin at a time: it plays a made run again.

    python -m tests.reports.run_writer SOURCE TARGET create|resume

    step         writes the next step of SOURCE
    torn         the next step's rollouts, and half of its line of metrics
    back N       forgets what came after step N
    finish       the evaluations and the summary
Each is answered by one line.
"""

import json
import sys
from pathlib import Path

from strop.reports.run_folder import METRICS, RECIPE, SUMMARY, RunFolder
from strop_verify.core import files


def main() -> None:
    source, target = RunFolder.read(sys.argv[1]), Path(sys.argv[2])
    lines = {line["step"]: line for line in source.iter_metrics()}
    if sys.argv[3] == "resume":
        run = RunFolder.resume(target)
    else:
        run = RunFolder.create(target, recipe=(source.path / RECIPE).read_text(), versions={}, overwrite=True)
    with run:
        print("ready", flush=True)
        for words in map(str.split, sys.stdin):
            done = max((line["step"] for line in run.iter_metrics()), default=0)
            if words[0] == "back":
                run.truncate_after(int(words[1]))
            elif words[0] == "finish":
                run.write_evaluation("after", {"pass@1": 0.5}, source.iter_evaluation_rollouts("after"))
                run.write_summary(json.loads((source.path / SUMMARY).read_text()))
            else:
                run.write_rollouts(done + 1, source.iter_groups(done + 1))
                line = files.json_line(lines[done + 1])
                with (target / METRICS).open("ab") as file:
                    file.write(line if words[0] == "step" else line[: len(line) // 2])
            print("done", flush=True)


if __name__ == "__main__":
    main()
