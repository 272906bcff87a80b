# SPDX-License-Identifier: MIT
"""The trace: an SQLite database, which many programs read. doc/trace.md has its tables.

A trace of another version, a foreign file, a torn one: a sentence each.
"""

import contextlib
import json
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pawl.core import errors, output
from pawl.core.errors import BadInput, Failure

APPLICATION, VERSION = 0x7061776C, 10  # "pawl"

TABLES = {
    "meta": "name TEXT PRIMARY KEY, value TEXT",
    "process": "id INTEGER PRIMARY KEY, pid INTEGER, parent INTEGER, program TEXT, "
    "begun_unix_ns INTEGER, wall_ns INTEGER, ended INTEGER, threads INTEGER, "
    "thread_ns INTEGER, pairs INTEGER, events INTEGER, own_ns INTEGER, cpu_ns INTEGER, "
    "pair_ns INTEGER",
    "loss": "process INTEGER, name TEXT, count INTEGER, meaning TEXT",
    "module": "process INTEGER, first INTEGER, last INTEGER, path TEXT, readable INTEGER",
    "site": "id INTEGER PRIMARY KEY, process INTEGER, address INTEGER, module TEXT, "
    "offset INTEGER, function TEXT, file TEXT, line INTEGER, text TEXT, frames TEXT",
    "lock": "id INTEGER PRIMARY KEY, process INTEGER, address INTEGER, kind TEXT, name TEXT, "
    "given INTEGER, init_site INTEGER, block_site INTEGER, block_size INTEGER, "
    "block_offset INTEGER",
    "use": "id INTEGER PRIMARY KEY, lock INTEGER, mode TEXT, take INTEGER, release INTEGER, "
    "count INTEGER, hold_ns INTEGER, hold_p50 INTEGER, hold_p99 INTEGER, "
    "hold_p999 INTEGER, hold_max INTEGER, waits INTEGER, wait_ns INTEGER, "
    "wait_p50 INTEGER, wait_p99 INTEGER, wait_p999 INTEGER, wait_max INTEGER, "
    "failed INTEGER, timeouts INTEGER, handoffs INTEGER, overlaps INTEGER, "
    "beside INTEGER, threads INTEGER, thread INTEGER, late INTEGER, "
    "kept INTEGER, kept_ns INTEGER, woke INTEGER, woke_ns INTEGER, hold_histogram TEXT, "
    "wait_histogram TEXT, priced INTEGER, take_ns INTEGER, drop_ns INTEGER, own_ns INTEGER, "
    "note_ns INTEGER",
    "pool": "process INTEGER, mode TEXT, count INTEGER, hold_ns INTEGER, waits INTEGER, "
    "wait_ns INTEGER, failed INTEGER, timeouts INTEGER, records INTEGER",
    "blame": "lock INTEGER, mode TEXT, site INTEGER, holder INTEGER, count INTEGER, "
    "wait_ns INTEGER, wait_max INTEGER, past_ns INTEGER, inverted INTEGER",
    "edge": "held INTEGER, held_mode TEXT, taken INTEGER, taken_mode TEXT, held_site INTEGER, "
    "taken_site INTEGER, thread INTEGER, count INTEGER, handed INTEGER, held_life INTEGER, "
    "taken_life INTEGER, ended_ns INTEGER",
    "thread": "process INTEGER, lane INTEGER, number INTEGER, kernel INTEGER, "
    "several INTEGER, name TEXT",
    "upgrade": "lock INTEGER, read INTEGER, write INTEGER, count INTEGER, changed INTEGER, "
    "gap_ns INTEGER",
    "held": "process INTEGER, thread INTEGER, lock INTEGER, mode TEXT, site INTEGER, "
    "since_ns INTEGER, waiting INTEGER, depth INTEGER, stack INTEGER",
    "stack": "id INTEGER PRIMARY KEY, process INTEGER, cut INTEGER, sites TEXT",
    "waited": "lock INTEGER, mode TEXT, stack INTEGER, count INTEGER, wait_ns INTEGER, "
    "wait_max INTEGER, taken INTEGER",
    "event": "process INTEGER, lane INTEGER, lock INTEGER, mode TEXT, take INTEGER, "
    "release INTEGER, begun_ns INTEGER, wait_ns INTEGER, hold_ns INTEGER",
    "window": "process INTEGER, number INTEGER, begun_ns INTEGER, end_ns INTEGER",
    "part": "process INTEGER, window INTEGER, lane INTEGER, missed INTEGER, mixed INTEGER, "
    "cpu_ns INTEGER, cpu_of_ns INTEGER, sleeps INTEGER, kept_ns INTEGER",
    "step": "process INTEGER, window INTEGER, lane INTEGER, lock INTEGER, mode TEXT, take INTEGER, "
    "release INTEGER, begun_ns INTEGER, wait_ns INTEGER, hold_ns INTEGER, call_ns INTEGER",
}

