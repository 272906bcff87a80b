# SPDX-License-Identifier: MIT
"""What to do where a command needs a package that this Python does not have."""

import sys
from importlib.util import find_spec

# Module: its name for pip, and Debian's package.
PACKAGES = {
    "click": ("click", "python3-click"),
    "fastjsonschema": ("fastjsonschema", "python3-fastjsonschema"),
    "jinja2": ("jinja2", "python3-jinja2"),
    "matplotlib": ("matplotlib", "python3-matplotlib"),
    "numpy": ("numpy", "python3-numpy"),
    "PIL": ("pillow", "python3-pil"),
    "rich": ("rich", "python3-rich"),
    "scipy": ("scipy", "python3-scipy"),
    "zstandard": ("zstandard", "python3-zstandard"),
}


def _is_there(module: str) -> bool:
    found = sys.modules.get(module)
    if found is not None:
        return found.__name__ == module  # else another stands in
    return find_spec(module) is not None


def sentence(error: ModuleNotFoundError) -> str | None:
    """None: it is no package that the command needs."""
    name = (error.name or "").partition(".")[0]
    if name not in PACKAGES:
        return None
    lacking = [package for module, package in PACKAGES.items() if not _is_there(module)]
    pip = f"{sys.executable} -m pip install {' '.join(p for p, _ in lacking)}"
    if sys.prefix == sys.base_prefix == "/usr":
        return (
            f"this command needs {name}, which {sys.executable} does not have. Debian: "
            f"sudo apt-get install {' '.join(d for _, d in lacking)}; elsewhere: {pip}."
        )
    return f"this command needs {name}, which {sys.executable} does not have: {pip}."
