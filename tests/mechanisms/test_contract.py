"""What every mechanism promises, checked over the whole registry.

A mechanism that is added as one more module is tested here without further ado. Comparisons of
samples are two-sample tests with a false-alarm rate below 10⁻⁹ each (`goodness_of_fit`).
"""

import inspect
import itertools
import random
import re

import numpy as np
import pytest

from dp_topk import mechanisms
from tests.mechanisms.goodness_of_fit import draws, fit, same_distribution

NAMES = mechanisms.names()
COUNTS = (3, 9, 0, 9, 5, 1)  # not sorted, with a tie at the top and a zero
RELATIONS = ("add-remove", "swap")

every_mechanism = pytest.mark.parametrize("name", NAMES)


def prepare(name, counts=COUNTS, k=3, epsilon=1.0, delta=1e-6, neighbors="add-remove"):
    return mechanisms.get(name).prepare(
        counts, k, epsilon=epsilon, delta=delta, neighbors=neighbors
    )


def short(value):
    """A name for a test case."""
    return repr(value)[:20]


def codes(samples, base):
    """One number for each sequence of items below `base`."""
    return samples @ base ** np.arange(samples.shape[1])


# ---------------------------------------------------------------- the registry


def test_names_of_the_paper_are_registered():
    expected = {"joint", "joint_alg1", "pnf_joint", "fast_joint"}
    expected |= {"pnf_peel", "cdp_peel", "laplace", "gamma", "pnf_peel_alg2", "cdp_peel_alg3"}
    assert expected <= set(NAMES)
    assert len(NAMES) == len(set(NAMES))


@every_mechanism
def test_a_mechanism_describes_itself(name):
    mechanism = mechanisms.get(name)
    assert mechanism.name == name
    assert mechanism.label.strip()
    assert mechanism.guarantee in ("pure", "approx")
    assert mechanism.output in ("sequence", "set")
    assert mechanism.relations
    assert set(mechanism.relations) <= set(RELATIONS)
    documentation = inspect.getmodule(mechanism.sampler).__doc__
    assert len(documentation.split()) > 20
    assert "uarantee" in documentation
    assert "Cost" in documentation


def test_labels_are_distinct():
    assert len({mechanisms.get(name).label for name in NAMES}) == len(NAMES)


def test_unknown_name_lists_names_and_the_nearest():
    with pytest.raises(ValueError, match="pnf_peel") as caught:
        mechanisms.get("pnf_pel")
    message = sentence(caught)
    assert "pnf_pel" in message
    assert all(name in message for name in NAMES)
    # The nearest name stands apart from the list.
    assert len(re.findall(r"\bpnf_peel\b", message)) == 2


# ---------------------------------------------------------------- what a draw is


@every_mechanism
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_a_draw_is_k_distinct_items(name, k, epsilon, relation):
    if relation not in mechanisms.get(name).relations:
        with pytest.raises(ValueError, match=relation) as caught:
            prepare(name, k=k, epsilon=epsilon, neighbors=relation)
        sentence(caught)
        return
    draw = prepare(name, k=k, epsilon=epsilon, neighbors=relation)
    rng = np.random.default_rng(1)
    for _ in range(20):
        items = draw(rng)
        assert isinstance(items, np.ndarray)
        assert items.shape == (k,)
        assert np.issubdtype(items.dtype, np.integer)
        assert len(set(items.tolist())) == k
        assert items.min() >= 0
        assert items.max() < len(COUNTS)


def best_first(name, items):
    """Items, of which a lower number means a larger count, as a list; a set has no order."""
    return sorted(items.tolist()) if mechanisms.get(name).output == "set" else items.tolist()


@every_mechanism
def test_large_epsilon_finds_the_best_items_best_first(name):
    counts = np.array([400, 10, 300, 200, 0, 100]) * 1000
    items = prepare(name, counts, k=4, epsilon=1e3)(np.random.default_rng(1))
    assert best_first(name, items) == [0, 2, 3, 5]


