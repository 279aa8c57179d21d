"""What the paper's definitions, lemmas and examples state, computed on small inputs.

statements.csv names these tests: what they show does not depend on a run. Each has an input, or a
way to compute, for which it would fail.
"""

import functools
import itertools
import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from dp_topk import mechanisms
from tests.claims import small_cases, worked_examples
from tests.claims.small_cases import CASES, Matrix, sequences, utilities
from tests.copies import ROOT
from tests.mechanisms import exact
from workflow.scripts.data.profiles import read_profile
from workflow.scripts.trials.metrics import METRICS, measured

ROUNDING = 1e-9
ITEMS, PAIRS = (1, 2, 3), tuple(sequences(3, 2))

# ---------------------------------------------------------------- sections 2 and 3


def test_k_relative_error_is_lenient():
    assert small_cases.k_relative_errors([100, 1, 1, 1, 1, 1], 2) == {0}
    assert small_cases.k_relative_errors([100, 2, 1], 2) != {0}


def test_k_relative_error_is_the_least():
    for counts, k in CASES:
        for s in sequences(len(counts), k):
            chosen = np.array([counts[item - 1] for item in s])
            errors = dict(zip(METRICS, measured(np.array(counts[:k]), chosen), strict=False))
            assert errors["k_relative"] <= min(errors["linf"], errors["l1"]), (counts, s)


def test_the_exponential_mechanism_is_private():
    assert small_cases.largest_log_ratio(small_cases.signed_utility, PAIRS, 1 / 2) <= 1 + ROUNDING

    def doubled(counts, s):
        return 4 * utilities(counts, s)[0]

    assert small_cases.largest_log_ratio(doubled, PAIRS, 1 / 2) > 1


def test_a_monotonic_utility_halves_epsilon():
    found = small_cases.largest_log_ratio(small_cases.count_of, ITEMS, 1 / 2)
    assert found <= 1 / 2 + ROUNDING
    assert small_cases.largest_log_ratio(not_monotonic, ITEMS, 1 / 2) > 1 / 2


def not_monotonic(counts, item):
    return (-1) ** item * counts[item - 1]


def test_the_best_score_is_zero():
    for counts, k in CASES:
        scores = [utilities(counts, s)[0] for s in sequences(len(counts), k)]
        assert max(scores) == 0 == scores[0]  # the first is the true sequence


def test_the_example_of_the_two_utilities():
    counts = range(100, 0, -10)
    assert utilities(counts, (1, 3, 4, 5, 2)) == (-10, -30)
    assert utilities(counts, (1, 3, 4, 5, 6)) == (-10, -10)


def test_the_absolute_utility_is_no_distance():
    """It is one for k = 1; for more items the paper's sentence does not hold."""
    equal = {}
    for counts, k in (((6, 4, 3, 1), 1), ((6, 4, 3, 1), 2), ((5, 4, 2, 2), 3)):
        for s in sequences(len(counts), k):
            needed, stated = small_cases.users_to_change(counts, s), -utilities(counts, s)[1]
            equal[counts, s] = needed == stated
    assert all(same for (_, s), same in equal.items() if len(s) == 1)
    assert (sum(equal.values()), len(equal)) == (35, 40)
    assert small_cases.users_to_change((6, 4, 3, 1), (2, 3)) == 3
    assert utilities((6, 4, 3, 1), (2, 3))[1] == -2


@pytest.mark.parametrize(
    ("counts", "sequence", "users"),
    [((6, 4, 3), (1, 2), 0), ((6, 4, 3), (2, 1), 2), ((6, 4, 3), (1, 3), 1), ((6, 4, 3), (3,), 3)],
)
def test_users_that_make_a_sequence_the_true_one(counts, sequence, users):
    """Against a search over all ways to move each count."""

    def enough(n):
        """Can n users do it? Some are added; each of the others is removed."""
        for added in range(n + 1):
            moves = range(added - n, added + 1)
            for moved in itertools.product(moves, repeat=len(counts)):
                new = [c + m for c, m in zip(counts, moved, strict=True)]
                chosen = [new[item - 1] for item in sequence]
                others = [c for item, c in enumerate(new, start=1) if item not in sequence]
                if chosen == sorted(chosen, reverse=True) and chosen[-1] >= max(others):
                    return True
        return False

    assert small_cases.users_to_change(counts, sequence) == users
    assert enough(users)
    assert users == 0 or not enough(users - 1)


