"""Simulated guests are played by processes of their own, at once and soon quickly, with the same outcome."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from druthers.errors import InvalidSetting
from druthers.experiments.guest import Guest
from druthers.service.player import Player

SHORT = Guest(rounds=12)


@pytest.fixture
def player():
    player = Player()
    yield player
    player.close()


def test_who_is_compiled_takes_over_and_plays_the_same(player):
    first = player._quickest()
    plainly = json.loads(player.play(SHORT))
    assert player._ready.wait(600)
    quick = player._quickest()
    assert quick is not first
    assert first.poll() is not None  # nobody needs it any more
    player._played.clear()
    compiled = json.loads(player.play(SHORT))
    assert compiled["said"] == plainly["said"]
    for name, regret in plainly["regret"].items():
        assert np.allclose(compiled["regret"][name], regret, rtol=1e-4)
    assert np.allclose(compiled["estimates"], plainly["estimates"], rtol=1e-3, atol=1e-4)


def test_a_process_that_ended_is_said_and_the_next_game_is_played(player, monkeypatch):
    ended = player._quickest()
    ended.kill()
    ended.wait()
    with monkeypatch.context() as patch:
        patch.setattr(player, "_quickest", lambda: ended)  # it ends just before it is asked
        with pytest.raises(InvalidSetting, match="try again"):
            player._ask(b"{}\n")
    assert json.loads(player.play(SHORT))["guest"]["rounds"] == 12


def test_what_cannot_be_played_is_refused(player):
    with pytest.raises(InvalidSetting, match="a guest comes 1 to 500 times"):
        player.play(Guest(rounds=501))


def test_a_player_ends_with_its_parent_in_the_middle_of_compiling_too(tmp_path):
    """A service that is killed closes nothing: its player went on compiling, for a minute."""
    code = "import os; from druthers.service.player import start; "
    code += "print(start('druthers.service.player', NUMBA_DISABLE_JIT='0').pid, flush=True); os._exit(1)"
    environment = {**os.environ, "DRUTHERS_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    parent = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    pid = int(parent.stdout)
    for _ in range(600):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.1)
    else:
        os.kill(pid, signal.SIGKILL)
        pytest.fail("the player is still there")
