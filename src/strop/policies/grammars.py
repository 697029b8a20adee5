"""Grammars for answers in llguidance's dialect of Lark: JSON that fits a schema, and the rest of a call.

White space is fixed to that of `json.dumps`, since some models would otherwise write it forever.
"""

import json
from collections.abc import Sequence
from typing import Any

_COMPACT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


def answer_grammar(schema: Any) -> str:
    """A grammar for answers that fit a JSON schema."""
    return f"start: {_fits(schema)}\n"


def call_grammar(tools: Sequence[Any], name: str, key: str, end: str) -> str:
    """A grammar for what follows the beginning of a call that is a JSON object.

    tools  functions as OpenAI's API lists them
    name   of the function, if it and `key` are already written; "": the name of any function and `key` follow
    key    the key of the arguments
    end    what follows the object
    """
    chosen = [tool["function"] for tool in tools if name in ("", tool["function"]["name"])]
    rules = []
    for number, function in enumerate(chosen):
        named = f"{json.dumps(function['name'], ensure_ascii=False)}, {json.dumps(key)}: "
        head = "" if name else json.dumps(named, ensure_ascii=False)
        fits = _fits(function.get("parameters") or {"type": "object"})
        rules += [f"call{number}: {head} given{number} {json.dumps('}' + end)}", f"given{number}: {fits}"]
    either = " | ".join(f"call{number}" for number in range(len(chosen)))
    return "\n".join([f'start: " " ({either})', *rules, ""])


def _fits(schema: Any) -> str:
    given = schema if isinstance(schema, dict) else {"enum": []}
    return f"%json {json.dumps({**given, 'x-guidance': _COMPACT})}"
