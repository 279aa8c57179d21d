"""The numerics behind the mechanisms that the paper does not have, against slow, exact
reference implementations.

Binomials against integers, normal quantiles against decimal arithmetic, and each noise level
against its definition; then what comes out on real profiles.
"""

import math
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest

from dp_topk import mechanisms
from dp_topk.mechanisms import _normal, cdp_peel, gaussian, oneshot_exp, rdp_peel
from dp_topk.mechanisms._binomials import log_binomials
from tests.mechanisms import exact
from tests.mechanisms.goodness_of_fit import draws, fit

EMBEDDED = Path(__file__).parents[2] / "data" / "embedded"


# ---------------------------------------------------------------- canonical: counting sets


@pytest.mark.parametrize("seed", range(4))
def test_log_binomials_against_integers(seed):
    """All sizes to 2⁵³; j from 1 to n, or to 1000 where n is large, and often near an end."""
    rng = np.random.default_rng(seed)
    n = np.minimum(10 ** rng.uniform(0, 16, 500), 2.0**53).astype(np.int64)
    j = np.minimum(n, 1000)
    j = np.where(rng.random(500) < 0.5, rng.integers(1, j + 1), np.maximum(j - rng.integers(9), 1))
    found = log_binomials(n, j)
    with localcontext() as context:
        context.prec = 40
        for size, chosen, log in zip(n.tolist(), j.tolist(), found.tolist(), strict=True):
            error = abs(Decimal(log) - Decimal(math.comb(size, chosen)).ln())
            assert error <= 2.0**-50 * (1 + log)


def test_binomials_at_the_ends():
    n, j = np.array([0, 3, 3, 5, 5, 2**53]), np.array([1, 3, 4, 5, 1, 1])
    expected = [-math.inf, 0, -math.inf, 0, math.log(5), 53 * math.log(2)]
    assert log_binomials(n, j) == pytest.approx(expected, rel=1e-15)


def counts_of(dataset):
    table = np.loadtxt(EMBEDDED / f"{dataset}.csv", delimiter=",", skiprows=1, dtype=np.int64)
    return mechanisms.Profile(*table.T)


def log_number_of_sets(profile, k, thresholds):
    """log N(v), with factorials from a table of sums of logarithms."""
    log_factorial = np.append(0, np.cumsum(np.log(np.arange(1, profile.d + 1))))
    h = np.arange(k)
    top = np.repeat(profile.counts, profile.items)[:k]
    n = profile.at_least(top - np.asarray(thresholds)[:, None]) - h - 1
    few = n < k - h
    rest = np.where(few, 0, n - k + h)
    terms = log_factorial[np.maximum(n, 0)] - log_factorial[k - h] - log_factorial[rest]
    return np.logaddexp(0, np.logaddexp.reduce(np.where(few, -np.inf, terms), axis=1))


@pytest.mark.parametrize(
    ("dataset", "k", "epsilon", "stated"),
    [("games", 50, 1.0, 0.9506), ("games", 45, 1.0, 0.9159), ("movies", 100, 0.1, 0.6682)],
)
def test_probability_of_the_true_top_k(dataset, k, epsilon, stated):
    """Summed from N(v), up to thresholds that cannot matter, and sampled."""
    profile, rate = counts_of(dataset), epsilon / 2
    everything = math.log(math.comb(profile.d, k))
    v = np.arange(min(int(profile.counts[0]), math.ceil((everything + 40) / rate)))
    logs = log_number_of_sets(profile, k, v)
    assert (np.diff(logs) >= 0).all()
    # Σ_S exp(-rate loss(S)) = (1 - e^(-rate)) Σ_v N(v) e^(-rate v)
    log_sum = math.log(-math.expm1(-rate)) + np.logaddexp.reduce(logs - rate * v)
    probability = math.exp(-log_sum)
    assert probability == pytest.approx(stated, abs=5e-5)

    draw = mechanisms.get("canonical").prepare(profile, k, epsilon=epsilon)
    hits = np.count_nonzero(draws(draw, 3000, seed=k).max(axis=1) == k - 1)
    assert not fit([hits, 3000 - hits], [probability, 1 - probability]).rejected


