"""What is learnt from accepted and rejected suggestions: the estimator, when it pays to show, and killed rounds."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from tests import next_edits
from tests.scale import some
from tests.warm import strop

from strop.algorithms.losses import Tokens, UpdateSize, find_loss, objective
from strop.cli.models import recipe_for as served_recipe
from strop.cli.models import trained_in
from strop.cli.online import ALWAYS
from strop.cli.options import EngineOptions
from strop.cli.serve_edits import _sampling
from strop.config.algorithms import ReinforceLoss, RunningBaselineAdvantage
from strop.config.load import load_recipe
from strop.config.training import GrpoConfig
from strop.environments.registry import bind, find_environment
from strop.evaluation.result import Evaluation
from strop.policies.loading import load_model, load_tokenizer
from strop.policies.model_files import weights_digest
from strop.policies.open import tokenizer_of
from strop.policies.tokenizer import HubTokenizer
from strop.reports.run_folder import record_file
from strop.rollouts.encoding import opening_ids
from strop.tasks.sources import load_tasks
from strop.training.batch import Advantages, batch_of
from strop.training.checkpoints import latest, read_state
from strop.training.run import resume as resume_run
from strop.training.run import train
from strop_verify.core import files
from strop_verify.core.edit_events import (
    EditAccepted,
    EditDismissed,
    EditServed,
    EditSettled,
    EditShown,
    read_events,
    read_suggestions,
)
from strop_verify.core.errors import ConfigError
from strop_verify.core.rollout import Completion, Group, Rollout, Turn

RECIPE = Path(__file__).parents[2] / "src/strop/recipes/next-edit-laptop.yaml"

GRPO = GrpoConfig(
    loss=ReinforceLoss(average="constant"), advantage=RunningBaselineAdvantage(), group_size=1, refill=False,
    mask_truncated=False,
)  # fmt: skip
LONGEST = 4
Answer = tuple[int, ...]
"""Tokens; silence is the end token alone."""
END = 0
ANSWERS: Sequence[Answer] = ((END,), (1, END), (2, 1, END), (2, 2, END))


class TabularPolicy:
    """Three tokens; a row of logits for each context and what was sampled so far."""

    def __init__(self, contexts: int) -> None:
        random = torch.Generator().manual_seed(1)
        size = (contexts, len(ANSWERS), 3)
        self.logits = torch.randn(size, generator=random, dtype=torch.float64).requires_grad_()

    def logps(self, context: int, answer: Answer) -> torch.Tensor:
        """One a token. After token 1 the answer ends; after token 2 comes 1 or 2, then the end."""
        found = []
        for at, token in enumerate(answer):
            if at == 0:
                found.append(self.logits[context, 0].log_softmax(0)[token])
            elif at == 1 and answer[0] == 2:
                found.append(self.logits[context, 1, 1:].log_softmax(0)[token - 1])
            else:
                found.append(self.logits.new_zeros(()))
        return torch.stack(found)


def closed(context: int, answer: Answer, reward: float) -> Group:
    """A suggestion that somebody decided about."""
    completion = Completion(
        token_ids=list(answer), logprobs=[-1.0] * len(answer), text="", finish_reason="eos"
    )
    turn = Turn(prompt_ids=[context], completion=completion)
    rollout = Rollout(task_id="", index=0, seed=0, prompt="", turns=[turn], reward=reward)
    return Group(task_id="client", step=1, rollouts=[rollout])


def loss_of(groups: Sequence[Group], logps: Sequence[torch.Tensor]) -> torch.Tensor:
    """The update's loss, of groups with advantages; log-probs by group."""
    (samples,) = batch_of(groups, GRPO).minibatches
    order = sorted(range(len(groups)), key=lambda at: not groups[at].has_signal)
    flat = torch.cat([logps[at] for at in order])
    advantages = [a for s in samples for a, keep in zip(s.advantages, s.mask, strict=True) if keep]
    rows = [row for row, s in enumerate(samples) for _ in range(s.tokens)]
    tokens = Tokens(
        logps=flat, old=flat.detach(), sampled=flat.detach(),
        advantages=torch.tensor(advantages, dtype=flat.dtype), rows=torch.tensor(rows), count=len(samples),
    )  # fmt: skip
    size = UpdateSize(rows=len(samples), tokens=len(flat), longest=LONGEST)
    return objective(GRPO, find_loss(GRPO.loss), tokens, size)[0]


