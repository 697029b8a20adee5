"""prototype"""
import math
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from strop.environments.code_words import Bag, bag_of, stem, terms
from strop_verify.code.chunks import chunks
from strop_verify.edits.languages import LANGUAGES

K1, B = 1.2, 0.75
CHUNK_SHARE = 1.0
COVER = 0.5
EXACT = 1.0
ER = 0.7
WEAK_W = 0.3
CAND = 20
DOCS, DATA, TESTS = 0.4, 0.3, 0.3
NAMEW=2.0
FOLDW=0.5
_STOP = set("""
a about above after all also am an and any are as at be because been before being below between both but by can could did do
does doing done down during each few for from further had has have having he her here hers him his how i if in into is it its
itself just me more most my no nor not of off on once one only or other our out over own same she should so some such than that
the their them then there these they this those through to too under until up very was we were what when where which while
who whom why will with would you your code file files place places find look looking tell show please
whose else
""".split())
_WEAK = set("""
function functions method methods class classes module part made make makes making get gets got used use uses using happen happens
handled handle handles implemented implement implements implementation defined define defines definition called call calls
come comes work works responsible decided decide done given give takes take taken kept keep
way set put puts see
""".split())
SYN = {}
for line in """
arg argument
param parameter
config configuration settings
cli command
dir directory folder
env environment
auth authentication authorization
tmp temp temporary
init initialize
msg message
str string
num number
func fn function
err error exception
len length
max maximum
min minimum
req request
res resp response
ctx context
conn connection
addr address
doc documentation
lib library
pkg package
fmt format
cmd command
attr attribute
prop property
iter iterate
exec execute run
repo repository
sync synchronize
async asynchronous coroutine
cert certificate
""".strip().splitlines():
    ws = [stem(w) for w in line.split()]
    for w in ws:
        SYN.setdefault(w, set()).update(x for x in ws if x != w)

def asked(q):
    groups = []
    seen = set()
    for w in re.findall(r"[^\W\d]\w*|\d+", q):
        low = w.lower()
        if low in _STOP: continue
        ts = terms(w)
        if not ts: continue
        key = ts
        if key in seen: continue
        seen.add(key)
        weight = WEAK_W if low in _WEAK else 1.0
        if len(ts) > 1:  # identifier
            groups.append((2.0, {ts[-1]: 1.0}))
            for t in ts[:-1]:
                groups.append((0.5, {t: 1.0}))
            continue
        s = ts[0]
        alts = {s: 1.0}
        if ER:
            e = stem(s + "er")
            for x in (s + "er", s+"or", s + "e"):
                alts.setdefault(x, ER)
            if s.endswith("er") and len(s) > 5: alts.setdefault(stem(s[:-2]), ER)
        for x in SYN.get(s, ()):
            alts.setdefault(x, 0.5)
        groups.append((weight, alts))
    return groups

def tfs(alts, bag):
    return sum(w * bag.counts.get(t, 0.0) for t, w in alts.items())

def score(groups, bags: Mapping, idfs=None):
    n = len(bags)
    avg = sum(b.length for b in bags.values()) / max(1, n) or 1.0
    scores = dict.fromkeys(bags, 0.0)
    norm = {k: K1 * (1 - B + B * b.length / avg) for k, b in bags.items()}
    cover = dict.fromkeys(bags, 0.0)
    total = 0.0
    out = []
    for i, (weight, alts) in enumerate(groups):
        having = {k: tf for k, b in bags.items() if (tf := tfs(alts, b))}
        idf = math.log(1 + (n - len(having) + 0.5) / (len(having) + 0.5)) if idfs is None else idfs[i]
        out.append(idf)
        if not having: continue
        total += weight * idf
        for k, tf in having.items():
            part = weight * idf * tf * (K1 + 1) / (tf + norm[k])
            scores[k] += part
            cover[k] += weight * idf
    if total:
        for k in scores:
            scores[k] *= (cover[k] / total) ** COVER
    return scores, out

_TESTDIR = {"test", "tests", "testing", "testdata", "__tests__", "spec", "specs", "fixtures"}
_DOCDIR = {"doc", "docs", "examples", "example", "benchmarks", "benchmark", "bench", "vendor", "_vendor", "vendored", "third_party", "node_modules", "scripts", "misc", "extra", "perf", "samples", "demo", "tools", ".github", "downstream"}
def factor(path, q):
    *folders, name = path.lower().split("/")
    f = 1.0
    base, _, end = name.rpartition(".")
    if set(folders) & _TESTDIR or re.match(r"test_|conftest\.|tests\.rs", name) or re.search(r"[._](test|spec)$", base):
        f *= TESTS
    if set(folders) & _DOCDIR or set(folders) and any(x.startswith(".") for x in folders):
        f *= DOCS
    if end not in LANGUAGES:
        f *= DATA
    return f

def rank(q, bags, texts):
    groups = asked(q)
    fs, idfs = score(groups, bags)
    ps = pathscore(groups, bags)
    for k in fs: fs[k] = (fs[k] + ps[k]) * factor(k, q)
    top = sorted(fs, key=lambda k: (-fs[k], k))[:CAND]
    top = [k for k in top if fs[k] > 0]
    if not CHUNK_SHARE: return top, fs
    cb = {}
    for k in top:
        for ab, bg in cached(k, texts(k)): cb[(k, *ab)] = bg
    cs, _ = score(groups, cb, idfs)
    best = {}
    for (k, a, b), s in cs.items():
        s *= factor(k, q)
        if s > best.get(k, (0,))[0]: best[k] = (s, a, b)
    final = {k: fs[k] + CHUNK_SHARE * best.get(k, (0,))[0] for k in top}
    return sorted(top, key=lambda k: (-final[k], k)), final

def names(k):
    *folders, name = k.split("/")
    base = name.partition(".")[0]
    if base == "__init__" or base == "mod": base = folders[-1] if folders else ""
    return ({t for w in re.findall(r"[^\W\d]\w*", base) for t in terms(w)}, {t for f in folders[-2:] for w in re.findall(r"[^\W\d]\w*", f) for t in terms(w)})

def pathscore(groups, bags):
    ns = {k: names(k) for k in bags}
    n = len(ns)
    out = dict.fromkeys(bags, 0.0)
    for weight, alts in groups:
        hit = {}
        for k, (base, fold) in ns.items():
            v = 0
            for t, w in alts.items():
                if t in base: v = max(v, w * NAMEW / len(base) ** 0.5)
                elif t in fold: v = max(v, w * FOLDW)
            if v: hit[k] = v
        if not hit: continue
        idf = math.log(1 + (n - len(hit) + 0.5) / (len(hit) + 0.5))
        for k, v in hit.items(): out[k] += weight * v * idf
    return out

CACHE = {}
def cached(k, text):
    key = k, hash(text)
    if key not in CACHE:
        lines = text.split("\n")
        CACHE[key] = [((a, b), chunk_bag(k, "\n".join(lines[a - 1 : b]))) for a, b in chunks(k, text)]
    return CACHE[key]

def chunk_bag(k, text):
    return bag_of("x." + k.rpartition(".")[2], text)
