"""Counts from CSV files of every kind: the right profile, or a sentence that names the line."""

import bz2
import csv
import functools
import gzip
import hashlib
import io
import lzma
import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml

from dp_topk._tables import BLOCK, File
from tests.data.faulty_server import FaultyServer, whole
from workflow.scripts.common import InputError, write_csv
from workflow.scripts.data import describe as datasets_table
from workflow.scripts.data.derive import counts_of, file_counts, make_counts
from workflow.scripts.data.download import fetch
from workflow.scripts.data.profiles import (
    LARGEST_COUNT,
    profile_of,
    read_facts,
    read_profile,
    size,
    total,
    write_facts,
    write_profile,
)

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))["datasets"]
EMBEDDED = ROOT / "data" / "embedded"
ORIGINALS = ROOT.parent / "shared" / "data" / "raw"


@pytest.fixture(autouse=True)
def no_secrets_of_the_user(monkeypatch, tmp_path):
    for name in ("KAGGLE_API_TOKEN", "KAGGLE_USERNAME", "KAGGLE_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KAGGLE_CONFIG_DIR", str(tmp_path / "no-kaggle"))


def derived(text, **how):
    """The counts of a CSV, one for each item, largest first."""
    data = text if isinstance(text, bytes) else text.encode()
    counts, items = counts_of(File("pets.csv", lambda: io.BytesIO(data)), how)
    return np.repeat(counts, items).tolist()


def refused(text, **how):
    with pytest.raises(InputError) as error:
        derived(text, **how)
    sentence = str(error.value)
    assert "pets.csv" in sentence
    assert "\n" not in sentence
    sentence.encode()  # can be printed
    return sentence


# What counts may look like.


def test_a_column_holds_the_counts():
    assert derived("name,votes\nann,3\nbob,12\ncat,3\n", column="votes") == [12, 3, 3]


def test_rows_are_counted_per_value():
    assert derived("user,item\n1,a\n2,a\n3,b\n", rows_per="item") == [2, 1]


def test_only_rows_with_a_value_are_counted():
    text = "1,a,buy\n1,a,use\n2,a,buy\n2,b,use\n3,c,buy\n"
    how = {"rows_per": "item", "names": ["user", "item", "what"]}
    assert derived(text, where={"what": "buy"}, **how) == [2, 1]
    assert derived(text, where={"what": "buy", "user": 1}, **how) == [1]


def test_first_rows_are_skipped_before_anything_is_filtered():
    text = "item,votes\na,9\nb,5\na,1\n"
    assert derived(text, column="votes", skip=1) == [5, 1]
    assert derived(text, column="votes", skip=1, where={"item": "a"}) == [1]


def test_a_profile_is_put_in_order_and_added_up():
    assert derived("items,count\n2,3\n1,7\n1,3\n0,5\n", profile=True) == [7, 3, 3, 3]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffvotes\r\n3\r\n12\r\n",
        "votes\n 3\n12 \n",
        "votes\n003\n12\n",
        "votes\n3.0\n12.0\n",
        "votes\n3.00\n12.00\n",
    ],
)
def test_ways_to_write_the_same_counts(text):
    assert derived(text, column="votes") == [12, 3]


def test_why_three_zeros_are_refused_is_said():
    assert "(1.000 may be a thousand)" in refused("votes\n1.000\n", column="votes")


def test_line_breaks_commas_and_quotes_within_quotes_belong_to_the_field():
    text = 'content,likes\n"a,\nb ""c""\r\n\r\nd, 7",5\n"""",6\n'
    assert derived(text, column="likes") == [6, 5]
    assert derived(text, rows_per="content") == [1, 1]
    assert derived('item\n"a\nb"\n"a\r\nb"\n', rows_per="item") == [1, 1]


def test_names_may_be_in_any_encoding():
    text = "item\ncafé\n".encode("latin-1") + "café\ncaf\udce8\n".encode("utf-8", "surrogateescape")
    assert derived(text + "café\n".encode(), rows_per="item") == [2, 1, 1]


def test_a_surplus_comma_goes_to_the_column_that_absorbs_it():
    text = "title,authors,votes\na,b, c, d,5\na,b,6\n"
    assert derived(text, column="votes", absorb="authors") == [6, 5]
    assert derived(text, rows_per="authors", absorb="authors") == [1, 1]


