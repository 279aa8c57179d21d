"""What every mechanism promises, checked over the whole registry.

A mechanism that is added as one more module, or registered by another package, is tested here
as it is. One whose output is partial may draw fewer than k items: at a δ of 0.3, which
these tests give it, it draws different numbers of them. In a sample, -1 stands for an item that
is missing. Comparisons of samples are two-sample tests with a false-alarm rate below 10⁻⁹ each
(`goodness_of_fit`).
"""

import inspect
import itertools
import random
import re
import sys

import numpy as np
import pytest

from dp_topk import mechanisms
from tests.mechanisms.goodness_of_fit import draws, fit, same_distribution

NAMES = mechanisms.names()
SETS = [name for name in NAMES if mechanisms.get(name).output.endswith("set")]
PARTIAL = [name for name in NAMES if mechanisms.get(name).output.startswith("partial")]
COUNTS = (3, 9, 0, 9, 5, 1)  # not sorted, with a tie at the top and a zero
RELATIONS = ("add-remove", "swap")

every_mechanism = pytest.mark.parametrize("name", NAMES)


def usual_delta(name):
    return 0.3 if name in PARTIAL else 1e-6


def prepare(name, counts=COUNTS, k=3, epsilon=1.0, neighbors="add-remove", **others):
    others = {"delta": usual_delta(name), **others}
    return mechanisms.get(name).prepare(counts, k, epsilon, neighbors=neighbors, **others)


def short(value):
    """A name for a test case."""
    return repr(value)[:20]


def codes(samples, base):
    """One number for each sequence of at most ten items below `base`."""
    return (samples + 1) @ (base + 1) ** np.arange(samples.shape[1])


def renamed(samples, names):
    """Samples with names in place of items; what is missing stays missing."""
    return np.append(names, -1)[samples]


def assert_valid(name, items, d, k):
    """k distinct items, or fewer if the mechanism's output is partial."""
    assert isinstance(items, np.ndarray)
    assert items.ndim == 1
    assert np.issubdtype(items.dtype, np.integer)
    assert len(items) <= k if name in PARTIAL else len(items) == k
    assert len(set(items.tolist())) == len(items)
    assert set(items.tolist()) <= set(range(d))


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
    assert mechanism.output in ("sequence", "set", "partial sequence", "partial set")
    assert mechanism.needs_domain or mechanism.output.startswith("partial")
    assert mechanism.relations
    assert set(mechanism.relations) <= set(RELATIONS)
    documentation = sys.modules[mechanism.module].__doc__
    assert len(documentation.split()) > 20
    assert "uarantee" in documentation
    assert "Cost" in documentation


def test_labels_are_distinct():
    assert len({mechanisms.get(name).label for name in NAMES}) == len(NAMES)


def test_unknown_name_lists_names_and_the_nearest():
    with pytest.raises(ValueError, match="pnf_peel") as caught:
        mechanisms.get("pnf_pel")
    message = sentence(caught.value)
    assert "pnf_pel" in message
    assert all(name in message for name in NAMES)
    # The nearest name stands apart from the list.
    assert len(re.findall(r"\bpnf_peel\b", message)) == 2


# ---------------------------------------------------------------- what a draw is


@every_mechanism
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_draw_is_k_distinct_items(name, relation):
    if relation not in mechanisms.get(name).relations:
        message = refused(name, relation, neighbors=relation)
        assert name in message
        return
    rng = np.random.default_rng(1)
    for k, epsilon in itertools.product([1, 3, 6], [1e-3, 1.0, 1e3]):
        draw = prepare(name, k=k, epsilon=epsilon, neighbors=relation)
        for _ in range(20):
            assert_valid(name, draw(rng), len(COUNTS), k)


def best_first(name, items):
    """Items, of which a lower number means a larger count, as a list; a set has no order."""
    return sorted(items.tolist()) if name in SETS else items.tolist()


@pytest.mark.parametrize("name", PARTIAL)
def test_a_partial_output_has_all_items_or_fewer(name):
    """Other counts may make either of them certain; between these there is room for both."""
    samples = [
        draws(prepare(name, np.array(COUNTS) * scale, epsilon=0.3), 500, seed=1)
        for scale in (1, 10**4)
    ]
    assert (samples[0] < 0).any()
    assert (samples[1] >= 0).all()
    assert samples[1].shape == (500, 3)


WITHOUT_DOMAIN = [name for name in NAMES if not mechanisms.get(name).needs_domain]


@pytest.mark.parametrize("name", WITHOUT_DOMAIN)
def test_what_needs_no_list_of_items_is_not_told_those_that_nobody_has(name):
    counts, with_more = np.array([9, 6, 7, 5]), np.array([0, 9, 0, 6, 7, 0, 5, 0])
    for k in (1, 2, 4):
        here, there = (
            draws(prepare(name, c, k=k), 4000, seed) for seed, c in enumerate([counts, with_more])
        )
        assert with_more[there[there >= 0]].all()
        assert same_distribution(codes(renamed(here, [1, 3, 4, 6]), 8), codes(there, 8))
    assert (draws(prepare(name, (0, 0, 0)), 100, seed=2) < 0).all()


