"""inspect_evals' HumanEval with Strop's scorer: right, wrong, equal to everything. Argument: where logs go."""

import sys

from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_evals.humaneval.humaneval import humaneval

from strop.neighbours.inspect_code import tests_passed

EQUAL = "    class Any:\n        def __eq__(self, other): return True\n    return Any()\n"

if __name__ == "__main__":
    made = humaneval(scorer=tests_passed(), sandbox="local")
    bodies = [
        (sample.target, "    return None\n", EQUAL)[number % 3] for number, sample in enumerate(made.dataset)
    ]
    prompts = [sample.metadata["prompt"].rstrip() for sample in made.dataset]
    replies = [f"```python\n{prompt}\n{body}```" for prompt, body in zip(prompts, bodies, strict=True)]
    outputs = [ModelOutput.from_content("m", reply) for reply in replies]
    for output in outputs:
        output.usage = ModelUsage(total_tokens=1)  # else they are counted with a vocabulary from the network
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = eval(made, model=model, display="none", log_dir=sys.argv[1], max_connections=1, max_samples=1)
    assert log.status == "success", log.error.message
    print("scored", log.results.scores[0].metrics["accuracy"].value)
