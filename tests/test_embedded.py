"""The embedded profiles are what data/README.md says, and Foods meets every published fact."""

import hashlib
import re
from decimal import Context, Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
import yaml

from workflow.scripts import foods_standin
from workflow.scripts.profiles import read_profile

ROOT = Path(__file__).parent.parent
EMBEDDED = ROOT / "data" / "embedded"
README = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))

# d, total, largest, 200th count and sha256 of the profiles that come from data.
FROM_DATA = {
    "books": (
        *(11_126, 197_482_734, 4_597_666, 179_639),
        "8bb9242813df8f006296f3c24b5fa12792a01d3e477a096c988ca27e08705dae",
    ),
    "games": (
        *(5_155, 129_511, 4_841, 129),
        "0e7ed40e68792d8a96f29853b5b81dff3fe5bb51c61b2d2e3c7efc5711afb6ea",
    ),
    "movies": (
        *(59_047, 25_000_095, 81_491, 20_091),
        "9207c0fa90e4ab2e25812b25a277512c0bac8c03b6161787ba5a6b7c7e58f107",
    ),
    "news": (
        *(39_644, 134_606_452, 843_300, 50_600),
        "bd76e48da6146c96df306799bcbf422cf0e53cc5e188f5fa1ed027db8083c844",
    ),
    "tweets": (
        *(52_542, 506_391_302, 429_159, 124_574),
        "c1d070b85e409ddda3689752966238f0fbb27153ca5b84e2d51eba4ea7025e21",
    ),
}
ALL = sorted([*FROM_DATA, "foods"])


def expanded(name):
    """The counts of all items, largest first."""
    return np.repeat(*read_profile(EMBEDDED / f"{name}.csv"))


def described(name):
    counts = expanded(name)
    checksum = hashlib.sha256((EMBEDDED / f"{name}.csv").read_bytes()).hexdigest()
    return len(counts), counts.sum(), counts[0], counts[199], checksum


def readme_rows(first_cell):
    """Tables of the README: the cells of each row after its header row with this first cell."""
    lines = README.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first_cell} |"))
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def share_of_items(counts):
    exactly = [np.mean(counts == n) for n in (1, 2, 3)]
    return exactly + [np.mean(counts >= n) for n in (5, 10, 20, 50, 100)]


@pytest.mark.parametrize("name", FROM_DATA)
def test_profile_from_data_is_unaltered(name):
    assert described(name) == FROM_DATA[name]


def test_no_profile_is_missing_or_unexplained():
    assert sorted(path.stem for path in EMBEDDED.iterdir()) == ALL
    assert sorted(row[0] for row in readme_rows("dataset")) == ALL


@pytest.mark.parametrize("row", list(readme_rows("dataset")), ids=lambda row: row[0])
def test_readme_table_agrees_with_files_and_config(row):
    name, status, *numbers, checksum = row
    written = (*(int(number.replace(",", "")) for number in numbers), checksum.strip("`"))
    assert written == described(name)
    assert status == CONFIG["datasets"][name]["status"]


@pytest.mark.parametrize("name", ALL)
def test_readme_gives_checksums_of_originals(name):
    download = CONFIG["datasets"][name]["download"]
    section = re.search(rf"^## {name.title()}\n(.*?)(?=^## )", README, re.MULTILINE | re.DOTALL)
    expected = [download[key] for key in ("sha256", "member_sha256") if key in download]
    expected += [f"{download['bytes']:,} bytes"] if "bytes" in download else []
    assert [text for text in expected if text not in section[1]] == []


def test_movies_head_is_as_described():
    counts = expanded("movies")
    head = counts[counts >= 1000]
    assert len(head) == 3_794
    assert round(head.sum() / counts.sum(), 3) == 0.886
    assert np.quantile(counts, [0.25, 0.5, 0.75]).tolist() == [2, 6, 36]


def test_three_tweets_have_no_likes():
    assert np.count_nonzero(expanded("tweets") == 0) == 3


def test_foods_meets_the_published_numbers():
    counts = expanded("foods")
    assert len(counts) == 166_049
    assert counts.sum() == 1_297_156
    assert counts[0] == 6_340
    assert counts[9] == 2_371
    assert counts[-1] == 1


def test_foods_has_room_for_every_known_item():
    known = [3_749, 2_650, 1_547, 1_096, 1_022, 933, 861, 722, 667, 662, 606]
    # Even if none of them is the largest item: the counts from the second on dominate them.
    assert (expanded("foods")[1:][: len(known)] >= known).all()


def test_foods_shares_are_near_both_relatives():
    shares = np.array(share_of_items(expanded("foods")))
    relatives = np.array(foods_standin.RELATIVES, dtype=float)
    ratio = shares / relatives.mean(axis=0)
    assert (abs(ratio[:4] - 1) < 0.03).all()  # 1, 2, 3, and at least 5 ratings
    # The total is too small for the upper shares: they shrink, the more the higher.
    assert (np.diff(ratio[3:]) < 0).all()
    assert ratio[-1] > 0.75


def test_readme_gives_the_shares_of_foods():
    *relatives, standin = (
        [float(cell) for cell in cells] for _, *cells in readme_rows("share of items with")
    )
    assert relatives == np.array(foods_standin.RELATIVES, dtype=float).tolist()
    assert standin == np.round(share_of_items(expanded("foods")), 3).tolist()


def test_foods_gaps_are_as_irregular_as_real_ones():
    def irregularity(name):
        # For draws from a power law, k * log(c_k / c_(k+1)) are independent exponentials,
        # whose deviation equals their mean. For a smooth curve this is far below one.
        counts = expanded(name)[:201]
        spacings = np.arange(10, 201) * np.log(counts[9:200] / counts[10:201])
        return spacings.std() / spacings.mean()

    real = [irregularity(name) for name in FROM_DATA]
    assert min(real) < irregularity("foods") < max(real)


def test_foods_is_what_the_program_makes(tmp_path):
    foods_standin.main(tmp_path / "foods.csv")
    assert (tmp_path / "foods.csv").read_bytes() == (EMBEDDED / "foods.csv").read_bytes()


def test_law_goes_through_the_published_points():
    with localcontext(Context(prec=foods_standin.DIGITS)):
        base, tilt = foods_standin.law()
        survival = {n: float(base[n - 1].exp()) for n in (1, 2, 3, 4, 5, 10, 20, 50, 100, 2_371)}
        tilt_at = {n: float(tilt[n - 1]) for n in survival}
    assert list(survival.values()) == pytest.approx(
        [1, 0.5785, 0.415, 0.326, 0.2695, 0.144, 0.0725, 0.0275, 0.0125, 10 / 166_049]
    )
    logs = np.log(list(survival))
    assert list(tilt_at.values()) == pytest.approx([*(logs[:-1] ** 2), 0], abs=1e-12)


def test_draw_follows_the_law_within_its_range():
    survival = [None, *map(Decimal, ("1", "0.5", "0.3", "0.2", "0.1"))]
    bits = np.arange(16, dtype=np.uint64) << np.uint64(60)
    # Given 2 <= count <= 4, P(count >= 3) is 2/4 and P(count >= 4) is 1/4.
    drawn = foods_standin.draw(survival, 2, 4, bits)
    assert drawn.tolist() == [4] * 4 + [3] * 4 + [2] * 8
