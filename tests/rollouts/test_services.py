"""A play's services once it is closed."""

import threading
from contextlib import closing
from typing import Any

import pytest

from strop.environments.surroundings import Surroundings
from strop.rollouts.services import PlayServices, Threads
from strop_verify.core.errors import SandboxError
from strop_verify.core.play import Run
from strop_verify.sandbox.programs import Programs


@pytest.mark.parametrize(
    "opens", [False, True], ids=["before it opens the folder", "while it opens the folder"]
)
def test_a_program_that_is_about_to_start_does_not_outlive_its_play(opens: bool) -> None:
    """As an interrupt closes a play between an effect and its program."""
    reached, go_on = threading.Event(), threading.Event()

    def surroundings() -> Surroundings:
        reached.set()
        assert go_on.wait(60)
        return Surroundings()

    threads: Any = Threads()
    with closing(Programs()) as programs:
        services = PlayServices(None, threads, programs, surroundings)  # type: ignore[arg-type]
        if not opens:
            services.close()
            go_on.set()
        running = services.run(Run(("/bin/sleep", "6543"), seconds=900, lasting=True))
        if opens:
            assert reached.wait(60)
            closed = threads.submit(services.close)
            go_on.set()
            closed.result(60)
        assert isinstance(running.exception(60), SandboxError)
    threads.close()
