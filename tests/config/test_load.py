"""Loading and merging: what wins, what is read as what, and every fault with its place."""

import json
from pathlib import Path

import pytest
import yaml

from strop import __version__
from strop.config.algorithms import CispoLoss, DapoLoss, DrGrpoLoss, GspoLoss, TokenMasked, TokenTruncated
from strop.config.load import dump_recipe, load_recipe
from strop.config.schema import Recipe
from strop.config.training import GrpoConfig
from strop_verify.core.errors import ConfigError


def write(folder: Path, text: str, name: str = "r.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def faults_of(files: list[Path], *overrides: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_recipe(files, overrides)
    assert all("\n" not in fault for fault in caught.value.faults)
    return caught.value.faults


def test_nothing_given_is_the_defaults() -> None:
    assert load_recipe() == Recipe()


def test_later_layers_win_and_leave_the_rest(tmp_path: Path) -> None:
    first = write(tmp_path, "grpo: {beta: 0.1, group_size: 4}\nsampling: {stop: [a, b, c]}\n", "1.yaml")
    second = write(tmp_path, "grpo: {beta: 0.2}\nsampling: {stop: [d]}\n", "2.yaml")
    recipe = load_recipe([first, second], ["grpo.loss.epsilon_high=0.3"])
    assert (recipe.grpo.beta, recipe.grpo.group_size) == (0.2, 4)
    assert recipe.grpo.loss == DapoLoss(epsilon_high=0.3)
    assert recipe.sampling.stop == ["d"]
    assert load_recipe([first, second], ["grpo.beta=0.3", "grpo.beta=0.4"]).grpo.beta == 0.4


@pytest.mark.parametrize("word", ["1e-6", "1E-6", "1.0e-06", ".000001", "0.000001"])
def test_numbers_are_numbers_in_files_and_overrides(tmp_path: Path, word: str) -> None:
    assert load_recipe([write(tmp_path, f"optim: {{learning_rate: {word}}}")]).optim.learning_rate == 1e-6
    assert load_recipe([], [f"optim.learning_rate={word}"]).optim.learning_rate == 1e-6


@pytest.mark.parametrize(
    "word", ["no", "on", "off", "yes", "y", "2024-01-01", "1_000", "12:30:45", "1e6", "007", "0x1f"]
)
def test_text_fields_keep_their_text(tmp_path: Path, word: str) -> None:
    assert load_recipe([write(tmp_path, f"model: {{revision: {word}}}")]).model.revision == word
    assert load_recipe([], [f"model.revision={word}"]).model.revision == word


def test_override_text_is_verbatim() -> None:
    assert load_recipe([], ["tasks.source=a #b: c = d"]).tasks.source == "a #b: c = d"
    assert load_recipe([], ['tasks.source="x\\ty"']).tasks.source == "x\ty"
    assert load_recipe([], [r'sampling.stop=["\ndef ", "#"]']).sampling.stop == ["\ndef ", "#"]


@pytest.mark.parametrize(
    ("word", "remedy"), [("no", "false"), ("off", "false"), ("yes", "true"), ("on", "true")]
)
def test_yes_and_no_are_no_booleans(tmp_path: Path, word: str, remedy: str) -> None:
    path = write(tmp_path, f"grpo:\n  refill: {word}\n")
    assert faults_of([path]) == [
        f"{path}:2 grpo.refill: expected true or false, got {word!r}; write {remedy}"
    ]


def test_a_changed_type_starts_its_section_afresh(tmp_path: Path) -> None:
    path = write(tmp_path, "grpo: {preset: gspo, loss: {epsilon_high: 0.1}}")
    assert load_recipe([path]).grpo.loss == GspoLoss(epsilon_low=2e-5, epsilon_high=0.1)
    changed = load_recipe([path], ["grpo.loss.max_weight=3", "grpo.loss.type=cispo"]).grpo
    assert changed.loss == CispoLoss(max_weight=3) and changed.beta == 0.02
    again = write(tmp_path, dump_recipe(load_recipe([path], ["grpo.loss.type=dr-grpo"])), "again.yaml")
    assert load_recipe([again]).grpo.loss == DrGrpoLoss()
    assert load_recipe([again], ["grpo.loss=cispo"]).grpo.loss == CispoLoss()


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["grpo.max_staleness=1"], "token-truncated"),
        (["grpo.older=correct"], "token-truncated"),
        (["grpo.max_staleness=1", "grpo.correction.type=sequence-masked"], "sequence-masked"),
        (["grpo.max_staleness=1", "grpo.loss.type=sequence-weighted"], "none"),
        (["grpo.max_staleness=1", "grpo.max_staleness=0"], "none"),
        ([], "none"),
    ],
)
def test_stale_samples_are_corrected_where_nothing_else_is_said(words: list[str], kind: str) -> None:
    recipe = load_recipe([], words)
    assert recipe.grpo.correction.type == kind
    assert yaml.safe_load(dump_recipe(recipe))["grpo"]["correction"]["type"] == kind
    own = recipe.grpo.model_dump(exclude={"correction"})
    assert kind == "sequence-masked" or GrpoConfig.model_validate(own) == recipe.grpo