@pytest.mark.parametrize("k", [1, 7, 40])
def test_the_loss_of_canonical_on_a_real_profile(k):
    """The whole distribution, at a small ε, where thousands of sets share the weight."""
    profile, epsilon = counts_of("games"), 0.05
    counts = np.repeat(profile.counts, profile.items)
    losses, log_copies = exact.set_loss_classes(counts[:400], k)
    small = mechanisms.Profile(*_distinct(counts[:400]))
    draw = mechanisms.get("canonical").prepare(small, k, epsilon=epsilon)
    samples = np.sort(draws(draw, 3000, seed=k), axis=1)
    # The best rank that is missing, and the worst that is there.
    missing = [next(r for r in range(k + 1) if r >= k or row[r] != r) for row in samples.tolist()]
    drawn = np.maximum(0, counts[np.array(missing)] - counts[samples[:, -1]])
    drawn[np.array(missing) == k] = 0
    probabilities = exact.exponential(log_copies - epsilon / 2 * losses)
    observed = [np.count_nonzero(drawn == loss) for loss in losses]
    assert sum(observed) == 3000
    assert not fit(observed, probabilities).rejected


def _distinct(descending):
    values, numbers = np.unique(descending, return_counts=True)
    return values[::-1], numbers[::-1]


# ---------------------------------------------------------------- rdp_peel: ε′ per round


@pytest.mark.parametrize(
    ("epsilon", "k", "renyi", "concentrated"),
    [
        (1.0, 5, 0.2328, 0.2),
        (1.0, 10, 0.1498, 0.1182),
        (1.0, 50, 0.0632, 0.0529),
        (1.0, 100, 0.0444, 0.0374),
        (0.1, 50, 0.00724, 0.00537),
    ],
)
def test_epsilon_per_round(epsilon, k, renyi, concentrated):
    """At δ = 10⁻⁶, to the digits given."""
    digit = 10 ** -(5 if epsilon < 1 else 4) / 2
    assert rdp_peel.epsilon_per_round(k, epsilon, 1e-6) == pytest.approx(renyi, abs=digit)
    assert cdp_peel.epsilon_per_round(k, epsilon, 1e-6) == pytest.approx(concentrated, abs=digit)


@pytest.mark.parametrize("k", [1, 3, 20, 195])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-9), (8.0, 1e-3), (0.3, 0.5)])
def test_epsilon_per_round_is_the_largest_that_the_orders_show(k, epsilon, delta):
    """A grid of 3000 orders, with the worst case of a round searched for, comes from below."""
    found, grid = (f(k, epsilon, delta) for f in (rdp_peel.epsilon_per_round, _on_a_fine_grid))
    assert grid * (1 - 1e-6) <= found <= grid * (1 + 1e-4)


def _on_a_fine_grid(k, epsilon, delta):
    return exact.renyi_round_epsilon(k, epsilon, delta, orders=3000)


@pytest.mark.parametrize("rate", [1e-6, 0.01, 1.0, 30.0])
def test_divergence_against_the_worst_of_all_rounds(rate):
    alpha = 1 + np.logspace(-2, 3, 20) / min(rate, 1)
    found = [rdp_peel.divergence(a, rate) for a in alpha - 1]
    assert found == pytest.approx(exact.renyi_divergence(alpha, rate), rel=1e-6)
    assert (np.array(found) <= alpha * rate**2 / 8 * (1 + 1e-9)).all()  # what cdp_peel goes by


@pytest.mark.parametrize("delta", [0, 5e-324, 1e-300, 1e-6, 0.9, 1 - 2.0**-53])
@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 1e-3, 1.0, 1e3, 1e9, 1e300])
def test_epsilon_per_round_is_never_below_that_of_cdp_peel(epsilon, delta):
    for k in (1, 2, 195, 10**6):
        found, known = (m.epsilon_per_round(k, epsilon, delta) for m in (rdp_peel, cdp_peel))
        assert epsilon / k <= known <= found < math.inf
        assert delta or found == epsilon / k


# ---------------------------------------------------------------- gaussian: noise and its quantiles


def upper_tail(z):
    """P(Z > z) for a Decimal z ≥ 0, by the series of the normal integral or Laplace's fraction."""
    density = (-z * z / 2).exp() / (2 * Decimal(PI)).sqrt()
    if z > 6:
        fraction = Decimal(0)
        for n in range(300, 0, -1):
            fraction = n / (z + fraction)
        return density / (z + fraction), density
    term = total = z
    n = 1
    while term > Decimal(10) ** -60:
        term *= z * z / (2 * n + 1)
        total, n = total + term, n + 1
    return Decimal("0.5") - density * total, density


PI = "3.14159265358979323846264338327950288419716939937510582097494459"

