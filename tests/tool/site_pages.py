# SPDX-License-Identifier: MIT
"""The site and the manual pages of the functions: made without a fault, and looked at in a
browser at two widths in two colours. The pictures lie in build/pages.

`scripts/test site` runs this, for `make prove`; what takes no time is in test_reference.py."""

import fcntl
import html
import json
import os
import re
import subprocess
import sys

import pytest
from test_page_browser import BROWSER, DARK, LIGHT, browse

from conftest import ROOT

pytest.importorskip("sphinx", reason="no sphinx; run scripts/setup browser")
pytest.importorskip("clang", reason="no libclang; run scripts/setup browser")
LOOKED_AT = ["index", "start/pthread", "reference/lock"]
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium; run scripts/setup browser")

# Appended to a page: what is wider than the window, and what is fetched from elsewhere.
LOOK = """<script>
addEventListener('load', () => {
  const wide = document.documentElement.scrollWidth > innerWidth;
  const fetched = performance.getEntriesByType('resource').map(e => e.name)
    .filter(name => !name.startsWith('file:') && !name.startsWith('data:'));
  const colour = getComputedStyle(document.body).backgroundColor;
  document.body.innerHTML = '<pre id="said">' +
    JSON.stringify({wide, fetched, colour}).replace(/</g, '&lt;') + '</pre>';
});
</script>"""


@pytest.fixture(scope="session")
def made():
    """What scripts/site said: made once, whichever worker comes first."""
    (ROOT / "build").mkdir(exist_ok=True)
    mark = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    with open(ROOT / "build/site.lock", "a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        told = lock.read().split("\n", 2)
        if told[0] == mark:
            return int(told[1]), told[2]
        done = subprocess.run(
            [sys.executable, str(ROOT / "scripts/site")],
            capture_output=True,
            text=True,
            check=False,
        )
        lock.truncate(0)
        lock.write(f"{mark}\n{done.returncode}\n{done.stdout}{done.stderr}")
        lock.flush()
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="session")
def site(made):
    return ROOT / "build/site"


def test_it_is_made_without_a_fault(made):
    code, said = made
    assert code == 0, said


def looked_at(site, tmp_path, name, width, colours):
    page = site / f"{name}.html"
    copy = page.with_name(f"{page.stem}.look-{width}-{colours}.html")
    copy.write_text(page.read_text().replace("</body>", LOOK + "</body>"))
    try:
        said = browse(
            tmp_path,
            f"--window-size={width},900",
            "--virtual-time-budget=3000",
            f"--blink-settings=preferredColorScheme={colours}",
            "--dump-dom",
            copy.as_uri(),
        )
    finally:
        copy.unlink()
    return json.loads(html.unescape(re.search(r'<pre id="said">(.*?)</pre>', said, re.S)[1]))


@needs_browser
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_fits_a_small_screen_and_fetches_nothing(site, name, tmp_path):
    said = looked_at(site, tmp_path, name, 390, LIGHT)
    assert not said["wide"] and said["fetched"] == []


@needs_browser
def test_the_site_is_dark_where_the_reader_wants_it_dark(site, tmp_path):
    light, dark = (
        looked_at(site, tmp_path, "index", 1280, colours)["colour"] for colours in (LIGHT, DARK)
    )
    assert light != dark


@needs_browser
def test_the_search_finds_a_function(site, tmp_path):
    said = browse(
        tmp_path,
        "--window-size=1280,900",
        "--virtual-time-budget=8000",
        "--dump-dom",
        (site / "search.html").as_uri() + "?q=pawl_lock64_seek_to_write",
    )
    assert "reference/lock.html#c.pawl_lock64_seek_to_write" in said


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_pictures_are_kept(site, tmp_path, width, colours):
    folder = ROOT / "build" / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    shot = folder / f"site-{width}-{'light' if colours else 'dark'}.png"
    browse(
        tmp_path,
        f"--window-size={width},1600",
        f"--screenshot={shot}",
        f"--blink-settings=preferredColorScheme={colours}",
        (site / "start/pthread.html").as_uri(),
    )
    print(f"picture: {shot}")
    assert shot.stat().st_size > 10_000
