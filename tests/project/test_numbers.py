"""Numbers in the pages are what the commands beside them printed."""

import re

import pytest

from tools import numbers


def edited(text):
    """Whether a table of the page is not what its command printed, as the digest says."""
    tables = {block["command"]: block["table"] for block in numbers.BLOCK.finditer(text)}
    return numbers.renewed(text, tables.get) != text


PAGE = "Before.\n\n<!-- numbers: python -m x --a 1 -->\nold\n<!-- end of numbers -->\n\nAfter.\n"


@pytest.mark.parametrize("page", numbers.pages(), ids=lambda page: page.stem)
def test_no_table_was_edited(page):
    text = page.read_text(encoding="utf-8")
    assert not edited(text)
    assert text.count("<!-- numbers:") == len(numbers.BLOCK.findall(text))


@pytest.mark.parametrize("page", numbers.pages(), ids=lambda page: page.stem)
def test_commands_of_tables_exist(page):
    for block in numbers.BLOCK.finditer(page.read_text(encoding="utf-8")):
        module = re.match(r"python -m ([\w.]+)", block["command"])[1]
        assert (numbers.ROOT / f"{module.replace('.', '/')}.py").is_file(), block["command"]


def test_a_table_is_renewed_and_an_edit_is_seen():
    new = numbers.renewed(PAGE, {"python -m x --a 1": "| 7 |\n"}.get)
    assert re.search(r"<!-- numbers: python -m x --a 1 \(\w{8}\) -->\n\n\| 7 \|\n\n<!-- end", new)
    assert new.startswith("Before.\n\n")
    assert new.endswith("\n\nAfter.\n")
    assert not edited(new)
    assert edited(new.replace("| 7 |", "| 8 |"))
    assert edited(PAGE)
    assert numbers.renewed(new, {}.get) == new
    assert numbers.renewed(new, {"python -m x --a 1": "| 7 |"}.get) == new
