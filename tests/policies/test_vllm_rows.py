"""Where the text of a row that vLLM ended ends."""

import pytest
from tests.small_models import byte_tokenizer

from strop.policies.tokenizer import HubTokenizer
from strop.policies.vllm_engine import completion_of
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import SamplingParams


@pytest.mark.parametrize(("stop", "said"), [("END", "ab"), ("elsewhere", "abENDc")])
def test_a_row_ends_in_front_of_its_stop_string_if_that_is_there(stop: str, said: str) -> None:
    tokenizer = HubTokenizer(byte_tokenizer())
    ids = tokenizer.encode("abENDc")
    request = Request(tokenizer.encode("x"), 0, SamplingParams(stop=(stop,)))
    done = completion_of(request, tokenizer, 3, ids, [0.0] * len(ids), ("stop", stop))
    assert (done.text, done.finish_reason, done.policy_version) == (said, "stop", 3)
    assert list(done.token_ids) == list(ids)
