"""Exact releases: the arithmetic, the draws, the whole, and what would give a fault away.

Where the word is "exact" a sampler is run on all bit strings up to a length, which bounds the
probability of each output by fractions (`release_exact`). No chance is involved. Comparisons
of samples have fixed seeds and a false-alarm rate below 10⁻⁹ each (`goodness_of_fit`).
"""

import functools
import inspect
import itertools
import math
import random
import re
import secrets
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dp_topk import mechanisms, release
from dp_topk.release import _lottery, _outputs, _threshold
from dp_topk.release._lottery import Lottery, below, directed, exp_minus
from dp_topk.release._outputs import Sequences, Sets
from tests.mechanisms import exact
from tests.mechanisms.goodness_of_fit import draws, fit, follows, same_distribution
from tests.mechanisms.test_privacy import OPPOSITE_MOVES
from tests.mechanisms.test_real_profiles import descending_counts, profile
from tests.release import release_exact
from tests.release.release_exact import Bits, bounds_if_accepted, check, check_accepted

RELATIONS = exact.RELATIONS
TRUTH = {Sequences: release_exact.sequences, Sets: release_exact.sets}
both = pytest.mark.parametrize("outputs", [Sequences, Sets])
THIRD = "0." + 40 * "3"  # not a third, and not a double


def outputs_of(kind, counts, k):
    """Sequences or Sets of descending counts, for which ranks are items."""
    assert sorted(counts, reverse=True) == list(counts)
    return kind(mechanisms.ranked(counts)[0], k)


def coarse(monkeypatch, digits=2):
    monkeypatch.setattr(_lottery, "DIGITS", digits)


# ---------------------------------------------------------------- arithmetic


@pytest.mark.parametrize("digits", [2, 7, 30, 61])
def test_directed_contexts_enclose(digits):
    rng = random.Random(digits)
    down, up = directed(digits)
    for _ in range(300):
        x, y = (Decimal(rng.getrandbits(300) + 1).scaleb(rng.randint(-9, 9)) for _ in range(2))
        for operation, truth in [
            ("add", Fraction(x) + Fraction(y)),
            ("subtract", Fraction(x) - Fraction(y)),
            ("multiply", Fraction(x) * Fraction(y)),
            ("divide", Fraction(x) / Fraction(y)),
        ]:
            low, high = (Fraction(getattr(context, operation)(x, y)) for context in (down, up))
            assert low <= truth <= high
            assert high - low <= abs(truth) * Fraction(10) ** (1 - digits)


@pytest.mark.parametrize("digits", [2, 7, 30, 61])
def test_enclosures_of_integers(digits):
    rng = random.Random(digits)
    numbers = [rng.getrandbits(rng.randint(1, 5000)) + 1 for _ in range(300)]
    numbers += [2**n + step for n in (3, 10, 150, 151, 4000) for step in (-1, 0, 1)]
    for number in [1, 2, 3, math.comb(10**5, 500), 7**100_000, *numbers]:
        low, high = map(Fraction, _lottery.integer(number, digits))
        assert low <= number <= high
        assert high - low <= number * Fraction(10) ** (1 - digits)


@pytest.mark.parametrize("digits", [2, 3, 10, 30, 60])
def test_enclosures_of_the_exponential_hold_its_series(digits):
    points = [Fraction(0), Fraction(1, 10**300), Fraction(1, 3), Fraction(THIRD), Fraction("0.05")]
    points += [Fraction(i, 8) for i in range(1, 60)] + [Fraction("99.9"), Fraction(300, 7)]
    rng = random.Random(1)
    points += [Fraction(rng.randrange(10**6), rng.randrange(10**5, 10**6)) for _ in range(500)]
    for x in points:
        low, high = map(Fraction, _lottery.exp_minus(x, digits))
        least, most = release_exact.exp_minus(x)
        assert low <= least < most <= high or x == 0
        assert low < high <= low * (1 + 3 * Fraction(10) ** (1 - digits))
    assert exp_minus(Fraction(0), digits)[0] <= 1 <= exp_minus(Fraction(0), digits)[1]


@pytest.mark.parametrize("x", ["12345.678", "1e9", "123456789012345.6789", "1e15/7", "99999999e8"])
def test_enclosures_of_tiny_exponentials(x):
    """e^-x is the 2^m-th power of e^-(x/2^m), which needs no large argument."""
    top, _, bottom = x.partition("/")
    x = Fraction(top) / int(bottom or 1)
    m = math.ceil(x).bit_length()
    down, up = directed(80)
    low, high = (
        context.divide(Decimal(bound.numerator), Decimal(bound.denominator))
        for context, bound in zip((down, up), release_exact.exp_minus(x / 2**m), strict=True)
    )
    for _ in range(m):
        low, high = down.multiply(low, low), up.multiply(high, high)
    for digits in (2, 30):
        least, most = exp_minus(x, digits)
        assert least <= low < high <= most


