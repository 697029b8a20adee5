"""`strop serve-environment`: serves a recipe's tasks and environment over OpenEnv's protocol."""

from typing import Annotated

from typer import Option

from strop.cli.options import Host, Port, Recipes, recipe_of, say
from strop_verify.core.errors import UserError
from strop_verify.core.listening import end_on_sigterm, is_loopback, listen, url_of


def serve_environment(
    recipe: Recipes,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    sessions: Annotated[int, Option(min=1, help="clients that play at the same time")] = 64,
) -> None:
    """Let other trainers play a recipe's tasks in its environment, over OpenEnv's protocol (docs/neighbours.md)."""
    settings = recipe_of(recipe)
    try:
        from strop.neighbours.openenv_server import EnvironmentServer
    except ImportError as error:
        raise UserError(f"serve-environment needs {error.name}: pip install 'strop[openenv]'") from None
    from strop.tasks.task_sets import tasks_of
    from strop_verify.verification import open_configured

    tasks = tasks_of(settings)
    end_on_sigterm()
    with listen(host, port) as socket, open_configured(settings.sandbox, settings.verifier) as verifier:
        if not is_loopback(host):
            say(f"warning: anyone who can reach {host} may play; use a private network or a tunnel")
        server = EnvironmentServer(settings, tasks, verifier, sessions=sessions)
        print(f"{len(tasks)} tasks on {url_of(host, socket)}", flush=True)
        server.run(socket, host)
