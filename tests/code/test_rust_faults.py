import pytest

from strop_tasks.curation.faults.draw import RARE, Faults
from strop_tasks.curation.faults.operators import CODES, KINDS
from strop_tasks.curation.faults.rust import OPERATORS
from strop_tasks.curation.rust_fix.build import first_error
from strop_tasks.curation.rust_fix.rustc import open_rustc
from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task

WORDS = """pub fn words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        found.push(word.to_string());
    }
    found
}
"""
TOTAL = """pub fn total(values: &[i64]) -> i64 {
    let mut sum = 0;
    for value in values.iter() {
        sum += *value;
    }
    sum
}
"""
LOUD = """pub fn loud(text: &str) -> bool {
    let upper = text.to_uppercase();
    if upper == text {
        return true;
    }
    upper.len() > text.len() + 1
}
"""
MEAN = """fn half(value: f64, by: usize) -> f64 {
    value / by as f64
}

pub fn mean(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let first = values.first()?;
    let all = values.iter().sum::<f64>() + 0.0 * first;
    Some(half(all, values.len()))
}
"""
AREA = """pub struct Square {
    side: u32,
    name: String,
}

pub enum Shape {
    Square(Square),
    Flat,
}

pub fn area(shape: Shape) -> u32 {
    match shape {
        Shape::Square(square) => square.side * square.side,
        Shape::Flat => 0,
    }
}

pub fn unit(name: &str) -> Square {
    Square { side: 1, name: name.to_string() }
}
"""
LONGER = """pub fn longer<'a>(first: &'a str, second: &'a str) -> &'a str {
    if first.len() >= second.len() { first } else { second }
}
"""
COUNT = """use std::collections::HashMap;

pub fn count(text: &str) -> HashMap<char, u32> {
    let mut counts = HashMap::new();
    for letter in text.chars() {
        *counts.entry(letter).or_insert(0) += 1;
    }
    counts
}
"""
JOIN = """fn add(list: &mut Vec<String>, item: &str) {
    list.push(item.to_string());
}

pub fn join(mut parts: Vec<String>, last: String) -> String {
    add(&mut parts, &last);
    parts.push(last.clone());
    format!("{} {last}", parts.join("-"))
}
"""
STEPS = """pub fn adder(step: i32) -> impl Fn(i32) -> i32 {
    move |value| value + step
}

pub fn steps(from: i32, to: i32) -> Vec<i32> {
    (from..to).filter(|n| n % 2 == 0 && *n != 4).collect()
}
"""
LAST = """pub fn last(values: &[u8], skip: usize) -> char {
    let at = values.len() - 1;
    let found = values.get(at - skip).copied().unwrap_or(b'?');
    if found < 5 && skip > 0 {
        return 'x';
    }
    char::from(found.min(120))
}
"""

SAMPLES: dict[str, tuple[str, str]] = {
    "drop-reference": (JOIN, "add(&mut parts, last);"),
    "add-reference": (JOIN, "list.push(&item.to_string());"),
    "shared-argument": (JOIN, "add(&parts, &last);"),
    "drop-dereference": (COUNT, "        counts.entry(letter)"),
    "drop-cast": (MEAN, "value / by\n"),
    "other-cast": (MEAN, "value / by as f32"),
    "other-annotation": (WORDS, "let mut found: Vec<&str> = "),
    "drop-conversion": (WORDS, "found.push(word);"),
    "other-literal": (MEAN, "+ 0 * first"),
    "assignment-as-condition": (LOUD, "if upper = text {"),
    "drop-question-mark": (MEAN, "let first = values.first();"),
    "drop-unwrap": (LAST, ".copied();"),
    "drop-collect": (STEPS, "*n != 4)\n}"),
    "swap-arguments": (MEAN, "half(values.len(), all)"),
    "drop-argument": (MEAN, "half(all)"),
    "drop-mut": (JOIN, "join(parts: Vec<String>"),
    "shared-parameter": (MEAN, "values: &[f64]"),
    "drop-clone": (JOIN, "parts.push(last);"),
    "loop-by-value": (JOIN.replace("parts.push(last.clone());", "for _ in &parts {}"), "for _ in parts {}"),
    "use-after-move": (JOIN, "let kept = last;\n    add("),
    "move-out-of-borrow": (JOIN, "let kept = *list;"),
    "move-into-closure": (WORDS, "let _size = move || found.len();\n    found\n"),
    "move-into-function": (JOIN, "drop(parts);\n    parts.push"),
    "change-while-borrowed": (
        WORDS,
        "let view = &found;\n        found.push(word.to_string());\n        assert!(!view",
    ),
    "two-mutable-borrows": (
        JOIN,
        "let handle = &mut parts;\n    parts.push(last.clone());\n    handle.push(",
    ),
    "assign-while-borrowed": (TOTAL, "let before = &sum;\n        sum += *value;"),
    "short-lived-temporary": (LOUD, "text.to_uppercase().as_str();"),
    "borrow-of-inner": (LOUD.replace("upper == text", "upper.is_empty()"), "&inner"),
    "drop-move": (STEPS, "    |value| value + step"),
    "drop-lifetime": (LONGER, "-> &str {"),
    "borrowed-result": (JOIN, "last: String) -> &str {"),
    "reference-to-local": (LONGER, ".to_string();\n    &found"),
    "drop-use": (COUNT, "pub fn count"),
    "drop-let": (TOTAL, "    sum = 0;"),
    "misspelt-name": (TOTAL, "smu"),
    "foreign-method": (LOUD, "text.upper()"),
    "drop-path": (AREA, "        Flat => 0"),
    "drop-item": (MEAN, "pub fn mean"),
    "tail-semicolon": (TOTAL, "    sum;\n}"),
    "drop-wrapper": (MEAN, "    half(all, values.len())\n}"),
    "add-wrapper": (TOTAL, "    Some(sum)\n}"),
    "drop-else": (LONGER, "{ first }\n}"),
    "bare-return": (LAST, "return;"),
    "drop-arm": (AREA, "square.side * square.side,\n    }"),
    "drop-field": (AREA, "Square { side: 1 }"),
    "boundary": (LONGER, "first.len() > second.len()"),
    "range-end": (STEPS, "(from..=to)"),
    "one-more-or-less": (LAST, "- 2;"),
    "whole-length": (LOUD, "> text.len()\n"),
    "comparison": (STEPS, "n % 2 != 0"),
    "arithmetic": (AREA, "square.side + square.side"),
    "boolean": (STEPS, "0 || *n"),
    "negated-condition": (LAST, "if !(found < 5"),
    "opposite-method": (LAST, "found.max(120)"),
    "swap-operands": (LAST, "skip - at"),
    "drop-statement": (JOIN, "add(&mut parts, &last);\n    format!"),
}