# What is asked for of one lock; made when the tables are full.
INDEXES = (("use", "lock"), ("blame", "lock"), ("edge", "held"), ("waited", "lock"))

# A trace of an older version gets what it lacks beside it, empty. 9 has no threads' names, 8 does
# not say when threads ended, 7 not what a call of a lock took, 6 not how long threads ran, 5 not
# for how long a thread was kept off its processor, 4 not how often it left it of its own accord,
# and 3 has no stacks.
NO_PRICES = "0 AS priced, 0 AS take_ns, 0 AS drop_ns, 0 AS own_ns, 0 AS note_ns"
NO_PAIR = "CREATE TEMP VIEW process AS SELECT *, 20 AS pair_ns FROM main.process;"
NO_PRICE = f"CREATE TEMP VIEW use AS SELECT *, {NO_PRICES} FROM main.use;"
NO_END = "CREATE TEMP VIEW edge AS SELECT *, NULL AS ended_ns FROM main.edge;"
NO_LIVES = (
    "CREATE TEMP VIEW edge AS SELECT *, 0 AS handed, 0 AS held_life, 0 AS taken_life, "
    "NULL AS ended_ns FROM main.edge; CREATE TEMP VIEW blame AS SELECT *, 0 AS past_ns "
    "FROM main.blame;"
)
NO_CPU = "CREATE TEMP VIEW process AS SELECT *, NULL AS cpu_ns, 20 AS pair_ns FROM main.process;"
NO_KEPT = (
    f"{NO_LIVES}CREATE TEMP VIEW use AS SELECT *, 0 AS kept, 0 AS kept_ns, 0 AS woke, "
    f"0 AS woke_ns, {NO_PRICES} FROM main.use;"
)
NO_SLEEPS = (
    f"{NO_KEPT}CREATE TEMP VIEW part AS SELECT *, NULL AS sleeps, NULL AS kept_ns FROM main.part;"
)
OLDER = {
    8: NO_END,
    7: NO_END + NO_PRICE + NO_PAIR,
    6: NO_LIVES + NO_PRICE + NO_CPU,
    5: f"{NO_KEPT}{NO_CPU}CREATE TEMP VIEW part AS SELECT *, NULL AS kept_ns FROM main.part;",
    4: NO_SLEEPS + NO_CPU,
    3: (
        f"{NO_SLEEPS}"
        f"CREATE TEMP TABLE stack({TABLES['stack']});"
        f"CREATE TEMP TABLE waited({TABLES['waited']});"
        "CREATE TEMP VIEW held AS SELECT *, NULL AS stack FROM main.held;"
        "CREATE TEMP VIEW process AS SELECT *, 0 AS own_ns, NULL AS cpu_ns, 20 AS pair_ns "
        "FROM main.process;"
    ),
}
NO_NAMES = f"CREATE TEMP TABLE thread({TABLES['thread']});"
OLDER = {9: NO_NAMES, **{version: NO_NAMES + lacks for version, lacks in OLDER.items()}}


