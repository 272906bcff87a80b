#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes a page of doc/start apart: start_page.py PAGE FOLDER writes into FOLDER the files that the
page says to save, `commands` to run in it, and `expected`, what they print.

"Save it as `NAME`" names the next block of code. The commands are the block of sh, the output the
block of text. A page without one of the three is an error: nothing would be tested."""

import re
import sys
from pathlib import Path

SAVED = re.compile(r"[Ss]ave it as\s+`([\w./-]+)`.*?^```\w*\n(.*?)^```$", re.S | re.M)
BLOCK = "^```{}\\n(.*?)^```$"


def main():
    page, folder = Path(sys.argv[1]), Path(sys.argv[2])
    text = page.read_text(encoding="utf-8")
    saved = SAVED.findall(text)
    commands, output = (
        re.findall(BLOCK.format(kind), text, re.S | re.M) for kind in ("sh", "text")
    )
    if not saved or len(commands) != 1 or len(output) != 1:
        sys.exit(
            f"{page}: needs a block that is saved under a name, one block of sh and one of "
            f"text; it has {len(saved)}, {len(commands)} and {len(output)}"
        )
    for name, code in saved:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(code, encoding="utf-8")
    (folder / "commands").write_text(commands[0], encoding="utf-8")
    (folder / "expected").write_text(output[0], encoding="utf-8")


if __name__ == "__main__":
    main()
