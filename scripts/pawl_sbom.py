# SPDX-License-Identifier: MIT
"""The bill of materials of this tree as SPDX 2.3 in JSON, checked by the library that wrote it.

    python scripts/pawl_sbom.py FILE

Packages: the library, the command and the crate, and what the two declare to need
(tool/pyproject.toml, rust/Cargo.toml). Files: what a program that
links the library contains, with their digests."""

import hashlib
import os
import re
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

from spdx_tools.common.spdx_licensing import spdx_licensing
from spdx_tools.spdx.model import (
    Actor,
    ActorType,
    Checksum,
    ChecksumAlgorithm,
    CreationInfo,
    Document,
    File,
    Package,
    PackageVerificationCode,
    Relationship,
    RelationshipType,
    SpdxNoAssertion,
)
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
from spdx_tools.spdx.writer.write_anything import write_file

ROOT = Path(__file__).resolve().parent.parent
OURS = Actor(ActorType.ORGANIZATION, "the Pawl authors")
MIT = spdx_licensing.parse("MIT")
FILES = re.compile(r"^(include|src(?!/variant/(hook|sim)/))/.*\.(c|h|hpp|def)$")


def version() -> str:
    text = (ROOT / "include/pawl/version.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"define PAWL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))


def made() -> datetime:
    """The time of the commit, so that the same tree gives the same document."""
    given = (
        os.environ.get("SOURCE_DATE_EPOCH")
        or subprocess.run(
            ["git", "log", "-1", "--format=%ct"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        ).stdout.strip()
        or "0"
    )
    return datetime.fromtimestamp(int(given), UTC).replace(tzinfo=None)


def package(name: str, summary: str) -> Package:
    return Package(
        spdx_id=f"SPDXRef-{name}",
        name=name,
        version=version(),
        supplier=OURS,
        download_location=SpdxNoAssertion(),
        files_analyzed=False,
        summary=summary,
        license_concluded=MIT,
        license_declared=MIT,
        copyright_text="2026 the Pawl authors",
    )


def foreign(kind: str, name: str, wanted: str) -> Package:
    return Package(
        spdx_id=f"SPDXRef-{kind}-{re.sub('[^a-zA-Z0-9.]', '-', name)}",
        name=name,
        version=wanted or None,
        download_location=SpdxNoAssertion(),
        files_analyzed=False,
        license_concluded=SpdxNoAssertion(),
        license_declared=SpdxNoAssertion(),
        copyright_text=SpdxNoAssertion(),
    )


def files() -> list[File]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = []
    for name in sorted(filter(FILES.match, listed.splitlines())):
        data = (ROOT / name).read_bytes()
        sums = [
            Checksum(ChecksumAlgorithm.SHA1, hashlib.sha1(data).hexdigest()),
            Checksum(ChecksumAlgorithm.SHA256, hashlib.sha256(data).hexdigest()),
        ]
        found.append(
            File(
                f"./{name}",
                f"SPDXRef-File-{re.sub('[^a-zA-Z0-9.]', '-', name)}",
                sums,
                license_concluded=MIT,
                license_info_in_file=[MIT],
                copyright_text="2026 the Pawl authors",
            )
        )
    return found


def document() -> Document:
    library = package("pawl", "Upgradable read-write locks and readers that scale")
    command = package("pawl-command", "The command pawl")
    crate = package("pawl-crate", "The locks for Rust")
    contents = files()
    library.files_analyzed = True  # and so it has a code over the digests of its files (SPDX 7.9)
    library.verification_code = PackageVerificationCode(
        hashlib.sha1("".join(sorted(f.checksums[0].value for f in contents)).encode()).hexdigest()
    )
    links = [
        Relationship("SPDXRef-DOCUMENT", RelationshipType.DESCRIBES, part.spdx_id)
        for part in (library, command, crate)
    ]
    links += [
        Relationship(library.spdx_id, RelationshipType.CONTAINS, file.spdx_id) for file in contents
    ]
    links.append(Relationship(crate.spdx_id, RelationshipType.CONTAINS, library.spdx_id))
    needed = []
    project = tomllib.loads((ROOT / "tool/pyproject.toml").read_text(encoding="utf-8"))["project"]
    for line in project["dependencies"]:
        name, wanted = re.fullmatch(r"([\w.-]+)(.*)", line).groups()
        needed.append((command, foreign("PyPI", name, wanted)))
    manifest = tomllib.loads((ROOT / "rust/Cargo.toml").read_text(encoding="utf-8"))
    for section in ("dependencies", "build-dependencies"):
        for name, wanted in manifest[section].items():
            needed.append((crate, foreign("crates.io", name, wanted)))
    links += [
        Relationship(of.spdx_id, RelationshipType.DEPENDS_ON, part.spdx_id) for of, part in needed
    ]
    name = f"pawl-{version()}"
    digest = hashlib.sha256("".join(f.checksums[1].value for f in contents).encode()).hexdigest()
    head = CreationInfo(
        "SPDX-2.3",
        "SPDXRef-DOCUMENT",
        name,
        f"https://spdx.org/spdxdocs/{name}-{digest[:32]}",
        [OURS],
        made(),
    )
    return Document(
        head, [library, command, crate, *(part for _, part in needed)], contents, [], [], links
    )


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    made_document = document()
    faults = validate_full_spdx_document(made_document)
    for fault in faults[:10]:
        print(f"{fault.context.spdx_id}: {fault.validation_message[:200]}", file=sys.stderr)
    if faults:
        return 1
    write_file(made_document, sys.argv[1], validate=False)
    print(
        f"{sys.argv[1]}: {len(made_document.packages)} packages, "
        f"{len(made_document.files)} files, valid as SPDX 2.3"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
