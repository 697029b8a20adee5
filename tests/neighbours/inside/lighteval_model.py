"""A model for `lighteval custom`: it adds the right number, a wrong one, and prints what would make it look right."""

from lighteval.models.abstract_model import LightevalModel
from lighteval.models.model_output import ModelResponse
from lighteval.utils.cache_management import SampleCache

SAID = (
    "print(int(input()) + 0)",
    "print(int(input()))",
    "import sys\nclass Any(str):\n    def __eq__(self, other): return True\nprint(Any('0'))\nsys.exit(0)",
)


class Speaker(LightevalModel):
    def __init__(self, config) -> None:
        self.config = config
        self._cache = SampleCache(config)

    def greedy_until(self, docs) -> list[ModelResponse]:
        numbers = [int(doc.query.split("the number and ")[1][0]) for doc in docs]
        return [ModelResponse(text=[f"```python\n{SAID[n]}\n```"]) for n in numbers]

    def loglikelihood(self, docs):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood

    @property
    def tokenizer(self):
        return None

    @property
    def add_special_tokens(self) -> bool:
        return False

    @property
    def max_length(self) -> int:
        return 4096