def with_baseline(groups: Sequence[Group], baseline: float) -> list[Group]:
    advantages = Advantages(GRPO.advantage)
    advantages.load({"of_task": {}, "overall": baseline})
    return advantages.of(groups)


@pytest.mark.parametrize("baseline", [0.0, 0.3, -0.2])
@pytest.mark.parametrize("drops_silence", [False, True])
def test_mean_of_the_estimator(baseline: float, drops_silence: bool) -> None:
    """Over all answers, each as likely as the policy samples it, the update goes along the gradient of the expected
    reward, with any baseline; but not where silence is dropped and the baseline is not 0.
    """
    policy, random = TabularPolicy(3), Random(5)
    rewards = {
        (x, y): 0.0 if y == (END,) else random.choice([0.75, -0.25, 0.4]) for x in range(3) for y in ANSWERS
    }
    expected = (
        torch.stack([policy.logps(x, y).sum().exp() * reward for (x, y), reward in rewards.items()]).sum() / 3
    )
    (analytic,) = torch.autograd.grad(expected, policy.logits)
    mean = torch.zeros_like(analytic)
    for (x, y), reward in rewards.items():
        if drops_silence and y == (END,):
            continue
        logps = policy.logps(x, y)
        likely = float(logps.detach().sum().exp()) / 3
        loss = loss_of(with_baseline([closed(x, y, reward)], baseline), [logps])
        mean -= likely * LONGEST * torch.autograd.grad(loss, policy.logits)[0]
    same = torch.allclose(mean, analytic, atol=1e-12)
    assert same == (not drops_silence or baseline == 0)


CHANCES = (0.02, 0.05, 0.17, 0.2, 0.31, 0.42, 0.6, 0.9)
"""That a suggestion is accepted, by context."""