@every_mechanism
@pytest.mark.parametrize(
    "convert",
    [
        list,
        tuple,
        np.array,
        lambda counts: np.array(counts, dtype=np.int8),
        lambda counts: np.array(counts, dtype=np.int32),
        lambda counts: np.array(counts, dtype=np.uint8),
        lambda counts: np.array(counts, dtype=np.uint64),
        lambda counts: np.array(counts, dtype=">i4"),
        lambda counts: np.repeat(counts, 2)[::2],  # not contiguous
        lambda counts: [np.int64(count) for count in counts],
    ],
    ids=[
        "list",
        "tuple",
        "array",
        "int8",
        "int32",
        "uint8",
        "uint64",
        "big-endian",
        "strided",
        "scalars",
    ],
)
def test_any_integers_will_do(name, convert):
    expected = draws(prepare(name), 20, seed=2)
    assert (draws(prepare(name, convert(COUNTS)), 20, seed=2) == expected).all()


@every_mechanism
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint32])
def test_counts_at_the_end_of_their_type(name, dtype):
    """Differences and noise must not wrap around."""
    top = np.iinfo(dtype).max
    draw = prepare(name, np.array([0, top, top, 1], dtype=dtype), k=2, epsilon=50.0)
    assert {frozenset(items) for items in draws(draw, 50, seed=3).tolist()} == {frozenset((1, 2))}


@every_mechanism
def test_arguments_may_be_numpy_scalars_and_have_defaults(name):
    mechanism = mechanisms.get(name)
    plain = draws(prepare(name), 20, seed=4)
    scalars = mechanism.prepare(
        COUNTS, np.int32(3), epsilon=np.float32(1), delta=np.float64(1e-6), neighbors="add-remove"
    )
    assert (draws(scalars, 20, seed=4) == plain).all()
    assert (draws(mechanism.prepare(COUNTS, 3, 1.0), 20, seed=4) == plain).all()
    assert (draws(prepare(name, epsilon=1), 20, seed=4) == plain).all()


# ---------------------------------------------------------------- randomness


@every_mechanism
def test_same_generator_state_gives_the_same_items(name):
    first, second = (draws(prepare(name), 50, seed=5) for _ in range(2))
    assert (first == second).all()
    assert len(np.unique(first, axis=0)) > 1


@every_mechanism
def test_a_draw_depends_on_its_generator_alone(name):
    """Earlier draws, other generators and other prepared mechanisms leave no trace."""
    draw = prepare(name)
    expected = draw(np.random.default_rng(6)).tolist()
    draws(draw, 10, seed=7)
    prepare(name, (1, 2, 3), k=2)(np.random.default_rng(8))
    assert draw(np.random.default_rng(6)).tolist() == expected


@every_mechanism
@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.Philox, np.random.MT19937])
def test_any_numpy_generator_will_do(name, bits):
    assert prepare(name)(np.random.Generator(bits(1))).shape == (3,)


@every_mechanism
def test_global_random_state_is_neither_used_nor_changed(name):
    results = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002
        random.seed(seed)
        before = np.random.get_state()[1].tolist(), random.getstate()  # noqa: NPY002
        results.append(draws(prepare(name), 20, seed=9))
        assert (np.random.get_state()[1].tolist(), random.getstate()) == before  # noqa: NPY002
    assert (results[0] == results[1]).all()


@every_mechanism
def test_select_is_prepare_and_one_draw(name):
    options = {"epsilon": 0.7, "delta": 1e-5, "neighbors": "add-remove"}
    selected = mechanisms.get(name).select(COUNTS, 3, rng=np.random.default_rng(10), **options)
    assert selected.tolist() == prepare(name, **options)(np.random.default_rng(10)).tolist()


