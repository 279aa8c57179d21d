"""Unknown domains: output laws from all bit strings, (epsilon, delta) of all neighbours, faults."""

import functools
import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from dp_topk import mechanisms, release
from dp_topk.release import _unknown
from dp_topk.release._outputs import Left, OrNothing, Sequences, Sets
from dp_topk.release._threshold import Threshold
from dp_topk.release._unknown import limited, profile_of, shares
from tests.mechanisms.exact import DRIFT, sequence_loss
from tests.release import release_exact
from tests.release.release_exact import check, check_accepted, delta_between, peeling, set_loss
from tests.release.test_release import RELATIONS, coarse

LOSS = {Sequences: sequence_loss, Sets: set_loss}
both = pytest.mark.parametrize("outputs", [Sequences, Sets])


# ---------------------------------------------------------------- the limited domain


def test_the_limited_domain_is_that_of_the_definition():
    rng = random.Random(1)
    for _ in range(300):
        counts = {name: rng.randrange(4) for name in rng.sample("abcdefgh", rng.randint(0, 8))}
        names = list(counts)
        for limit in (1, 2, 3, 8, 9, 50):
            values = np.array([*counts.values()], np.int64)
            here = limited(values, limit, lambda items, names=names: [names[i] for i in items])
            found = {
                names[item]: count for item, count in zip(here.items, here.counts, strict=True)
            }
            assert (found, here.next_count) == release_exact.limited(counts, limit)
            assert here.counts == sorted(here.counts, reverse=True)


def test_ties_do_not_depend_on_the_order_of_rows():
    counts = {f"item {i}": 50 for i in range(12)}
    for seed in range(5):
        names = list(counts)
        random.Random(seed).shuffle(names)
        chosen = release.top_k_unknown(
            {name: counts[name] for name in names}, 3, 100, "0.5", whole=True, limit=3
        )
        assert set(chosen) <= {"item 0", "item 1", "item 10"}


# ---------------------------------------------------------------- output laws


def true_peeling(counts, k, limit, epsilon, delta, relation):
    """Peeling of an unknown domain from its definition, with the parts that `shares` gives."""
    top, following = release_exact.limited(counts, limit)
    rate, dummies = shares(k, Fraction(epsilon), Fraction(delta))
    return peeling(
        top,
        k,
        rate / DRIFT[relation],
        math.ceil(limit / dummies),
        following + DRIFT[relation],
    )


COUNTS = [
    {"a": 3, "b": 2},
    {"a": 5, "b": 3, "c": 3},
    {"a": 4, "b": 4, "c": 4},
    {"a": 3, "b": 0, "c": 1, "d": 0},
    {"a": 2},
]


def check_first_rounds(monkeypatch, relation):
    """Compare the first round of `top_k_unknown`, as all bit strings give it, with the law."""
    prepared = []
    monkeypatch.setattr(_unknown, "peel", lambda *arguments: prepared.append(arguments) or [])
    for counts in COUNTS:
        for limit in (1, 2):
            release.top_k_unknown(counts, 1, 6, "0.4", limit=limit, neighbors=relation)
            left, _, rate, _ = prepared.pop()
            truth = true_peeling(counts, 1, limit, 6, "0.4", relation)
            items = [*release_exact.limited(counts, limit)[0]]
            ranks = {tuple(items.index(name) for name in one): p for one, p in truth.items()}
            check_accepted(Threshold(left, rate).propose, ranks, 16, Fraction(1, 4))


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_round_is_exact(monkeypatch, relation):
    check_first_rounds(monkeypatch, relation)


@pytest.mark.usefixtures("prepared_once")
def test_so_is_what_users_call():
    """Two rounds; that rounds follow each other as they should is checked with those of peeling."""
    counts = COUNTS[3]
    truth = true_peeling(counts, 2, 2, 6, "0.4", "add-remove")

    def draw(bits):
        return release.top_k_unknown(counts, 2, 6, "0.4", limit=2, randbits=bits)

    check(draw, truth, 12, Fraction(3, 4))


CASES = [
    ((3, 1, 0), 1, 0, "1/2"),
    ((3, 1, 0), 1, 2, "1/2"),
    ((3, 1, 0), 1, 5, "1/3"),
    ((2, 2, 1), 2, 1, "2/3"),
    ((4, 0), 2, 0, "1/5"),
]


