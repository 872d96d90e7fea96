"""Where gpudoctor keeps what outlives a run: what was mended, and the baseline."""

from __future__ import annotations

import os
from pathlib import Path


def directory() -> Path:
    """$XDG_STATE_HOME/gpudoctor, in ~/.local/state where that is not set. It need not be there."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(state, "gpudoctor")