def test_beyond_the_exponents_of_decimals():
    low, high = exp_minus(Fraction(10) ** 400, 30)
    assert low == 0
    # 10^-n with n = FAR // 3, and e^-FAR < 10^-n as FAR > n log 10
    assert high.adjusted() == -(_lottery.FAR // 3)
    assert _lottery.FAR > 2.31 * (_lottery.FAR // 3)
    low, high = exp_minus(Fraction(_lottery.FAR), 30)
    assert 0 < low < high < _lottery.TINY


def known(weights):
    """A lottery over fractions, enclosed as if they were not known exactly."""

    def enclose(digits):
        down, up = directed(digits)
        for weight in weights:
            top, bottom = Decimal(weight.numerator), Decimal(weight.denominator)
            yield (
                down.next_minus(down.divide(top, bottom)),
                up.next_plus(up.divide(top, bottom)),
            )

    return Lottery(enclose)


def test_running_sums_enclose():
    weights = [Fraction(1, 3), Fraction(10**50, 7), Fraction(5), Fraction(1, 10**60), Fraction(2)]
    for digits in (2, 30, 120):
        lows, highs = known(weights).sums(digits)
        unit = Fraction(10) ** (50 - 1 - digits)
        for low, high, total in zip(
            lows, highs, itertools.accumulate(weights, initial=0), strict=True
        ):
            assert low * unit <= total <= high * unit
            assert high - low <= 5 * 100


@pytest.mark.parametrize("digits", [2, 5, 30])
def test_weights_of_blocks_are_enclosed(digits):
    rng = random.Random(2)
    starts = [0, 1, 2, 4, 6, 8, 16]
    for rate in [Fraction(1, 3), Fraction(THIRD), Fraction(1, 20), Fraction(3)]:
        numbers = [rng.getrandbits(rng.randint(1, 300)) + 1 for _ in starts]
        edges = [*(release_exact.exp_minus(rate * start) for start in starts), (0, 0)]
        weights = list(_threshold.block_weights(starts, numbers, rate, digits))
        for n, (low, high), here, after in zip(
            numbers, weights, edges[:-1], edges[1:], strict=True
        ):
            assert low <= n * (here[0] - after[1])
            assert high >= n * (here[1] - after[0])
            width = Fraction(high) - Fraction(low)
            assert width <= n * here[1] * 12 * Fraction(10) ** (1 - digits)


# ---------------------------------------------------------------- a lottery


@pytest.mark.parametrize("n", range(1, 10))
def test_integers_below_are_uniform(n):
    truth = dict.fromkeys(range(n), 2 * (Fraction(1, n),))
    check(lambda randbits: below(n, randbits), truth, 20, Fraction(1, 50))


LOTTERIES = {
    "two": ["0", "1"],
    "far apart": ["0", "9.5", "3"],
    "equal": ["1/3", "1/3", "1/3"],
    "long": [THIRD, "0.1234567890123456789012345678901234567890", "2", "1e-300"],
    "one": ["5"],
}


def exponentials(exponents):
    return Lottery(lambda digits: [exp_minus(Fraction(x), digits) for x in exponents])


@pytest.mark.parametrize("digits", [2, 30])
@pytest.mark.parametrize("exponents", LOTTERIES.values(), ids=LOTTERIES)
def test_a_lottery_is_exact(monkeypatch, exponents, digits):
    """At each length at most one bit string a boundary is undecided; enclosures hardly add any."""
    coarse(monkeypatch, digits)
    truth = release_exact.shares(
        {i: release_exact.exp_minus(Fraction(x)) for i, x in enumerate(exponents)}
    )
    check(exponentials(exponents).draw, truth, 14, Fraction(4 * len(exponents), 2**14))


def bits_of(value, length):
    """The first binary digits of a number below 1, as a string for `Bits`."""
    return math.floor(value * 2**length)


@pytest.mark.parametrize("digits", [2, 30])
def test_bits_that_stay_close_to_a_boundary(monkeypatch, digits):
    """300 bits agree with w_1 / (w_1 + w_2): only ninety digits tell on which side U is."""
    coarse(monkeypatch, digits)
    for x in ("1", "1/3", THIRD, "20"):
        lottery = exponentials(["0", x])
        low, high = release_exact.shares({0: (1, 1), 1: release_exact.exp_minus(Fraction(x))})[0]
        edge = bits_of(low, 300)
        assert edge == bits_of(high, 300)
        for value, index in [(edge - 1, 0), (edge + 1, 1)]:
            source = Bits(value << 60, 360)
            assert lottery.draw(source) == index
            assert source.left < 75  # it took nearly all of them
            assert lottery.sums.cache_info().currsize > 1  # and more digits than at first


def test_the_first_digits_do_not_change_the_index(monkeypatch):
    rng = random.Random(3)
    exponents = [Fraction(rng.getrandbits(20), 2**16) for _ in range(30)]
    coarse_one, fine_one = exponentials(exponents), exponentials(exponents)
    for _ in range(300):
        value = rng.getrandbits(400)
        coarse(monkeypatch, 2)
        index = coarse_one.draw(Bits(value, 400))
        coarse(monkeypatch, 60)
        assert fine_one.draw(Bits(value, 400)) == index
    assert coarse_one.sums.cache_info().currsize > 1


# ---------------------------------------------------------------- sequences and sets


def small_inputs():
    rng = random.Random(5)
    yield from [(0,), (3, 3, 3), (5, 0), (10**15, 1, 0), (9, 9, 4, 4, 0), (2, 1, 1, 1, 0, 0)]
    for _ in range(12):
        yield tuple(sorted(rng.choices(range(rng.choice((3, 9))), k=rng.randint(2, 6)))[::-1])


LOSS = {Sequences: exact.sequence_loss, Sets: release_exact.set_loss}


@both
def test_outputs_are_counted_as_enumeration_counts_them(outputs):
    for counts in small_inputs():
        for k in range(1, len(counts) + 1):
            candidates = outputs_of(outputs, counts, k)
            every = itertools.permutations if outputs is Sequences else itertools.combinations
            losses = [LOSS[outputs](counts, one) for one in every(range(len(counts)), k)]
            assert max(losses) <= candidates.spread == counts[0] - counts[-1]
            gaps = {a - b for a in counts for b in counts if a >= b}
            for v in {0, *gaps, *(gap + 1 for gap in gaps), *(gap - 1 for gap in gaps)} - {-1}:
                assert candidates.number(v) == sum(loss <= v for loss in losses)


def test_a_product_of_many_factors():
    rng = random.Random(4)
    for n in (1, 2, 31, 32, 33, 1024, 1025, 3000):
        factors = [rng.randint(1, 10**6) for _ in range(n)]
        assert _outputs.product(factors) == math.prod(factors)


@both
@pytest.mark.parametrize(
    ("counts", "k", "bound", "threshold"),
    [
        ((3, 2, 0, 0), 2, 3, 2),
        ((3, 2, 0, 0), 2, 2, 2),
        ((3, 2, 0), 3, 3, 1),
        ((4, 4, 4), 1, 0, 0),
        ((5, 3, 2, 1), 2, 4, 1),
    ],
)
def test_outputs_below_a_bound_are_uniform(outputs, counts, k, bound, threshold):
    """Each output within the threshold has 1 / N(bound); for the others the draw is rejected."""
    candidates = outputs_of(outputs, counts, k)
    orders = list(itertools.permutations(range(len(counts)), k))
    ways = 1 if outputs is Sequences else math.factorial(k)
    chance = Fraction(1, candidates.number(bound) * ways)
    truth = {s: 2 * (chance,) for s in orders if LOSS[outputs](counts, s) <= threshold}
    truth[None] = 2 * (1 - sum(low for low, _ in truth.values()),)
    check(lambda bits: candidates.draw(bound, threshold, bits), truth, 15, Fraction(1, 20))


# ---------------------------------------------------------------- the whole


CASES = [
    ((1, 0), 1, "1"),
    ((2, 1, 0), 1, "2/3"),
    ((2, 2, 0), 1, "1"),
    ((3, 1), 2, THIRD),
    ((1, 1, 1), 1, "5"),
    ((3, 0, 0), 1, "1.5"),
    ((10**15, 10**15 - 2, 0), 1, "1"),
    ((4, 2, 0), 2, "1"),
    ((2, 1, 0), 3, "0.1"),
]


def threshold(outputs, counts, k, epsilon, relation="add-remove"):
    rate = Fraction(epsilon) * release_exact.RATE[relation]
    return _threshold.Threshold(outputs_of(outputs, counts, k), rate)


def true(outputs, counts, k, epsilon, relation="add-remove"):
    if max(counts) > 100:
        return reachable(outputs, counts, k, epsilon, relation)
    return TRUTH[outputs](counts, k, Fraction(epsilon), relation)


def reachable(outputs, counts, k, epsilon, relation):
    """The distribution without outputs of a loss above 100, which e^-50 bounds in all."""
    near = [item for item, count in enumerate(counts) if max(counts) - count < 100]
    top = [counts[item] - max(counts) + 100 for item in near]
    truth = TRUTH[outputs](top, k, Fraction(epsilon), relation)
    slack = Fraction(1, 2**20)
    return {
        tuple(near[i] for i in one): (low * (1 - slack), high) for one, (low, high) in truth.items()
    }


@both
@pytest.mark.parametrize("digits", [2, 30])
@pytest.mark.parametrize(("counts", "k", "epsilon"), CASES)
def test_a_release_is_exact(monkeypatch, outputs, counts, k, epsilon, digits):
    coarse(monkeypatch, digits)
    truth = true(outputs, counts, k, epsilon)
    check_accepted(threshold(outputs, counts, k, epsilon).propose, truth, 16, Fraction(1, 40))


@both
@pytest.mark.usefixtures("prepared_once")
def test_so_is_what_users_call(outputs):
    """With repetitions, and with items that are not in the order of their counts."""
    function = {Sequences: release.top_k, Sets: release.top_k_set}[outputs]
    check(
        lambda bits: function([0, 4, 2], 2, "1", randbits=bits),
        TRUTH[outputs]((0, 4, 2), 2, 1),
        16,
        Fraction(1, 100),
    )


@both
@pytest.mark.usefixtures("prepared_once")
def test_swap_neighbors_halve_the_rate(outputs):
    function = {Sequences: release.top_k, Sets: release.top_k_set}[outputs]
    truth = {relation: TRUTH[outputs]((0, 2), 1, 2, relation) for relation in RELATIONS}
    for relation, other in [RELATIONS, RELATIONS[::-1]]:

        def draw(bits, relation=relation):
            return function([0, 2], 1, 2, neighbors=relation, randbits=bits)

        check(draw, truth[relation], 14, Fraction(1, 50))
        with pytest.raises(AssertionError):
            check(draw, truth[other], 14, Fraction(1, 50))


@both
def test_blocks_have_powers_of_two_and_half_of_the_proposals_are_accepted(outputs):
    for counts in [*small_inputs(), descending_counts("games")]:
        for epsilon in ("1e-300", "0.01", "1", "1e300"):
            candidates = outputs_of(outputs, counts, len(counts[:7]))
            rate = Fraction(epsilon) / 2
            starts = _threshold.cut(candidates.number, candidates.spread, rate)
            sizes = [stop - start for start, stop in itertools.pairwise(starts)]
            assert starts[0] == 0
            assert starts[-1] >= candidates.spread
            assert all(size.bit_count() == 1 for size in sizes)
        draw = threshold(outputs, counts, len(counts[:7]), "0.1").propose
        randbits = random.Random(6).getrandbits
        # With half accepted, 56 of 200 or fewer have a probability below 10⁻⁹.
        assert sum(draw(randbits) is not None for _ in range(200)) > 56


@pytest.mark.parametrize("starts", [[0, 1, 2, 4, 8], [0, 8], [*range(9)], [0, 4, 6, 7, 8, 16]])
def test_where_blocks_are_cut_does_not_matter(monkeypatch, starts):
    monkeypatch.setattr(_threshold, "cut", lambda *arguments: starts)
    truth = true(Sequences, (7, 4, 0), 1, "1/2")
    check_accepted(threshold(Sequences, (7, 4, 0), 1, "1/2").propose, truth, 18, Fraction(1, 40))


# ---------------------------------------------------------------- extremes


@both
def test_hardly_any_privacy_gives_the_true_top(outputs):
    counts = [10**15, 3, 10**15 - 1, 0, 10**14]
    for epsilon in ("1e300", 1e300, Fraction(10) ** 390):
        chosen = release.prepare(outputs, counts, 3, epsilon)()
        assert chosen == [0, 2, 4] if outputs is Sequences else set(chosen) == {0, 2, 4}


@both
def test_hardly_any_epsilon_gives_every_output_alike(outputs):
    """e^-x of an x below 10^-285 is 1 to all digits that the bounds have."""
    counts = (10**15, 7, 0)
    truth = dict.fromkeys(itertools.permutations(range(3), 2), 2 * (Fraction(1, 6),))
    near = Fraction(1, 10**200)
    truth = {one: (low - near, high + near) for one, (low, high) in truth.items()}
    check(threshold(outputs, counts, 2, "1e-300").draw, truth, 16, Fraction(1, 20))


@both
@pytest.mark.parametrize("epsilon", ["1e-300", "1e-15", "1e-9", "1/3", THIRD, "1e3", "1e300"])
def test_large_counts_and_long_expansions(outputs, epsilon):
    rng = np.random.default_rng(9)
    counts = np.minimum(1000 * rng.pareto(0.3, 3000), 10**15).astype(int)
    for k in (1, 40):
        draw = release.prepare(outputs, counts, k, epsilon)
        chosen = [draw(random.Random(seed).getrandbits) for seed in range(4)]
        assert all(len(set(items)) == k and set(items) <= set(range(3000)) for items in chosen)


# ---------------------------------------------------------------- samples


@both
@pytest.mark.parametrize(
    ("counts", "k", "epsilon"),
    [((9, 8, 8, 5, 0), 3, "1"), ((3, 3, 1, 0, 0, 0), 2, "2"), ((40, 30, 20, 10), 4, "0.1")],
)
def test_samples_follow_the_enumerated_distribution(outputs, counts, k, epsilon):
    randbits = random.Random(7).getrandbits
    draw = release.prepare(outputs, counts, k, epsilon)
    sample = [tuple(draw(randbits)) for _ in range(6000)]

    def agrees(epsilon):
        truth = TRUTH[outputs](counts, k, epsilon)
        observed = [sample.count(one) for one in truth]
        assert sum(observed) == len(sample)
        return not fit(observed, [float(low) for low, _ in truth.values()]).rejected

    assert agrees(Fraction(epsilon))
    assert not agrees(Fraction(epsilon) * 2) or (outputs is Sets and k == len(counts))


# Settings at which the loss varies: many items, few items, and large counts.
REAL = {"foods": 0.3, "games": 1.0, "movies": 0.01}


@pytest.mark.parametrize("dataset", REAL)
def test_releases_agree_with_joint_on_real_counts(dataset):
    counts, k, epsilon = descending_counts(dataset), 20, REAL[dataset]
    randbits = random.Random(8).getrandbits
    draw = release.prepare(Sequences, mechanisms.Profile(*profile(dataset)), k, epsilon)
    ours = np.array([draw(randbits) for _ in range(500)])
    theirs = draws(mechanisms.get("joint").prepare(counts, k, epsilon), 500, seed=1)
    losses = (counts[:k] - counts[ours]).max(axis=1)
    assert len(np.unique(losses)) > 10
    assert follows(losses, *exact.loss_probabilities("joint", counts, k, epsilon)[:2])
    assert not follows(losses, *exact.loss_probabilities("joint", counts, k, 2 * epsilon)[:2])
    for place in (0, k // 2, k - 1):
        assert same_distribution(ours[:, place], theirs[:, place])
    assert same_distribution(ours.sum(axis=1), theirs.sum(axis=1))


def losses_of_sets(counts, sample):
    """By how much the best item left out is ahead of the worst taken; counts must be descending."""
    k = sample.shape[1]
    left_out = [next(rank for rank in range(k + 1) if rank not in row) for row in map(set, sample)]
    return np.maximum(counts[left_out] - counts[sample].min(axis=1), 0)


def test_losses_of_sets_on_real_counts():
    counts, k, epsilon = descending_counts("games"), 5, 0.03
    randbits = random.Random(10).getrandbits
    draw = release.prepare(Sets, counts, k, epsilon)
    losses = losses_of_sets(counts, np.array([draw(randbits) for _ in range(500)]))
    assert len(np.unique(losses)) > 10

    values = np.unique(counts[:k, None] - np.unique(counts))
    values = values[values >= 0]
    numbers = [outputs_of(Sets, tuple(counts), k).number(v) for v in values.tolist()]
    exactly = [high - low for low, high in itertools.pairwise([0, *numbers])]
    values, exactly = zip(*((v, n) for v, n in zip(values, exactly, strict=True) if n), strict=True)
    for rate, right in [(epsilon / 2, True), (epsilon, False)]:
        exponents = [math.log(n) - rate * v for v, n in zip(values, exactly, strict=True)]
        assert follows(losses, values, exact.exponential(exponents)) == right


@pytest.mark.skipif("canonical" not in mechanisms.names(), reason="there is no such mechanism")
@pytest.mark.parametrize(("dataset", "k", "epsilon"), [("games", 5, 0.03), ("books", 20, 1e-4)])
def test_sets_agree_with_canonical_on_real_counts(dataset, k, epsilon):
    counts = descending_counts(dataset)
    randbits = random.Random(11).getrandbits
    draw = release.prepare(Sets, counts, k, epsilon)
    ours = np.array([draw(randbits) for _ in range(500)])
    theirs = draws(mechanisms.get("canonical").prepare(counts, k, epsilon), 500, seed=2)
    assert same_distribution(*(losses_of_sets(counts, sample) for sample in (ours, theirs)))
    for summary in (np.max, np.sum):
        assert same_distribution(*(summary(sample, axis=1) for sample in (ours, theirs)))


@both
def test_the_largest_k_of_the_paper(outputs):
    counts = descending_counts("games")
    draw = release.prepare(outputs, counts, 195, "1")
    randbits = random.Random(9).getrandbits
    sample = np.array([draw(randbits) for _ in range(60)])
    assert all(len(set(row)) == 195 for row in sample.tolist())
    if outputs is Sequences:
        losses = (counts[:195] - counts[sample]).max(axis=1)
        assert follows(losses, *exact.loss_probabilities("joint", counts, 195, 1.0)[:2])
        assert not follows(losses, *exact.loss_probabilities("joint", counts, 195, 3.0)[:2])


# ---------------------------------------------------------------- privacy


def neighbors(counts, relation):
    """All counts that one user makes of these: every item moves by at most 1."""
    moves = {"add-remove": [(0, 1), (-1, 0)], "swap": [(-1, 0, 1)]}[relation]
    for steps in moves:
        for move in itertools.product(steps, repeat=len(counts)):
            after = tuple(count + step for count, step in zip(counts, move, strict=True))
            if min(after) >= 0:
                yield after


@both
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2)])
def test_privacy_in_fractions(outputs, relation, epsilon):
    """No probability exceeds e^epsilon times a neighbour's; some exceed e^(epsilon/3) times."""
    worst = 0
    for k in (1, 2):
        for counts in itertools.combinations_with_replacement(range(3), 3):
            here = TRUTH[outputs](counts, k, epsilon, relation)
            for after in neighbors(counts, relation):
                there = TRUTH[outputs](after, k, epsilon, relation)
                worst = max(worst, *(here[s][1] / there[s][0] for s in here))
    assert worst <= 1 / release_exact.exp_minus(epsilon)[1]
    assert worst > 1 / release_exact.exp_minus(epsilon / 3)[0]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2)])