def test_a_bound_alone_is_that_of_the_correction_of_stale_samples(tmp_path: Path) -> None:
    path = write(tmp_path, "grpo: {max_staleness: 1, correction: {max_weight: 3.0}}\n")
    assert load_recipe([path]).grpo.correction == TokenTruncated(max_weight=3.0)
    masked = load_recipe([path], ["grpo.correction.type=token-masked"]).grpo.correction
    assert masked == TokenMasked()  # another type starts afresh


def test_a_changed_engine_starts_the_policy_afresh(tmp_path: Path) -> None:
    path = write(tmp_path, "policy: {engine: transformers, batch_rows: 4}")
    recipe = load_recipe([path], ["policy.max_num_seqs=9", "policy.engine=vllm"])
    assert recipe.policy.model_dump()["max_num_seqs"] == 9
    kept = load_recipe([path], ["policy.engine=transformers"])
    assert kept.policy.model_dump()["batch_rows"] == 4


@pytest.mark.parametrize(
    ("words", "alone"),
    [
        ([], False),
        (["model.lora.rank=4"], True),
        (["model.lora.rank=4", "policy.sync=files"], False),
        (["model.lora.rank=4", "sft.warm_start=true"], False),
        (["model.lora.rank=4", "launch.engine=zero3"], False),
        (["model.lora.rank=4", "model.dtype=bfloat16", "model.quantization=nf4"], False),
        (["model.lora.rank=4", "policy.engine=vllm"], False),
    ],
)
def test_servers_get_adapters_alone_where_they_can(words: list[str], alone: bool) -> None:
    assert load_recipe([], ["policy.engine=vllm-server", *words]).sends_adapters is alone


def test_what_samples_during_the_update_does_not_sleep() -> None:
    (only,) = faults_of([], "policy={engine: vllm, sleep: true}", "grpo.max_staleness=1")
    assert "policy.sleep: samples nothing during the update, but grpo.max_staleness=1 needs that" in only


def test_all_faults_at_once_with_places(tmp_path: Path) -> None:
    path = write(
        tmp_path, "model:\n  name: x\ngrpo:\n  clip_high: 0.3\n  loss: {type: dapoo}\noptim:\n  steps: many\n"
    )
    assert faults_of([path], "grpo.betaa=1") == [
        f"{path}:5 grpo.loss.type: 'dapoo' is none of grpo, dapo, dr-grpo, gspo, cispo, reinforce, "
        "sequence-weighted; did you mean dapo?",
        f"{path}:4 grpo.clip_high: unknown key; did you mean grpo.loss.epsilon_high?",
        "command line: grpo.betaa=1: unknown key; did you mean grpo.beta?",
        f"{path}:7 optim.steps: expected a whole number, got 'many'",
    ]