def faults(program, **settings):
    return list(Faults(program, **{"seed": 0, "task_id": "t", **settings}).drawn())


def sample(name):
    program, piece = SAMPLES[name]
    made = [text for fault, text in faults(program) if fault.operator == name]
    chosen = [text for text in made if piece in text and piece not in program] or [
        text for text in made if piece in text
    ]
    assert chosen, f"{name} does not make {piece!r} but:\n" + "\n".join(made)
    return chosen[0]


def test_every_operator_has_a_sample_and_every_kind_an_operator():
    assert set(SAMPLES) == set(OPERATORS)
    assert {kind for operator in OPERATORS.values() for kind in operator.kinds} == set(KINDS)


@pytest.mark.rust
def test_what_operators_make_fails_as_they_say():
    task = Task(language="rust", statement="s", check=RustCheck(tests=""))
    programs = {program for program, _ in SAMPLES.values()}
    with open_rustc() as rustc:
        whole = {program: rustc.submit(task, program) for program in programs}
        broken = {name: rustc.submit(task, sample(name)) for name in SAMPLES}
        for program, future in whole.items():
            assert future.result().passed, program + future.result().stages[0].output
        for name, future in broken.items():
            operator, verdict = OPERATORS[name], future.result()
            if operator.builds:
                assert verdict.passed, name
            else:
                code, message = first_error(verdict.stages[0].output)
                assert operator.kind_of(code), f"{name}: {message}"
                assert message.startswith(f"error[{code}]") and "src/lib.rs:" in message


def test_faults_are_drawn_from_seed_and_task_and_all_differ():
    first = faults(LAST)
    assert faults(LAST) == first
    assert faults(LAST, seed=1) != first and faults(LAST, task_id="u") != first
    programs = ["".join(text.split()) for _, text in first]
    assert len(set(programs)) == len(programs) > 20 and "".join(LAST.split()) not in programs


def test_kinds_take_turns_and_rare_ones_come_first():
    order = [OPERATORS[fault.operator].kinds[0] for fault, _ in faults(JOIN)]
    turn = order[: len(set(order))]
    assert len(set(turn)) == len(turn) >= 6
    rare = [kind in RARE for kind in turn]
    assert rare == sorted(rare, reverse=True) and any(rare)


def test_only_the_kinds_that_are_asked_for():
    chosen = {fault.operator for fault, _ in faults(JOIN, kinds=["moves"])}
    assert chosen and all("moves" in OPERATORS[name].kinds for name in chosen)
    assert "drop-mut" not in chosen


@pytest.mark.parametrize("program", ["", "// nothing\n", TOTAL.replace("}", ""), TOTAL * 600])
def test_programs_that_are_empty_broken_or_too_long_have_no_faults(program):
    assert faults(program) == []


def test_the_kind_of_a_code_is_the_first_of_the_operator():
    assert OPERATORS["tail-semicolon"].kind_of("E0308") == "returns"
    assert OPERATORS["drop-clone"].kind_of("E0308") == "types"
    assert OPERATORS["drop-clone"].kind_of("E0382") == "moves"
    assert OPERATORS["drop-mut"].kind_of("E0308") is None and OPERATORS["boundary"].kind_of("") is None
    assert all(code[0] == "E" and len(code) == 5 for codes in CODES.values() for code in codes)