@contextlib.contextmanager
def create(path: Path) -> Iterator[sqlite3.Connection]:
    """Written beside its place and put there whole."""
    name = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.{os.getpid()}.", dir=path.parent)
        os.close(handle)
        db = sqlite3.connect(name)
        db.executescript(
            f"PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; "
            f"PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION};"
            + "".join(f"CREATE TABLE {name}({columns});" for name, columns in TABLES.items())
        )
        yield db
        db.executescript(
            "".join(
                f"CREATE INDEX {table}_{column} ON {table}({column});" for table, column in INDEXES
            )
        )
        db.commit()
        db.close()
        os.chmod(name, 0o666 & ~output.umask())
        os.replace(name, path)
        name = None
    except (OSError, sqlite3.OperationalError) as error:
        raise Failure(f"cannot write {path}: {error}; the program was not disturbed.") from error
    finally:
        if name:
            with contextlib.suppress(OSError):
                os.unlink(name)


def insert(db: sqlite3.Connection, table: str, rows: list[tuple]) -> None:
    if rows:
        db.executemany(f"INSERT INTO {table} VALUES({','.join('?' * len(rows[0]))})", rows)


# What JSON has in place of control characters; two backslashes are one that is none of it.
_IN_JSON = re.compile(r"\\\\|\\(u00[01][0-9a-f]|u007f|u00[89][0-9a-f]|[bfnrt])", re.IGNORECASE)


def _shown(text: bytes) -> str:
    """Whatever a trace has as a name, it is not obeyed by a terminal."""
    plain = text.decode(errors="surrogateescape")
    if not plain.isprintable():
        plain = output.shown(plain)
    return _IN_JSON.sub(lambda m: rf"\\{m[1]}" if m[1] else m[0], plain) if "\\" in plain else plain


def open_trace(path: Path) -> sqlite3.Connection:
    """A trace of this version or of one that can still be read, read only."""
    if not path.exists():
        raise BadInput(f"there is no file {path}; make one with `pawl trace -o {path} -- PROGRAM`.")
    if not path.is_file():
        raise BadInput(f"{path} is not a plain file; name a trace.")
    try:
        if path.stat().st_size == 0:
            raise BadInput(f"{path} is empty: its recording did not come to an end; record anew.")
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        db.row_factory = sqlite3.Row
        db.text_factory = _shown
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
    except (OSError, sqlite3.Error) as error:
        raise BadInput(
            f"{path} is no trace ({error}); name a file that `pawl trace` wrote."
        ) from error
    if application != APPLICATION:
        raise BadInput(f"{path} is a database, but no trace; name a file that `pawl trace` wrote.")
    if version != VERSION and version not in OLDER:
        raise BadInput(
            f"{path} is a trace of version {version}, and this command reads versions "
            f"{min(OLDER)} to {VERSION}; use the command that wrote it, or record anew."
        )
    _refuse_torn(path, db)
    errors.read_so_far.append(path)
    db.executescript(OLDER.get(version, ""))
    return db


def _refuse_torn(path: Path, db: sqlite3.Connection) -> None:
    try:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        size = db.execute("PRAGMA page_size").fetchone()[0]
        whole = path.stat().st_size >= pages * size
        finished = db.execute("SELECT value FROM meta WHERE name='finished'").fetchone()
    except (sqlite3.Error, TypeError):
        whole, finished = False, None
    if not whole or not finished:
        raise BadInput(f"{path} is torn: a part of it is missing; copy it again, or record anew.")


def histogram(text: str) -> list[tuple[int, int]]:
    """(lower edge in ns, count)"""
    return [tuple(pair) for pair in json.loads(text or "[]")]


def missed(db: sqlite3.Connection) -> float:
    """The share of the calls that were not recorded, if that is most; else 0."""
    pairs = db.execute("SELECT total(pairs) FROM process").fetchone()[0]
    lost = db.execute("SELECT total(count) FROM loss WHERE name = 'without_lane'").fetchone()[0]
    share = lost / max(lost + 2 * pairs, 1)
    return share if share > 0.5 else 0.0


def is_java(db: sqlite3.Connection) -> bool:
    return bool(db.execute("SELECT 1 FROM module WHERE path LIKE '%/libjvm.so'").fetchone())
