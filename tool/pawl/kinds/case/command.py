# SPDX-License-Identifier: MIT
"""The options of `pawl bench case`, and the plan that they make."""

import click

from pawl.core import options, ranges
from pawl.core.errors import BadInput
from pawl.core.kind import Call, Cell, Command, Plan

DRIVER = "pawl-bench-shim"
BASELINE, AGAIN = "r+w/libc", "r+w/libc_again"
SHARED, MAIN = "r+w/pawl_preload", "r+w/pawl_preload_scaling"
ROWS = (BASELINE, AGAIN, SHARED, MAIN)
UNITS = (("", ""), ("-cpu", "; a second of its processor time"))
# Case -> job -> in words; bench/cases/<case> has the programs.
CASES = {
    "openssl": {
        "fetch-digest": "EVP_MD_fetch",
        "fetch-cipher": "EVP_CIPHER_fetch",
        "digest": "a digest of 64 bytes, fetched by each use",
        "pem-key": "an EC key from PEM",
        "d2i-x509": "d2i_X509",
        "issuer": "the issuer in one X509 store",
        "ca-bundle": "the bundle of CAs into a new SSL_CTX",
        "ssl-new": "SSL_new of one context",
        "handshake": "TLS handshakes in memory",
        "handshake-resumed": "resumed handshakes",
        "python-contexts": "Python: ssl.create_default_context()",
        "node-contexts": "Node: tls.createSecureContext({ca})",
    },
    "glib": {
        "create-instance": "g_type_create_instance of a type without properties",
        "type-from-name": "g_type_from_name",
        "type-interfaces": "g_type_interfaces",
        "type-children": "g_type_children",
        "is-a": "g_type_is_a",
        "object-new": "g_object_new",
        "signal-lookup": "g_signal_lookup",
    },
    "rocksdb": {
        "reads": "reads of one key",
        "reads-beside-writer": "reads of one key beside a thread that writes it",
        "writes-beside-readers": "writes of one key beside threads that read it",
        "reads-100-locks": "reads of 100,000 keys with 100 locks, beside a writer",
        "writes-100-locks": "writes of 100,000 keys with 100 locks, beside readers",
        "one-lock": "reads and writes of 100,000 keys with one lock, one thread writing",
        "one-lock-reads": "the reads of these",
        "one-lock-alone": "reads of 100,000 keys with one lock, nobody writing",
    },
    "haproxy": {
        f"{job}-{build}{unit}": f"{words}, {locks}{of}"
        for job, words, builds in (
            ("handshake", "a TLS connection for each request", ("own", "emulated", "pawl")),
            ("table", "requests that a stick table counts", ("own", "pawl")),
        )
        for build, locks in (
            ("own", "HAProxy as it is"),
            ("emulated", "built with USE_PTHREAD_EMULATION"),
            ("pawl", "that, with Pawl's header for plock's"),
        )
        if build in builds
        for unit, of in UNITS
    },
    "servers": {
        f"{server.lower()}{unit}": f"{server}, answers from a local zone{of}"
        for server in ("unbound", "BIND", "PowerDNS")
        for unit, of in UNITS
    },
}
# A program starts, and makes what its threads share.
START_SECONDS = 0.3

HELP = """What do Pawl's read-write locks do for a library that everybody uses?

Small programs, or the library's own, use it in a few ways each, unmodified. The rows are the C
library's locks, Pawl's whose readers share a word, and those that `pawl run` has by default, whose
readers scale. Runs alternate. The row libc_again is the C library's once more: what it is away
from 1 is noise. The page of the case has what was found: doc/cases.
"""
EXAMPLES = [
    ("pawl bench case openssl", "All uses of OpenSSL, at one and two threads, in six minutes."),
    ("pawl bench case glib --threads 2", "GObject's types at two threads, in one minute."),
    (
        "pawl bench case openssl --jobs fetch-digest,python-contexts --threads 2 --rounds 5",
        "Two of them, for longer.",
    ),
]
OPTIONS = (
    click.argument("case", type=click.Choice(list(CASES)), metavar="|".join(CASES)),
    click.option(
        "--jobs",
        metavar="NAME,...",
        help="Jobs to measure; a wrong name lists those of the case.  [default: all]",
    ),
    click.option(
        "--threads", default="1,2", show_default=True, metavar="RANGE", help="Thread counts."
    ),
    options.seconds(1, "Length of one run."),
    options.rounds(3),
    options.rows(),
)


def _jobs(o: Call) -> list[str]:
    known = CASES[o["case"]]
    names = [n.strip() for n in o["jobs"].split(",")] if o["jobs"] else list(known)
    for name in names:
        if name not in known:
            raise BadInput(f"--jobs: there is no '{name}'; choose from {', '.join(known)}.")
    return names


def cells_of(
    case: str, jobs: list[str], counts: list[int], rounds: int, seconds: float, rows: list[str]
) -> list[Cell]:
    cells = []
    for job in jobs:
        for threads in counts:
            told = {
                "case": case,
                "scene": job,
                "threads": threads,
                "rounds": rounds,
                "seconds": seconds,
            }
            texts = [text for key, value in told.items() for text in (f"--{key}", str(value))]
            words = CASES[case][job]
            about = {"bench": "case", **told, "words": words, "pin": "none", "candidates": rows}
            cells.append(Cell(about, [*texts, "--candidates", ",".join(rows)]))
    return cells


def _plan(o: Call) -> Plan:
    choice = o.choose(BASELINE)
    rows = [n for n in ROWS if n in choice.names]
    counts = ranges.threads(o["threads"])
    cells = cells_of(o["case"], _jobs(o), counts, o["rounds"], o["seconds"], rows)
    each = o["seconds"] + START_SECONDS
    seconds = sum(cell.sample_count * each for cell in cells)
    return Plan(cells, choice.missing, seconds, keeps_complete=True)


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan, quick={"seconds": 0.3, "rounds": 1})