def test_the_sensitivity_is_one():
    for counts, k in CASES:
        if len(counts) <= 5:
            assert small_cases.largest_change_of_utility(counts, k) == 1, counts


# ---------------------------------------------------------------- section 3.1

LEMMAS = {
    "number-of-scores": Matrix.has_few_scores,
    "matrix-is-ordered": Matrix.is_ordered,
    "sequence-counts-add-up": Matrix.adds_up,
    "rows-bound-the-items": Matrix.bounds_items,
    "sequence-count-is-a-product": Matrix.is_a_product,
    "neighbouring-entries-share-rows": Matrix.changes_one_row,
    "algorithm-1-counts-sequences": Matrix.is_counted_by_algorithm_1,
    "sequences-are-drawn-uniformly": Matrix.is_drawn_uniformly,
    "algorithm-1-is-the-exponential-mechanism": Matrix.samples_the_exponential_mechanism,
}


@pytest.mark.parametrize("lemma", LEMMAS)
def test_lemmas_of_section_3_1(lemma):
    for counts, k in CASES:
        assert LEMMAS[lemma](Matrix(counts, k)), (counts, k)


@pytest.mark.parametrize(
    ("lemma", "name", "wrong"),
    [
        ("number-of-scores", "utilities", lambda c, s: (2 * TRUE_UTILITIES(c, s)[0] - 1, 0)),
        ("matrix-is-ordered", "tie_breaker", lambda i, j, d, k: 1),
        ("sequence-counts-add-up", "tie_breaker", lambda i, j, d, k: 1),
        ("rows-bound-the-items", "Matrix.t", lambda self, r, value: self.k - r),
        ("sequence-count-is-a-product", "Matrix.t", lambda self, r, v: TRUE_T(self, r, v) + 1),
        ("neighbouring-entries-share-rows", "tie_breaker", lambda i, j, d, k: 1),
        ("algorithm-1-counts-sequences", "tie_breaker", lambda i, j, d, k: 1),
        ("sequences-are-drawn-uniformly", "Matrix.t", lambda self, r, v: TRUE_T(self, r, v) + 1),
        (
            "algorithm-1-is-the-exponential-mechanism",
            "utilities",
            lambda c, s: (2 * TRUE_UTILITIES(c, s)[0] - 1, 0),
        ),
    ],
)
def test_a_lemma_fails_where_something_is_wrong(lemma, name, wrong, monkeypatch):
    owner, _, attribute = name.rpartition(".")
    monkeypatch.setattr(getattr(small_cases, owner) if owner else small_cases, attribute, wrong)
    assert not all(LEMMAS[lemma](Matrix(counts, k)) for counts, k in CASES)


TRUE_T, TRUE_UTILITIES = Matrix.t, utilities


def test_what_lemmas_are_checked_on_is_small_and_has_ties():
    assert any(len(set(counts)) < len(counts) for counts, _ in CASES)
    assert any(k == len(counts) for counts, k in CASES)
    for counts, k in CASES:
        assert list(counts) == sorted(counts, reverse=True)
        assert math.perm(len(counts), k) <= 1000


def test_rows_of_equal_counts_may_differ():
    assert any(Matrix(counts, k).tells_ties_apart() for counts, k in CASES)
    assert not Matrix((9, 5, 1), 2).tells_ties_apart()


def test_the_space_of_algorithm_1():
    per_entry = []
    for d, k in ((4_000, 10), (4_000, 40), (16_000, 10)):
        counts = np.arange(d, 0, -1)
        tracemalloc.start()
        mechanisms.get("joint_alg1").prepare(counts, k, 1.0)
        per_entry.append(tracemalloc.get_traced_memory()[1] / (d * k))
        tracemalloc.stop()
    assert max(per_entry) <= 1.5 * min(per_entry)


# ---------------------------------------------------------------- section 4.1


def gumbel_order(counts, sequence, scale):
    """P(the largest of counts + Gumbel noise come in this order), by nested integration.

    Level j of the recursion has the chance that the items from place j on have noisy counts below
    x in this order, and all items outside the sequence are below the last of them.
    """
    x = np.linspace(-60 * scale, max(counts) + 60 * scale, 200_001)
    step = x[1] - x[0]

    def cdf(item):
        return np.exp(-np.exp(-(x - counts[item]) / scale))

    below = np.ones_like(x)
    for item in set(range(len(counts))) - set(sequence):
        below *= cdf(item)
    for item in reversed(sequence):
        density = cdf(item) * np.exp(-(x - counts[item]) / scale) / scale
        values = density * below
        below = np.concatenate([[0], np.cumsum((values[1:] + values[:-1]) / 2)]) * step
    return below[-1]


