"""The embedded profiles are what data/README.md says, and Foods meets every published fact."""

import csv
import hashlib
import random
import re
from decimal import Context, Decimal, localcontext
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import yaml

from benchmarks import foods_positions
from tools import foods
from workflow.scripts.data.profiles import read_profile

ROOT = Path(__file__).parents[2]
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
    assert sorted(path.stem for path in EMBEDDED.glob("*.csv")) == ALL
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
    expected = [download[key] for key in ("sha256", "member_sha256", "git_blob") if key in download]
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


def foods_table(name):
    with open(ROOT / "data" / "foods" / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


HEAD, BINS = foods_table("head.csv"), foods_table("bins.csv")
LOW, HIGH = (np.array([int(row[end]) for row in HEAD]) for end in ("low", "high"))
ROUGH = np.array([row["known"] == "rough" for row in HEAD])


@pytest.fixture(scope="module", params=["embedded", 1, 2, 3])
def drawn_foods(request):
    """The counts of Foods as embedded, and as other seeds draw them."""
    if request.param == "embedded":
        return expanded("foods")
    return np.repeat(*foods.foods(*foods.read_tables(), seed=request.param))


def test_foods_is_what_the_program_makes(tmp_path):
    foods.main(tmp_path / "foods.csv")
    assert (tmp_path / "foods.csv").read_bytes() == (EMBEDDED / "foods.csv").read_bytes()


def test_foods_meets_the_published_numbers(drawn_foods):
    assert len(drawn_foods) == 166_049
    assert drawn_foods.sum() == 1_297_156
    assert drawn_foods[0] == 6_340
    assert drawn_foods[9] == 2_371
    assert drawn_foods[-1] == 1


def test_foods_has_room_for_every_known_item(drawn_foods):
    known = [3_749, 2_650, 1_547, 1_096, 1_022, 933, 861, 722, 667, 662, 606]
    # Even if none of them is the largest item: the counts from the second on dominate them.
    assert (drawn_foods[1:][: len(known)] >= known).all()


def test_foods_has_the_exact_counts_at_ranks_that_their_intervals_allow(drawn_foods):
    for count, first, last in ((592, 87, 91), (409, 169, 183), (360, 205, 223)):
        assert count in drawn_foods[first - 1 : last]


# Of 9,728 items drawn uniformly from the original, the shares with at least this many ratings of
# three stars or more; and the number of ratings of the original with five, four and three stars.
SAMPLED, SHARES_OF_SAMPLE = 9_728, {10: 0.131, 20: 0.064, 50: 0.020, 100: 0.008}
THREE_STARS_OR_MORE = (858_163 + 177_680 + 96_821) / 1_297_156


def test_foods_agrees_with_a_uniform_sample_of_the_original(drawn_foods):
    liked = np.random.default_rng(0).binomial(drawn_foods, THREE_STARS_OR_MORE)
    assert abs(liked.mean() - 6.82) < 0.03
    for least, share in SHARES_OF_SAMPLE.items():
        deviation = np.sqrt(share * (1 - share) / SAMPLED)
        assert abs(np.mean(liked >= least) - share) < 2 * deviation, least


def test_every_count_of_the_head_is_in_its_interval(drawn_foods):
    head = drawn_foods[:290]
    assert [int(row["rank"]) for row in HEAD] == list(range(1, 291))
    assert (head <= HIGH).all()
    assert (head >= LOW - 16 * ROUGH).all()


def test_bins_of_foods_are_met(drawn_foods):
    for row in BINS:
        inside = (drawn_foods >= float(row["from"])) & (drawn_foods < float(row["below"]))
        assert int(row["items_low"]) <= inside.sum() <= int(row["items_high"]), row


def test_foods_has_as_many_larger_items_as_the_figure(drawn_foods):
    larger = drawn_foods[drawn_foods >= 50]
    assert 3_885 <= len(larger) <= 3_915
    assert abs(larger.sum() - 546_000) < 4_000


def test_rough_counts_are_corrected(drawn_foods):
    # They were read 5 to 8 too high on average, with an error of 11 (rms).
    excess = ((LOW + HIGH) / 2 - drawn_foods[:290])[ROUGH]
    assert 5 <= excess.mean() <= 8
    uniform, rough = random.Random(0).random, foods.Reading(200, 371, 386, "rough")
    error = 378.5 - np.array([foods.position(rough, uniform) for _ in range(10_000)])
    assert abs(error.mean() - 6.4) < 0.5
    assert abs(np.sqrt(np.mean(error**2)) - 11) < 0.5


def test_head_of_foods_depends_on_the_seed():
    other = np.repeat(*foods.foods(*foods.read_tables(), seed=1))
    moved = (other != expanded("foods"))[:290]
    assert moved.mean() > 0.7
    assert not moved[[0, 9]].any()


def test_foods_shares_are_near_both_relatives(drawn_foods):
    shares = np.array(share_of_items(drawn_foods))[:6]
    first, second = np.array(foods.RELATIVES, dtype=float)
    # The ratings that are left for counts below 50 allow all but the relatives' own shares.
    assert (abs(shares / ((first + second) / 2) - 1) < 0.025).all()
    assert (shares >= np.minimum(first, second) - 0.001).all()
    assert (shares <= np.maximum(first, second) + 0.001).all()


def test_readme_gives_the_shares_of_foods():
    *relatives, ours = (
        [float(cell) for cell in cells] for _, *cells in readme_rows("share of items with")
    )
    assert [row[:6] for row in relatives] == np.array(foods.RELATIVES, dtype=float).tolist()
    assert ours == np.round(share_of_items(expanded("foods")), 3).tolist()


def test_readme_gives_counts_of_foods():
    counts = expanded("foods")
    (row,) = readme_rows("rank | 1 | 2 | 10 | 50 | 95 | 100 | 200 | 290")
    expected = [f"{counts[rank - 1]:,}" for rank in (1, 2, 10, 50, 95, 100, 200, 290)]
    assert row == ["count", *expected]


def test_readme_describes_foods():
    counts = expanded("foods")
    larger, smaller = counts[counts >= 50], counts[counts < 50]
    excess = ((LOW + HIGH) / 2 - counts[:290])[ROUGH]
    small_gaps = np.count_nonzero(np.diff(counts[:201]) > -16)
    stated = [
        f"With {len(larger):,} items and {larger.sum():,} ratings above,",
        f"{len(smaller):,} items with {smaller.sum():,} ratings are left",
        f"are left, {smaller.mean():.2f} each",
        f"the `rough` counts are {excess.mean():.1f} below the middle of their rows on average",
        f"and {np.sqrt(np.mean(excess**2)):.1f} away from it (rms)",
        f"{small_gaps} of the first 200 gaps are below 16",
    ]
    readme = " ".join(README.split())
    assert [sentence for sentence in stated if sentence not in readme] == []


def test_foods_gaps_are_as_irregular_as_real_ones(drawn_foods):
    def irregularity(counts):
        # For draws from a power law, k * log(c_k / c_(k+1)) are independent exponentials,
        # whose deviation equals their mean. For a smooth curve this is far below one.
        spacings = np.arange(10, 201) * np.log(counts[9:200] / counts[10:201])
        return spacings.std() / spacings.mean()

    real = [irregularity(expanded(name)) for name in FROM_DATA]
    assert min(real) < irregularity(drawn_foods) < max(real)


def test_law_goes_through_its_points():
    with localcontext(Context(prec=foods.DIGITS)):
        share = foods.law((50, Decimal("0.0235")), (176, Decimal("0.004")))
    assert len(share) == 177
    assert [float(share[n]) for n in (1, 2, 3, 4, 5, 10, 20, 50, 176)] == pytest.approx(
        [1, 0.5785, 0.415, 0.326, 0.2695, 0.144, 0.0725, 0.0235, 0.004]
    )
    assert all(larger > smaller for larger, smaller in pairwise(share[1:]))


def test_draw_follows_the_law_within_its_bin():
    share = list(map(Decimal, ("1", "1", "0.5", "0.3", "0.2", "0.1")))
    a_bin = foods.Bin(Decimal("1.5"), Decimal("4.2"), 0, 0)
    sixteenths = iter(range(16))
    drawn = [foods.draw(share, a_bin, lambda: next(sixteenths) / 16) for _ in range(16)]
    # Given 2 <= count <= 4, P(count >= 3) is 2/4 and P(count >= 4) is 1/4.
    assert drawn == [4] * 4 + [3] * 4 + [2] * 8


def test_tail_is_the_closest_with_its_total():
    share = list(map(Decimal, ("1", "1", "0.5", "0.2", "0.1")))
    law = np.array([0.5, 0.3, 0.1]) / 0.9
    free = foods.tail(share, 9_000, 14_000)
    assert free == {1: 5_000, 2: 3_000, 3: 1_000}
    # With another total: an exponential tilt, so log(items / law) is a straight line.
    tilted = foods.tail(share, 9_000, 13_000)
    items = np.array([tilted[n] for n in (1, 2, 3)])
    assert items.sum() == 9_000
    assert items @ (1, 2, 3) == 13_000
    assert np.diff(np.log(items / law), n=2) == pytest.approx([0], abs=0.003)


def test_tables_of_positions():
    ks, shape = len(foods_positions.KS), (len(foods_positions.MECHANISMS), 3)
    ours = np.full((*shape, ks), 10.0)
    ours[1] = 20  # pnf_peel
    alternatives = np.broadcast_to(ours, (2, 10, *ours.shape)).copy()
    alternatives[0, 4, 0, 1, 3] = 25  # joint, l1, k = 35, in one other draw of the positions
    header, *changes = foods_positions.changes(ours, alternatives)
    assert len(changes) == 18
    assert len(header) == len(changes[0])
    assert changes[1] == [
        *("joint", "l1"),
        *("0.0%", "150% (10 → 25, k = 35)", "0%"),
        *("0.0%", "0% (10 → 10, k = 5)", "0%"),
    ]
    reversals = list(foods_positions.reversals(ours, alternatives))
    assert reversals[2] == ["pnf_peel", "l1", f"1 of {10 * ks} (k = 35)", f"0 of {10 * ks}"]
