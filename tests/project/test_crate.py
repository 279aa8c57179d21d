"""A run as an RO-Crate: complete, the same bytes again, in agreement with CITATION.cff."""

import hashlib
import json
import zipfile

import pytest
import yaml

import dp_topk
from tools.crate import LICENCE, ROOT, SPECIFICATION, crate
from workflow.scripts.common import InputError


@pytest.fixture(scope="module")
def packed(finished, tmp_path_factory):
    path = tmp_path_factory.mktemp("crate") / "crate.zip"
    crate(finished.root, path)
    return path


def described(packed):
    with zipfile.ZipFile(packed) as archive:
        return json.loads(archive.read("ro-crate-metadata.json"))


def test_every_file_is_described_and_has_its_checksum(packed):
    entities = {entity["@id"]: entity for entity in described(packed)["@graph"]}
    with zipfile.ZipFile(packed) as archive:
        names = set(archive.namelist()) - {"ro-crate-metadata.json"}
        files = {name for name, entity in entities.items() if entity["@type"] == "File"}
        assert files == names
        assert {part["@id"] for part in entities["./"]["hasPart"]} == names
        for name in names:
            assert hashlib.sha256(archive.read(name)).hexdigest() == entities[name]["sha256"]
    assert "results/errors.csv" in names
    assert "project/requirements.lock" in names


def test_every_reference_is_resolved(packed):
    graph = described(packed)["@graph"]
    known = {entity["@id"] for entity in graph}
    assert len(known) == len(graph)

    def references(value):
        if isinstance(value, dict) and set(value) == {"@id"}:
            yield value["@id"]
        elif isinstance(value, dict | list):
            for part in value.values() if isinstance(value, dict) else value:
                yield from references(part)

    assert set(references(graph)) - known == {SPECIFICATION}


def test_the_crate_agrees_with_the_citation(packed):
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    entities = {entity["@id"]: entity for entity in described(packed)["@graph"]}
    software, root = entities["#dp-topk"], entities["./"]
    assert software["name"] == cited["title"]
    assert software["version"] == cited["version"] == dp_topk.__version__
    assert software["license"] == root["license"] == {"@id": LICENCE}
    assert LICENCE.endswith(f"/{cited['license']}")
    assert root["datePublished"] == str(cited["date-released"])
    assert [{"name": entities[root["author"]["@id"]]["name"]}] == cited["authors"]
    works = [entities[work["@id"]] for work in root["citation"]]
    for work, reference in zip(works, cited["references"], strict=True):
        assert work["name"] == reference["title"]
        names = [entities[author["@id"]]["name"] for author in work["author"]]
        given = [f"{a['given-names']} {a['family-names']}" for a in reference["authors"]]
        assert names == given


def test_the_same_run_gives_the_same_bytes(packed, finished, tmp_path):
    crate(finished.root, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == packed.read_bytes()


def test_a_folder_without_a_run_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match="run `make figures` first"):
        crate(tmp_path, tmp_path / "crate.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_altered_is_not_packed(tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    (results / "errors.csv").write_text("altered", encoding="utf-8")
    manifest = {"sha256": {"results/errors.csv": "0" * 64}}
    (results / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(InputError, match="has changed since the run"):
        crate(tmp_path, tmp_path / "crate.zip")
