"""Words for how hard a task is, as data sets and sites write them, and the levels 0 to 5 that they mean here."""

from typing import Any

LEVELS = {
    1: "trivial, very easy, very_easy, beginner, school, basic, 8 kyu, 7 kyu",
    2: "easy, introductory, intro, simple, low, novice, 6 kyu",
    3: "medium, moderate, normal, interview, intermediate, mid, 5 kyu",
    4: "hard, difficult, medium_hard, medium hard, competition, advanced, high, 4 kyu",
    5: "very hard, very_hard, expert, extreme, insane, challenge, 3 kyu, 2 kyu, 1 kyu",
}
_OF = {word: level for level, words in LEVELS.items() for word in words.split(", ")}


def level_of(value: Any) -> int | None:
    """0 to 5 as such or as text, or a word in any case; 0 for what is missing. None for anything else."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return 0
    if isinstance(value, str):
        text = value.strip().casefold()
        if (known := _OF.get(text)) is not None:
            return known
        try:
            value = float(text)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in range(6):
        return None
    return int(value)