@every_mechanism
def test_inputs_and_results_are_not_shared(name):
    counts = np.array(COUNTS)
    draw = prepare(name, counts)
    expected = draws(draw, 20, seed=11)
    counts[:] = 0  # a later change of the input does not reach a prepared mechanism
    for items in draws(draw, 5, seed=12):
        items[:] = 0  # nor does a change of a result
    assert (draws(draw, 20, seed=11) == expected).all()

    counts = np.array(COUNTS)
    counts.setflags(write=False)
    draws(prepare(name, counts), 5, seed=13)  # would raise if it wrote to its input


# ---------------------------------------------------------------- items are treated alike


@every_mechanism
def test_permuting_counts_permutes_the_distribution(name):
    """Two samples, compared sequence by sequence; the tied items 1 and 3 change places, too."""
    order = np.array([5, 3, 0, 1, 4, 2])  # where the item at each new position was
    here = draws(prepare(name, k=2), 4000, seed=14)
    there = order[draws(prepare(name, np.array(COUNTS)[order], k=2), 4000, seed=15)]
    assert same_distribution(codes(here, 6), codes(there, 6))
    swapped = np.array([0, 3, 2, 1, 4, 5])[here]
    assert same_distribution(codes(swapped, 6), codes(there, 6))


@every_mechanism
def test_equal_counts_are_equally_likely(name):
    samples = draws(prepare(name, 8 * (4,), k=8), 2000, seed=16)
    shuffled = np.random.default_rng(17).permuted(np.tile(np.arange(8), (2000, 1)), axis=1)
    for place in range(8):
        assert same_distribution(samples[:, place], shuffled[:, place])
    assert same_distribution(codes(samples, 8), codes(shuffled, 8))


# ---------------------------------------------------------------- sets are in no order


def in_no_order(samples):
    """Whether all orders of the items are equally likely: for each set, and over all of them."""
    k = samples.shape[1]
    orders = {order: i for i, order in enumerate(itertools.permutations(range(k)))}
    seen = {}  # for each set, how often its items came in each order
    for row in samples:
        numbers = seen.setdefault(tuple(sorted(row.tolist())), np.zeros(len(orders), dtype=int))
        numbers[orders[tuple(np.argsort(row).tolist())]] += 1
    uniform = np.full(len(orders), 1 / len(orders))
    return not any(fit(n, uniform).rejected for n in [*seen.values(), sum(seen.values())])


SETS = [name for name in NAMES if mechanisms.get(name).output == "set"]


@pytest.mark.parametrize("epsilon", [0.5, 50.0])
@pytest.mark.parametrize("name", SETS)
def test_a_set_comes_in_no_order(name, epsilon):
    """Also where it is sure which items come, and however the items are called."""
    for seed, counts in enumerate([COUNTS, np.array(COUNTS)[::-1], (9, 7, 5, 3, 1), (4, 4, 4)]):
        assert in_no_order(draws(prepare(name, counts, epsilon=epsilon), 4000, seed=seed))


@pytest.mark.parametrize("by", ["rank", "rank of the first alone"])
def test_an_order_that_tells_is_seen(by):
    rng = np.random.default_rng(25)
    samples = np.stack([rng.permutation(6)[:3] for _ in range(4000)])
    assert in_no_order(samples)
    samples.sort(axis=1)
    if by == "rank of the first alone":  # in a fifth of the draws
        samples[800:] = rng.permuted(samples[800:], axis=1)
        samples[:, 1:] = rng.permuted(samples[:, 1:], axis=1)
    assert not in_no_order(samples)


# ---------------------------------------------------------------- profiles


@every_mechanism
@pytest.mark.parametrize("k", [1, 3, 8])
def test_a_profile_stands_for_its_counts(name, k):
    """Distinct counts and how many items have each; the draw is in ranks, largest count first."""
    profile = mechanisms.Profile([9, 6, 5, 0], [2, 1, 3, 2])
    expanded = [9, 9, 6, 5, 5, 5, 0, 0]
    ranks = draws(prepare(name, profile, k=k), 4000, seed=18)
    items = draws(prepare(name, expanded, k=k), 4000, seed=19)
    assert np.issubdtype(ranks.dtype, np.integer)
    assert all(sorted(set(row)) == sorted(row) for row in ranks[:100].tolist())
    assert ranks.min() >= 0
    assert ranks.max() < 8
    assert same_distribution(codes(ranks, 8), codes(items, 8))
    values = np.array(expanded)
    for place in range(k):
        assert same_distribution(values[ranks[:, place]], values[items[:, place]])


