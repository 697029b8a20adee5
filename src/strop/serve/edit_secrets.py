"""What must not be written down: keys, tokens, passwords, private keys, `.env` files and files that by name hold such.

A file with one is not logged at all, so that no part of it is: neither what stands beside it, nor a key half typed.
Too much is held back rather than too little; there is no list of exceptions.
"""

import math
import re
from collections import Counter
from functools import lru_cache
from pathlib import PurePath

_NAMES = re.compile(
    r"""\.env(\..*)?|.*\.env|.*\.(pem|key|p8|p12|pfx|jks|keystore|kdbx?|ppk|asc|gpg|ovpn|tfvars|tfstate|htpasswd)
    |id_(rsa|dsa|ecdsa|ed25519).*|.*(secret|credential|password|passwd).*|\.(netrc|npmrc|pypirc|pgpass|htpasswd|dockercfg)
    |_netrc|kubeconfig|token(s)?(\..*)?|authorized_keys|shadow""",
    re.VERBOSE | re.IGNORECASE,
)
_FOLDERS = {".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", "secrets"}
_KNOWN = re.compile(
    r"""-----BEGIN|PRIVATE[ ]KEY
    |\b(AKIA|ASIA)[A-Z0-9]{4}|\bgh[pousr]_\w{4}|\bgithub_pat_|\bglpat-|\bsk-[\w-]{4}|\b[sr]k_(live|test)_|\bxox[a-z]-
    |\bAIza[\w-]{4}|\bya29\.|\bhf_\w{4}|\bnpm_\w{4}|\bpypi-\w{4}|\bdop_v1_|\bSG\.[\w-]{4}|\bAGE-SECRET-KEY
    |\beyJ[\w-]{8,}|\b(Bearer|Basic)\s+[\w.~+/=-]{6,}|://[^/\s:@]+:[^/\s:@]+@|hooks\.slack\.com/services/""",
    re.VERBOSE,
)
_NAMED = re.compile(
    r"""[\w-]*(secret|token|passw|passphrase|pwd|api_?-?key|access_?-?key|private_?-?key|credential|auth_?-?key)[\w-]*
    ["']?\s*(:\s*\w+\s*)?[:=]>?\s*[rbf]?["'`][^"'`\s]""",
    re.VERBOSE | re.IGNORECASE,
)
"""Of a value in quotes: `token = next()` is code."""
_SETTING = re.compile(r"\s*(export\s+)?[A-Z][A-Z0-9_]*=\S*.*")
_RANDOM = re.compile(r"[A-Za-z0-9+/_=-]{24,}")
_ENTROPY = 4.0
"""Bits a character; words and names joined by _ have less, hexadecimal digits at most this."""
_HEX = re.compile(r"[0-9a-fA-F]{32,}")


def secret_name(path: str) -> bool:
    """Whether a file of that name may hold secrets."""
    name = PurePath(path)
    return bool(_NAMES.fullmatch(name.name)) or not _FOLDERS.isdisjoint(name.parts)


def secret_in(text: str) -> bool:
    """Whether a text holds what may be a secret, also one that is being typed, or is the text of a `.env` file."""
    lines = text.splitlines()
    said = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if said and all(_SETTING.fullmatch(line) for line in said):
        return True
    return any(map(_secret_line, lines))


@lru_cache(maxsize=1 << 14)
def _secret_line(line: str) -> bool:
    if _KNOWN.search(line) or _NAMED.search(line) or _HEX.search(line):
        return True
    return any(_random(found[0]) for found in _RANDOM.finditer(line))


def _random(word: str) -> bool:
    if not (re.search(r"\d", word) and re.search(r"[A-Za-z]", word)):
        return False
    counts = Counter(word)
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts.values()) >= _ENTROPY
