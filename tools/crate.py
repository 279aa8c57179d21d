"""Pack a run as an RO-Crate: `make crate`.

crate.zip holds the config, the lock, tables, figures, explorer and checksums of the run in the
working directory, and ro-crate-metadata.json, which describes them in the terms of RO-Crate 1.1
and its profile for runs: what was run, with which code and packages, from which config, and whom
to cite. All of it comes from results/manifest.json and CITATION.cff. Files that no longer have
their checksum in the manifest are refused; the same run gives the same bytes.
"""

import json
import mimetypes
import zipfile
from pathlib import Path

import yaml

from tools import ROOT
from workflow.scripts.common import InputError, made, program, sha256, written

MANIFEST = "results/manifest.json"
ADDED = ("requirements.lock", "CITATION.cff", "LICENSE", "config.yaml")  # of the project
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
LICENCE = "https://spdx.org/licenses/Apache-2.0"
DAY = (1980, 1, 1, 0, 0, 0)  # the date of every file in the zip: the oldest possible


def crate(run=Path(), target=Path("crate.zip")):
    """Write the crate of the run in a folder."""
    manifest = json.loads(made(run / MANIFEST).read_text(encoding="utf-8"))
    for name, digest in manifest["sha256"].items():
        if not (run / name).is_file() or sha256(run / name) != digest:
            raise InputError(f"{run / name} has changed since the run: run `make figures` again")
    files = {name: run / name for name in (*manifest["sha256"], MANIFEST)}
    files |= {f"project/{name}": ROOT / name for name in ADDED}
    files = dict(sorted(files.items()))
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    described = json.dumps(metadata(files, manifest, cited), indent=1, ensure_ascii=False) + "\n"
    contents = {name: path.read_bytes() for name, path in files.items()}
    with written(target, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        for name, content in {"ro-crate-metadata.json": described, **contents}.items():
            entry = zipfile.ZipInfo(name, DAY)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)


def metadata(files, manifest, cited):
    """The description of the crate, as RO-Crate 1.1 wants it."""
    entities = [_file(name, path) for name, path in files.items()]
    people = {p["@id"]: p for work in (cited, *cited["references"]) for p in _people(work)}
    works = [
        _entity(f"#reference-{number}", "ScholarlyArticle", work["title"])
        | {
            "author": _links(_people(work)),
            "datePublished": str(work["year"]),
            "isPartOf": work["collection-title"],
        }
        for number, work in enumerate(cited["references"], 1)
    ]
    about = {
        "author": _links(_people(cited)),
        "citation": _links(works),
        "license": {"@id": LICENCE},
    }
    packages = [f"{name} {version}" for name, version in manifest["packages"].items()]
    software = _entity("#dp-topk", "SoftwareApplication", cited["title"])
    software |= about | {
        "version": cited["version"],
        "softwareRequirements": [f"Python {manifest['python']}", *packages],
    }
    run = _entity("#run", "CreateAction", "The run") | {
        "description": f"Commit {manifest['commit'] or 'unknown'}, on {manifest['platform']}, "
        f"{manifest['processor']}, {manifest['cores']} cores.",
        "instrument": {"@id": software["@id"]},
        "object": [{"@id": "results/config.yaml"}, {"@id": "project/requirements.lock"}],
        "result": _links(e for e in entities if not e["@id"].startswith("project/")),
    }
    root = _entity("./", "Dataset", "A run of dp-topk")
    root |= about | {
        "conformsTo": {"@id": PROFILE},
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
    licence = _entity(LICENCE, "CreativeWork", "Apache License 2.0")
    profile = _entity(PROFILE, "CreativeWork", "Process Run Crate")
    graph = [descriptor, root, run, software, licence, profile, *works, *people.values()]
    graph += entities
    return {"@context": f"{SPECIFICATION}/context", "@graph": graph}


def _entity(identifier, kind, name):
    return {"@id": identifier, "@type": kind, "name": name}


def _links(entities):
    """References to entities; to a single one not as a list, as RO-Crate wants it."""
    links = [{"@id": entity["@id"]} for entity in entities]
    return links[0] if len(links) == 1 else links


def _people(work):
    """The authors of a work: a person, or the people behind a name."""
    for author in work["authors"]:
        name = author.get("name") or f"{author['given-names']} {author['family-names']}"
        kind = "Organization" if "name" in author else "Person"
        yield _entity(f"#{name.replace(' ', '-')}", kind, name)


def _file(name, path):
    return _entity(name, "File", name) | {
        "encodingFormat": mimetypes.guess_type(name)[0] or "text/plain",
        "contentSize": str(path.stat().st_size),
        "sha256": sha256(path),
    }


if __name__ == "__main__":
    program(crate)