@both
@pytest.mark.parametrize(("counts", "k", "least", "delta"), CASES)
def test_outputs_or_nothing_are_exact(monkeypatch, outputs, counts, k, least, delta):
    coarse(monkeypatch, 2)
    inner = outputs(mechanisms.ranked(counts)[0], k)
    orders = list(itertools.permutations(range(len(counts)), k))
    for rate in (Fraction(1, 3), Fraction(2)):
        weights = {s: release_exact.exp_minus(rate * LOSS[outputs](counts, s)) for s in orders}
        none = [
            release_exact.exp_minus(rate * max(LOSS[outputs](counts, s), least)) for s in orders
        ]
        weights[()] = tuple(sum(bound) / Fraction(delta) for bound in zip(*none, strict=True))
        truth = release_exact.shares(weights)
        draw = Threshold(OrNothing(inner, least, Fraction(delta)), rate).propose
        check_accepted(draw, truth, 16, Fraction(1, 6))


def true_whole(outputs, counts, k, limit, epsilon, delta, relation):
    return release_exact.whole(counts, k, limit, epsilon, delta, relation, LOSS[outputs])


def check_whole(outputs, counts, relation):
    for k, limit in [(1, 2), (2, 3)]:
        truth = true_whole(outputs, counts, k, limit, 2, "1/3", relation)

        def draw(bits, k=k, limit=limit):
            return release.top_k_unknown(
                counts,
                k,
                2,
                "1/3",
                limit=limit,
                whole=True,
                as_set=outputs is Sets,
                neighbors=relation,
                randbits=bits,
            )

        check(draw, truth, 10, Fraction(1, 2))


@both
@pytest.mark.usefixtures("prepared_once")
@pytest.mark.parametrize("relation", RELATIONS)
def test_whole_is_exact(outputs, relation):
    """Of what users call."""
    for counts in COUNTS[1::2]:
        check_whole(outputs, counts, relation)


# ---------------------------------------------------------------- privacy


def datasets(items=3, largest=3):
    """All counts of this many items, as tuples."""
    return itertools.product(range(largest + 1), repeat=items)


def worst_delta(law, epsilon, relation, largest=3):
    """Bounds on the largest delta of all neighbours of three items."""
    law = functools.cache(law)
    low = high = 0
    for counts in datasets(largest=largest):
        steps = (0, 1) if relation == "add-remove" else (-1, 0, 1)
        for move in itertools.product(steps, repeat=len(counts)):
            after = tuple(count + step for count, step in zip(counts, move, strict=True))
            if min(after) < 0 or max(after) > largest:
                continue
            for one, other in [(counts, after), (after, counts)]:
                bounds = delta_between(law(one), law(other), epsilon)
                low, high = max(low, bounds[0]), max(high, bounds[1])
    return low, high


def by_name(counts):
    return dict(zip("abc", counts, strict=True))


def pure_peeling(counts, k, limit, epsilon, delta, drift, step=None, factor=1):
    """Rounds of epsilon / k each and all of delta for the dummies; step and factor: faults."""
    top, following = release_exact.limited(by_name(counts), limit)
    dummies = math.ceil(limit / Fraction(delta)) // factor
    rate = Fraction(epsilon) / (k * drift)
    return peeling(top, k, rate, dummies, following + (drift if step is None else step))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("k", "limit"), [(1, 1), (1, 2), (2, 2)])
def test_privacy_of_peeling_in_fractions(relation, k, limit):
    epsilon, delta = Fraction(1), Fraction(1, 50)
    worst = worst_delta(
        lambda counts: true_peeling(by_name(counts), k, limit, epsilon, delta, relation),
        epsilon,
        relation,
        largest=2 if relation == "swap" else 3,
    )
    assert 0 < worst[0] <= worst[1] <= delta


@pytest.mark.parametrize("relation", RELATIONS)
def test_half_the_dummies_or_a_step_less_is_not_private(relation):
    """With pure rounds and one item, the bound delta_1 is nearly reached."""
    k, limit, epsilon, delta, drift = 1, 1, Fraction(2), Fraction(1, 50), DRIFT[relation]
    largest = 2 if relation == "swap" else 3

    def law(**fault):
        return lambda counts: pure_peeling(counts, k, limit, epsilon, delta, drift, **fault)

    assert worst_delta(law(), epsilon, relation, largest)[1] <= delta
    for fault in ({"factor": 2}, {"step": drift - 1}):
        assert worst_delta(law(**fault), epsilon, relation, largest)[0] > delta, fault


@both
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("k", "limit"), [(1, 1), (1, 2), (2, 2)])
def test_privacy_of_whole_in_fractions(outputs, relation, k, limit):
    """The worst delta is delta / (1 + delta)."""
    epsilon, delta = Fraction(1), Fraction(1, 50)
    worst = worst_delta(
        lambda counts: true_whole(outputs, by_name(counts), k, limit, epsilon, delta, relation),
        epsilon,
        relation,
        largest=2 if relation == "swap" else 3,
    )
    assert worst[1] <= delta / (1 + delta) + Fraction(1, 10**20)
    assert worst[0] > delta / 2


# ---------------------------------------------------------------- what a fault would do