def test_all_of_epsilon_is_used_but_no_more(relation, epsilon):
    """A pair of neighbours with a thousand items, for which enumeration goes by losses."""
    rate = epsilon * release_exact.RATE[relation]

    def probability(counts):
        numbers = [outputs_of(Sequences, sorted(counts)[::-1], 2).number(v) for v in range(5)]
        exactly = [high - low for low, high in itertools.pairwise([0, *numbers])]
        weights = [release_exact.exp_minus(rate * v) for v in range(5)]
        own = weights[exact.sequence_loss(counts, (0, 2))]
        least, most = (
            sum(number * weight[side] for number, weight in zip(exactly, weights, strict=True))
            for side in (0, 1)
        )
        return own[0] / most, own[1] / least

    before, after = map(probability, OPPOSITE_MOVES[relation])
    assert after[1] / before[0] <= 1 / release_exact.exp_minus(epsilon)[1]
    assert after[0] / before[1] >= 1 / release_exact.exp_minus(epsilon * Fraction(98, 100))[0]


@both
@pytest.mark.parametrize("relation", RELATIONS)
def test_privacy_of_the_sampler_itself(outputs, relation):
    """Bounds from all bit strings of the sampler, for every neighbour of one input."""

    @functools.cache
    def bounds(counts):
        order = sorted(range(3), key=lambda item: -counts[item])
        draw = threshold(outputs, tuple(counts[item] for item in order), 1, "2", relation).propose
        ranks = bounds_if_accepted(draw, 15, Fraction(1, 100))
        return {order[rank]: bound for (rank,), bound in ranks.items()}

    e_to_epsilon = 1 / release_exact.exp_minus(Fraction(2))[1]
    for after in neighbors((2, 1, 0), relation):
        for one, other in itertools.permutations([bounds((2, 1, 0)), bounds(after)]):
            assert all(one[item][1] <= e_to_epsilon * other[item][0] for item in range(3))