@every_mechanism
def test_large_epsilon_finds_the_best_items_best_first(name):
    counts = np.array([400, 10, 300, 200, 0, 100]) * 1000
    items = prepare(name, counts, k=4, epsilon=1e3)(np.random.default_rng(1))
    assert best_first(name, items) == [0, 2, 3, 5]


@every_mechanism
def test_any_integers_will_do(name):
    expected = draws(prepare(name), 20, seed=2)
    types = (np.int8, np.int32, np.uint8, np.uint64, np.dtype(">i4"))
    for counts in [
        list(COUNTS),
        [np.int64(count) for count in COUNTS],
        np.repeat(COUNTS, 2)[::2],  # not contiguous
        *(np.array(COUNTS, dtype=dtype) for dtype in types),
    ]:
        assert np.array_equal(draws(prepare(name, counts), 20, seed=2), expected), repr(counts)


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
    for arguments in [
        {"k": np.int32(3), "epsilon": np.float32(1), "delta": np.float64(1e-6)},
        {"k": 3, "epsilon": 1, "neighbors": "add-remove"},
    ]:
        sample = draws(mechanism.prepare(COUNTS, **arguments), 20, seed=4)
        assert np.array_equal(sample, draws(prepare(name, delta=1e-6), 20, seed=4)), arguments


# ---------------------------------------------------------------- randomness


@every_mechanism
def test_same_generator_state_gives_the_same_items(name):
    first, second = (draws(prepare(name), 50, seed=5) for _ in range(2))
    assert np.array_equal(first, second)
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
def test_any_numpy_generator_will_do(name):
    for bits in (np.random.PCG64, np.random.Philox, np.random.MT19937):
        assert_valid(name, prepare(name)(np.random.Generator(bits(1))), len(COUNTS), 3)


@every_mechanism
def test_global_random_state_is_neither_used_nor_changed(name):
    results = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002
        random.seed(seed)
        before = np.random.get_state()[1].tolist(), random.getstate()  # noqa: NPY002
        results.append(draws(prepare(name), 20, seed=9))
        assert (np.random.get_state()[1].tolist(), random.getstate()) == before  # noqa: NPY002
    assert np.array_equal(*results)


@every_mechanism
def test_select_is_prepare_and_one_draw(name):
    options = {"epsilon": 0.7, "delta": 0.1, "neighbors": "add-remove"}
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
    assert np.array_equal(draws(draw, 20, seed=11), expected)

    counts = np.array(COUNTS)
    counts.setflags(write=False)
    draws(prepare(name, counts), 5, seed=13)  # would raise if it wrote to its input


# ---------------------------------------------------------------- items are treated alike


@every_mechanism
def test_permuting_counts_permutes_the_distribution(name):
    """Two samples, compared sequence by sequence; the tied items 1 and 3 change places, too."""
    order = np.array([5, 3, 0, 1, 4, 2])  # where the item at each new position was
    here = draws(prepare(name, k=2), 4000, seed=14)
    there = draws(prepare(name, np.array(COUNTS)[order], k=2), 4000, seed=15)
    there = renamed(there, order)
    assert same_distribution(codes(here, 6), codes(there, 6))
    swapped = renamed(here, [0, 3, 2, 1, 4, 5])
    assert same_distribution(codes(swapped, 6), codes(there, 6))


@every_mechanism
def test_equal_counts_are_equally_likely(name):
    """So that it makes no difference if the items of every draw change their names."""
    samples = draws(prepare(name, 8 * (4,), k=8), 2000, seed=16)
    rng = np.random.default_rng(17)
    others = np.stack([renamed(row, rng.permutation(8)) for row in samples])
    for place in range(samples.shape[1]):
        assert same_distribution(samples[:, place], others[:, place])
    assert same_distribution(codes(samples, 8), codes(others, 8))


# ---------------------------------------------------------------- sets are in no order


def in_no_order(samples):
    """Whether all orders of the items are equally likely: for each set, and over all of a size."""
    seen = {}  # for each set, and for each size, how often items came in each order
    for row in samples:
        items = row[row >= 0]
        order = tuple(np.argsort(items).tolist())
        for group in (tuple(sorted(items.tolist())), len(items)):
            numbers = seen.setdefault(group, dict.fromkeys(permutations(len(items)), 0))
            numbers[order] += 1
    return not any(
        fit(list(numbers.values()), np.full(len(numbers), 1 / len(numbers))).rejected
        for numbers in seen.values()
    )


def permutations(size):
    return itertools.permutations(range(size))


@pytest.mark.parametrize("epsilon", [0.5, 50.0])
@pytest.mark.parametrize("name", SETS)
def test_a_set_comes_in_no_order(name, epsilon):
    """Also where it is sure which items come, and however the items are called."""
    for seed, counts in enumerate([COUNTS, np.array(COUNTS)[::-1], (9, 7, 5, 3, 1), (4, 4, 4)]):
        assert in_no_order(draws(prepare(name, counts, epsilon=epsilon), 2500, seed=seed))


