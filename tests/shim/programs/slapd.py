#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""slapd, a server with read-write locks of its own: searches and changes; searches a second."""

import subprocess
import time
from pathlib import Path

import programs

ENTRIES, SEARCHES, CLIENTS = 200, 400, 4
MODULES = Path("/usr/lib/ldap")
CONFIGURATION = """include /etc/ldap/schema/core.schema
modulepath {modules}
moduleload back_mdb
pidfile {folder}/slapd.pid
database mdb
suffix "dc=example"
rootdn "cn=root,dc=example"
rootpw secret
directory {folder}/data
maxsize 67108864
dbnosync
"""


def entries():
    yield "dn: dc=example\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: e\n"
    for i in range(ENTRIES):
        yield (
            f"dn: cn=p{i},dc=example\nobjectClass: person\ncn: p{i}\nsn: s{i}\ndescription: d{i}\n"
        )


def prepare(folder):
    programs.need("slapd", "slapd")
    programs.need("ldapsearch", "ldap-utils")
    (folder / "slapd.conf").write_text(CONFIGURATION.format(modules=MODULES, folder=folder))
    (folder / "entries").write_text("\n".join(entries()))
    (folder / "names").write_text("".join(f"p{i % ENTRIES}\n" for i in range(SEARCHES)))
    (folder / "changes").write_text(
        "\n".join(
            f"dn: cn=p{i},dc=example\nchangetype: modify\nreplace: description\ndescription: n{i}\n"
            for i in range(ENTRIES)
        )
    )


def empty(folder):
    data = folder / "data"
    data.mkdir(exist_ok=True)
    for path in data.iterdir():
        path.unlink()


def run(environment, seconds, folder):
    empty(folder)
    port = programs.free_port()
    uri = f"ldap://127.0.0.1:{port}"
    root = ["-x", "-H", uri, "-D", "cn=root,dc=example", "-w", "secret"]
    search = f"ldapsearch -x -LLL -H {uri} -b dc=example -f {folder}/names (cn=%s) description"
    command = [programs.need("slapd", "slapd"), *f"-d 0 -h {uri} -f {folder}/slapd.conf".split()]
    with programs.server(command, environment, port):
        subprocess.run(
            ["ldapadd", *root, "-f", folder / "entries"],
            stdout=subprocess.DEVNULL,
            check=True,
            timeout=programs.LONG,
        )
        found, begin = 0, time.monotonic()
        while found == 0 or time.monotonic() - begin < seconds:
            readers = [
                subprocess.Popen(search.split(), stdout=subprocess.PIPE) for _ in range(CLIENTS)
            ]
            subprocess.run(
                ["ldapmodify", *root, "-f", folder / "changes"],
                stdout=subprocess.DEVNULL,
                check=True,
                timeout=programs.LONG,
            )
            for one in readers:
                text, _ = one.communicate(timeout=programs.LONG)
                if one.returncode or text.count(b"\ndescription:") != SEARCHES:
                    raise SystemExit("slapd answered a search wrongly")
                found += SEARCHES
        return found / (time.monotonic() - begin)


if __name__ == "__main__":
    programs.main("slapd", "searches beside changes", run, prepare)