# ---------------------------------------------------------------- what a fault would do


def use_bits_twice(patch):
    propose = _threshold.Threshold.propose

    def mutant(self, randbits):
        kept = []

        def twice(n):
            if n != 1:
                return randbits(n)
            if kept:
                return kept.pop()
            kept.append(randbits(1))
            return kept[0]

        return propose(self, twice)

    patch.setattr(_threshold.Threshold, "propose", mutant)


def reuse_the_block_s_bits(patch):
    """The digits inside a block from the bits that chose the block."""
    draw = Lottery.draw
    seen = []

    def mutant(self, randbits):
        if len(self.sums(30)[0]) == 3 and seen:
            return draw(self, lambda n: seen.pop(0) if seen else randbits(n))
        seen.clear()

        def remembered(n):
            seen.append(randbits(n))
            return seen[-1]

        return draw(self, remembered)

    patch.setattr(Lottery, "draw", mutant)


def weigh_blocks_at_their_start(patch):
    weights = _threshold.block_weights

    def mutant(starts, numbers, rate, digits):
        return weights(starts, [1, *numbers[:-1]], rate, digits)

    patch.setattr(_threshold, "block_weights", mutant)


def end_blocks_too_late(patch):
    weights = _threshold.block_weights

    def mutant(starts, numbers, rate, digits):
        return weights([0, *(start + 1 for start in starts[1:])], numbers, rate, digits)

    patch.setattr(_threshold, "block_weights", mutant)