@pytest.mark.parametrize(("counts", "k"), [((3, 1, 0), 2), ((2, 2, 1, 0), 3), ((5, 0), 1)])
def test_gumbel_noise_once_is_repeated_selection(counts, k):
    """Noise of scale 1/ε', against k selections with weights exp(ε' c) among what is left."""
    epsilon = 0.7
    total = 0
    for sequence in itertools.permutations(range(len(counts)), k):
        left, chance = list(range(len(counts))), 1.0
        for item in sequence:
            weights = [math.exp(epsilon * counts[i]) for i in left]
            chance *= math.exp(epsilon * counts[item]) / sum(weights)
            left.remove(item)
        found = gumbel_order(counts, sequence, 1 / epsilon)
        assert found == pytest.approx(chance, rel=1e-7)
        total += found
    assert total == pytest.approx(1, rel=1e-7)


def test_the_printed_scale_of_gumbel_noise():
    """A selection by Gumbel noise of scale b has weights exp(c / b)."""
    epsilon, k = 1.0, 5
    lemma, printed = (
        small_cases.largest_log_ratio(small_cases.count_of, ITEMS, 1 / scale)
        for scale in (1 / epsilon, k / epsilon)
    )
    assert epsilon / 2 < lemma <= epsilon + ROUNDING
    assert printed <= epsilon / k + ROUNDING


def test_the_exponential_mechanism_is_concentrated():
    def share(utility, epsilon, order):
        found = small_cases.largest_divergence(utility, ITEMS, epsilon, order)
        return found / (order * epsilon**2 / 8)

    cases = list(itertools.product((0.5, 1, 3), (1.01, 1.5, 2, 5, 20, 100)))
    assert max(share(small_cases.count_of, *case) for case in cases) <= 1 + ROUNDING
    assert max(share(not_monotonic, *case) for case in cases) > 1


def test_the_budget_of_one_selection():
    """ε' of lemma 4.2 at ε = 1, δ = 10⁻⁶: the positive root of a quadratic equation."""

    def by_lemma(k, delta=1e-6):
        square, linear = k / 8, 2 * math.sqrt(k * math.log(1 / delta) / 8)
        return (math.sqrt(linear**2 + 4 * square) - linear) / (2 * square)

    assert pytest.approx(39) == (1 / 5) / (1 / 195)
    assert by_lemma(5) / by_lemma(195) == pytest.approx(6.24, abs=0.005)
    # The privacy of CDP-Peel is tested with this budget, or ε/k where that is more.
    for k in (5, 14, 195):
        assert exact.round_epsilon(k, 1.0, 1e-6) == pytest.approx(max(by_lemma(k), 1 / k))


def test_one_error_scores_as_many():
    counts = (10, 10, 5, 5)
    assert utilities(counts, (1, 3))[0] == utilities(counts, (3, 4))[0] == -5


# ---------------------------------------------------------------- appendix D


def losses_of(counts, k):
    """The loss of every sequence of k distinct items."""
    return np.array([-utilities(counts, s)[0] for s in sequences(len(counts), k)])


def test_the_gain_of_permute_and_flip():
    cases = (((10, 5, 1, 1), 2), ((30, 15, *[1] * 998), 2), ((40, 0), 1), ((6, 6, 3), 2))
    factors = [
        worked_examples.expected_loss(worked_examples.exponential(counts, k, 1))
        / worked_examples.expected_loss(worked_examples.permute_and_flip(counts, k, 1))
        for counts, k in cases
    ]
    assert factors == pytest.approx([1.485, 1.178, 2.000, 1.224], abs=0.0005)
    assert all(1 < factor <= 2 + ROUNDING for factor in factors)


