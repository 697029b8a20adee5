"""Draws docs/images/rooms.svg: python docs/rooms.py. The three parts, their rooms in rows, and the path of a task."""

from pathlib import Path

ROWS = """\
strop_tasks
other curation: audit, filter, build tasks
grade formats: data sets of others / grade generators: tasks from a seed / other published: published rewards
strop
other attack: strop attack / other neighbours: other frameworks / other repair: an issue of a repository
other cli: one file a command / other api: import strop
other launch: clusters, processes / other serve: what listens
learn training: the loop, the learner, checkpoints: 8
learn evaluation: pass@k, intervals: 10 / learn reports: run folder, pages, alarms: 9
learn rollouts: many plays side by side
learn environments: how a task is played: 3 / learn algorithms: advantages, losses: 7 / learn judges: reward models
learn policies: who answers: 4
grade tasks: sources, prompts, answers: 1 2 / learn rewards: named scores, rubric: 6
other config: the recipe / other recipes: packaged ones
strop_verify
other attacks: hostile answers
grade verification: toolchains, pool, servers: 5
grade sandbox: the jail, boxes, git
grade code: source as trees / grade edits: diffs, search and replace
other core: records and protocols
"""
"""A part's name, then its rows, the upper ones on those below: rooms as COLOUR NAME: WHAT: STOPS OF THE PATH."""
LEFT, WIDTH, HEIGHT, GAP, HEAD = 16, 868, 44, 8, 24
STYLE = """text { font-family: "DejaVu Sans", Verdana, sans-serif; fill: #1f2933; }
.head { font-size: 13px; } .part { font-size: 13px; font-weight: bold; fill: #52606d; }
.room { font-size: 14px; font-weight: bold; } .what { font-size: 11px; fill: #52606d; }
.step { font-size: 11px; font-weight: bold; fill: #fff; text-anchor: middle; } circle { fill: #b44d12; }
rect { stroke: #9aa5b1; } .page { fill: #fff; stroke: none; }
.learn { fill: #dbeafe; } .grade { fill: #dcf3e3; } .other { fill: #f1f3f5; }"""


def picture() -> str:
    """The SVG."""
    parts, y = [], 40
    for line in ROWS.splitlines():
        if ":" not in line:
            parts.append(f'<text class="part" x="{LEFT}" y="{y + 15}">{line}</text>')
            y += HEAD
            continue
        rooms = line.split(" / ")
        wide = (WIDTH - 10 * (len(rooms) - 1)) / len(rooms)
        for at, room in enumerate(rooms):
            (named, what, stops) = (*room.split(": "), "")[:3]
            colour, name = named.split()
            x = LEFT + at * (wide + 10)
            parts += [
                f'<rect class="{colour}" x="{x:.0f}" y="{y}" width="{wide:.0f}" height="{HEIGHT}" rx="5"/>',
                f'<text class="room" x="{x + 10:.0f}" y="{y + 18}">{name}</text>',
                f'<text class="what" x="{x + 10:.0f}" y="{y + 35}">{what}</text>',
            ]
            for n, stop in enumerate(reversed(stops.split())):
                cx = x + wide - 17 - 24 * n
                parts.append(f'<circle cx="{cx:.0f}" cy="{y + 15}" r="10"/>')
                parts.append(f'<text class="step" x="{cx:.0f}" y="{y + 19}">{stop}</text>')
        y += HEIGHT + GAP
    head = "A room imports only rows below it. Blue: plays, learns. Green: tasks and verdicts. Numbers: a task's path"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 {y + 8}" role="img" aria-labelledby="title">',
            '<title id="title">Three parts and their rooms: a room imports only rows below it.</title>',
            f"<style>\n{STYLE}\n</style>",
            f'<rect class="page" x="0" y="0" width="900" height="{y + 8}" rx="8"/>',
            f'<text class="head" x="{LEFT}" y="25">{head}</text>',
            *parts,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    (Path(__file__).parent / "images/rooms.svg").write_text(picture(), encoding="utf-8")