# -log p from the deepest upper tail to the deepest lower one; where the formula changes.
EXPONENTS = np.concatenate(
    [
        np.logspace(-307, -1, 150),
        np.linspace(0.01, 3, 150),
        np.logspace(0, math.log10(700), 100),
        [2.3e-308, 1.3e-11, 1.4e-11, 25.0, math.log(2), -math.log(0.925), -math.log(0.075)],
    ]
)


def test_normal_quantiles_against_decimal_arithmetic():
    with localcontext() as context:
        context.prec = 400  # so that 1 - exp(-x) has digits left for the smallest x
        targets = [(-Decimal(x)).exp() for x in EXPONENTS.tolist()]
        tails = [1 - p if p > Decimal("0.5") else p for p in targets]
        context.prec = 70
        for x, tail, q in zip(EXPONENTS, tails, _normal.quantile(EXPONENTS), strict=True):
            assert (q > 0) == (x < math.log(2)) or abs(q) < 1e-15
            here, density = upper_tail(Decimal(abs(float(q))))
            error = abs(here - tail) / density  # of the quantile, to first order
            assert error <= Decimal(2.0**-50) * Decimal(0.25 + abs(q))


def test_quantiles_of_one_number_and_of_many_agree():
    many = _normal.quantile(EXPONENTS)
    assert [_normal.quantile(x) for x in EXPONENTS] == pytest.approx(many.tolist(), rel=1e-15)
    assert (np.diff(_normal.quantile(np.sort(EXPONENTS))) < 0).all()


def test_exponential_quantiles():
    x = np.logspace(-307, 2.8, 300)
    q = oneshot_exp.quantile(x)
    # P(noise <= q) = 1 - exp(-q) = exp(-x), compared where it has digits
    assert -np.expm1(-q[x > 0.1]) == pytest.approx(np.exp(-x[x > 0.1]), rel=1e-13)
    assert np.exp(-q[x < 3]) == pytest.approx(-np.expm1(-x[x < 3]), rel=1e-12)


def by_error_functions(s, epsilon):
    """Least δ for noise s times the sensitivity: Balle and Wang, Theorem 8, as it stands."""
    here, there = (math.erfc((epsilon * s + c / (2 * s)) / math.sqrt(2)) / 2 for c in (-1, 1))
    return here - math.exp(epsilon) * there


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3, 0.1, 0.9])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 4.0, 20.0, 100.0])
def test_noise_is_the_least_that_meets_delta(epsilon, delta):
    s = gaussian.noise_per_sensitivity(epsilon, delta)
    rounding = 1e-16 / delta * (1 + s)  # of the difference of two nearly equal numbers
    assert by_error_functions(s, epsilon) <= delta * (1 + rounding)
    assert by_error_functions(s * (1 - 1e-9), epsilon) >= delta * (1 - rounding)
    assert s == pytest.approx(exact._unit_sigma(epsilon, delta), rel=1e-8)


@pytest.mark.parametrize("delta", [5e-324, 1e-300, 1e-15, 1e-6, 0.5, 1 - 2.0**-53])
def test_noise_where_the_difference_has_no_digits(delta):
    """Falls with ε over all of its range; has the limit of ε = 0; is finite everywhere."""
    epsilons = [5e-324, 1e-300, 1e-12, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9, 1e300, 1.7e308]
    noise = [gaussian.noise_per_sensitivity(epsilon, delta) for epsilon in epsilons]
    assert sorted(noise, reverse=True) == noise
    assert all(0 < s < math.inf for s in noise)
    if 1e-6 <= delta <= 0.5:  # δ = P(|Z| < 1/(2s)) without ε
        assert math.erf(1 / (2 * noise[2]) / math.sqrt(2)) == pytest.approx(delta, rel=1e-5)


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
@pytest.mark.parametrize("contributions", [0, 0.5, -1, math.nan, None, "2", True, [1]])
def test_bad_contributions_are_refused(name, contributions):
    with pytest.raises(ValueError, match=r"^contributions is .* it must be a number of at least 1"):
        mechanisms.get(name).prepare([3, 2, 1], 1, 1.0, contributions=contributions)


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_contributions_of_any_number_type(name):
    mechanism = mechanisms.get(name)
    expected = draws(mechanism.prepare([3, 2, 1], 2, 1.0, contributions=2), 20, seed=1)
    for value in (2.0, np.int64(2), np.float32(2)):
        assert (
            draws(mechanism.prepare([3, 2, 1], 2, 1.0, contributions=value), 20, seed=1) == expected
        ).all()
