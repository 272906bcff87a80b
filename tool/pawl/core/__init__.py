# SPDX-License-Identifier: MIT
"""The hosts of the command: they know no kind; each gets the kind that it works on."""

import sys
from importlib.util import find_spec

if find_spec("click") is None:
    from pawl.core import plain

    sys.modules["click"] = plain
