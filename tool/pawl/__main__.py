# SPDX-License-Identifier: MIT
import sys

from pawl.cli import main

if __name__ == "__main__":
    sys.exit(main())