@pytest.mark.parametrize(
    ("override", "fault"),
    [
        ("lr=3", "unknown key; did you mean optim.learning_rate?"),
        ("grpo.temperature=1", "unknown key; did you mean sampling.temperature?"),
        ("modle.name=x", "unknown key; did you mean model?"),
        ("optim.qqqqq=1", "unknown key; there are learning_rate, "),
        ("model.lora.rnak=1", "unknown key; did you mean model.lora.rank?"),
        ("policy.max_num_seqs=3", "unknown key for engine transformers"),
        (
            "policy.engine=vlm",
            "'vlm' is none of transformers, vllm, vllm-server, openai, scripted; did you mean vllm?",
        ),
        ("policy.engine=added", "'added' is none of transformers, vllm, "),
        ("policy.engine=3", "'3' (text) is none of transformers, vllm, "),
        ("policy.engine=scripted", "the scripted engine needs a JSONL file of answers"),
        ("optim.steps=abc", "expected a whole number, got 'abc'"),
        ("optim.steps=1e3", "expected a whole number, got 1000.0; write 1000"),
        ("optim.steps=1.5", "expected a whole number, got 1.5"),
        ("optim.steps=true", "expected a whole number, got true"),
        ("optim.steps='3'", "expected a whole number, got '3' (text); write 3 without quotes"),
        ("optim.learning_rate=.nan", "expected a finite number, got nan"),
        ("run.name=null", "expected text, got null"),
        ("tasks.source=true", 'expected text, got true; put it in quotes: "true"'),
        ("run.name=a/b", "'a/b' does not match"),
        ("sampling.stop=x", "expected a list, got 'x'; write [x]"),
        ("rewards.0.weight=2", "a list is replaced as a whole"),
        ("rewards=[]", "at least 1 item"),
        ("rewards=[{name: a, weight: 0}]", "every weight is 0"),
        ("rewards=[{name: a}, {name: a}]", "'a' is listed twice"),
        ("sampling.max_tokens=0", "must be greater than or equal to 1, got 0"),
        ("sampling.temperature=0", "must be greater than 0, got 0"),
        ("grpo.group_size=0", "must be greater than or equal to 1, got 0"),
        ("grpo.loss.epsilon_high=0.1", "0.1 is below epsilon_low (0.2)"),
        ("grpo.loss.max_weight=3", "unknown key for type dapo; there are epsilon_low, epsilon_high, type"),
        (
            "grpo.loss={type: cispo, max_wieght: 3}",
            "unknown key for type cispo; did you mean grpo.loss.max_weight?",
        ),
        ("grpo.loss=dr_grpo", "reinforce, sequence-weighted; did you mean dr-grpo?"),
        ("grpo.loss=nothing-like-it", "sequence-weighted; one of your own is file.py:Name"),
        ("grpo.loss.type=added", "'added' is none of grpo, dapo, "),
        ("grpo.loss=[1]", "expected a mapping, got [1]; write {type: dapo}"),
        ("grpo.advantage={type: 3}", "'3' (text) is none of group, "),
        ("grpo.epsilon_high=0.3", "unknown key; did you mean grpo.loss.epsilon_high?"),
        ("grpo.scale_rewards=none", "unknown key; did you mean grpo.advantage.scale?"),
        ("grpo.advantage.type=running-baseline", "grpo.refill: replaces groups of equal rewards"),
        ("grpo.group_size=1", "take 2 or more, or advantage.type running-baseline"),
        ("grpo.correction={type: token-masked, min_weight: 6}", "max_weight: 5 is not above min_weight (6)"),
        (
            "grpo.advantage={type: per-turn, scale: batch}",
            "turns are scaled within their group or not at all",
        ),
        ("grpo={max_staleness: 1, correction: {type: none}}", "none leaves stale samples uncorrected"),
        ("grpo={older: correct, correction: {type: none}}", "choose another, or leave it out"),
        (
            "grpo={loss: {type: sequence-weighted}, correction: {type: token-masked}}",
            "which corrects by itself",
        ),
        ("optim.betas=[0.9, 1.0]", "[0.9, 1.0] must both lie in [0, 1)"),
        ("optim.betas=[0.9]", "optim.betas"),
        ("optim.warmup_steps=999", "999 is more than steps (200)"),
        ("optim.micro_batch=7", "did you mean optim.micro_batch_tokens"),
        ("evaluation.k=[16]", "pass@16 needs 1 <= k <= samples (8)"),
        ("evaluation={samples: 0, greedy: false}", "leave nothing to evaluate"),
        ("sandbox.wall_seconds=1", "1 is below cpu_seconds (5)"),
        ("tasks.levels=[9]", "9 is not a level"),
        ("model=smollm2", "no preset 'smollm2'; did you mean smollm2-135m?"),
        (
            "tasks=humaneval",
            "no preset 'humaneval'; tasks has no presets; set its keys, such as tasks.source=...",
        ),
        ("model=3", "expected a mapping, got 3"),
        ("grpo.beta", "not KEY=VALUE"),
        ("grpo..beta=1", "not KEY=VALUE"),
        ("=1", "not KEY=VALUE"),
        ("grpo.beta=", "no value; write grpo.beta=null"),
        ("sampling.stop=[a", "not valid YAML"),
        ("seed=-1", "must be greater than or equal to 0, got -1"),
        ("run.name=\udcff", "not Unicode"),
        ('run.name="\\ud800"', "not Unicode"),
        ("seed=" + "9" * 5000, "too long"),
        ("seed=" + "9" * 300, "seed"),
    ],
)
def test_bad_override(override: str, fault: str) -> None:
    (only,) = faults_of([], override)
    assert only.startswith("command line: ")
    assert fault in only
    assert len(only) < 500


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", ": the file is empty"),
        ("# nothing\n", ": the file is empty"),
        ("- a\n", ": a recipe is a mapping of sections, not list"),
        ("grpo: [\n", ":2: not valid YAML"),
        ("grpo:\n\tbeta: 1\n", ":2: not valid YAML"),
        ("seed: 1\nseed: 2\n", ":2: seed occurs twice"),
        ("grpo:\n  beta: 1\n  beta: 2\n", ":3: grpo.beta occurs twice"),
        ("seed: 1\n---\nseed: 2\n", ": not valid YAML"),
        ("1: x\n", ":1: key '1' is not text"),
        ("seed: !!python/object/apply:os.system [x]\n", ":1: tag "),
        ("seed: !!int x\n", ":1: 'x' is not a int"),
        ("run: {name: !!timestamp 2020-01-01}\n", ":1: tag "),
        ("run: &a\n  name: *a\n", ":1: an anchor that contains itself"),
        ("seed: *a\n", ":1: not valid YAML"),
        ("seed: \x07\n", ":1: character #x0007"),
        ("model:\n  lora: 3\n", ":2 model.lora: expected a mapping, got 3"),
        ("model:\n  preset: smollm\n", ":2 model: no preset 'smollm'; did you mean smollm2-135m?"),
        ("grpo:\n  <<: {beta: 1}\n", ":2 grpo.<<: unknown key"),
    ],
)
def test_bad_file(tmp_path: Path, text: str, fault: str) -> None:
    path = write(tmp_path, text)
    (only,) = faults_of([path])
    assert only.startswith(str(path))
    assert fault in only


