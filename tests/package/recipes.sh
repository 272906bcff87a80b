#!/bin/sh
# SPDX-License-Identifier: MIT
# What can be said of the recipes without building by them, which make prove does (scripts/package):
# Debian's lists name each installed file once, vcpkg's manifest and the versions agree, the bill of
# materials is valid, every file has a licence.
. "$(dirname "$0")/common.sh"

run python3 "$here/recipes.py" "$SOURCE" "$PREFIX" "$VERSION"

python=$SOURCE/.venv/bin/python
if "$python" -c 'import reuse' 2>/dev/null; then
    run "$python" -m reuse --root "$SOURCE" lint --quiet ||
        { "$python" -m reuse --root "$SOURCE" lint --lines; fail "a file without a licence"; }
else
    echo "no reuse in .venv (scripts/setup package): licences were not checked"
fi
if "$python" -c 'import spdx_tools' 2>/dev/null; then
    run "$python" "$SOURCE/scripts/pawl_sbom.py" pawl.spdx.json
    grep -q '"spdxVersion": "SPDX-2.3"' pawl.spdx.json || fail "no SPDX 2.3"
else
    echo "no spdx_tools in .venv (scripts/setup package): the bill of materials was not made"
fi
