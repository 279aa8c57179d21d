"""Pair: its distribution, its privacy, and the bound that its sampler stands on.

Statistical comparisons have fixed seeds and a false-alarm rate below 10⁻⁹ each
(`goodness_of_fit`); everything else is computed. `test_exact.py` compares the sampler with
 enumeration on the inputs that all mechanisms share; here are those that Pair is about.
"""

import collections
import itertools
import math
import warnings

import numpy as np
import pytest

from dp_topk import mechanisms
from dp_topk.mechanisms.pair import _blocks, _level
from dp_topk.mechanisms.pair._level import Level, inner_ranks
from tests.mechanisms import brute_pair, exact
from tests.mechanisms.goodness_of_fit import draws, fit, follows, tally
from tests.mechanisms.test_privacy import neighbors_of, worst_loss
from tests.mechanisms.test_real_profiles import descending_counts, differing, profile

ROUNDING = 1e-9


def prepare(counts, k, epsilon, relation="add-remove"):
    """Anything that NumPy would warn of is an error, underflow to zero excepted."""
    with warnings.catch_warnings(), np.errstate(divide="raise", over="raise", invalid="raise"):
        warnings.simplefilter("error")
        return mechanisms.get("pair").prepare(counts, k, epsilon=epsilon, neighbors=relation)


def within(counts, k, threshold):
    """t(0), …, t(k - 1) of descending counts."""
    counts = np.asarray(counts)
    return np.searchsorted(-counts, threshold - counts[:k], side="right")


def built(allowed, inner, bits):
    level = Level(allowed, inner, bits)
    level.build()
    return level


# ---------------------------------------------------------------- the distance


def test_distance_is_the_number_of_users_who_make_a_sequence_correct():
    """The least number of users who can be added so that a top-k order is s, by trying."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        d = int(rng.integers(1, 6))
        counts = rng.integers(0, 6, d)
        sequence = rng.permutation(d)[: rng.integers(1, d + 1)].tolist()
        users = next(users for users in itertools.count() if correct_after(users, counts, sequence))
        assert exact.distance(counts, sequence) == users


def correct_after(users, counts, sequence):
    """Whether this many users can make s a correct order. Each adds at most 1 to each item, so
    from the last place on, lift every item as little as need be."""
    rest = [counts[item] for item in range(len(counts)) if item not in sequence]
    needed = max(rest, default=0)
    for item in reversed(sequence):
        needed = max(needed, counts[item])
        if needed - counts[item] > users:
            return False
    return True


def test_what_joint_overlooks():
    """A sequence that leaves out the best item, where each item is one less than the one before."""
    counts = tuple(range(20, 0, -1))
    assert exact.sequence_loss(counts, range(1, 11)) == 1
    assert exact.distance(counts, range(1, 11)) == 10


# ---------------------------------------------------------------- its distribution

GENERATOR = np.random.default_rng(2)
INPUTS = [
    ((9, 8, 8, 5, 3), 5, 0.3),  # k = d
    ((9, 8, 8, 5, 3), 4, 1.0),  # d = k + 1
    ((7, 6, 5, 4, 3, 2), 3, 1.0),
    ((4, 4, 4, 4, 4), 3, 1.0),  # all equal
    ((0, 0, 0, 0, 0), 5, 0.01),
    ((6, 5, 0, 0, 0, 0), 2, 0.7),  # zeros
    ((3,), 1, 10.0),
    ((5, 4, 4, 2, 1, 0), 1, 1.0),  # k = 1
    ((30, 20, 20, 10, 5), 3, 0.05),
    ((3, 2, 2, 1, 1, 0), 4, 10.0),
    ((200, 100, 50, 20, 3), 3, 0.01),
    ((2**53, 2**53 - 1, 2**53 - 3, 5, 0), 3, 0.8),
    *(
        (tuple(GENERATOR.integers(0, 9, 5).tolist()), int(GENERATOR.integers(2, 6)), 0.5)
        for _ in range(4)
    ),
]


@pytest.mark.parametrize("relation", exact.RELATIONS)
@pytest.mark.parametrize(("counts", "k", "epsilon"), INPUTS)
def test_draws_against_enumeration(counts, k, epsilon, relation):
    epsilon *= exact.DRIFT[relation]
    expected = exact.distribution("pair", counts, k, epsilon, neighbors=relation)
    samples = draws(prepare(counts, k, epsilon, relation), 3000, seed=k)
    numbers = tally(samples, list(expected), len(counts))
    assert not fit(numbers, list(expected.values())).rejected


@pytest.mark.parametrize("exponent", [-300, -30, 30, 300])
def test_extreme_epsilons(exponent):
    """Uniform over all sequences, or over the correct ones."""
    counts, k = (9, 5, 5, 0), 2
    samples = draws(prepare(counts, k, 10.0**exponent), 1000, seed=3)
    outcomes = exact.sequences(4, k) if exponent < 0 else [(0, 1), (0, 2)]
    chances = len(outcomes) * [1 / len(outcomes)]
    assert not fit(tally(samples, outcomes, 4), chances).rejected


# ---------------------------------------------------------------- its privacy


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
@pytest.mark.parametrize("relation", exact.RELATIONS)
def test_no_probability_changes_by_more_than_epsilon(relation, epsilon):
    """Over all pairs of neighbours with up to four items and counts up to 3."""
    assert worst_loss("pair", relation, epsilon) <= epsilon + ROUNDING


def test_the_rate_for_add_remove_would_not_do_for_swap():
    assert worst_loss("pair", "swap", 3.0, noise_for="add-remove") > 3.0 * 1.2


@pytest.mark.parametrize("relation", exact.RELATIONS)
def test_the_distance_changes_by_one_user_at_most(relation):
    """By 2 for a swap; and these changes occur."""
    changes = {
        abs(exact.distance(counts, sequence) - exact.distance(other, sequence))
        for counts in itertools.combinations_with_replacement(range(3, -1, -1), 4)
        for other in neighbors_of(counts, relation, math.inf)
        for sequence in exact.sequences(4, 2)
    }
    assert max(changes) == exact.DRIFT[relation]


# ---------------------------------------------------------------- the bound


def small_windows(n, seed, largest=8):
    """t(0), …, t(k - 1) for random counts with ties and zeros, and `inner` and `bits` to try."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        d = int(rng.integers(1, largest + 1))
        counts = np.sort(rng.integers(0, rng.integers(2, 12), d))[::-1]
        k = int(rng.integers(1, min(d, 6) + 1))
        allowed = within(counts, k, int(rng.integers(0, 8)))
        for inner in {1, int(rng.integers(1, k + 1)), k}:
            yield allowed, inner, int(rng.integers(0, 4))


