"""`strop harness check`: checks whether an agent can be trained as it is."""

from typing import Annotated

from typer import Argument, Exit, Typer

from strop_verify.core.text import printable

app = Typer(help="Train your own agents: each rollout is a run of the agent.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Train your own agents: each rollout is a run of the agent."""


@app.command("check")
def check_command(
    command: Annotated[
        str, Argument(metavar="COMMAND|RECIPE.yaml", help="the agent, as in tasks.environment.command")
    ],
    overrides: Annotated[
        list[str] | None, Argument(metavar="[KEY=VALUE...]", help="such as 'tasks.environment.turns=8'")
    ] = None,
) -> None:
    """Play one toy task with an agent, with an expert as the policy, and print what works and what is missing.

    The agent runs in the jail, with its own endpoint, as in training. Exit code 1 if something is missing.
    """
    import json

    from strop.cli.options import recipe_of
    from strop.config.recipes import is_recipe
    from strop.evaluation.agent_check import check_agent

    agent = f"tasks.environment={{type: harness, command: {json.dumps(command)}}}"
    first = [command] if is_recipe(command) else [agent, "tasks.max_prompt_tokens=100000"]
    wrong = False
    for finding in check_agent(recipe_of([*first, *(overrides or ())])):
        print(printable(str(finding)), flush=True)
        wrong |= not finding.right
    if wrong:
        raise Exit(1)
