"""Lists of tokens, of Rust or Python: cut at separators, and conditions that always hold."""


def always_true(tokens: list[str]) -> bool:
    """Whether a Rust or Python condition is a visible tautology: `true`, `x == x`, `a || true`, `p || !p`."""
    for _ in range(8):
        if len(tokens) > 2 and tokens[0] == "(" and _closing(tokens) == len(tokens) - 1:
            tokens = tokens[1:-1]
    if not tokens or len(tokens) > 400:
        return False
    if len(parts := split(tokens, ("||", "or"))) > 1:
        negated = {(word, *part) for part in parts for word in ("!", "not")}
        return any(map(always_true, parts)) or any(tuple(part) in negated for part in parts)
    if len(parts := split(tokens, ("&&", "and"))) > 1:
        return all(map(always_true, parts))
    for operator in ("==", "<=", ">=", "is"):
        if len(parts := split(tokens, (operator,))) == 2:
            left, right = parts
            unsigned = operator == ">=" and right == ["0"] and ("len" in left[-4:] or left[:1] == ["len"])
            return left == right or unsigned
    return tokens in (["true"], ["True"], ["!", "false"], ["not", "False"])


def _closing(tokens: list[str]) -> int:
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token in _OPEN) - (token in _CLOSE)
        if depth == 0:
            return place
    return -1


_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


def split(tokens: list[str], separators: tuple[str, ...]) -> list[list[str]]:
    """`tokens` split at the separators outside brackets."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in _OPEN) - (token in _CLOSE)
        if depth == 0 and token in separators:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
