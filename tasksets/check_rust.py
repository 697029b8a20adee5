"""Judges the references of Rust topic files strictly: `python -m tasksets.check_rust TOPIC...`."""

import sys

from strop_verify.verification import open_verifier
from tasksets import read_python
from tasksets.read_rust_from_python import read_topic, topics


def main(names: list[str]) -> int:
    """Prints each reference that does not build, lint and pass, and returns their number."""
    originals = {(t.topic, t.check.function): t for t in read_python.load() if t.check.function}
    verifier = open_verifier(workers=1)
    bad = 0
    try:
        for topic in names or topics():
            mine = {name: task for (where, name), task in originals.items() if where == topic}
            tasks = list(read_topic(topic, mine))
            pending = [(task, verifier.submit(task, task.reference)) for task in tasks]
            for task, future in pending:
                verdict = future.result()
                failed = [stage for stage in verdict.stages if not stage.passed]
                if not verdict.passed or failed:
                    bad += 1
                    print(f"{task.source}: {verdict.outcome.value}: {verdict.detail}")
                    for stage in failed:
                        print("   ", stage.name, stage.output[:1500].replace("\n", "\n    "))
            print(f"{topic}: {len(tasks)} tasks of {len(mine)}", flush=True)
    finally:
        verifier.close()
    return bad


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