@every_mechanism
def test_a_profile_checks_k_against_all_of_its_items(name):
    profile = mechanisms.Profile([9, 0], [1, 2])
    assert prepare(name, profile, k=3)(np.random.default_rng(1)).shape == (3,)
    refused(name, "k", counts=profile, k=4)


@every_mechanism
def test_a_profile_keeps_its_own_numbers(name):
    counts, items = np.array([9, 6, 5, 0]), np.array([2, 1, 3, 2])
    draw = prepare(name, mechanisms.Profile(counts, items))
    expected = draws(draw, 20, seed=22)
    counts[:] = items[:] = 1
    assert (draws(draw, 20, seed=22) == expected).all()


@pytest.mark.parametrize(
    ("counts", "items"),
    [
        ([], []),
        ([3, 2], [1]),
        ([2, 3], [1, 1]),
        ([3, 3], [1, 1]),
        ([3, 2], [1, 0]),
        ([3, 2], [1, -1]),
        ([3, -2], [1, 1]),
        ([3.5, 2], [1, 1]),
        ([3, 2], [1, 1.5]),
        ([[3, 2]], [[1, 1]]),
        (None, [1]),
    ],
)
def test_bad_profiles_are_refused(counts, items):
    with pytest.raises(ValueError, match=r"counts|profile|items") as caught:
        mechanisms.get("joint").prepare(mechanisms.Profile(counts, items), 1, 1.0)
    sentence(caught)


# ---------------------------------------------------------------- mistakes


def sentence(caught):
    """The message of an error, which must be one line that begins and ends like a sentence."""
    message = str(caught.value)
    assert "\n" not in message
    assert len(message.split()) >= 4
    assert not message.endswith((" ", ":", ","))
    return message


def refused(name, about, **arguments):
    """`prepare` answers with one sentence about the argument named `about`."""
    with pytest.raises(ValueError, match=rf"\b{about}\b") as caught:
        prepare(name, **arguments)
    return sentence(caught)


@every_mechanism
@pytest.mark.parametrize(
    "counts",
    [
        [],
        np.array([], dtype=int),
        5,
        np.array(5),
        [[1, 2], [3, 4]],
        np.ones((3, 1), dtype=int),
        [1, 2.5, 3],
        [4.0, 3.0, 2.0],
        np.array([4, 3, 2], dtype=np.float32),
        [1, float("nan"), 2],
        [1, float("inf"), 2],
        [1, -1, 2],
        np.array([1, -(2**62), 2]),
        [1, None, 2],
        ["1", "2", "3"],
        "123",
        None,
        [1 + 0j, 2, 3],
        [[1, 2], [3]],
        {"a": 1, "b": 2, "c": 3},
        [True, False, True],
    ],
    ids=short,
)
def test_bad_counts_are_refused(name, counts):
    refused(name, "counts", counts=counts, k=1)


@every_mechanism
@pytest.mark.parametrize(
    "k", [0, -1, 7, 10**30, 1.5, 2.0, float("nan"), "2", None, [2], (1, 2), True], ids=short
)
def test_bad_k_is_refused(name, k):
    refused(name, "k", k=k)


@every_mechanism
@pytest.mark.parametrize(
    "epsilon",
    [0, 0.0, -1.0, float("nan"), float("inf"), -float("inf"), "1", None, [1.0], 1j, True, 10**400],
    ids=short,
)
def test_bad_epsilon_is_refused(name, epsilon):
    refused(name, "epsilon", epsilon=epsilon)


