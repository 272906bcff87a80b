#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The test suites of memcached, slapd, libssl and unbound, from Debian's sources: once with the C
library's locks, once with Pawl's. What fails with Pawl's locks alone is a failure. Those of
memcached and slapd run against the installed programs, the other two against what they build.

    suites.py                 all four, with the tests of slapd and libssl that take little time
    suites.py memcached       one of them
    suites.py --all           all tests of slapd and libssl too: an hour and more

The sources come through apt-get, with lists of their own, into a folder that is removed again."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import programs

SOURCES = """Types: deb-src
URIs: http://deb.debian.org/debian
Suites: {suite} {suite}-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""
# Those with many threads, those that change much, and one that replicates.
SHORT = (
    "test001",
    "test002",
    "test003",
    "test004",
    "test005",
    "test006",
    "test008",
    "test013",
    "test060",
    "test064",
)
# Those with threads, with shared tables, and with whole connections.
SHORT_OF_LIBSSL = ("test_threads", "test_ssl_new", "test_ssl_old", "test_sslapi", "test_evp",
                   "test_evp_extra", "test_store", "test_ossl_store", "test_x509", "test_provider",
                   "test_property", "test_internal_provider", "test_cms", "test_lhash")  # fmt: skip
JOBS = f"-j{os.cpu_count()}"
BUILT = {
    "srcdir": ".",
    "top_srcdir": "..",
    "LN_S": "ln -s",
    "EGREP": "grep -E",
    "BUILD_LIBS_DYNAMIC": "dynamic",
    "WITH_SASL": "no",
    "WITH_TLS": "no",
    "WITH_TLS_TYPE": "no",
    "WITH_MODULES_ENABLED": "yes",
    "WITH_ACI_ENABLED": "no",
}
LACKING = {
    "AC_sql": "sqlno",
    "AC_wt": "no",
    "AC_argon2": "argon2no",
    "AC_autoca": "autocano",
    "AC_lloadd": "lloaddno",
    "AC_perl": "perlno",
}
CONFIGURE = (
    "./configure",
    "--disable-slapd",
    "--without-tls",
    "--without-cyrus-sasl",
    "--disable-static",
)


def quietly(*command, where):
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {(done.stderr or done.stdout)[-500:]}")


def fetch(package: str, folder: Path) -> Path:
    """The unpacked source of the package."""
    suite = next(
        (
            line.split("=")[1].strip('"')
            for line in Path("/etc/os-release").read_text().splitlines()
            if line.startswith("VERSION_CODENAME=")
        ),
        "",
    )
    for name in ("parts", "lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "parts/src.sources").write_text(SOURCES.format(suite=suite))
    apt = [
        "apt-get",
        "-qq",
        "-o",
        "Dir::Etc::SourceList=/dev/null",
        *(
            word
            for key, name in (
                ("Etc::SourceParts", "parts"),
                ("State::lists", "lists"),
                ("Cache", "cache"),
            )
            for word in ("-o", f"Dir::{key}={folder / name}")
        ),
    ]
    for command in ([*apt, "update"], [*apt, "source", package]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            programs.skip(f"the source of {package} cannot be had: {done.stderr.strip()[-200:]}")
    return next(p for p in folder.glob(f"{package}-*") if p.is_dir())


class Memcached:
    """Perl tests. The packaged program lacks an option of the debug build."""

    def __init__(self, folder: Path, every: bool):
        del every
        self.source = fetch("memcached", folder)
        module = self.source / "t/lib/MemcachedTest.pm"
        module.write_text(module.read_text().replace('$args .= " -o relaxed_privileges";', ""))
        (self.source / "memcached-debug").symlink_to(programs.need("memcached", "memcached"))
        quietly("cc", "-o", "timedrun", "timedrun.c", where=self.source)

    def failures(self, environment) -> set[str]:
        names = sorted(str(p.relative_to(self.source)) for p in self.source.glob("t/*.t"))
        done = subprocess.run(
            ["prove", "-j", "4", *names],
            cwd=self.source,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if "Tests=" not in done.stdout:
            raise SystemExit(f"memcached's tests did not run: {done.stderr[-500:]}")
        print(f"memcached: {done.stdout.splitlines()[-2]}")
        return set(re.findall(r"^(t/\S+)\s+\(Wstat", done.stdout, re.MULTILINE))


class Slapd:
    """Shell scripts, with clients of their own that are built here. Modules are the package's."""

    def __init__(self, folder: Path, every: bool):
        self.source = fetch("openldap", folder)
        self.tests = self.source / "tests"
        for command in (
            CONFIGURE,
            ("make", "-C", "include"),
            ("make", "-C", "libraries"),
            ("make", "-C", "tests/progs"),
        ):
            quietly(*command, where=self.source)
        self.link()
        text = (self.tests / "run.in").read_text()
        text = re.sub(r"@(\w+)@", lambda m: BUILT.get(m[1], "mod"), text)
        text = re.sub(
            r"^(AC_\w+)=.*",
            lambda m: f"{m[1]}={LACKING.get(m[1], m[0].split('=')[1])}",
            text,
            flags=re.MULTILINE,
        )
        (self.tests / "run").write_text(text)
        (self.tests / "run").chmod(0o755)
        self.names = sorted(p.name for p in self.tests.glob("scripts/test*") if p.suffix != ".py")
        if not every:
            self.names = [n for n in self.names if n.startswith(SHORT)]

    def link(self) -> None:
        server, tools = self.source / "servers/slapd", self.source / "clients/tools"
        for path, target in (
            (server / "slapd", programs.need("slapd", "slapd")),
            (self.tests / "schema", "/etc/ldap/schema"),
            *(
                (server / name, "/usr/lib/ldap")
                for name in (
                    "back-mdb",
                    "back-ldap",
                    "back-meta",
                    "back-asyncmeta",
                    "back-relay",
                    "back-null",
                    "overlays",
                )
            ),
            *(
                (tools / name, programs.need(name, "ldap-utils"))
                for name in (
                    "ldapsearch",
                    "ldapmodify",
                    "ldapadd",
                    "ldapdelete",
                    "ldapmodrdn",
                    "ldapcompare",
                    "ldapwhoami",
                    "ldappasswd",
                    "ldapexop",
                )
            ),
        ):
            if path.is_dir() and not path.is_symlink():
                path.rename(path.with_name(path.name + ".source"))
            path.unlink(missing_ok=True)
            path.symlink_to(target)

    def failures(self, environment) -> set[str]:
        failed = set()
        for name in self.names:
            done = subprocess.run(
                ["./run", "-b", "mdb", name],
                cwd=self.tests,
                check=False,
                env=environment,
                capture_output=True,
                text=True,
            )
            if done.returncode:
                failed.add(name)
        print(f"slapd: {len(self.names)} tests, {len(failed)} failed")
        return failed