def leave_the_last_digit_out(patch):
    make = _threshold.Threshold.__init__

    def mutant(self, outputs, rate):
        make(self, outputs, rate)
        self.digits.insert(0, SimpleNamespace(draw=lambda randbits: 0))

    patch.setattr(_threshold.Threshold, "__init__", mutant)


def exchange_the_bounds(patch):
    sums = Lottery._sums
    patch.setattr(Lottery, "_sums", lambda self, digits: sums(self, digits)[::-1])


def draw_below_one_less(patch):
    patch.setattr(_outputs, "below", lambda n, randbits: below(max(n - 1, 1), randbits))


def take_remainders(patch):
    patch.setattr(_outputs, "below", lambda n, randbits: randbits(n.bit_length()) % n)


FAULTS = [
    use_bits_twice,
    reuse_the_block_s_bits,
    weigh_blocks_at_their_start,
    end_blocks_too_late,
    leave_the_last_digit_out,
    exchange_the_bounds,
    draw_below_one_less,
    take_remainders,
]


@both
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_caught(monkeypatch, fault, outputs):
    """By the cases of `test_a_release_is_exact`, however much of the bit strings is left."""
    coarse(monkeypatch, 2)
    fault(monkeypatch)

    def passes(counts, k, epsilon):
        try:
            propose = threshold(outputs, counts, k, epsilon).propose
            check_accepted(propose, true(outputs, counts, k, epsilon), 16, rest=1)
        except (AssertionError, IndexError):
            return False
        return True

    assert not all(passes(*case) for case in CASES)