def test_unreadable_files_each_get_a_line(tmp_path: Path) -> None:
    binary = tmp_path / "b.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    missing = tmp_path / "none.yaml"
    assert faults_of([missing, binary, tmp_path], "grpo.beta") == [
        f"{missing}: there is no such file",
        f"{binary}: not UTF-8 text; a recipe is a YAML file",
        f"{tmp_path}: cannot be read: Is a directory",
        "command line: grpo.beta: not KEY=VALUE with a dotted key, such as grpo.beta=0.01",
    ]


def test_control_characters_do_not_come_back_raw() -> None:
    (fault,) = faults_of([], "grpo.\x1b[31mx=1")
    assert "\x1b" not in fault


def test_anchors_and_explicit_tags_work(tmp_path: Path) -> None:
    recipe = load_recipe([write(tmp_path, "seed: &s 3\noptim: {steps: *s, learning_rate: !!float 0.1}\n")])
    assert (recipe.seed, recipe.optim.steps) == (3, 3)


def test_a_list_of_task_sets_names_its_faults_and_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "mixed.yaml"
    path.write_text("tasks:\n  - name: a\n    weight: 2\n  - name: b\n    stop: ['x']\n")
    recipe = load_recipe([path])
    again = tmp_path / "again.yaml"
    again.write_text(dump_recipe(recipe))
    assert load_recipe([again]) == recipe and [one.name for one in recipe.tasks] == ["a", "b"]
    for words, said in (
        (["tasks.limit=5"], "tasks.limit=5: the recipe has a list of task sets"),
        (["tasks=[{name: a, wieght: 2}]"], "did you mean tasks.0.weight?"),
        (["tasks=[{name: a}, {name: a}]"], "two sets are named 'a'"),
        (["tasks=[{name: a, weight: 0}]"], "every set has weight 0 at step 1"),
        (
            ["tasks=[{name: a, schedule: [{step: 5, weight: 1}, {step: 5, weight: 0}]}]"],
            "step 5 does not come after",
        ),
        (["tasks=[{source: x}]"], "tasks.0.name: needs a value"),
        (["tasks=[]"], "the list is empty"),
        (["tasks.style=chta"], "did you mean chat?"),
    ):
        files = [path] if words == ["tasks.limit=5"] else []
        with pytest.raises(ConfigError) as fault:
            load_recipe(files, words)
        assert said in str(fault.value), fault.value


def test_a_recipe_of_a_run_of_another_version_names_it(tmp_path: Path) -> None:
    recipe, versions = write(tmp_path, "oldkey: 1\n", "recipe.yaml"), tmp_path / "versions.json"
    for text in ("{}", "[", json.dumps({"strop": __version__})):
        versions.write_text(text)
        assert len(faults_of([recipe])) == 1
    versions.write_text('{"strop": "0.0.7"}')
    unknown, other = faults_of([recipe])
    assert "oldkey" in unknown and "written by strop 0.0.7" in other and __version__ in other