def forget_the_step(patch):
    def mutant(profile, dummies, dummy_count):
        return Left(profile, dummies, dummy_count - 1)

    patch.setattr(_unknown, "Left", mutant)


def halve_the_dummies(patch):
    patch.setattr(
        _unknown, "Left", lambda profile, dummies, count: Left(profile, dummies // 2, count)
    )


def look_at_one_item_more(patch):
    patch.setattr(
        _unknown, "limited", lambda counts, limit, names: limited(counts, limit + 1, names)
    )
    patch.setattr(release, "limited", _unknown.limited)


def double_epsilon(patch):
    patch.setattr(_unknown, "shares", lambda k, epsilon, delta: shares(k, 2 * epsilon, delta))


@pytest.mark.parametrize(
    "fault", [forget_the_step, halve_the_dummies, look_at_one_item_more, double_epsilon]
)
@pytest.mark.parametrize("relation", RELATIONS)
def test_faults_of_peeling_are_caught(monkeypatch, fault, relation):
    fault(monkeypatch)
    with pytest.raises((AssertionError, ValueError)):
        check_first_rounds(monkeypatch, relation)


def place_nothing_one_later(patch):
    patch.setattr(
        _unknown, "OrNothing", lambda outputs, least, delta: OrNothing(outputs, least + 1, delta)
    )


def halve_nothing(patch):
    patch.setattr(
        _unknown, "OrNothing", lambda outputs, least, delta: OrNothing(outputs, least, 2 * delta)
    )


def leave_the_nameless_out(patch):
    patch.setattr(_unknown, "profile_of", lambda counts, nameless=0: profile_of(counts))


@both
@pytest.mark.usefixtures("prepared_once")
@pytest.mark.parametrize(
    "fault",
    [place_nothing_one_later, halve_nothing, leave_the_nameless_out],
)
def test_faults_of_whole_are_caught(monkeypatch, fault, outputs):
    fault(monkeypatch)
    with pytest.raises((AssertionError, IndexError)):
        test_whole_is_exact(outputs, "add-remove")


# ---------------------------------------------------------------- what users see


def test_clear_gaps_come_out_and_nothing_else():
    counts = {f"common {i}": 10**6 - 10**4 * i for i in range(5)} | {
        f"rare {i}": 1 for i in range(99)
    }
    top = [f"common {i}" for i in range(5)]
    assert release.top_k_unknown(counts, 10, 1, "1e-6") == top
    assert release.top_k_unknown(counts, 5, 1, "1e-6", whole=True) == top
    assert set(release.top_k_unknown(counts, 5, 1, "1e-6", whole=True, as_set=True)) == set(top)
    assert release.top_k_unknown(counts, 10, 1, "1e-6", whole=True) == []


@pytest.mark.parametrize("options", [{}, {"whole": True}, {"whole": True, "as_set": True}])
@pytest.mark.parametrize("counts", [{}, [], {"a": 0}, [0, 0], {"only": 1}])
def test_hardly_any_data_are_data(counts, options):
    assert release.top_k_unknown(counts, 3, 1, "1e-9", **options) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": 0}, "needs a delta above 0"),
        ({"delta": 1}, "delta is 1; it must be 0 or a number between 0 and 1"),
        ({"delta": "x"}, "delta is 'x'"),
        ({"delta": True}, "delta is True"),
        ({"k": 0}, "k is 0; it must be an integer of at least 1"),
        ({"k": 2.0}, "k is 2.0"),
        ({"limit": 1}, "limit is 1; it must be an integer of at least 2"),
        ({"as_set": True}, "as_set needs whole=True"),
        ({"neighbors": "substitute"}, "neighbors is 'substitute'"),
        ({"counts": {"a": -1}}, "must not be negative"),
        ({"counts": {"a": 1.5}}, "must be integers"),
    ],
)
def test_what_is_refused(arguments, message):
    arguments = {"counts": {"a": 3}, "k": 2, "epsilon": 1, "delta": "1e-6"} | arguments
    with pytest.raises(ValueError, match=message) as refusal:
        release.top_k_unknown(**arguments)
    assert str(refusal.value).endswith(".")


def test_the_parts_of_epsilon_and_delta():
    for k, epsilon, delta in [
        (1, "1", "1e-6"),
        (100, "1", "1e-6"),
        (5, "0.01", "0.9"),
        (9, "9", "1e-99"),
    ]:
        epsilon, delta = Fraction(epsilon), Fraction(delta)
        rate, dummies = shares(k, epsilon, delta)
        assert 0 < dummies <= delta
        left = epsilon - k * dummies
        assert left >= epsilon * Fraction(99, 100)
        pure = rate <= left / k
        assert pure or rate == release.epsilon_per_round(k, left, delta - dummies)
