"""The samplers on real counts, where sequences cannot be enumerated.

Sequences are summarised by numbers whose distributions are compared: with the exact one where
there is one (the loss), else between two independent implementations. Each comparison has a
false-alarm rate below 10⁻⁹ (`tests.mechanisms.goodness_of_fit`).
"""

import functools
from pathlib import Path

import numpy as np
import pytest

from dp_topk import mechanisms
from tests.mechanisms import exact, plain
from tests.mechanisms.goodness_of_fit import draws, follows, same_distribution

EMBEDDED = Path(__file__).parents[2] / "data" / "embedded"
DATASETS = ("books", "foods", "games", "movies", "news", "tweets")


@functools.cache
def profile(dataset):
    """Distinct counts, descending, and how many items have each."""
    return np.loadtxt(EMBEDDED / f"{dataset}.csv", np.int64, delimiter=",", skiprows=1, unpack=True)


def descending_counts(dataset):
    return np.repeat(*profile(dataset))


def summaries(counts, samples):
    """Numbers that tell distributions of sequences apart; counts must be descending."""
    errors = counts[: samples.shape[1]] - counts[samples]
    return {
        "loss": errors.max(axis=1),
        "linf": np.abs(errors).max(axis=1),
        "l1": np.abs(errors).sum(axis=1),
        "first item": samples[:, 0],
        "last item": samples[:, -1],
        "sum of items": samples.sum(axis=1),
    }


def differing(counts, one, other):
    """Names of the summaries that differ between two samples of equal size."""
    one, other = summaries(counts, one), summaries(counts, other)
    return [name for name in one if not same_distribution(one[name], other[name])]


# ---------------------------------------------------------------- mechanisms over sequences

# Settings at which the loss varies; at ε = 1 most datasets leave no room for errors.
SETTINGS = [
    ("games", 5, 0.01),
    ("games", 20, 1.0),
    ("games", 195, 1.0),
    ("books", 20, 2e-4),
    ("tweets", 20, 4e-3),
]


@pytest.mark.parametrize(("dataset", "k", "epsilon"), SETTINGS)
def test_joint_agrees_with_the_published_algorithm(dataset, k, epsilon):
    counts = descending_counts(dataset)
    threshold, published = (
        draws(mechanisms.get(name).prepare(counts, k, epsilon=epsilon), 1500, seed)
        for seed, name in enumerate(["joint", "joint_alg1"])
    )
    assert len(np.unique(summaries(counts, threshold)["loss"])) > 10
    assert differing(counts, threshold, published) == []


def test_the_summaries_show_a_factor_in_epsilon():
    counts = descending_counts("games")
    one, other = (
        draws(mechanisms.get("joint").prepare(counts, 20, epsilon=epsilon), 1500, seed=1)
        for epsilon in (1.0, 1.5)
    )
    assert {"loss", "linf", "l1"} <= set(differing(counts, one, other))


@pytest.mark.parametrize("relation", exact.RELATIONS)
@pytest.mark.parametrize(("dataset", "k", "epsilon"), SETTINGS[:3])
@pytest.mark.parametrize("name", exact.CHOICE_BY_LOSS)
def test_losses_follow_their_exact_distribution(name, dataset, k, epsilon, relation):
    """Also at k = 195, with more sequences than a double can count, and given as a profile."""
    counts = descending_counts(dataset)
    epsilon *= exact.DRIFT[relation]
    losses, probabilities, _ = exact.loss_probabilities(name, counts, k, epsilon, relation)
    draw = mechanisms.get(name).prepare(
        mechanisms.Profile(*profile(dataset)), k, epsilon=epsilon, neighbors=relation
    )
    sample = summaries(counts, draws(draw, 1500, seed=2))["loss"]
    assert follows(sample, losses, probabilities)

    _, wrong, _ = exact.loss_probabilities(name, counts, k, 1.5 * epsilon, relation)
    assert not follows(sample, losses, wrong)


# ---------------------------------------------------------------- independent noise


@pytest.mark.parametrize("relation", exact.RELATIONS)
@pytest.mark.parametrize(
    ("name", "k", "epsilon"),
    [
        ("pnf_peel", 20, 2.0),
        ("cdp_peel", 20, 2.0),
        ("cdp_peel", 100, 2.0),
        ("rdp_peel", 100, 2.0),
        ("laplace", 20, 2.0),
        ("oneshot_exp", 20, 2.0),
        ("gaussian", 20, 20.0),
        ("gamma", 20, 100.0),
    ],
)
def test_fast_samplers_agree_with_the_plain_way(name, k, epsilon, relation):
    counts = descending_counts("games")

    published = {"pnf_peel": "pnf_peel_alg2", "cdp_peel": "cdp_peel_alg3"}
    plainly = mechanisms.get(published[name]).select if name in published else getattr(plain, name)

    def plain_draw(rng):
        return plainly(counts, k, epsilon, 1e-6, relation, rng=rng)

    def fast(factor):
        draw = mechanisms.get(name).prepare(
            counts, k, epsilon=factor * epsilon, delta=1e-6, neighbors=relation
        )
        return draws(draw, 800, seed=4)

    expected = draws(plain_draw, 800, seed=3)
    assert differing(counts, fast(1.0), expected) == []
    assert differing(counts, fast(1.5), expected)  # the comparison is not blind


# ---------------------------------------------------------------- no noise to speak of


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("name", sorted(set(exact.DISTRIBUTIONS) - {"gamma", "gaussian"}))
def test_large_epsilon_returns_the_true_top_counts(name, dataset):
    """At ε = 1000 (2000 under swap) and k = 20, each place is wrong with probability < d e⁻⁵⁰.

    Gamma and normal noise grow with the number of items: at this ε they still exceed the gaps.
    """
    counts = descending_counts(dataset)
    for relation in exact.RELATIONS:
        epsilon = 1000.0 * exact.DRIFT[relation]
        draw = mechanisms.get(name).prepare(counts, 20, epsilon=epsilon, neighbors=relation)
        for items in draws(draw, 3, seed=5):
            in_order = np.sort(items) if mechanisms.get(name).output == "set" else items
            assert counts[in_order].tolist() == counts[:20].tolist()


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("name", ["joint", "fast_joint", "pnf_joint"])
def test_mechanisms_over_sequences_do_so_for_195_items(name, dataset):
    """The best sequences outweigh those of loss 1 by e⁵⁰⁰, and are outnumbered by at most e⁷⁰."""
    counts = descending_counts(dataset)
    for items in draws(mechanisms.get(name).prepare(counts, 195, epsilon=1e3), 3, seed=6):
        assert counts[items].tolist() == counts[:195].tolist()
        assert len(set(items.tolist())) == 195
