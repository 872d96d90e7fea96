"""Tests. They are of gpudoctor's own checks: plug-ins that happen to be installed must not decide them."""

import os

os.environ["GPUDOCTOR_NO_PLUGINS"] = "1"
