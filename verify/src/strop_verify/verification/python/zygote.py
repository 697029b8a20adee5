"""The fork server of candidates: a small jailed process that forks one per answer. It sees neither answers nor tests.

The job itself travels over the candidate's own channel.
"""

import os
from functools import partial
from typing import Any, NoReturn

from strop_verify.sandbox.confine import ChildConfinement
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.python import candidate, surroundings, wire
from strop_verify.verification.python.fork_server import Become, serve, start


def main() -> NoReturn:
    """Serves forks until the parent hangs up."""
    control, settings, hello = start()
    try:
        surroundings.prepare()
        candidate.rehearse()
        serve(control, hello, partial(_candidate, settings.unsafe))
    finally:
        os._exit(0)


def _candidate(unsafe: bool, request: dict[str, Any], fds: tuple[int, ...]) -> Become:
    """The candidate's work for a request, prepared before the fork, since the child would copy pages."""
    kind, limits = request["kind"], Limits(**request["limits"])
    channel, stdin, stdout, stderr = fds if kind == "program" else (fds[0], 0, fds[1], fds[1])
    leaf = ChildConfinement(
        limits, {0: stdin, 1: stdout, 2: stderr, candidate.CHANNEL: channel}, tolerant=unsafe
    )

    def become() -> None:
        try:
            leaf()
        except Exception as error:
            os.write(candidate.CHANNEL, wire.frame({"jail": str(error)}))
        else:
            candidate.run(kind)

    return become
