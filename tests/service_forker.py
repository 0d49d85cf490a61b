"""Serve until killed: for each line of the input, a log file and settings, a process of its own.

Processes are forked here because importing the package takes longer than most of them live. One that gets SIGUSR1
writes where it stands beside its log: position and digest of all that it knows, with the users named in a file there.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import traceback
from pathlib import Path

from druthers.advisor import Advisor
from druthers.service import app as service
from druthers.service.settings import Settings, load_settings


def warm_up() -> None:
    """Have all kernels compiled or read before the first fork: whoever waits for a server waits for nothing else."""
    with Advisor("hotels", parser="lexicon", policy=Settings().policy) as advisor:
        advisor.compile()
        advisor.hear("ada", "cheap and clean")
        made = advisor.recommend("ada", size=3)
        advisor.feedback(made.id, rewards={"value": 4.0}, utility=0.5)
        advisor.feedback(made.id, rewards={"rooms": 4.0})
        advisor.correct("ada", ["rooms", "value"])
        advisor.feedback(advisor.recommend("bob").id, utility=0.5)
        advisor.save()
        advisor.shrink(0)
        advisor.preference("ada")
        advisor.forget("bob")
        advisor.retire_item(made.items[0].item)


def serve(log: str, settings: Settings) -> None:
    """Serve, and tell where it stands when asked."""
    make_app = service.make_app

    def make_and_tell(settings: Settings) -> object:
        app = make_app(settings)

        def tell(*_: object) -> None:
            advisor = app.state.desk.advisor
            told = [advisor.fold.position, advisor.digest(json.loads(Path(f"{log}.users").read_text()))]
            Path(f"{log}.new").write_text(json.dumps(told))
            Path(f"{log}.new").rename(f"{log}.digest")

        signal.signal(signal.SIGUSR1, tell)
        return app

    service.make_app = make_and_tell
    service.serve(settings)


if __name__ == "__main__":
    warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        log, given = json.loads(line)
        child = os.fork()
        if not child:
            try:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                with open(log, "ab", buffering=0) as file:
                    for stream in (1, 2):
                        os.dup2(file.fileno(), stream)
                os.close(0)
                faulthandler.register(signal.SIGUSR2)  # where all threads are, for who waits in vain
                serve(log, load_settings(environ={}, **given))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        print(child, flush=True)