def violations(level):
    """States in which the choices have more than there is, or ends that have too little."""
    *inside, ends = brute_pair.states(level.within)
    found = [chosen for chosen in ends if brute_pair.bound(level, chosen) < -1e-12]
    for chosen in itertools.chain(*inside):
        following = brute_pair.choices(level.within, chosen)
        after = [brute_pair.bound(level, chosen | {rank}) for rank in following]
        total = sum(map(math.exp, after))
        if not total <= math.exp(brute_pair.bound(level, chosen)) * (1 + 1e-13):
            found.append(chosen)
    return found


def test_the_bound_holds_in_every_state():
    for allowed, inner, bits in small_windows(250, seed=4):
        level = built(allowed, inner, bits)
        assert violations(level) == []
        assert level.log_size == pytest.approx(brute_pair.bound(level, frozenset()), abs=1e-9)
        sequences = brute_pair.count(allowed.tolist())
        assert level.log_size >= math.log(sequences)
        if inner == len(allowed) and not any(level.far):
            assert level.log_size == pytest.approx(math.log(sequences), abs=1e-8)


def without(term):
    """Forget one kind of choice."""

    def mutate(plan):
        def mutated(q, m, u):
            nothing = (2 << q) * (m + 1) * (u + 1)
            for at, near, far, outer, ms, us in plan(q, m, u):
                terms = {"leader": near[:1], "near": near[1:], "far": far, "outer": outer}
                terms[term] = np.full_like(terms[term], nothing)
                near = np.concatenate([terms["leader"], terms["near"]])
                yield at, near, terms["far"], terms["outer"], ms, us

        return lambda *shape: list(mutated(*shape))

    return mutate


def halve_not_chosen(next_pointer):
    def mutated(table, q, m, u, weight):
        table = table.copy()
        table[: 1 << q] *= 0.5 if m else 1.0
        return next_pointer(table, q, m, u, weight)

    return mutated


def halve_chosen(next_pointer):
    return lambda table, q, m, u, weight: next_pointer(table, q, m, u, 2 * weight)


def less(function):
    return lambda *arguments: 0.99 * function(*arguments)


