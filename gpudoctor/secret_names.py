"""Which variables and settings are called secrets. Apart from `credentials`, whose many patterns an examination has no need of."""

from __future__ import annotations

import re

_SECRET_VARIABLE = re.compile(
    r"^TF_(VAR|CLI)_|TOKEN|SECRET|PASS|PWD?$|(^|_)PAT$|CREDENTIAL|AUTH|JWT|PRIVATE|COOKIE|WEBHOOK|DSN$|(^|_)(API_?|ACCESS_?)?KEYS?(_|$)|APIKEY|CONN(ECTION)?_?STR",
    re.IGNORECASE,
)


def is_called_secret(name: str) -> bool:
    """Whether a variable of this name may hold what nobody else should see. Terraform's have names of any kind."""
    return _SECRET_VARIABLE.search(name) is not None
