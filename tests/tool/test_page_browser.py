# SPDX-License-Identifier: MIT
"""The report page in a browser: nothing is cut off, nothing is fetched; pictures of it are kept.

The pictures lie in build/pages, by width and colours. A browser takes minutes for the pages of all
recordings, so `make prove` has all (`scripts/test site`), and `make test` three small ones.
"""

import html
import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import ROOT
from pawl.cli import main

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium; run scripts/setup browser")

RUNS = ["amd-epyc-2026-11-23-counters", "amd-epyc-2026-11-23-crate", "amd-epyc-2026-11-24-shim"]
if os.environ.get("PAWL_PAGES") == "all":
    RUNS += [
        "amd-epyc-2026-11-21",
        "amd-epyc-2026-11-23-busy",
        "intel-xeon-2026-11-22-latency",
        "intel-xeon-2026-11-22-rcu",
        "amd-epyc-2026-11-23-wait",
        "intel-xeon-2026-11-26-readers",
        "intel-xeon-2026-11-26-scaling",
    ]
DARK, LIGHT = 0, 1
# Appended to a copy of the page: what is wider than its place, and what is fetched.
LOOK = """<script>
addEventListener('load', () => {
  document.querySelectorAll('details').forEach(e => e.open = true);
  const cut = [...document.querySelectorAll('.scroll')]
    .filter(e => e.scrollWidth > e.clientWidth)
    .map(e => e.scrollWidth - e.clientWidth + ' px: ' + e.innerText.slice(0, 60));
  const wide = document.documentElement.scrollWidth > innerWidth;
  const fetched = performance.getEntriesByType('resource').length;
  const colour = getComputedStyle(document.body).backgroundColor;
  document.body.innerHTML = '<pre id="said">' +
    JSON.stringify({cut, wide, fetched, colour}).replace(/</g, '&lt;') + '</pre>';
});
</script>"""


def browse(folder, *arguments):
    done = subprocess.run(
        [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--hide-scrollbars",
            f"--user-data-dir={folder / 'profile'}",
            *map(str, arguments),
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module", params=RUNS)
def page(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / f"{request.param}.html"
    run = ROOT / "bench" / "results" / request.param / "run1.json.xz"
    assert main(["report", str(run), "--html", str(path)]) == 0
    return path


def looked_at(page, width, colours):
    copy = page.with_suffix(".look.html")
    copy.write_text(page.read_text().replace("</body>", LOOK + "</body>"))
    said = browse(
        page.parent,
        f"--window-size={width},900",
        "--virtual-time-budget=5000",
        f"--blink-settings=preferredColorScheme={colours}",
        "--dump-dom",
        copy.as_uri(),
    )
    return json.loads(html.unescape(re.search(r'<pre id="said">(.*?)</pre>', said, re.S)[1]))


def test_every_column_is_visible_on_a_desktop(page):
    said = looked_at(page, 1280, LIGHT)
    assert said["cut"] == [] and not said["wide"] and said["fetched"] == 0


def test_a_small_screen_scrolls_tables_and_not_the_page(page):
    assert not looked_at(page, 390, LIGHT)["wide"]


def test_the_page_is_dark_where_the_reader_wants_it_dark(page):
    light, dark = (looked_at(page, 1280, colours)["colour"] for colours in (LIGHT, DARK))
    assert light == "rgb(255, 255, 255)" and dark != light


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_pictures_are_kept(page, width, colours):
    folder = ROOT / "build" / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    shot = folder / f"{page.stem}-{width}-{'light' if colours else 'dark'}.png"
    browse(
        page.parent,
        f"--window-size={width},3000",
        f"--screenshot={shot}",
        f"--blink-settings=preferredColorScheme={colours}",
        page.as_uri(),
    )
    print(f"picture: {shot}")
    assert shot.stat().st_size > 10_000