MUTATIONS = {
    "without the leader": ("_kept_plan", without("leader")),
    "without the ranks near it": ("_kept_plan", without("near")),
    "without far ranks": ("_kept_plan", without("far")),
    "without outer ranks": ("_kept_plan", without("outer")),
    "less for far ranks": ("_unchosen", less),
    "less at the end": ("_ends", less),
    "less where the pointer meets an unchosen rank": ("_next_pointer", halve_not_chosen),
    "less where the pointer meets a chosen rank": ("_next_pointer", halve_chosen),
    "less than the sum": ("_SLACK", lambda slack: 1 - 1e-6),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_every_term_of_the_bound_is_needed(mutation, monkeypatch):
    name, mutate = MUTATIONS[mutation]
    monkeypatch.setattr(_level, name, mutate(getattr(_level, name)))
    assert any(violations(built(*case)) for case in small_windows(60, seed=5))


def test_an_attempt_gives_each_sequence_the_same_probability():
    for case, (allowed, inner, bits) in enumerate(small_windows(12, seed=6, largest=5)):
        level = built(allowed, inner, bits)
        *_, ends = sequences_within(allowed.tolist())
        rng = np.random.default_rng(case)
        attempts = [level.attempt(rng) for _ in range(2000)]
        seen = collections.Counter(map(tuple, filter(None, attempts)))
        numbers = [seen[sequence] for sequence in ends]
        chance = math.exp(-level.log_size)
        rest = max(1 - len(ends) * chance, 0.0)
        if inner == len(allowed):
            assert sum(numbers) == sum(seen.values())
        if rest < 1e-6:
            assert sum(numbers) == 2000
        assert not fit([*numbers, 2000 - sum(numbers)], [*(len(ends) * [chance]), rest]).rejected


def sequences_within(allowed):
    """The allowed sequences of each length."""
    layers = [[()]]
    for _ in allowed:
        layers.append([(*s, x) for s in layers[-1] for x in brute_pair.choices(allowed, set(s))])
    return layers


def test_long_sequences_do_not_leave_the_range_of_doubles():
    """Joint's count is too large by more than e⁷⁰⁰, and the tables change their units."""
    k, window = 1500, 6
    allowed = np.minimum(np.arange(k) + window, k)
    level = built(allowed, k, window)
    sequences = math.log(brute_pair.count(allowed.tolist()))
    assert Level(allowed, 0, 0).log_size > sequences + 700
    assert level.log_size == pytest.approx(sequences, abs=1e-6)
    ranks = level.attempt(np.random.default_rng(8))
    assert sorted(ranks) == list(range(k))
    assert all(rank < allowed[brute_pair.leader(set(ranks[:n]))] for n, rank in enumerate(ranks))


def test_joint_s_count_takes_over_where_it_is_good_enough():
    allowed = np.array([1, 2, 4, 9, 9, 9])
    assert inner_ranks(allowed, 0.0) == 3
    assert inner_ranks(np.full(5, 9), 0.0) == 0
    assert inner_ranks(np.arange(1, 6), 0.0) == 4
    assert built(allowed, 3, 3).log_size == pytest.approx(
        math.log(brute_pair.count(allowed.tolist())), abs=1e-9
    )


# ---------------------------------------------------------------- real profiles


def distances(counts, samples):
    return np.array([distance_of_ranks(counts, sample) for sample in samples.tolist()])


def distance_of_ranks(counts, ranks):
    """`exact.distance` for descending counts, without looking at all of them."""
    chosen, largest = set(), 0
    for rank in ranks:
        largest = max(largest, counts[brute_pair.leader(chosen)] - counts[rank])
        chosen.add(rank)
    return int(largest)


@pytest.mark.parametrize(
    ("dataset", "k", "epsilon", "reach"),
    [("movies", 95, 0.5, 400), ("tweets", 95, 0.1, 1500), ("foods", 30, 1.0, 120)],
)
def test_distances_follow_their_exact_distribution(dataset, k, epsilon, reach):
    """P(L = v) ~ (M(v) - M(v - 1)) e^{-εv/2}, M counted in integers; beyond `reach` is nothing."""
    counts = descending_counts(dataset)
    changes = np.unique(counts[:k, None] - counts[: 3 * k])
    values = changes[(changes >= 0) & (changes < reach)]
    numbers = [brute_pair.count(within(counts, k, v).tolist()) for v in values.tolist()]
    exactly = [high - low for low, high in zip([0, *numbers], numbers, strict=False)]
    occurs = np.array([number > 0 for number in exactly])
    logs = np.array([math.log(number) for number in exactly if number > 0])
    values = values[occurs]
    probabilities = exact.exponential(logs - epsilon / 2 * values)
    assert probabilities[-1] < 1e-9
    samples = distances(counts, draws(prepare(counts, k, epsilon), 1500, seed=7))
    assert follows(samples, values, probabilities)
    assert not follows(samples, values, exact.exponential(logs - 0.75 * epsilon * values))


@pytest.mark.parametrize("relation", exact.RELATIONS)
@pytest.mark.parametrize(
    ("dataset", "k", "epsilon"),
    [("games", 15, 0.3), ("games", 22, 0.5), ("foods", 25, 0.5), ("tweets", 80, 0.1)],
)
def test_agrees_with_rejection_from_joint(dataset, k, epsilon, relation):
    """A draw of Joint, kept with probability e^{-ε(L - loss)/2}, where that happens often enough.

    The two samplers share the threshold form, but neither blocks nor levels.
    """
    counts = descending_counts(dataset)
    epsilon *= exact.DRIFT[relation]
    joint = mechanisms.get("joint").prepare(counts, k, epsilon=epsilon, neighbors=relation)

    def rejection(rng):
        while True:
            ranks = joint(rng)
            excess = distance_of_ranks(counts, ranks) - (counts[:k] - counts[ranks]).max()
            assert excess >= 0
            if rng.random() < math.exp(-epsilon / (2 * exact.DRIFT[relation]) * excess):
                return ranks

    pair = prepare(mechanisms.Profile(*profile(dataset)), k, epsilon, relation)
    assert differing(counts, draws(pair, 1000, seed=9), draws(rejection, 1000, seed=10)) == []


@pytest.mark.parametrize(("limit", "value"), [("_TOLERANCE", 0.0), ("_BITS", (6,))])
def test_blocks_and_levels_change_no_distribution(limit, value, monkeypatch):
    """Where a part of the draws has collapsed, and Joint's count serves a part of the ranks."""
    counts, k, epsilon = descending_counts("games"), 33, 0.5
    usual = draws(prepare(counts, k, epsilon), 600, seed=15)
    assert 0.2 < np.mean(distances(counts, usual) > 500) < 0.8
    monkeypatch.setattr(_blocks, limit, value)
    monkeypatch.setattr(_blocks, "_NONE", len(_blocks._BITS))
    assert differing(counts, draws(prepare(counts, k, epsilon), 600, seed=16), usual) == []


def test_the_comparison_with_joint_is_not_blind():
    counts = descending_counts("games")
    joint = draws(mechanisms.get("joint").prepare(counts, 22, epsilon=0.5), 1000, seed=11)
    assert differing(counts, draws(prepare(counts, 22, 0.5), 1000, seed=12), joint)


# ---------------------------------------------------------------- where it does not serve

HOPELESS = np.arange(1500), 700, 4.0  # hundreds of items within the noise of each other


def test_unavailable_is_raised_with_one_sentence_each_time():
    messages = set()
    for _ in range(2):
        with pytest.raises(mechanisms.Unavailable) as caught:
            prepare(*HOPELESS)
        messages.add(str(caught.value))
    (message,) = messages
    assert "\n" not in message
    assert "k = 700" in message
    assert "epsilon = 4" in message
    assert message.endswith(".")


@pytest.mark.parametrize("limit", ["_WORK", "_LEVEL_WORK", "_STATES"])
def test_limits_of_work_change_no_distribution(limit, monkeypatch):
    """With nothing to spend on levels, Joint's count still serves what it can."""
    monkeypatch.setattr(_blocks, limit, 0.0)
    counts, k, epsilon = (9, 8, 8, 5, 3), 3, 1.0
    expected = exact.distribution("pair", counts, k, epsilon)
    numbers = tally(draws(prepare(counts, k, epsilon), 3000, seed=13), list(expected), 5)
    assert not fit(numbers, list(expected.values())).rejected


def test_an_idle_level_is_made_when_it_comes_up(monkeypatch):
    """All tables are forgotten, and draws stay the same."""
    counts, k, epsilon = (30, 28, 27, 25, 21, 20, 14, 3), 6, 0.4
    kept = draws(prepare(counts, k, epsilon), 50, seed=14)
    monkeypatch.setattr(_blocks, "_IDLE", math.inf)
    assert (draws(prepare(counts, k, epsilon), 50, seed=14) == kept).all()