@pytest.mark.parametrize("threshold", [0.1, 0.25, 0.5])
def test_threshold_law(threshold: float) -> None:
    """From a user who accepts with a known chance, a policy learns to show where that is above the threshold."""
    logits = torch.zeros(len(CHANCES), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([logits], lr=0.1)
    advantages, random = Advantages(GRPO.advantage), Random(7)
    advantages.load({"of_task": {}, "overall": 0.0})
    for _ in range(400):
        shows = logits.sigmoid().tolist()
        groups, logps = [], []
        for context in (c for c in range(len(CHANCES)) for _ in range(8)):
            shown = random.random() < shows[context]
            accepted = shown and random.random() < CHANCES[context]
            groups.append(closed(context, (1,) if shown else (END,), accepted - threshold * shown))
            one = torch.nn.functional.logsigmoid(logits[context] if shown else -logits[context])
            logps.append(one[None])
        optimiser.zero_grad()
        loss_of(advantages.of(groups), logps).backward()
        optimiser.step()
    shows = logits.sigmoid().tolist()
    assert [show > 0.5 for show in shows] == [chance > threshold for chance in CHANCES]
    earned = sum(show * (chance - threshold) for show, chance in zip(shows, CHANCES, strict=True))
    assert earned >= 0.95 * sum(max(0.0, chance - threshold) for chance in CHANCES)


@pytest.fixture(scope="module")
def edits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return next_edits.built(tmp_path_factory.mktemp("edits"), "--newest-share", "0.4")


class EditorLog:
    """Hears what a run says. When it waits for suggestions of a digest, it writes a log of them, as editors would lead
    to, two of them sampled otherwise; at message `stop` it ends the run.
    """

    def __init__(self, recipe: Any, *, accepts: Callable[[int], bool], stop: int = -1) -> None:
        self.said: list[str] = []
        self._recipe, self._accepts, self._stop = recipe, accepts, stop
        self._tokenizer = tokenizer_of(recipe)
        self._params = recipe.sampling.params(recipe.sampling.stop)

    def __call__(self, line: str) -> None:
        self.said.append(line)
        if len(self.said) - 1 == self._stop:
            raise KeyboardInterrupt
        if "waiting for" in line:
            self._write(line.split(" of ")[1].split(" ")[0])

    def _write(self, digest: str) -> None:
        events: list[Any] = []
        for at in range(-2, 8):
            id = f"{digest}-{at}"
            sampling = self._params.model_copy(update={"temperature": 0.3}) if at < 0 else self._params
            silent = at % 4 == 3
            text = "" if silent else "a\nx"
            ids = [*(self._tokenizer.encode(text) if text else []), *self._tokenizer.text_end]

            def named(kind: str, seconds: float, id: str = id, at: int = at) -> dict[str, Any]:
                return {"event": f"{id}-{kind}", "id": id, "time": 100.0 * at + seconds}

            completion = Completion(token_ids=ids, logprobs=[-1.0] * len(ids), text=text, finish_reason="eos")
            events.append(
                EditServed(
                    **named("served", 0), session="s", client="editor", dialect="lsp", file="f", checkpoint=digest,
                    sampling=sampling, seed=at, characters=len(text),
                    prompt_ids=[5 + at, 6, 7], completion=completion,
                )
            )  # fmt: skip
            if silent:
                continue
            events.append(EditShown(**named("shown", 0.1), by="server"))
            if self._accepts(at):
                events.append(EditAccepted(**named("accepted", 1), characters=len(text)))
                events.append(EditSettled(**named("settled", 20), kept=len(text), discarded=0))
            else:
                events.append(EditDismissed(**named("dismissed", 1)))
        path = self._recipe.run.folder / "events" / f"{digest}.jsonl"
        with files.atomic(path) as file:
            for event in events:
                file.write(files.json_line(event.model_dump(mode="json")))


def recipe_for(folder: Path, edits: Path, model: Path, *words: str) -> Any:
    return load_recipe(
        [RECIPE],
        [
            f"model.name={model}", f"tasks.source={edits}", f"run.dir={folder}", "tasks.max_prompt_tokens=4096",
            "optim.steps=2", "online.batch=8", "online.poll_seconds=0.01", "sampling.max_tokens=16",
            "evaluation.limit=3", "evaluation.samples=1", "optim.learning_rate=1e-3", "online.margin=0.9",
            "online.wrong_margin=0.9", *ALWAYS, *words,
        ],
    )  # fmt: skip


def weights_of(folder: Path) -> bytes:
    return (folder / "served" / "model.safetensors").read_bytes()


def rounds_of(recipe: Any, heard: EditorLog, *, resume: bool = False) -> None:
    """A run of rounds, or the rest of one."""
    shown: dict[str, Any] = {"say": heard, "show": lambda metrics: None}
    if resume:
        resume_run(recipe.run.folder, **shown)
    else:
        train(recipe, **shown)


def feed_state(folder: Path) -> dict[str, Any]:
    """What the newest checkpoint says of the rounds."""
    newest = latest(folder / "checkpoints")
    assert newest
    state: dict[str, Any] = read_state(newest)["feed"]
    return state


@pytest.mark.soak(25)
def test_killed_anywhere_the_same_bits_follow(edits: Path, tiny_model: Path, tmp_path: Path) -> None:
    def run(folder: Path, stop: int, *, resume: bool = False) -> list[str]:
        recipe = recipe_for(folder, edits, tiny_model)
        heard = EditorLog(recipe, accepts=lambda at: at % 3 == 0, stop=stop)
        try:
            rounds_of(recipe, heard, resume=resume)
        except KeyboardInterrupt:
            assert stop >= 0
        return heard.said

    said = run(tmp_path / "whole", -1)
    assert sum("waiting" in line for line in said) == 2 and sum("deployed" in line for line in said) == 2
    assert sum(line.startswith("2 suggestions are left out, since they were not") for line in said) == 1
    for stop in some(range(len(said)), 3):
        folder = tmp_path / f"killed-{stop}"
        run(folder, stop)
        run(folder, -1, resume=True)
        assert weights_of(folder) == weights_of(tmp_path / "whole"), said[stop]
        used = feed_state(folder)["used"]
        assert len(used) == len(set(used)) == 16
        steps = [json.loads(line)["step"] for line in (folder / "metrics.jsonl").read_text().splitlines()]
        assert steps == [1, 2]


@pytest.mark.unit
def test_a_recipe_that_cannot_go_in_rounds_is_refused_by_name() -> None:
    words = [
        *ALWAYS,
        "grpo.group_size=4",
        "run.save_every=5",
        "grpo.mask_truncated=true",
        "grpo.advantage={type: group}",
    ]
    with pytest.raises(ConfigError) as error:
        load_recipe([RECIPE], words)
    told = str(error.value).splitlines()
    for key in ("grpo.group_size", "run.save_every", "grpo.mask_truncated", "grpo.advantage"):
        assert [line for line in told if key in line and "must be" in line], (key, told)


def test_silence_rings(edits: Path, tiny_model: Path, tmp_path: Path) -> None:
    """A simulated user, who is shown nothing by a model that says nothing of use."""
    folder = tmp_path / "run"
    recipe = recipe_for(folder, edits, tiny_model)
    words = ["online", str(RECIPE), f"model.name={tiny_model}", f"tasks.source={edits}", f"run.dir={folder}"]
    done = strop(
        *words, "optim.steps=1", "online.batch=4", "online.user=nearer", "evaluation.limit=3", "sampling.max_tokens=8",
        "tasks.max_prompt_tokens=4096", r'sampling.stop=["\n${q", "\"#"]',
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "alarm at round 1: silence" in done.stdout and "to serve: checkpoint-1" in done.stdout
    assert (
        "round 1: rolled back" in done.stdout
        and "learnt nothing measurable on 2 held-out tasks" in done.stdout
    )
    again = strop("online", "--resume", str(folder))
    assert again.returncode == 0 and "to serve: checkpoint-1" in again.stdout, again.stderr
    assert recipe.run.folder == folder
    for name in ("optimizer.pt", "model.safetensors"):
        file = folder.resolve() / "served" / name
        data = file.read_bytes()
        place = Random().randrange(len(data))
        file.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        again = strop("online", "--resume", str(folder), "optim.steps=2")
        assert again.returncode == 2 and f"{name} is damaged" in again.stderr, again.stderr
        file.write_bytes(data)
    # It is served with the sampling that it is trained with, where nobody says otherwise.
    model, asked = str(folder / "served"), ([], ["sampling.temperature=0.3"])
    trained = trained_in(model, "next-edit")
    assert trained
    options = _sampling(64, trained[0].sampling)
    served = [served_recipe(model, EngineOptions(), options, words).sampling for words in asked]
    assert [one.temperature for one in served] == [0.7, 0.3] and recipe.sampling.temperature == 0.7
    assert [one.stop for one in served] == [["\n${q", '"#']] * 2


@pytest.fixture(scope="module")
def hesitant(edits: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model, taught to say that line a becomes x, which nobody wants, in every other state, else nothing."""
    folder = tmp_path_factory.mktemp("hesitant")
    inner = load_tokenizer(str(tiny_model))
    tokenizer, model = HubTokenizer(inner), load_model(str(tiny_model), device="cpu").train()
    environment = bind(find_environment("next-edit"), "continue")
    says = [*tokenizer.encode("a\nx"), *tokenizer.text_end]
    prompts = [opening_ids(environment(task).begin(), tokenizer) for task in load_tasks(str(edits))]
    target, silence = torch.tensor(says), torch.tensor(tokenizer.text_end)
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(300):
        ids = torch.tensor([[*prompts[step % len(prompts)], *says[:-1]]])
        logits = model(input_ids=ids, logits_to_keep=len(says)).logits[0]
        loss = torch.nn.functional.cross_entropy(logits, target, reduction="sum")
        optimiser.zero_grad()
        (loss + torch.nn.functional.cross_entropy(logits[:1], silence)).backward()
        optimiser.step()
    model.save_pretrained(folder)
    inner.save_pretrained(folder)
    return folder


def rounds(folder: Path, edits: Path, model: Path, user: str, steps: int) -> str:
    """What is said of rounds with a simulated user."""
    done = strop(
        "online", RECIPE, f"model.name={model}", f"tasks.source={edits}", f"run.dir={folder}", f"optim.steps={steps}",
        f"online.user={user}", "online.batch=16", "tasks.max_prompt_tokens=4096", "sampling.max_tokens=8",
        "evaluation.limit=4", "evaluation.samples=4", "grpo.iterations=10", "optim.learning_rate=5e-3",
        "model.sampling_dtype=float32", "model.compute_dtype=float32", "sampling.temperature=1.0",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def metrics_of(folder: Path) -> list[dict[str, Any]]:
    """Without what the clock says."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{key: line[key] for key in line if not key.startswith("seconds")} for line in lines]


def share(folder: Path, number: int, name: str) -> float:
    """Of the held-out states, by the evaluation of a round."""
    record = record_file(folder, f"round-{number}" if number else "before")
    found = Evaluation.model_validate_json(record.read_bytes())
    values = found.values(found.first_stage_keys[name]).values()
    return sum(values) / len(values)


@pytest.mark.train(25)
def test_a_round_that_does_harm_is_rolled_back(edits: Path, hesitant: Path, tmp_path: Path) -> None:
    """A user who takes whatever is shown teaches to show it, which is wrong by the held-out states."""
    folder, halves = tmp_path / "run", tmp_path / "halves"
    said = rounds(folder, edits, hesitant, "always", 2)
    for number in (1, 2):
        assert f"round {number}: rolled back; against round 0: reward -" in said and "learnt: shown +" in said
        assert share(folder, number, "wrong") > share(folder, 0, "wrong") + 0.05
    assert (folder / "served").resolve().name == "checkpoint-20"
    assert weights_digest(str(folder / "served")) == weights_digest(str(hesitant))
    state = feed_state(folder)
    assert state["served"] == 0 and state["used"] == []
    assert [one["deployed"] for one in metrics_of(folder)] == [False, False]

    # What round 2 learnt from was said by the weights that are served, and by no others: in both rounds.
    digest, model = weights_digest(str(folder / "served")), load_model(str(folder / "served"), device="cpu")
    found = [
        read_suggestions(read_events(folder / "events" / f"round-{n}.jsonl")).labelled(digest) for n in (1, 2)
    ]
    assert sorted(state["again"]) == sorted(one.served.id for each in found for one in each)
    for one in (one for each in found for one in each):
        assert one.served.prompt_ids and one.served.completion
        prompt, answer = one.served.prompt_ids, one.served.completion.token_ids
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([[*prompt, *answer]])).logits[0, len(prompt) - 1 : -1]
        chosen = logits.float().log_softmax(-1).gather(1, torch.tensor(answer)[:, None])[:, 0]
        assert chosen.tolist() == pytest.approx(one.served.completion.logprobs, abs=1e-3)

    # Round 2 goes on from the served weights and their optimiser: as one that finds nothing else on disk does.
    rounds(halves, edits, hesitant, "always", 1)
    again = strop("online", "--resume", halves, "optim.steps=2")
    assert again.returncode == 0, again.stderr
    assert metrics_of(halves) == metrics_of(folder)


@pytest.mark.train(15)
def test_a_round_that_does_good_is_deployed(edits: Path, hesitant: Path, tmp_path: Path) -> None:
    """A user whom no suggestion helps teaches silence."""
    folder = tmp_path / "run"
    said = rounds(folder, edits, hesitant, "nearer", 1)
    assert "round 1: deployed; against round 0: reward +" in said and "learnt: shown -" in said
    assert (folder / "served").resolve().name == "checkpoint-10"
    assert weights_digest(str(folder / "served")) != weights_digest(str(hesitant))
    assert share(folder, 1, "wrong") < share(folder, 0, "wrong")
    assert [one["deployed"] for one in metrics_of(folder)] == [True]