def swap_rounding(patch):
    for module in (_lottery, _threshold):
        patch.setattr(module, "directed", lambda digits: directed(digits)[::-1])


def round_to_nearest(patch):
    for module in (_lottery, _threshold):
        patch.setattr(module, "directed", lambda digits: 2 * (Context(prec=digits),))


def stay_at_the_exponential(patch):
    """Its correctly rounded value, without the steps to the neighbours."""

    def nearest(x, digits):
        low, _ = exp_minus(x, digits)
        return 2 * (directed(digits)[0].next_plus(low),)

    for module in (_lottery, _threshold):
        patch.setattr(module, "exp_minus", nearest)


@pytest.mark.parametrize("digits", [2, 5, 30])
@pytest.mark.parametrize("fault", [swap_rounding, round_to_nearest, stay_at_the_exponential])
def test_wrong_rounding_is_caught(monkeypatch, fault, digits):
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        test_weights_of_blocks_are_enclosed(digits)


# ---------------------------------------------------------------- arguments


def test_randomness_is_the_operating_system_s_by_default():
    for function in (release.top_k, release.top_k_set):
        assert inspect.signature(function).parameters["randbits"].default is secrets.randbits
    assert len({tuple(release.top_k(range(30), 5, "0.01")) for _ in range(20)}) == 20


