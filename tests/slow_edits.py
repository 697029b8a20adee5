"""A server of suggestions over stdio whose model takes its time: `python slow_edits.py LOG`."""

import sys
import time
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from pathlib import Path
from typing import Any

from strop.policies.tokenizer import WireTokenizer
from strop.serve import edit_server
from strop.serve.edit_events import EditEventLog
from strop.serve.edit_http import EditHttp
from strop.serve.edit_model import EditModel
from strop.serve.edit_prompt import FimPrompt
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import Completion, SamplingParams

SECONDS = 0.5


class SlowPolicy:
    """Says x, and of a text that ends in "fail" that it cannot."""

    name, version, tokenizer = "slow", 0, WireTokenizer()

    def submit(self, request: Request) -> "Future[Completion]":
        self.future: Future[Completion] = Future()
        self.due = time.monotonic() + SECONDS
        self.fails = self.tokenizer.decode(list(request.prompt)).endswith("fail")
        return self.future

    def work(self, seconds: float) -> None:
        time.sleep(0.005)
        if time.monotonic() >= self.due:
            with suppress(InvalidStateError):
                if self.fails:
                    self.future.set_exception(UserError("the model\nis away"))
                self.future.set_result(
                    Completion(token_ids=[1], logprobs=[-0.5], text="x", finish_reason="eos")
                )


def main() -> None:
    policy: Any = SlowPolicy()
    model = EditModel(policy, SamplingParams(), FimPrompt(policy.tokenizer, 64))
    log = EditEventLog(Path(sys.argv[1]), checkpoint="weights")
    edit_server.serve(model, log, EditHttp(model, log, name="m"), listening=None, lsp=True)


if __name__ == "__main__":
    main()