def test_loose_quotes_within_one_line_are_understood():
    assert derived('title,votes\n"Ha" he said "ho",5\nb,6\n', column="votes") == [6, 5]


def test_zeros_and_the_largest_count():
    assert derived(f"votes\n0\n{LARGEST_COUNT}\n0\n", column="votes") == [LARGEST_COUNT, 0, 0]


def test_more_items_than_fit_into_a_block(tmp_path):
    path = tmp_path / "pets.csv"
    values = np.random.default_rng(7).zipf(1.5, 500_000).clip(max=10**9)
    path.write_text("\n".join(["votes", *map(str, values.tolist())]))
    assert path.stat().st_size > BLOCK
    counts, items = file_counts(path, {"column": "votes"})
    assert size(items) == 500_000
    assert total(counts, items) == values.sum()
    write_profile(tmp_path / "profile.csv", counts, items)
    again = file_counts(tmp_path / "profile.csv", {"profile": True})
    assert np.array_equal(again[0], counts)
    assert np.array_equal(again[1], items)


# Delimiters.


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize(
    ("rows", "how", "expected"),
    [
        ([["name", "votes"], ["ann", "3"], ["bob", "12"]], {"column": "votes"}, [12, 3]),
        ([["1", "a"], ["2", "a"], ["3", "b"]], {"rows_per": "i", "names": ["u", "i"]}, [2, 1]),
        # the other delimiters, more of them, within the fields
        ([["a,b;c\td;e,f|g|\tg", "votes"], ["x,y;z|\t", "3"], [",,||;;\t\t", "5"]],
         {"column": "votes"}, [5, 3]),
        ([["x,y;z|\t", "3"], [",,||;;\t\t", "5"]], {"column": "n", "names": ["i", "n"]}, [5, 3]),
        # a column whose name holds another delimiter, and quotes and line breaks in the header
        ([["i", "votes; total, all"], ["a", "3"]], {"column": "votes; total, all"}, [3]),
        ([["i;\n\"i,i\t", "votes"], ["a", "3"]], {"column": "votes"}, [3]),
        ([["votes"], ["3"], ["4"]], {"column": "votes"}, [4, 3]),
        ([["count", "items"], ["3", "2"]], {"profile": True}, [3, 3]),
    ],
)  # fmt: skip
def test_the_delimiter_is_found(delimiter, rows, how, expected):
    assert derived(as_csv(rows, delimiter=delimiter), **how) == expected


def test_any_delimiter_can_be_named():
    rows = [["a,b;c\td|e", "votes"], ["x,y;z|\t", "3"], [",,||;;\t\t", "5"]]
    for delimiter in ",\t;|":
        text = as_csv(rows, delimiter=delimiter)
        assert derived(text, column="votes", delimiter=delimiter) == [5, 3]
    assert derived("name^votes\nann^3\n", column="votes", delimiter="^") == [3]
    assert derived("a,b;3\nc,d;4\n", column="n", names=["i", "n"], delimiter=";") == [4, 3]


def test_a_delimiter_that_is_not_clear_is_asked_for():
    sentence = refused("a,b;3\nc,d;4\ne,f;5\n", column="n", names=["i", "n"])
    assert "comma or semicolon" in sentence
    assert "`delimiter: ','`" in sentence
    # One row is enough to know.
    assert derived("a,b;3\nc;4\nd;5\n", column="n", names=["i", "n"]) == [5, 4, 3]


def test_rows_after_the_first_64_kb_are_held_to_the_delimiter():
    text = "name;votes\n" + "ann;3\n" * 11_000
    assert len(derived(text, column="votes")) == 11_000
    assert "line 11002: 1 fields" in refused(text + "bob,3\n", column="votes")


def test_a_surplus_delimiter_is_absorbed_as_it_was():
    text = "title;authors;votes\na;b; c;5\na;b\\; c;6\n"
    assert derived(text, rows_per="authors", absorb="authors") == [1, 1]
    assert "a semicolon too many" in refused(text, column="votes")


def test_an_unknown_delimiter_is_hinted_at():
    for column in ("votes", "name"):
        assert "write `delimiter: '^'`" in refused("pet^name\ncat^tom\n", column=column)


# Compression.

