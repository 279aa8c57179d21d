"""A run as an RO-Crate: complete, the same bytes again, in agreement with CITATION.cff."""

import hashlib
import json
import zipfile

import pytest
import yaml

import dp_topk
from tools.crate import ROOT, crate
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

    outside = {name for name in references(graph) if name.startswith("http")}
    assert outside <= {"https://w3id.org/ro/crate/1.1", "https://spdx.org/licenses/Apache-2.0"}
    assert set(references(graph)) - outside <= known


def test_the_crate_agrees_with_the_citation(packed):
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    entities = {entity["@id"]: entity for entity in described(packed)["@graph"]}
    assert entities["#dp-topk"]["name"] == cited["title"]
    assert entities["#dp-topk"]["version"] == cited["version"] == dp_topk.__version__
    titles = [entities[work["@id"]]["name"] for work in entities["./"]["citation"]]
    assert titles == [work["title"] for work in cited["references"]]


def test_the_same_run_gives_the_same_bytes(packed, finished, tmp_path):
    crate(finished.root, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == packed.read_bytes()


def test_a_folder_without_a_run_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match="run `make figures` first"):
        crate(tmp_path, tmp_path / "crate.zip")
    assert list(tmp_path.iterdir()) == []