@every_mechanism
@pytest.mark.parametrize(
    "delta",
    [1, 1.0, -0.1, 1.5, float("nan"), float("inf"), "0.1", None, 10**400],
    ids=short,
)
def test_bad_delta_is_refused_where_it_matters(name, delta):
    if mechanisms.get(name).guarantee == "approx":
        refused(name, "delta", delta=delta)
    else:
        expected = draws(prepare(name), 5, seed=20)
        assert (draws(prepare(name, delta=delta), 5, seed=20) == expected).all()


@every_mechanism
@pytest.mark.parametrize("delta", [0, 0.0, np.float64(0)], ids=short)
def test_zero_delta_is_for_those_that_can_do_without(name, delta):
    mechanism = mechanisms.get(name)
    if mechanism.guarantee == "approx" and not mechanism.zero_delta:
        refused(name, "delta", delta=delta)
    else:
        assert prepare(name, delta=delta)(np.random.default_rng(1)).shape == (3,)


@every_mechanism
def test_options_are_those_of_the_module_and_others_are_refused(name):
    mechanism = mechanisms.get(name)
    parameters = inspect.signature(mechanism.sampler).parameters
    for option in mechanism.options:
        default = parameters[option].default
        assert default is not inspect.Parameter.empty
        assert mechanism.prepare(COUNTS, 3, 1.0, **{option: default})
    for call in (mechanism.prepare, lambda *a, **o: mechanism.select(*a, rng=None, **o)):
        with pytest.raises(ValueError, match="optoin") as caught:
            call(COUNTS, 3, 1.0, optoin=1)
        message = sentence(caught)
        assert name in message
        assert all(option in message for option in mechanism.options)


@every_mechanism
@pytest.mark.parametrize(
    "rng", [5, None, np.random.RandomState(5), np.random.PCG64(5), np.arange(99), "5"], ids=short
)
def test_what_is_no_generator_is_refused(name, rng):
    with pytest.raises(ValueError, match="rng") as caught:
        prepare(name)(rng)
    message = sentence(caught)
    assert "numpy.random.default_rng(" in message
    if isinstance(rng, int):
        assert message == (
            "rng is 5; give a numpy.random.Generator, e.g. numpy.random.default_rng(5)."
        )


@every_mechanism
@pytest.mark.parametrize(
    "neighbors", ["", "remove", "Swap", "add_remove", None, 1, ["swap"]], ids=short
)
def test_unknown_relation_is_refused(name, neighbors):
    message = refused(name, "neighbors", neighbors=neighbors)
    assert "add-remove" in message


@every_mechanism
def test_refusals_say_what_was_given(name):
    assert "-4" in refused(name, "counts", counts=[3, -4, 5], k=1)
    assert "7" in refused(name, "k", k=7)
    assert "6" in refused(name, "k", k=7)  # the number of items
    assert "nan" in refused(name, "epsilon", epsilon=float("nan"))
    assert "integer" in refused(name, "counts", counts=[4.0, 3.0, 2.0], k=1)


@every_mechanism
@pytest.mark.parametrize("top", [2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**70])
def test_huge_counts_work_or_are_refused(name, top):
    try:
        draw = prepare(name, [top, 0, top // 2], k=2, epsilon=1.0)
    except ValueError as error:
        assert "counts" in str(error)  # noqa: PT017
    else:
        assert all(best_first(name, items) == [0, 2] for items in draws(draw, 20, seed=21))


@every_mechanism
def test_a_wide_range_of_counts_over_many_items_works_or_is_refused(name):
    """Counts and item numbers that do not fit together into 63 bits."""
    counts = np.random.default_rng(23).permutation(np.arange(4096) * 2**41)
    try:
        draw = prepare(name, counts, k=5, epsilon=1e3)
    except ValueError as error:
        assert "counts" in str(error)  # noqa: PT017
    else:
        for items in draws(draw, 5, seed=24):
            assert best_first(name, 4095 - counts[items] // 2**41) == [0, 1, 2, 3, 4]