class Libssl:
    """Perl tests over C programs, which use inner functions; so the library is built too."""

    def __init__(self, folder: Path, every: bool):
        self.source = fetch("openssl", folder)
        quietly("./Configure", "shared", "enable-unit-test", "no-fips", where=self.source)
        quietly("make", JOBS, "build_sw", where=self.source)
        self.tests = "alltests" if every else " ".join(SHORT_OF_LIBSSL)

    def failures(self, environment) -> set[str]:
        done = subprocess.run(
            ["make", "test", f"TESTS={self.tests}"],
            cwd=self.source,
            check=False,
            env={**environment, "HARNESS_JOBS": JOBS.removeprefix("-j")},
            capture_output=True,
            text=True,
        )
        if "Tests=" not in done.stdout:
            raise SystemExit(f"libssl's tests did not run: {(done.stderr or done.stdout)[-500:]}")
        failed = set(re.findall(r"(\S+\.t)\s+\(Wstat", done.stdout))
        if done.returncode and not failed:
            raise SystemExit(f"libssl's tests ended badly: {done.stdout[-500:]}")
        # The first line of this kind is that of what prepares the tests.
        print("libssl: " + re.findall(r"^Files=.*$", done.stdout, re.MULTILINE)[-1])
        return {Path(name).name for name in failed}


class Unbound:
    """A program of unit tests, and one that plays recorded conversations with the resolver."""

    def __init__(self, folder: Path, every: bool):
        del every
        self.source = fetch("unbound", folder)
        quietly("./configure", "--with-libevent=no", where=self.source)
        quietly("make", JOBS, "unittest", "testbound", where=self.source)

    def failures(self, environment) -> set[str]:
        played = sorted(self.source.glob("testdata/*.rpl"))
        commands = {
            "unittest": ["./unittest"],
            "testbound -s": ["./testbound", "-s"],
            **{p.name: ["./testbound", "-p", p, "-o", "-vvvvv"] for p in played},
        }
        failed = {
            name
            for name, command in commands.items()
            if subprocess.run(
                command, cwd=self.source, env=environment, check=False, capture_output=True
            ).returncode
        }
        print(f"unbound: {len(commands)} tests, {len(failed)} failed")
        return failed


SUITES = {"memcached": Memcached, "slapd": Slapd, "libssl": Libssl, "unbound": Unbound}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("suites", nargs="*", choices=[*SUITES, []], default=[])
    parser.add_argument("--all", action="store_true", help="all tests of slapd and libssl")
    parser.add_argument("--shim", type=Path, default=programs.ROOT / "build/release/shim")
    given = parser.parse_args()
    programs.need("prove", "perl")
    worse = []
    for name in given.suites or SUITES:
        with tempfile.TemporaryDirectory() as text:
            os.chmod(text, 0o755)
            suite = SUITES[name](Path(text), given.all)
            found = {
                kind: suite.failures(environment)
                for kind, environment in programs.environments(given.shim).items()
            }
        print(f"{name}: also with the C library's locks: {' '.join(sorted(found['libc'])) or '-'}")
        worse += sorted(found["pawl"] - found["libc"])
    print("with Pawl's locks alone: " + (" ".join(worse) or "nothing"))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
