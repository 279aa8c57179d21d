"""Pack a run as an RO-Crate: `make crate`.

crate.zip holds the config, the lock, tables, figures, explorer and checksums of the run in the
working directory, and ro-crate-metadata.json, which describes them in the terms of RO-Crate 1.1
and its profile for runs: what was run, with which code and packages, from which config, and whom
to cite. Everything in it comes from results/manifest.json and CITATION.cff. Only files that still
have the checksum of the manifest are packed; the same run gives the same bytes.
"""

import json
import mimetypes
import sys
import zipfile
from pathlib import Path

import yaml

from workflow.scripts.common import InputError, sha256

ROOT = Path(__file__).parents[1]
MANIFEST = "results/manifest.json"
ADDED = ("requirements.lock", "CITATION.cff", "LICENSE", "config.yaml")  # of the project
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
LICENCE = "https://spdx.org/licenses/Apache-2.0"
DAY = (1980, 1, 1, 0, 0, 0)  # of every file in the zip: the oldest that it can have


def crate(run=Path(), target=Path("crate.zip")):
    """Write the crate of the run in a folder."""
    manifest_path = run / MANIFEST
    if not manifest_path.is_file():
        raise InputError(f"{manifest_path} does not exist: run `make figures` first")
    manifest = json.loads(manifest_path.read_text(encoding="utf-8"))
    for name, digest in manifest["sha256"].items():
        if not (run / name).is_file() or sha256(run / name) != digest:
            raise InputError(f"{run / name} is not as the run left it: run `make figures` again")
    files = {name: run / name for name in (*manifest["sha256"], MANIFEST)}
    files |= {f"project/{name}": ROOT / name for name in ADDED}
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    described = json.dumps(metadata(files, manifest, cited), indent=1, ensure_ascii=False) + "\n"
    draft = target.with_suffix(".part")
    with zipfile.ZipFile(draft, "w") as archive:
        contents = {name: path.read_bytes() for name, path in sorted(files.items())}
        for name, content in {"ro-crate-metadata.json": described, **contents}.items():
            entry = zipfile.ZipInfo(name, DAY)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    draft.replace(target)


def metadata(files, manifest, cited):
    """The description of the crate, as RO-Crate 1.1 wants it."""
    people = {}

    def all_of(authors):
        entities = [_person(author) for author in authors]
        people.update((entity["@id"], entity) for entity in entities)
        return _links(entities)

    works = [
        {
            "@id": f"#reference-{number}",
            "@type": "ScholarlyArticle",
            "name": work["title"],
            "author": all_of(work["authors"]),
            "datePublished": str(work["year"]),
            "isPartOf": work["collection-title"],
        }
        for number, work in enumerate(cited["references"], 1)
    ]
    authors = all_of(cited["authors"])
    about = {"author": authors, "citation": _links(works), "license": {"@id": LICENCE}}
    packages = [f"{name} {version}" for name, version in manifest["packages"].items()]
    software = about | {
        "@id": "#dp-topk",
        "@type": "SoftwareApplication",
        "name": cited["title"],
        "version": cited["version"],
        "softwareRequirements": [f"Python {manifest['python']}", *packages],
    }
    entities = [_file(name, path) for name, path in sorted(files.items())]
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": "The run",
        "description": f"Commit {manifest['commit'] or 'unknown'}, on {manifest['platform']}, "
        f"{manifest['processor']}, {manifest['cores']} cores.",
        "instrument": {"@id": software["@id"]},
        "object": [{"@id": "results/config.yaml"}, {"@id": "project/requirements.lock"}],
        "result": _links(e for e in entities if not e["@id"].startswith("project/")),
    }
    root = about | {
        "@id": "./",
        "@type": "Dataset",
        "conformsTo": {"@id": PROFILE},
        "name": "A run of dp-topk",
        "description": "Tables, figures and checked statements of a run of dp-topk, the "
        "reproducible experiments on differentially private top-k selection.",
        "datePublished": cited["date-released"].isoformat(),
        "hasPart": _links(entities),
        "mentions": {"@id": run["@id"]},
    }
    descriptor = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": SPECIFICATION},
        "about": {"@id": root["@id"]},
    }
    names = {LICENCE: "Apache License 2.0", PROFILE: "Process Run Crate"}
    outside = [{"@id": i, "@type": "CreativeWork", "name": name} for i, name in names.items()]
    graph = [descriptor, root, run, software, *outside, *works, *people.values(), *entities]
    return {"@context": f"{SPECIFICATION}/context", "@graph": graph}


def _links(entities):
    """References to entities; to a single one not as a list, as RO-Crate wants it."""
    links = [{"@id": entity["@id"]} for entity in entities]
    return links[0] if len(links) == 1 else links


def _person(author):
    """A person, or the people behind a name."""
    name = author.get("name") or f"{author['given-names']} {author['family-names']}"
    kind = "Organization" if "name" in author else "Person"
    return {"@id": f"#{name.replace(' ', '-')}", "@type": kind, "name": name}


def _file(name, path):
    return {
        "@id": name,
        "@type": "File",
        "name": name,
        "encodingFormat": mimetypes.guess_type(name)[0] or "text/plain",
        "contentSize": str(path.stat().st_size),
        "sha256": sha256(path),
    }


if __name__ == "__main__":
    try:
        crate()
    except InputError as error:
        sys.exit(f"error: {error}")