@pytest.mark.parametrize("by", ["rank", "rank of the first alone"])
def test_an_order_that_tells_is_seen(by):
    rng = np.random.default_rng(25)
    samples = np.stack([rng.permutation(6)[:3] for _ in range(2500)])
    assert in_no_order(samples)
    samples.sort(axis=1)
    if by == "rank of the first alone":  # in a fifth of the draws
        samples[500:] = rng.permuted(samples[500:], axis=1)
        samples[:, 1:] = rng.permuted(samples[:, 1:], axis=1)
    assert not in_no_order(samples)


# ---------------------------------------------------------------- profiles


@every_mechanism
def test_a_profile_stands_for_its_counts(name):
    """Distinct counts and how many items have each; the draw is in ranks, largest count first."""
    profile = mechanisms.Profile([9, 6, 5, 0], [2, 1, 3, 2])
    expanded = np.array([9, 9, 6, 5, 5, 5, 0, 0])
    for k in (1, 3, 8):
        ranks = draws(prepare(name, profile, k=k), 50, seed=18)
        assert np.array_equal(ranks, draws(prepare(name, expanded, k=k), 50, seed=18)), k
        items = draws(prepare(name, expanded[::-1], k=k), 50, seed=18)
        assert np.array_equal(renamed(ranks, expanded), renamed(items, expanded[::-1])), k


@every_mechanism
def test_a_profile_checks_k_against_all_of_its_items(name):
    profile = mechanisms.Profile([9, 0], [1, 2])
    assert_valid(name, prepare(name, profile, k=3)(np.random.default_rng(1)), 3, 3)
    refused(name, "k", counts=profile, k=4)


@every_mechanism
def test_a_profile_keeps_its_own_numbers(name):
    counts, items = np.array([9, 6, 5, 0]), np.array([2, 1, 3, 2])
    draw = prepare(name, mechanisms.Profile(counts, items))
    expected = draws(draw, 20, seed=22)
    counts[:] = items[:] = 1
    assert np.array_equal(draws(draw, 20, seed=22), expected)


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
    sentence(caught.value)


# ---------------------------------------------------------------- mistakes


def sentence(error):
    """The message of an error, which must be one line that begins and ends like a sentence."""
    message = str(error)
    assert "\n" not in message
    assert len(message.split()) >= 4
    assert not message.endswith((" ", ":", ","))
    return message


def refused(name, about, **arguments):
    """`prepare` answers with one sentence about the argument named `about`."""
    try:
        prepare(name, **arguments)
    except ValueError as error:
        assert re.search(rf"\b{about}\b", str(error)), f"of {arguments}: {error}"  # noqa: PT017
        return sentence(error)
    pytest.fail(f"{name} accepts {arguments}")


BAD_COUNTS = [
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
]
BAD_KS = [0, -1, 7, 10**30, 1.5, 2.0, float("nan"), "2", None, [2], (1, 2), True]
BAD_EPSILONS = [0, 0.0, -1.0, float("nan"), float("inf"), -float("inf"), "1", None, [1.0]]
BAD_EPSILONS += [1j, True, 10**400]
BAD_DELTAS = [1, 1.0, -0.1, 1.5, float("nan"), float("inf"), "0.1", None, 10**400]
BAD_RELATIONS = ["", "remove", "Swap", "add_remove", None, 1, ["swap"]]


@every_mechanism
def test_bad_arguments_are_refused(name):
    for counts in BAD_COUNTS:
        refused(name, "counts", counts=counts, k=1)
    for k in BAD_KS:
        refused(name, "k", k=k)
    for epsilon in BAD_EPSILONS:
        refused(name, "epsilon", epsilon=epsilon)
    for neighbors in BAD_RELATIONS:
        assert "add-remove" in refused(name, "neighbors", neighbors=neighbors)


@every_mechanism
def test_bad_delta_is_refused_where_it_matters(name):
    mechanism = mechanisms.get(name)
    zeros = [] if mechanism.zero_delta else [0, 0.0, np.float64(0)]
    for delta in [*BAD_DELTAS, *zeros]:
        if mechanism.guarantee == "approx":
            refused(name, "delta", delta=delta)
        else:
            expected = draws(prepare(name), 5, seed=20)
            assert np.array_equal(draws(prepare(name, delta=delta), 5, seed=20), expected)
    if mechanism.zero_delta:
        for delta in (0, 0.0, np.float64(0)):
            assert_valid(name, prepare(name, delta=delta)(np.random.default_rng(1)), 6, 3)


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
        message = sentence(caught.value)
        assert name in message
        assert all(option in message for option in mechanism.options)


@every_mechanism
@pytest.mark.parametrize(
    "rng", [5, None, np.random.RandomState(5), np.random.PCG64(5), np.arange(99), "5"], ids=short
)
def test_what_is_no_generator_is_refused(name, rng):
    with pytest.raises(ValueError, match="rng") as caught:
        prepare(name)(rng)
    message = sentence(caught.value)
    assert "numpy.random.default_rng(" in message
    if isinstance(rng, int):
        assert message == (
            "rng is 5; give a numpy.random.Generator, e.g. numpy.random.default_rng(5)."
        )


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
