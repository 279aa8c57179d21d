"""Pack a run as an RO-Crate: `make crate`.

crate.zip holds the config, the lock, tables, figures, explorer and checksums of the run in the
working directory, and ro-crate-metadata.json, which describes them in the terms of RO-Crate 1.1:
what was run, with which code and packages, from which profiles, and whom to cite. Everything in it
comes from results/manifest.json and CITATION.cff. Only files that still have the checksum of the
manifest are packed; the same run gives the same bytes.
"""

import json
import mimetypes
import sys
import zipfile
from pathlib import Path

import yaml

from workflow.scripts.common import InputError
from workflow.scripts.results.manifest import sha256

ROOT = Path(__file__).parents[1]
MANIFEST = "results/manifest.json"
ADDED = ("requirements.lock", "CITATION.cff", "LICENSE", "config.yaml")  # of the project
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
LICENCE = "https://spdx.org/licenses/Apache-2.0"
DAY = (1980, 1, 1, 0, 0, 0)  # of every file in the zip: the oldest that it can have


def crate(run=Path(), target=Path("crate.zip")):
    """Write the crate of the run in a folder."""
    manifest_path = run / MANIFEST
    if not manifest_path.is_file():
        raise InputError(f"{manifest_path} does not exist: run `make figures` first")
    manifest = json.loads(manifest_path.read_text(encoding="utf-8"))
    files = {name: run / name for name in manifest["sha256"]} | {MANIFEST: manifest_path}
    for name, path in files.items():
        if not path.is_file() or sha256(path) != manifest["sha256"].get(name, sha256(path)):
            raise InputError(f"{path} is not as the run left it: run `make figures` again")
    files |= {f"project/{name}": ROOT / name for name in ADDED}
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    described = json.dumps(metadata(files, manifest, cited), indent=1, ensure_ascii=False) + "\n"
    draft = target.with_suffix(".part")
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry("ro-crate-metadata.json"), described)
        for name, path in sorted(files.items()):
            archive.writestr(_entry(name), path.read_bytes())
    draft.replace(target)


def _entry(name):
    entry = zipfile.ZipInfo(name, DAY)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return entry


def metadata(files, manifest, cited):
    """The description of the crate, as RO-Crate 1.1 wants it."""
    software = {
        "@id": "#dp-topk",
        "@type": "SoftwareApplication",
        "name": cited["title"],
        "version": cited["version"],
        "softwareVersion": manifest["commit"] or cited["version"],
        "license": {"@id": LICENCE},
        "author": [{"@id": _person(author)["@id"]} for author in cited["authors"]],
        "citation": [{"@id": _work(n)} for n, _ in enumerate(cited["references"])],
        "softwareRequirements": [
            f"Python {manifest['python']}",
            *(f"{name} {version}" for name, version in manifest["packages"].items()),
        ],
        "processorRequirements": f"{manifest['processor']}, {manifest['cores']} cores",
        "operatingSystem": manifest["platform"],
    }
    works = [
        {
            "@id": _work(n),
            "@type": "ScholarlyArticle",
            "name": work["title"],
            "author": [{"@id": _person(author)["@id"]} for author in work["authors"]],
            "datePublished": str(work["year"]),
            "isPartOf": work.get("collection-title", ""),
        }
        for n, work in enumerate(cited["references"])
    ]
    authors = [*cited["authors"], *(a for work in cited["references"] for a in work["authors"])]
    people = {_person(author)["@id"]: _person(author) for author in authors}
    entities = [_file(name, path) for name, path in sorted(files.items())]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": "A run of dp-topk",
        "description": "Tables, figures and checked statements of a run of dp-topk, the "
        "reproducible experiments on differentially private top-k selection.",
        "datePublished": cited["date-released"].isoformat(),
        "license": {"@id": LICENCE},
        "author": software["author"],
        "citation": software["citation"],
        "hasPart": [{"@id": entity["@id"]} for entity in entities],
        "mentions": [{"@id": "#run"}],
    }
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": "The run",
        "instrument": {"@id": "#dp-topk"},
        "object": [{"@id": "results/config.yaml"}, {"@id": "project/requirements.lock"}],
        "result": [{"@id": e["@id"]} for e in entities if not e["@id"].startswith("project/")],
    }
    descriptor = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": SPECIFICATION},
        "about": {"@id": "./"},
    }
    licence = {"@id": LICENCE, "@type": "CreativeWork", "name": "Apache License 2.0"}
    graph = [descriptor, root, run, software, licence, *works, *people.values(), *entities]
    return {"@context": f"{SPECIFICATION}/context", "@graph": graph}


def _person(author):
    """A person, or the people behind a name."""
    name = author.get("name") or f"{author['given-names']} {author['family-names']}"
    kind = "Organization" if "name" in author else "Person"
    return {"@id": f"#{name.replace(' ', '-')}", "@type": kind, "name": name}


def _work(number):
    return f"#reference-{number + 1}"


def _file(name, path):
    kind = mimetypes.guess_type(name)[0] or "text/plain"
    return {
        "@id": name,
        "@type": "File",
        "name": name,
        "encodingFormat": kind,
        "contentSize": str(path.stat().st_size),
        "sha256": sha256(path),
    }


if __name__ == "__main__":
    try:
        crate()
    except InputError as error:
        sys.exit(f"error: {error}")