def test_rejection_gives_both_mechanisms():
    counts, k = (10, 5, 1, 1), 2
    values, sequences_of = worked_examples.losses(counts, k)
    which = np.repeat(np.arange(len(values)), sequences_of)
    weights = [Fraction(math.exp(-loss / 2)) for loss in values[which]]
    for with_replacement, distribution in (
        (True, worked_examples.exponential),
        (False, worked_examples.permute_and_flip),
    ):
        chances = np.array(worked_examples.rejection(weights, with_replacement), dtype=float)
        expected = distribution(counts, k, 1)[2]
        assert np.bincount(which, chances) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("counts", "k"), [([10, 5, 1, 1], 2), ([7, 7, 5, 0], 2), ([3, 3], 1)])
def test_worked_examples_agree_with_enumeration(counts, k):
    losses = losses_of(counts, k)
    values, number = np.unique(losses, return_counts=True)
    weight = np.exp(-0.8 * losses / 2)
    found = worked_examples.exponential(counts, k, 0.8)
    assert found[0].tolist() == values.tolist()
    assert found[1].tolist() == number.tolist()
    expected = [weight[losses == value].sum() / weight.sum() for value in values]
    assert found[2] == pytest.approx(expected, rel=1e-12)

    chances = worked_examples.rejection([Fraction(float(x)) for x in weight], False)
    chances = np.array(chances, dtype=float)
    expected = [chances[losses == value].sum() for value in values]
    found = worked_examples.permute_and_flip(counts, k, 0.8)[2]
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("counts", "k"), [((10, 5, 1, 1), 2), ((7, 7, 5, 0), 3), ((3, 3), 1)])
def test_pnf_joint_is_noisy_max(counts, k):
    """Both by integration over z: the noise of one sequence, and the largest of each utility."""
    rate = 1 / 2
    losses = losses_of(counts, k)
    values, number = np.unique(losses, return_counts=True)
    # y = exp(-rate z); where the largest is at z, another sequence is below it with 1 - exp(...)
    nodes, weights = exact.gauss_legendre(np.linspace(0, 1, 200), 12)
    y, width = nodes.ravel(), weights.ravel()

    def below(loss):
        """P(-loss + noise <= z), for z >= 0."""
        return 1 - np.exp(-rate * loss) * y

    everything = functools.reduce(np.multiply, [below(loss) for loss in losses])
    of_all = [
        np.exp(-rate * loss) * (width * everything / below(loss)).sum() for loss in losses
    ]  # report-noisy-max over all sequences
    assert sum(of_all) == pytest.approx(1, rel=1e-9)
    largest = functools.reduce(
        np.multiply, [below(v) ** m for v, m in zip(values, number, strict=True)]
    )
    for value, m in zip(values, number, strict=True):
        # the density of MaxExpo(rate, m) at z, in y, and all other utilities below it
        density = m * np.exp(-rate * value) * below(value) ** (m - 1)
        chance = (width * density * largest / below(value) ** m).sum()
        assert chance == pytest.approx(sum(np.array(of_all)[losses == value]), rel=1e-9)


def test_the_quantile_of_the_largest_noise():
    for epsilon, m, p in itertools.product((0.5, 1, 3), (1, 2, 10, 1000), (0.01, 0.3, 0.9, 0.999)):
        z = -2 / epsilon * math.log(1 - p ** (1 / m))
        assert (1 - math.exp(-epsilon * z / 2)) ** m == pytest.approx(p, abs=1e-9)


def test_m_leaves_the_range_of_doubles():
    """All d (d - 1) ... (d - k + 1) sequences share at most d k losses."""

    def digits(d, k):
        return math.log2(math.perm(d, k))

    sizes = [
        int(read_profile(ROOT / f"data/embedded/{name}.csv")[1].sum())
        for name in ("books", "foods", "games", "movies", "news", "tweets")
    ]
    assert max(digits(d, 45) for d in sizes) < 781 < 1024
    assert min(digits(d, 195) - math.log2(195 * d) for d in sizes) > 2379 > 1024


@pytest.mark.parametrize(
    ("counts", "joint", "pnf_joint"),
    [((10, 5, 1, 1), 0.6315, 0.7510), ((30, 15, *[1] * 998), 0.3372, 0.4375)],
)
def test_the_examples_of_appendix_d(counts, joint, pnf_joint):
    found = [
        worked_examples.best_sequence(distribution(counts, 2, 1))
        for distribution in (worked_examples.exponential, worked_examples.permute_and_flip)
    ]
    assert found == pytest.approx([joint, pnf_joint], abs=0.00005)