def test_everything_random_comes_from_randbits():
    for function in (release.top_k, release.top_k_set):
        first, second = (
            function([5, 3, 9, 9, 0], 3, "0.2", randbits=random.Random(4).getrandbits)
            for _ in range(2)
        )
        assert first == second
        assert all(type(item) is int for item in first)


@pytest.mark.parametrize(
    ("epsilon", "value"),
    [
        ("0.1", Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (Decimal("0.1"), Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (Fraction(1, 3), Fraction(1, 3)),
        (np.int64(2), Fraction(2)),
        (5e-324, Fraction("5e-324")),
        (THIRD, Fraction(int(40 * "3"), 10**40)),
        ("1e-3", Fraction(1, 1000)),
    ],
)
def test_epsilon_is_what_is_written(epsilon, value):
    assert release.exact(epsilon) == value


BAD = [
    {"counts": []},
    {"counts": [[1, 2], [3, 4]]},
    {"counts": [1.5, 2.0]},
    {"counts": [1.0, math.nan]},
    {"counts": [3, -1]},
    {"counts": [3, 2**53 + 1]},
    {"counts": [[1], [2, 3]]},
    {"counts": "abc"},
    {"k": 0},
    {"k": 4},
    {"k": 1.5},
    {"k": True},
    {"k": "2"},
    {"epsilon": 0},
    {"epsilon": -1.0},
    {"epsilon": math.inf},
    {"epsilon": math.nan},
    {"epsilon": None},
    {"epsilon": "much"},
    {"epsilon": True},
    {"neighbors": "substitute"},
    {"neighbors": None},
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_bad_arguments_get_the_sentences_of_mechanisms(bad):
    arguments = {"counts": [3, 1, 2], "k": 2, "epsilon": 1.0, "neighbors": "add-remove"} | bad
    with pytest.raises(ValueError, match=r"\.$") as theirs:
        mechanisms.get("joint").prepare(**arguments)
    for function in (release.top_k, release.top_k_set):
        with pytest.raises(ValueError, match=r"\.$") as ours:
            function(**arguments)
        assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("epsilon", ["1e999999999", "1e-999999999", Decimal("1e500")])
def test_an_epsilon_that_would_take_forever_is_refused(epsilon):
    with pytest.raises(ValueError, match="between 1e-400 and 1e400"):
        release.top_k([3, 1, 2], 2, epsilon)


@pytest.mark.parametrize(
    "epsilon", ["1/0", "", "1/2/3", "0x1", "1,5", " 1", "1_0", "١", "１", "-1", "+1"]
)
def test_text_that_is_no_number_is_refused(epsilon):
    with pytest.raises(ValueError, match="must be a finite number above 0"):
        release.top_k([3, 1, 2], 2, epsilon)


# ---------------------------------------------------------------- what the documentation shows


DOCUMENT = (Path(__file__).parents[2] / "docs" / "release.md").read_text(encoding="utf-8")


def shown(name):
    """The names that the code after the comment <!-- test: name --> defines."""
    names = {}
    exec(re.search(rf"<!-- test: {name} -->\n```python\n(.*?)```", DOCUMENT, re.DOTALL)[1], names)
    return names


def test_the_example_of_a_release():
    names = shown("release")
    for chosen in (names["items"], names["chosen"]):
        assert len(set(chosen)) == 3
        assert set(chosen) <= set(range(len(names["counts"])))


def test_the_example_of_doubles():
    """Possible before, impossible after; both are possible in an exact release."""
    names = shown("doubles")
    assert names["before"] == pytest.approx(2.2e-16, rel=0.02)
    assert names["after"] == 0
    truth = [release_exact.sequences((gap, 0), 1, 1)[1,] for gap in (73, 74)]
    assert float(truth[0][0]) == pytest.approx(1.4e-16, rel=0.01)
    assert truth[1][0] > 0
    assert truth[0][1] / truth[1][0] < 1 / release_exact.exp_minus(Fraction(1))[1]
    for gap in (73, 74):
        rare = Bits(2**300 - 1, 300)  # nothing but ones: the last index, if there is one
        assert exponentials(["0", Fraction(gap, 2)]).draw(rare) == 1


def test_files_that_the_document_links_to_or_names_exist():
    root = Path(__file__).parents[2]
    for link in re.findall(r"\]\(([^)#:]+)\)", DOCUMENT):
        assert (root / "docs" / link).exists()
    for name in re.findall(r"`((?:tests|mechanisms)/\w+\.py)`", DOCUMENT):
        assert (root / name).exists()
    for name in re.findall(r"`(\w+\.py)`", DOCUMENT):
        assert (root / "dp_topk" / "release" / name).exists()
