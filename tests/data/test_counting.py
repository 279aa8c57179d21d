"""Counting users: the same answer from every kind of source, or a sentence that names the row."""

import bz2
import gzip
import io
import lzma
import zipfile

import numpy as np
import pytest

from dp_topk.counting import CountingError, count_users

ROWS = "user,item\nann,fig\nann,fig\nbob,fig\nann,plum\n"
COUNTED = {"fig": 2, "plum": 1}


@pytest.fixture
def counted(tmp_path):
    """The counts of a file with this content, as a dict."""

    def counted(content, name="rows.csv", user="user", item="item", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        found = count_users(path, user, item, **options)
        assert found.items == sorted(found.items)
        assert found.counts.dtype == np.int64
        return dict(zip(found.items, found.counts.tolist(), strict=True))

    return counted


@pytest.fixture
def refused(counted):
    """The sentence about a file with this content; no value of a row is in it."""

    def refused(content, **options):
        with pytest.raises(CountingError) as error:
            counted(content, **options)
        sentence = str(error.value)
        assert "\n" not in sentence
        assert "ann" not in sentence
        assert "fig" not in sentence
        assert len(sentence) < 300
        return sentence

    return refused


def zipped(data, **more):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {"rows.csv": data, **more}.items():
            archive.writestr(name.replace("__", "/"), content)
    return file.getvalue()


PACKED = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zip": zipped}


@pytest.mark.parametrize(
    "text",
    [
        ROWS,
        ROWS.rstrip("\n"),
        ROWS + "\n\n",
        ROWS.replace("\n", "\r\n"),
        ROWS.replace("\n", "\r"),
        ROWS.replace("bob,fig\n", "bob,fig\r\n"),
        ROWS.replace(",", "\t"),
        ROWS.replace(",", ";"),
        "\ufeff" + ROWS,
        ROWS.replace("fig", '"fig"').replace("user", '"user"'),
        "a,item,b,user\n1,fig,,ann\n1,fig,,ann\n2,fig,,bob\n3,plum,,ann\n",
        '{"user": "ann", "item": "fig"}\n{"item": "fig", "user": "ann", "n": 2}\n'
        '{"user": "bob", "item": "fig"}\n\n{"user": "ann", "item": "plum"}\n',
    ],
)  # fmt: skip
def test_ways_to_write_the_same_rows(counted, text):
    assert counted(text) == COUNTED


@pytest.mark.parametrize("kind", PACKED)
def test_compressed_rows(counted, refused, kind):
    rows = "user,item\n" + "".join(f"u{i % 1000},item {i % 77}\n" for i in range(30_000))
    packed = PACKED[kind](rows.encode())
    assert counted(packed) == counted(rows)
    for damaged in (packed[: len(packed) // 2], packed[:-9], packed[:30]):
        assert "rows.csv is " in refused(damaged)