PACKED = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
PETS = "name;votes\n" + "".join(f"pet {i};{i}\n" for i in range(5_000))


def one_in_a_zip(data):
    return zipped("pets.csv", data)


@pytest.mark.parametrize("pack", [*PACKED.values(), one_in_a_zip], ids=[*PACKED, "zip"])
def test_compressed_tables_are_read_as_they_are(pack, tmp_path):
    (tmp_path / "pets").write_bytes(pack(PETS.encode()))
    counts, items = file_counts(tmp_path / "pets", {"column": "votes"})
    assert np.repeat(counts, items).tolist() == [*range(4_999, -1, -1)]


@pytest.mark.parametrize("pack", [*PACKED.values(), one_in_a_zip], ids=[*PACKED, "zip"])
def test_damaged_compressed_tables_are_refused(pack):
    packed = pack(PETS.encode())
    rng = np.random.default_rng(5)
    for cut in (packed[: len(packed) // 2], packed[:-3], packed[:25]):
        refused(cut, column="votes")
    for _ in range(10):
        changed = bytearray(packed)
        changed[int(rng.integers(len(packed) // 4, len(packed) // 2))] ^= 255
        refused(bytes(changed), column="votes")


def test_several_parts_in_a_gzip_are_one_table():
    packed = gzip.compress(b"votes\n3\n") + gzip.compress(b"4\n")
    assert derived(packed, column="votes") == [4, 3]


def test_an_archive_of_several_files_is_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("xl/sheet1.xml", "<sheet/>")
    assert "archive of 2 files (as Excel files are" in refused(file.getvalue(), column="votes")


def test_what_macos_adds_to_an_archive_is_no_table():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("pets/", "")
        archive.writestr("pets/pets.csv", "name,votes\nann,3\n")
        archive.writestr("__MACOSX/pets/._pets.csv", b"\0\5\x16\7")
        archive.writestr("pets/.DS_Store", b"\0\0\0\1Bud1")
    assert derived(file.getvalue(), column="votes") == [3]


def test_zstd_is_read_where_there_is_a_module_for_it():
    zstd = pytest.importorskip(
        "backports.zstd" if sys.version_info < (3, 14) else "compression.zstd"
    )
    packed = zstd.compress(PETS.encode())
    assert derived(packed, column="votes") == [*range(4_999, -1, -1)]
    for damaged in (packed[:-9], packed[:4] + bytes(20)):
        assert "is cut short or damaged" in refused(damaged, column="votes")


def test_zstd_without_a_module_for_it_is_answered_by_what_to_install(monkeypatch):
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "pip install backports.zstd" in refused(b"\x28\xb5\x2f\xfd" + bytes(20), column="votes")


# Parquet.


def parquet(**columns):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet, table

    file = io.BytesIO()
    parquet.write_table(table(columns), file)
    return file.getvalue()


def test_parquet_is_read_like_a_csv():
    names, votes = ["ann", "bob", None, "ann"], [3, 12, 5, 4]
    data = parquet(name=names, votes=votes, mean=[1.0, 2.0, 3.0, 4.5], more=[[1], [2], [3], [4]])
    assert derived(data, column="votes") == [12, 5, 4, 3]
    assert derived(data, column="votes", skip=1, where={"name": "ann"}) == [4]
    assert derived(data, rows_per="name", where={"votes": 3}) == [1]
    assert "row 3: no item in column 'name'" in refused(data, rows_per="name")
    assert "row 4: something other than a count" in refused(data, column="mean")
    assert "did you mean 'votes'" in refused(data, column="vote")
    assert "cut short" in refused(data[:-30], column="votes")
    assert "row 3: no item in column 'name'" in refused(data, column="votes", item="name")
    repeated = parquet(id=[7, 8, 7], votes=[3, 12, 5])
    assert "row 3: the same item again" in refused(repeated, column="votes", item="id")


def test_large_parquet_files_are_read_in_batches():
    items = np.arange(200_000) % 7
    counts = np.bincount(items).tolist()
    assert derived(parquet(item=items), rows_per="item") == sorted(counts, reverse=True)


# Names and users.


def test_repeated_names_are_refused_where_the_column_of_names_is_known():
    text = "name,votes\nann,3\nbob,12\nann,4\n"
    assert derived(text, column="votes") == [12, 4, 3]
    sentence = refused(text, column="votes", item="name")
    assert "line 4: the same item again in column 'name'" in sentence
    assert sentence.endswith("it is 'ann'")
    assert derived(text, column="votes", item="name", where={"name": "bob"}) == [12]
    assert "line 2: no item in column" in refused("name,votes\n,3\n", column="votes", item="name")


def test_a_user_counts_once_for_an_item():
    text = "user,item\n1,a\n2,a\n1,a\n1,b\n1,a\n12,a\n1,2a\n"
    assert derived(text, rows_per="item") == [5, 1, 1]
    assert derived(text, rows_per="item", distinct="user") == [3, 1, 1]
    assert "line 3: no user in column 'user'" in refused(
        "user,item\n1,a\n,a\n", rows_per="item", distinct="user"
    )
    assert "line 2: no item in column 'item'" in refused(
        "user,item\n1,\n", rows_per="item", distinct="user"
    )


@pytest.mark.parametrize(
    ("how", "users"),
    [
        ({"rows_per": "item", "distinct": "user"}, "once"),
        ({"rows_per": "item"}, "any"),
        ({"column": "user"}, "unknown"),
    ],
)
def test_facts_say_how_often_a_user_may_count(tmp_path, how, users):
    (tmp_path / "pets.csv").write_text("user,item\n1,a\n1,a\n")
    paths = {"counts": tmp_path / "c.csv", "facts": tmp_path / "c.json"}
    make_counts("pets", "file", tmp_path / "pets.csv", **paths, how=how, ks=[1])
    assert read_facts(paths["facts"])["users"] == users


# Fewer items than are to be selected.


def counted_for(tmp_path, d, ks):
    (tmp_path / "pets.csv").write_text("votes\n" + "7\n" * d)
    paths = {"counts": tmp_path / "c.csv", "facts": tmp_path / "c.json"}
    make_counts("pets", "file", tmp_path / "pets.csv", **paths, how={"column": "votes"}, ks=ks)
    return paths


@pytest.mark.parametrize(
    ("d", "ks", "says"),
    [
        (3, [5, 15], "pets has 3 items, fewer than the smallest k, 5; set `ks: [1, 2, 3]`"),
        (1, [2], "pets has 1 item, fewer than the smallest k, 2; set `ks: [1]`"),
        (50, [195, 55], "smallest k, 55; set `ks: [10, 20, 30, 40, 50]`"),
    ],
)
def test_too_few_items_are_answered_by_what_to_put_into_the_config(tmp_path, d, ks, says):
    with pytest.raises(InputError) as error:
        counted_for(tmp_path, d, ks)
    assert says in str(error.value)
    assert not (tmp_path / "c.csv").exists()


def test_a_k_that_is_left_out_is_said_in_the_log(tmp_path, capsys):
    paths = counted_for(tmp_path, 5, [1, 5, 6, 10])
    assert "warning: pets has 5 items; left out for it: k = 6, 10" in capsys.readouterr().out
    assert read_facts(paths["facts"])["d"] == 5
    counted_for(tmp_path, 5, [1, 5])
    assert "warning" not in capsys.readouterr().out


# What is refused.


@pytest.mark.parametrize(
    "value",
    [
        "-1", "1.5", "nan", "NaN", "inf", "", " ", "1e3", "1_000", "1 000", '"1,000"', "1.000",
        "12.0000", "12.001", "1.00.0",
        "+1", "0x10", "x", "٣", "²", "1.", ".0", str(LARGEST_COUNT + 1), "9" * 30, "9" * 5000,
    ],
)  # fmt: skip
def test_what_is_not_a_count_is_refused_with_its_line(value):
    sentence = refused(f"item,votes\na,5\nb,{value}\n", column="votes")
    assert "line 3" in sentence
    assert "'votes'" in sentence
    assert "whole number" in sentence
    assert len(sentence) < 250


@pytest.mark.parametrize("row", ["-1,1", "1,-1", "1.5,1", "1,1.5", "nan,1", f"{2**53 + 1},1", ","])
def test_what_is_not_a_profile_is_refused_with_its_line(row):
    assert "line 3" in refused(f"count,items\n9,1\n{row}\n", profile=True)


def test_more_items_than_a_float_can_count_are_refused():
    assert "2^53" in refused(f"count,items\n9,{LARGEST_COUNT}\n8,1\n", profile=True)


@pytest.mark.parametrize("text", ["", "\n", "\ufeff", "\r\n\r\n"])
def test_an_empty_file_is_refused(text):
    assert "empty" in refused(text, column="votes")


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("votes\n", {"column": "votes"}),
        ("votes\n1\n", {"column": "votes", "skip": 1}),
        ("item\n", {"rows_per": "item"}),
        ("item,what\na,buy\n", {"rows_per": "item", "where": {"what": "use"}}),
        ("count,items\n", {"profile": True}),
        ("count,items\n5,0\n", {"profile": True}),
        ("", {"rows_per": "item", "names": ["item"]}),
    ],
)
def test_a_file_without_rows_is_refused(text, how):
    assert "no rows" in refused(text, **how)


@pytest.mark.parametrize("row", ["5", "5,6,7", "", '"a\nb",5,6'])
@pytest.mark.parametrize("end", ["", "b,7\n"])
def test_a_row_with_too_many_or_too_few_fields_is_refused(row, end):
    if not row and not end:
        return  # an empty line at the end is no row
    sentence = refused(f"item,votes\na,5\n{row}\n{end}", column="votes")
    assert "line 3" in sentence or "line 4" in sentence


def test_an_empty_line_between_values_is_refused():
    assert "line 3: empty line" in refused("votes\n5\n\n6\n", column="votes")


def test_too_few_fields_are_not_absorbed():
    assert "2 fields" in refused("a,b,votes\n1,2\n", column="votes", absorb="b")


@pytest.mark.parametrize(
    "text",
    [
        'item,votes\n"a,5\nb,6\n',
        'votes,item\n5,"a\n6,b\n',
        'votes,item\n5,"a\n6,"b"\n',
        'votes,item\n5,"a\n6,b\n7,"c"\n8,d\n',
        'votes,item\n5,x\n6,"a" b,"c\n',
        'votes,"item\n5,a\n',
        'votes,item\n5,x\n"6" ,"c\n',
        'votes,item\n5,x\n"6" ,"c\n7,d\n',
    ],
)
def test_a_quote_that_does_not_end_swallows_no_row(text):
    refused(text, column="votes")


def test_a_field_without_end_is_refused():
    assert "field larger" in refused('votes,item\n5,"' + "a" * 2_500_000 + '"\n', column="votes")


@pytest.mark.parametrize(
    ("column", "hint"),
    [("shares", "did you mean ' shares'?"), ("Voets", "'votes'"), ("zebra", "it has 'item', 'v")],
)
def test_a_missing_column_is_answered_by_the_nearest(column, hint):
    assert hint in refused("item,votes, shares\na,5,6\n", column=column)


def test_every_column_of_the_config_is_looked_up():
    text = "item,votes\na,5\n"
    for how in ({"rows_per": "x"}, {"rows_per": "item", "where": {"x": 1}}, {"profile": True},
                {"column": "votes", "absorb": "x"}):  # fmt: skip
        assert "no column" in refused(text, **how)


def test_a_column_that_is_there_twice_is_refused():
    assert "2 columns" in refused("votes,votes\n5,6\n", column="votes")


def test_rows_without_an_item_are_refused():
    assert "line 3: no item in column 'item'" in refused(
        "user,item\n1,a\n2,\n3,\n", rows_per="item"
    )


def test_another_encoding_of_text_is_named():
    for encoding in ("utf-16-le", "utf-16-be"):
        assert "UTF-16" in refused("\ufeffvotes\n5\n".encode(encoding), column="votes")


@pytest.mark.parametrize("how", [{"column": "votes"}, {"rows_per": "a", "names": ["a", "b"]}])
def test_bytes_that_are_not_text_are_never_shown_as_columns(how):
    rng = np.random.default_rng(3)
    rubbish = [rng.bytes(300) for _ in range(60)]
    rubbish += [b"SQLite format 3\0" + bytes(84), b"%PDF-1.7\n" + rng.bytes(200)]
    rubbish += [b"\x89PNG\r\n\x1a\n" + bytes(30), b"na\x01me,votes\nann,3\n"]
    for data in rubbish:
        sentence = refused(data, **how)
        assert "is not a text file" in sentence
        assert len(sentence) < 100


def test_a_header_in_another_encoding_is_named():
    data = "Stückzahl,Käufer\n3,Jörg\n".encode("latin-1")
    sentence = refused(data, column="Stückzahl")
    assert "that line is not UTF-8 (Latin-1, perhaps): save the file as UTF-8" in sentence
    assert derived("Käufer,n\nJörg,3\n".encode("latin-1"), column="n") == [3]


def test_text_in_other_alphabets_and_encodings_is_text():
    text = "имя,votes\n" + "собака,3\n" * 50
    for encoding in ("utf-8", "cp1251", "koi8-r"):
        assert derived(text.encode(encoding), column="votes") == [3] * 50
    assert derived("名前,votes\n犬,3\n".encode("shift-jis"), column="votes") == [3]


# The six datasets: original, download, verification, derivation.


def zipped(member, data):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, data)
    return file.getvalue()


def through_the_pipeline(tmp_path, name, body, download=None, embedded=EMBEDDED):
    """Serve `body` as the original of a dataset; return the paths of profile and facts."""
    entry = CONFIG[name]
    download = {"max_bytes": 10**9} | entry["download"] | {"git_blob": None} | (download or {})
    raw = tmp_path / "raw" / name / download["filename"]
    with FaultyServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr("workflow.scripts.data.download.KAGGLE", server.base)
        if download["url"].startswith("kaggle:"):
            server.at("/datasets/download/" + download["url"].removeprefix("kaggle:"), whole(body))
        else:
            download["url"] = server.at("/original", whole(body))
        fetch(name, download, raw)
    counts, facts = tmp_path / "counts" / f"{name}.csv", tmp_path / "counts" / f"{name}.json"
    known = embedded / f"{name}.csv" if entry["status"] == "real" else None
    make_counts(
        source="download", raw=raw, counts=counts, facts=facts, dataset=name, ks=[1],
        how=entry["counts"], download=download, embedded=known,
    )  # fmt: skip
    return counts, facts


def original(name):
    path = ORIGINALS / name
    if not path.exists():
        pytest.skip(f"the original {name} is not part of the repository")
    return path.read_bytes()


@pytest.mark.parametrize("wrapped", [False, True], ids=["plain", "zipped"])
def test_books_original(tmp_path, wrapped):
    body = original("goodreads-books.csv")
    body = zipped("books.csv", body) if wrapped else body
    counts, _ = through_the_pipeline(tmp_path, "books", body)
    assert counts.read_bytes() == (EMBEDDED / "books.csv").read_bytes()


def test_books_malformed_lines_have_their_right_counts():
    """An unquoted comma shifts their fields; read literally they would be page counts."""
    lines = original("goodreads-books.csv").decode().splitlines(keepends=True)
    how = {"column": "ratings_count", "absorb": "authors"}
    for number, count in {3350: 61, 4704: 26, 5879: 38, 8981: 0}.items():
        assert derived(lines[0] + lines[number - 1], **how) == [count]
    assert "line 3350: 13 fields instead of 12" in refused("".join(lines), column="ratings_count")


def test_games_original(tmp_path):
    body = original("steam-video-games.zip")
    counts, _ = through_the_pipeline(tmp_path, "games", body)
    assert counts.read_bytes() == (EMBEDDED / "games.csv").read_bytes()


def test_a_changed_original_is_refused(tmp_path):
    body = bytearray(original("goodreads-books.csv"))
    body[-2] ^= 1
    with pytest.raises(InputError, match="sha256"):
        through_the_pipeline(tmp_path, "books", bytes(body))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def shuffled_counts(name):
    counts, items = read_profile(EMBEDDED / f"{name}.csv")
    return np.random.default_rng(11).permutation(np.repeat(counts, items)).tolist()


def as_csv(rows, **options):
    file = io.StringIO()
    csv.writer(file, **options).writerows(rows)
    return file.getvalue().encode()


def news():
    lines = [f"http://news/{i}, 731.0, 0.5, {n}" for i, n in enumerate(shuffled_counts("news"))]
    text = "\n".join(["url, timedelta, n_tokens_title, shares", *lines]) + "\n"
    return zipped(CONFIG["news"]["download"]["member"], text)


@functools.cache
def tweets():
    header = ["author", "content", "country", "date_time", "id", "language", "latitude",
              "longitude", "number_of_likes", "number_of_shares"]  # fmt: skip
    contents = ["plain", 'she said "yes", twice', "two\nlines", "dos\r\n\r\nlineas, 9", "“ü” 🎉"]
    rows = (
        ["katy", contents[i % 5], "", "12/01/2017 19:52", f"8.2{i}E+17", "en", "", "", likes, i]
        for i, likes in enumerate(shuffled_counts("tweets"))
    )
    return as_csv([header, *rows])


@pytest.mark.parametrize("make", [news, tweets])
def test_generated_originals_give_the_embedded_profile(tmp_path, make):
    counts, facts = through_the_pipeline(tmp_path, make.__name__, make())
    assert counts.read_bytes() == (EMBEDDED / f"{make.__name__}.csv").read_bytes()
    assert read_facts(facts)["source"] == "download"


def test_generated_foods(tmp_path):
    """A stand-in is not compared: the original is another one, and real."""
    counts, items = (numbers[:300] for numbers in read_profile(EMBEDDED / "foods.csv"))
    products = np.repeat(np.arange(size(items)), np.repeat(counts, items))
    products = np.random.default_rng(12).permutation(products).tolist()
    lines = [f"A{i},B{item:09d},5.0,1370000000\n" for i, item in enumerate(products)]
    body = "".join(lines[:-1]).encode()  # far fewer ratings than the stand-in has
    digest = hashlib.sha256(body).hexdigest()
    path, facts = through_the_pipeline(tmp_path, "foods", body, {"sha256": digest})
    found = read_facts(facts)
    assert found["total"] == total(counts, items) - 1
    assert read_profile(path, facts)[0][0] in (6339, 6340)


def test_generated_movies(tmp_path):
    """A hundredth of the ratings; benchmarks/counting.py has all of them."""
    counts, items = read_profile(EMBEDDED / "movies.csv")
    fewer = np.repeat(counts, items) // 100
    movies = np.random.default_rng(13).permutation(np.repeat(np.arange(len(fewer)), fewer))
    rows = "".join(f"{i},{movie},3.5,1147880044\r\n" for i, movie in enumerate(movies))
    member = CONFIG["movies"]["download"]["member"]
    body = zipped(member, "userId,movieId,rating,timestamp\r\n" + rows)
    known = {"sha256": hashlib.sha256(body).hexdigest(), "bytes": len(body)}
    path, facts = through_the_pipeline(tmp_path, "movies", body, known)
    expected = profile_of(fewer[fewer > 0])
    assert all(map(np.array_equal, read_profile(path, facts), expected))


def test_another_version_of_a_real_dataset_is_refused(tmp_path):
    rows = tweets().replace(b"katy", b"lady", 1).splitlines(keepends=True)
    with pytest.raises(InputError, match=r"items with a total of .* another version"):
        through_the_pipeline(tmp_path, "tweets", b"".join(rows[:-1]))
    assert not (tmp_path / "counts").exists()


def test_a_file_put_there_by_hand_is_verified_before_it_is_counted(tmp_path):
    raw = tmp_path / "books.csv"
    raw.write_text("ratings_count,authors\n1,a\n2,b\n")
    entry = CONFIG["books"]
    with pytest.raises(InputError, match="not the expected original: it has"):
        make_counts(
            source="download", raw=raw, counts=tmp_path / "c.csv", facts=tmp_path / "c.json",
            dataset="books", how=entry["counts"], download=entry["download"], ks=[1],
        )  # fmt: skip
    assert not (tmp_path / "c.csv").exists()


def test_an_altered_embedded_profile_is_refused(tmp_path):
    shutil.copytree(EMBEDDED, tmp_path / "embedded")
    raw = tmp_path / "embedded" / "games.csv"
    lines = raw.read_text().splitlines(keepends=True)
    made = {"counts": tmp_path / "c.csv", "facts": tmp_path / "c.json"}
    settings = {"source": "embedded", "raw": raw, **made, "dataset": "games", "ks": [1]}
    count, _, items = lines[1].partition(",")
    for altered in (lines[:-1], [lines[0], f"{int(count) + 1},{items}", *lines[2:]]):
        raw.write_text("".join(altered))
        with pytest.raises(InputError, match=r"games\.csv was cut short or altered: .* restore it"):
            make_counts(**settings)
        assert not (tmp_path / "c.csv").exists()
    # The same counts as one's own.
    make_counts(**settings | {"source": "file", "how": {"profile": True}})
    assert (tmp_path / "c.csv").read_bytes() == raw.read_bytes()
    own = raw.rename(raw.with_name("pets.csv"))
    make_counts(**settings | {"raw": own})
    assert (tmp_path / "c.csv").read_bytes() == own.read_bytes()


def test_all_shipped_profiles_have_a_published_checksum():
    published = (EMBEDDED / "sha256sums").read_text().splitlines()
    files = sorted(EMBEDDED.glob("*.csv"))
    digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    assert published == [f"{sha}  {file.name}" for sha, file in zip(digests, files, strict=True)]


@pytest.mark.parametrize("name", sorted(CONFIG))
def test_embedded_profiles_are_copied_to_the_byte(tmp_path, name):
    raw, counts, facts = EMBEDDED / f"{name}.csv", tmp_path / "c.csv", tmp_path / "c.json"
    make_counts(source="embedded", raw=raw, counts=counts, facts=facts, dataset=name, ks=[1])
    assert counts.read_bytes() == raw.read_bytes()
    found = read_facts(facts)
    assert (found["dataset"], found["source"]) == (name, "embedded")
    assert found["sha256"] == hashlib.sha256(raw.read_bytes()).hexdigest()


# The tables about datasets.


@pytest.fixture
def facts_of(tmp_path):
    """What is known of a profile, from its file of facts and the config."""

    def facts_of(profile, name, title, users):
        known = {"dataset": name, "source": "file", "users": users}
        write_facts(tmp_path / "facts.json", *profile, **known)
        return read_facts(tmp_path / "facts.json") | {"title": title, "status": "real"}

    return facts_of


def test_the_tables_about_datasets(facts_of):
    profiles = [profile_of([9, 4, 4, 1, 0]), profile_of([120])]
    about = [("pets", "Pets", "any"), ("cars", "Cars", "once")]
    facts = [facts_of(profile, *each) for profile, each in zip(profiles, about, strict=True)]
    header, pets, cars = datasets_table.rows_of_datasets(profiles, facts, [1, 3, 10])
    assert header[4:8] + header[9:] == ["users", "d", "total", "largest", "c_1", "c_3", "c_10"]
    assert pets[:4] + pets[5:8] + pets[9:] == ["pets", "Pets", "file", "real", 5, 18, 9, 9, 4, ""]
    assert (pets[4], cars[4]) == ("may count more than once", "once")
    assert pets[8] == hashlib.sha256(b"count,items\n9,1\n4,2\n1,1\n0,1\n").hexdigest()
    assert cars[9:] == [120, "", ""]

    _, *gaps = datasets_table.rows_of_gaps(profiles, facts, [1, 2], beyond=1)
    assert gaps == [["pets", 1, 9, 5], ["pets", 2, 4, 0], ["pets", 3, 4, 3]]

    _, *bins = datasets_table.rows_of_histograms(profiles, facts)
    assert bins[:2] == [["pets", 0, 1, 1], ["pets", 1, 2, 1]]
    assert sum(row[3] for row in bins if row[0] == "pets") == 5
    assert bins[-1] == ["cars", 100, 126, 1]


@pytest.mark.parametrize("name", sorted(CONFIG))
def test_every_item_is_in_the_one_bin_that_holds_its_count(name):
    profile = read_profile(EMBEDDED / f"{name}.csv")
    values = np.repeat(*profile)
    _, *bins = datasets_table.rows_of_histograms([profile], [{"dataset": name}])
    for (_, low, high, items), following in zip(bins, [*bins[1:], None], strict=True):
        assert items == ((low <= values) & (values < high)).sum()
        assert following is None or following[1] == high
    assert sum(items for *_, items in bins) == len(values)


def test_tables_are_written_as_they_are(tmp_path, facts_of):
    profile = profile_of([1])
    about = facts_of(profile, "a", 'A, "b"', "unknown")
    rows = datasets_table.rows_of_datasets([profile], [about], [1])
    write_csv(tmp_path / "t.csv", rows)
    with open(tmp_path / "t.csv", newline="") as file:
        text = file.read()
    assert "\r" not in text
    assert next(iter(csv.DictReader(text.splitlines())))["title"] == 'A, "b"'
