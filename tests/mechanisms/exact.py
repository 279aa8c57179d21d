"""The output distribution of every mechanism, computed without sampling.

This is the yardstick of the tests: short, slow, and written from the definitions alone. Nothing
here is shared with the samplers. `distribution` enumerates all ordered sequences of k distinct
items and serves small inputs; `loss_probabilities` groups sequences by their loss, which is
enough for the mechanisms over sequences and works for real datasets.
"""

import functools
import itertools
import math
import statistics

import numpy as np

RELATIONS = ("add-remove", "swap")

# How far the counts of two items can drift apart between neighbours, in users. One user who
# comes or goes moves all of their items the same way; one who is swapped moves some items up
# and others down.
DRIFT = {"add-remove": 1, "swap": 2}


def distribution(name, counts, k, epsilon=1.0, delta=1e-6, neighbors="add-remove", **options):
    """Probability of each output.

    A dict over `sequences(d, k)`, in that order; over `shorter_sequences(d, k)` if it may hold
    fewer than k items.
    """
    return _distribution(name, tuple(counts), k, epsilon, delta, neighbors, **options)


@functools.cache
def _distribution(name, counts, k, epsilon, delta, neighbors, **options):
    return (DISTRIBUTIONS | PARTIAL)[name](counts, k, epsilon, delta, neighbors, **options)


def sequences(d, k):
    """All ordered sequences of k distinct items out of d."""
    return list(itertools.permutations(range(d), k))


# ---------------------------------------------------------------- two ways to choose by score


def exponential(exponents):
    """The exponential mechanism: probabilities proportional to exp(exponent)."""
    weights = np.exp(exponents - np.max(exponents))
    return weights / weights.sum()


def permute_and_flip(exponents, log_copies=0.0):
    """Permute-and-flip over classes of equal outputs: the probability that each class wins.

    Class v has m_v = exp(log_copies) outputs, each accepted with p_v = exp(exponent - largest).
    Let every output arrive at a uniform time in [0, 1]: the first accepted one wins. An output of
    class v that arrives at time t has p_v chances and must find no earlier one accepted, so

        P(v) = m_v p_v ∫₀¹ (1 - p_v t)^(m_v - 1) Π_{u ≠ v} (1 - p_u t)^(m_u) dt.

    With M = Σ m_v p_v the integrand lives at t ≈ 1/M, which may be e⁻¹⁰⁰⁰, hence t = e^s. Outside
    e⁻⁴⁰/M < t < 60/M lies less than 10⁻¹⁶ of every P(v).
    """
    log_p = exponents - np.max(exponents)
    log_m = np.broadcast_to(log_copies, log_p.shape)
    log_mass = np.logaddexp.reduce(log_m + log_p)
    low, high = -log_mass - 40, min(0.0, math.log(60) - log_mass)
    s, width = gauss_legendre(np.linspace(low, high, math.ceil(high - low) + 1), 12)

    log_pt = log_p[:, None] + s.ravel()
    log_hazard = log_pt.copy()  # log(-log(1 - x)) is log x to all digits when x < e⁻⁴⁰
    near = log_pt > -40
    log_hazard[near] = np.log(-np.log1p(-np.exp(log_pt[near])))
    survival = np.exp(-np.exp(log_m[:, None] + log_hazard).sum(axis=0))
    arrivals = np.exp(log_m[:, None] + log_pt) / -np.expm1(log_pt)
    return arrivals @ (survival * width.ravel())


# ---------------------------------------------------------------- mechanisms over sequences


def sequence_loss(counts, sequence):
    """ℓ(S) = max_r (c_r - c_{s_r}), with c_1 ≥ c_2 ≥ … the sorted counts."""
    best = sorted(counts, reverse=True)
    return max(best[r] - counts[item] for r, item in enumerate(sequence))


def loss_classes(counts, k):
    """The losses that occur, ascending, and the log of how many sequences have each.

    t_r(v) items have a count of at least c_r - v, so Π_r (t_r(v) - r + 1) sequences have a loss of
    at most v. Python's integers hold such numbers exactly; their differences count each loss.
    """
    descending = np.sort(np.asarray(counts, dtype=np.int64))[::-1]
    best = descending[:k]
    values = np.unique(best[:, None] - np.unique(descending))
    values = values[values >= 0]
    within = np.searchsorted(-descending, values[:, None] - best, side="right") - np.arange(k)
    at_most = [math.prod(row) for row in within.tolist()]
    exactly = [high - low for low, high in zip([0, *at_most], at_most, strict=False)]
    occurs = np.array([copies > 0 for copies in exactly])
    log_copies = np.array([math.log(copies) for copies in exactly if copies > 0])
    return values[occurs], log_copies


def pruning_threshold(d, k, epsilon, neighbors, beta):
    """The loss at which Wu and Zhang clip: τ = ⌈(2Δ/ε)(log #sequences + log 1/β)⌉."""
    log_sequences = math.log(math.perm(d, k))
    return math.ceil(2 * DRIFT[neighbors] / epsilon * (log_sequences - math.log(beta)))


def _joint(losses, log_copies, d, k, epsilon, neighbors):
    return exponential(log_copies - epsilon / (2 * DRIFT[neighbors]) * losses)


def _fast_joint(losses, log_copies, d, k, epsilon, neighbors, beta=2.0**-10):
    clipped = np.minimum(losses, pruning_threshold(d, k, epsilon, neighbors, beta))
    return exponential(log_copies - epsilon / (2 * DRIFT[neighbors]) * clipped)


def _pnf_joint(losses, log_copies, d, k, epsilon, neighbors):
    return permute_and_flip(-epsilon / (2 * DRIFT[neighbors]) * losses, log_copies)


CHOICE_BY_LOSS = {
    "joint": _joint,
    "joint_alg1": _joint,
    "fast_joint": _fast_joint,
    "pnf_joint": _pnf_joint,
}


def loss_probabilities(name, counts, k, epsilon, neighbors="add-remove", **options):
    """The losses that occur, ascending; the probability of each; the log of its sequences."""
    losses, log_copies = loss_classes(counts, k)
    choose = CHOICE_BY_LOSS[name]
    probabilities = choose(losses, log_copies, len(counts), k, epsilon, neighbors, **options)
    return losses, probabilities, log_copies


def log_probability(name, counts, sequence, epsilon, neighbors="add-remove"):
    """Log-probability of one sequence, through its loss: for domains too large to enumerate."""
    losses, probabilities, log_copies = loss_probabilities(
        name, counts, len(sequence), epsilon, neighbors
    )
    position = np.searchsorted(losses, sequence_loss(counts, sequence))
    return math.log(probabilities[position]) - log_copies[position]


def _over_sequences(choice, counts, k, epsilon, delta, neighbors):
    outputs = sequences(len(counts), k)
    losses = np.array([sequence_loss(counts, output) for output in outputs])
    probabilities = choice(losses, 0.0, len(counts), k, epsilon, neighbors)
    return dict(zip(outputs, probabilities, strict=True))


def distance(counts, sequence):
    """L(S) = max_r (the largest count not among s_1, …, s_{r-1}, minus c_{s_r})."""
    left, largest = dict(enumerate(counts)), 0
    for item in sequence:
        largest = max(largest, max(left.values()) - counts[item])
        del left[item]
    return largest


def pair(counts, k, epsilon, delta, neighbors):
    outputs = sequences(len(counts), k)
    distances = np.array([distance(counts, output) for output in outputs])
    probabilities = exponential(-epsilon / (2 * DRIFT[neighbors]) * distances)
    return dict(zip(outputs, probabilities, strict=True))


# ---------------------------------------------------------------- mechanisms over sets


def set_loss(counts, chosen):
    """By how much the best item left out is ahead of the worst item taken; not below 0."""
    left = [counts[item] for item in range(len(counts)) if item not in chosen]
    return max([0, *(count - min(counts[item] for item in chosen) for count in left)])


def set_loss_classes(counts, k):
    """The losses that occur, ascending, and the log of how many sets have each.

    Sort the items. Sets that hold the first h but not the next one have a loss of at most v if the
    rest is among those that are at most v behind that next one: a number of combinations.
    """
    descending = np.sort(np.asarray(counts, dtype=np.int64))[::-1]
    best = descending[:k]
    values = np.unique(best[:, None] - np.unique(descending))
    values = values[values >= 0]
    near = np.searchsorted(-descending, values[:, None] - best, side="right").tolist()
    at_most = [1 + sum(math.comb(n - h - 1, k - h) for h, n in enumerate(row)) for row in near]
    exactly = [high - low for low, high in zip([0, *at_most], at_most, strict=False)]
    occurs = np.array([copies > 0 for copies in exactly])
    return values[occurs], np.array([math.log(copies) for copies in exactly if copies > 0])


def log_set_probability(counts, chosen, epsilon, neighbors="add-remove"):
    """Log-probability of one set under `canonical`, for domains too large to enumerate."""
    losses, log_copies = set_loss_classes(counts, len(chosen))
    rate = epsilon / (2 * DRIFT[neighbors])
    total = np.logaddexp.reduce(log_copies - rate * losses)
    return -rate * set_loss(counts, chosen) - total


def signed_set_loss(counts, chosen):
    """The same, below 0 for a set that is ahead of all other items."""
    left = [counts[item] for item in range(len(counts)) if item not in chosen]
    return max(left) - min(counts[item] for item in chosen) if left else 0


def canonical(counts, k, epsilon, delta, neighbors, loss=set_loss):
    """Exponential mechanism over sets, in a uniform random order."""
    sets = list(itertools.combinations(range(len(counts)), k))
    losses = np.array([loss(counts, chosen) for chosen in sets])
    probabilities = exponential(-epsilon / (2 * DRIFT[neighbors]) * losses)
    of_set = dict(zip(sets, probabilities / math.factorial(k), strict=True))
    return {output: of_set[tuple(sorted(output))] for output in sequences(len(counts), k)}


# ---------------------------------------------------------------- peeling


def round_epsilon(k, epsilon, delta):
    """ε′ of one of k rounds of the exponential mechanism that are together (ε, δ)-DP.

    The larger of two that are both sound: ε/k by basic composition, and the root of the paper's
    ε = kε′²/8 + 2ε′√(k log(1/δ)/8). With δ = 0 only the first is.
    """
    if delta == 0:
        return epsilon / k
    log_delta = math.log(1 / delta)
    concentrated = math.sqrt((8 * log_delta + 8 * epsilon) / k) - math.sqrt(8 * log_delta / k)
    return max(epsilon / k, concentrated)


def renyi_divergence(alpha, rate):
    """Largest divergence of each order α of a round whose log-ratios span ε′ = rate.

    Outcomes of two kinds: log-ratio t with probability q = (1 - e^(t - ε′)) / (1 - e^(-ε′)), or
    t - ε′ with probability 1 - q = e^(t - ε′) (1 - e^(-t)) / (1 - e^(-ε′)). The worst t by
    ternary search: in t the mean of e^((α - 1) loss) is a difference of two exponentials.
    """
    order = np.asarray(alpha) - 1

    def log_mean(t):
        log_q, log_rest = np.log(-np.expm1(t - rate)), np.log(-np.expm1(-t)) + t - rate
        total = np.logaddexp(log_q + order * t, log_rest + order * (t - rate))
        return total - np.log(-np.expm1(-rate))

    low, high = np.zeros_like(order), np.full_like(order, rate)
    for _ in range(40):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        rises = log_mean(left) < log_mean(right)
        low, high = np.where(rises, left, low), np.where(rises, high, right)
    return log_mean((low + high) / 2) / order


@functools.cache
def renyi_round_epsilon(k, epsilon, delta, orders=60):
    """ε′ of one of k rounds, by Rényi composition over a grid of orders; not below the others.

    k rounds of divergence D show δ = exp((α - 1)(kD - ε)) / (α - 1) (1 - 1/α)^α, for each α.
    """
    known = round_epsilon(k, epsilon, delta)
    if delta == 0:
        return known
    alpha = 1 + np.logspace(-3, 6, orders)

    def private(rate):
        total = k * renyi_divergence(alpha, rate)
        log_delta = (alpha - 1) * (total - epsilon) - np.log(alpha - 1)
        return (log_delta + alpha * np.log1p(-1 / alpha)).min() <= math.log(delta)

    low, high = known, 2 * known
    while private(high):
        low, high = high, 2 * high
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if private(middle) else (low, middle)
    return low


def pnf_peel(counts, k, epsilon, delta, neighbors):
    return _peel(counts, k, permute_and_flip, epsilon / k / DRIFT[neighbors])


def cdp_peel(counts, k, epsilon, delta, neighbors):
    return _peel(counts, k, exponential, round_epsilon(k, epsilon, delta) / DRIFT[neighbors])


def rdp_peel(counts, k, epsilon, delta, neighbors, round_epsilon=renyi_round_epsilon):
    rate = round_epsilon(k, epsilon, delta) / DRIFT[neighbors]
    return _peel(counts, k, exponential, rate)


def _peel(counts, k, choice, rate):
    """k rounds, each of which selects one of the items that are left."""

    @functools.cache
    def one_round(left):
        items = sorted(left)
        leader = max(counts[item] for item in items)
        scores = np.array([rate * (counts[item] - leader) for item in items])
        return dict(zip(items, choice(scores), strict=True))

    chances = {(): 1.0}
    for _ in range(k):
        chances = {
            (*chosen, item): chance * step
            for chosen, chance in chances.items()
            for item, step in one_round(frozenset(range(len(counts))) - set(chosen)).items()
        }
    return chances


# ---------------------------------------------------------------- independent noise on each count


def laplace(counts, k, epsilon, delta, neighbors, contributions=math.inf):
    """Top k of the counts with Laplace noise of scale min(k, c)/ε (twice that under swap)."""
    scale = DRIFT[neighbors] * min(k, contributions) / epsilon
    centers = _shrink_gaps(np.array(counts) / scale)  # in units of the scale
    # A density has a kink at its centre and no weight (e⁻⁴⁵) beyond 45.
    edges = np.unique(centers[:, None] + np.linspace(-45, 45, 91))

    def density(x):
        return np.stack([np.exp(-np.abs(x - center)) / 2 for center in centers])

    def below(x):
        tails = [(x - center, np.exp(-np.abs(x - center)) / 2) for center in centers]
        return np.stack([np.where(side < 0, tail, 1 - tail) for side, tail in tails])

    return _top_orders(density, below, edges, 16, k)


def oneshot_exp(counts, k, epsilon, delta, neighbors):
    """Top k of the counts with exponential noise of mean k/ε (twice that under swap)."""
    centers = _shrink_gaps(np.array(counts) / (DRIFT[neighbors] * k / epsilon))
    edges = np.unique(centers[:, None] + np.linspace(0, 45, 46))

    def density(x):
        return np.stack([np.where(x > c, np.exp(-np.maximum(x - c, 0)), 0) for c in centers])

    def below(x):
        return np.stack([-np.expm1(-np.maximum(x - center, 0)) for center in centers])

    return _top_orders(density, below, edges, 16, k)


def gaussian(counts, k, epsilon, delta, neighbors, contributions=math.inf):
    """Top k of the counts with normal noise."""
    if len(counts) == 1:
        return {(0,): 1.0}  # there is one order, and it needs no noise
    sigma = gaussian_sigma(len(counts), epsilon, delta, neighbors, contributions)
    centers = _shrink_gaps(np.array(counts) / sigma)
    edges = np.unique(centers[:, None] + np.linspace(-12, 12, 13))

    def density(x):
        return np.stack([normal_density(x - center) for center in centers])

    def below(x):
        return np.stack([normal_below(x - center) for center in centers])

    return _top_orders(density, below, edges, 16, k)


@functools.cache
def gaussian_sigma(d, epsilon, delta, neighbors, contributions=math.inf):
    """σ for the longest change of d counts by one user, less its mean: orders have no mean."""
    bound = int(min(contributions, d))
    downs = np.arange(bound + 1 if neighbors == "swap" else 1)
    longest = 0.0
    for up in range(bound + 1):
        down = downs[downs <= d - up]
        squares = up + down - (up - down) ** 2 / d  # sum of squares, less d times the mean's
        longest = max(longest, math.sqrt(squares.max()))
    return longest * _unit_sigma(epsilon, delta)


@functools.cache
def _unit_sigma(epsilon, delta):
    low, high = 1e-6, 1e9
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if gaussian_delta(middle, epsilon) <= delta else (middle, high)
    return high


def gaussian_delta(sigma, epsilon):
    """Least δ of normal noise for sensitivity 1: the mean of max(0, 1 - e^(ε - L)).

    The privacy loss L is z/σ + 1/(2σ²) with a standard normal z.
    """
    start = epsilon * sigma - 1 / (2 * sigma)
    z, width = gauss_legendre(np.append(0, np.geomspace(1e-6, 20 + max(0, -start), 60)), 12)
    return float((normal_density(z + start) * -np.expm1(-z / sigma) * width).sum())


def normal_density(x):
    return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


normal_below = np.vectorize(lambda x: math.erfc(-x / math.sqrt(2)) / 2, otypes=[float])


def gamma(counts, k, epsilon, delta, neighbors):
    """Top k of the counts with noise of density ∝ exp(-ε ‖noise‖∞), for both relations."""
    return _gamma(counts, k, epsilon)


@functools.cache
def _gamma(counts, k, epsilon):
    """The noise is uniform in a cube [-R, R]^d with R ~ Gamma(d + 1, 1/ε): integrate over R.

    For a given R every piece is a polynomial of degree at most d, so the inner rule is exact. As
    a function of R, pieces meet where two intervals begin to touch: at half a gap of counts.
    """
    d = len(counts)
    centers = _shrink_gaps(np.array(counts) * epsilon)  # in units of 1/ε
    touch = np.abs(centers[:, None] - centers).ravel() / 2
    kinks = np.union1d(np.linspace(0, 60, 21), touch[touch < 60])  # R > 60/ε has weight 10⁻¹⁷
    radius, width = gauss_legendre(kinks, 12)
    radius, width = radius.ravel(), width.ravel()
    weight = width * radius**d * np.exp(-radius) / math.factorial(d)

    cube = radius[:, None, None]
    edges = np.sort(np.concatenate([centers - radius[:, None], centers + radius[:, None]], axis=1))

    def density(x):
        return np.stack([(np.abs(x - center) <= cube) / (2 * cube) for center in centers])

    def below(x):
        return np.stack([np.clip((x - center) / (2 * cube) + 0.5, 0, 1) for center in centers])

    orders = _top_orders(density, below, edges, d + 1, k)
    return {order: float(weight @ chance) for order, chance in orders.items()}


def _shrink_gaps(centers):
    """Narrow wide gaps to 200: noise bridges either with e⁻¹⁰⁰, and digits after the point stay."""
    order = np.argsort(centers)
    steps = np.minimum(np.diff(centers[order]), 200)
    shrunk = np.empty(len(centers))
    shrunk[order] = np.append(0, np.cumsum(steps))
    return shrunk


def _top_orders(density, below, edges, nodes, k):
    """Probability of each order of the k largest among independent random variables.

    `density(x)` and `below(x)` (the distribution function) have one row a variable and are smooth
    between consecutive `edges`. Item s_k lands at x, all that are not selected land below x, and
    the selected ones before it land in order above x: integrals inside integrals, from the top.
    """
    x, width = gauss_legendre(edges, nodes)
    f, F = density(x), below(x)
    items = range(len(f))
    above = {(): np.ones_like(x)}
    for _ in range(k - 1):
        above = {
            (*chosen, item): _integral_to_the_right(f[item] * order, edges)
            for chosen, order in above.items()
            for item in items
            if item not in chosen
        }
    result = {}
    for chosen, order in above.items():
        for last in items:
            if last not in chosen:
                others = [F[item] for item in items if item not in (*chosen, last)]
                integrand = functools.reduce(np.multiply, others, f[last] * order)
                result[(*chosen, last)] = (integrand * width).sum(axis=(-2, -1))
    return {output: result[output] for output in sequences(len(f), k)}


# ---------------------------------------------------------------- without a list of items


def shorter_sequences(d, k):
    """All ordered sequences of at most k distinct items out of d."""
    return [sequence for length in range(k + 1) for sequence in sequences(d, length)]


def domains(counts, limit):
    """The d̄ largest of the items that occur and their share, for every way to choose among ties."""
    occurring = [item for item, count in enumerate(counts) if count > 0]
    by_count = sorted((counts[item] for item in occurring), reverse=True)
    if len(occurring) <= limit:
        return [(tuple(occurring), 1.0)]
    last = by_count[limit - 1]
    above = tuple(item for item in occurring if counts[item] > last)
    tied = [item for item in occurring if counts[item] == last]
    choices = list(itertools.combinations(tied, limit - len(above)))
    return [(above + choice, 1 / len(choices)) for choice in choices]


def next_count(counts, limit):
    """The (d̄ + 1)-th largest count, or 0 if there are no more items."""
    return sorted((*counts, *(limit + 1) * (0,)), reverse=True)[limit]


def size(limit, k):
    return limit if isinstance(limit, int) else int(limit.removesuffix("k")) * k


def mixture(parts, outputs):
    """The mean of distributions by their shares, over all of these outputs."""
    result = dict.fromkeys(outputs, 0.0)
    for share, distribution in parts:
        for output, chance in distribution.items():
            result[output] += share * chance
    return result


def k_or_nothing(
    loss, patterns, counts, k, epsilon, delta, neighbors, limit="5k", first=None, weigh=1.0
):
    """Sequences or sets of k of the d̄ largest items, or (): the definition, term by term.

    patterns(items, fillers, k): outputs, -1 for a nameless item, and how many there are of each.
    first: v₁ as a function of c_k - h and the drift of the relation; weigh: a factor of w(⊥).
    """
    limit, drift = size(limit, k), DRIFT[neighbors]
    delta = min(delta, epsilon / 2)
    rate = (epsilon - math.log1p(delta)) / (2 * drift)
    h = next_count(counts, limit)
    parts = []
    for items, share in domains(counts, limit):
        fillers = limit - len(items)
        known = {item: counts[item] for item in items}
        best = sorted((*known.values(), *fillers * (0,)), reverse=True)
        lead = best[k - 1] - h
        v1 = max(0, lead - drift) if first is None else first(lead, drift)
        losses, copies, outputs = [], [], []
        for pattern, number in patterns(items, fillers, k):
            losses.append(loss(known, best, pattern))
            copies.append(math.log(number))
            outputs.append(tuple(item for item in pattern if item >= 0))
        losses, copies = np.array(losses), np.array(copies)
        nothing = np.logaddexp.reduce(copies - rate * np.maximum(losses, v1)) - math.log(delta)
        logs = np.append(copies - rate * losses, nothing + math.log(weigh))
        chances = exponential(logs)
        own = {}
        for output, chance in zip([*outputs, ()], chances, strict=True):
            own[output] = own.get(output, 0.0) + chance
        parts.append((share, own))
    return parts


def _sequence_patterns(items, fillers, k):
    for places in itertools.product([True, False], repeat=k):  # where named items stand
        named = sum(places)
        if named <= len(items) and k - named <= fillers:
            for chosen in itertools.permutations(items, named):
                left = iter(chosen)
                yield (
                    tuple(next(left) if place else -1 for place in places),
                    math.perm(fillers, k - named),
                )


def _set_patterns(items, fillers, k):
    for named in range(max(0, k - fillers), min(k, len(items)) + 1):
        for chosen in itertools.combinations(items, named):
            yield (*chosen, *(k - named) * (-1,)), math.comb(fillers, k - named)


def _limited_sequence_loss(known, best, pattern):
    return max(best[r] - known.get(item, 0) for r, item in enumerate(pattern))


def _limited_set_loss(known, best, pattern):
    left = [count for item, count in known.items() if item not in pattern]
    worst = min(known.get(item, 0) for item in pattern)
    return max([0, *(count - worst for count in left)])


def limited_joint(counts, k, *parameters, **options):
    parts = k_or_nothing(
        _limited_sequence_loss, _sequence_patterns, counts, k, *parameters, **options
    )
    return mixture(parts, shorter_sequences(len(counts), k))


def limited_canonical(counts, k, *parameters, **options):
    """In a uniform random order."""
    parts = k_or_nothing(_limited_set_loss, _set_patterns, counts, k, *parameters, **options)
    of_set = {}
    for share, own in parts:
        for output, chance in own.items():
            key = tuple(sorted(output))
            of_set[key] = of_set.get(key, 0.0) + share * chance / math.factorial(len(output))
    outputs = shorter_sequences(len(counts), k)
    return {output: of_set.get(tuple(sorted(output)), 0.0) for output in outputs}


def limited_peel(
    counts, k, epsilon, delta, neighbors, limit="5k", ahead=None, copies=None, rounds=None
):
    """k rounds of the exponential mechanism over the d̄ largest items and the end.

    ahead: by how much the end's score is above h; copies: the end's weight at that score.
    rounds: ε′ as a function of k, ε and δ.
    """
    limit, drift = size(limit, k), DRIFT[neighbors]
    naming = min(delta / 2, epsilon / (2 * k))
    left = epsilon - k * math.log1p(naming)
    rate = (rounds or renyi_round_epsilon)(k, left, delta / 2) / drift
    score = next_count(counts, limit) + (drift if ahead is None else ahead)
    end = rate * score + math.log(limit / naming if copies is None else copies(limit, naming))

    def peeled(items):
        chances, result = {(): 1.0}, {}
        for _ in range(k):
            further = {}
            for chosen, chance in chances.items():
                remain = [item for item in items if item not in chosen]
                steps = exponential(np.array([*(rate * counts[item] for item in remain), end]))
                result[chosen] = result.get(chosen, 0.0) + chance * steps[-1]
                for item, step in zip(remain, steps, strict=False):
                    further[(*chosen, item)] = chance * step
            chances = further
        return result | chances

    parts = [(share, peeled(items)) for items, share in domains(counts, limit)]
    return mixture(parts, shorter_sequences(len(counts), k))


def _above_threshold(counts, k, density, below, edges, nodes, threshold):
    """The k largest of independent noisy counts that are above a threshold, or all that are.

    density(centers, x) and below(centers, x) have a row for each centre; noise ends at the last
    edge above each of them.
    """
    occurring = [item for item, count in enumerate(counts) if count > 0]
    centers = [counts[item] for item in occurring]
    result = dict.fromkeys(shorter_sequences(len(counts), k), 0.0)
    under = np.array([float(below(center, np.array(threshold))) for center in centers])
    result[()] = math.prod(under)
    grid = np.unique([edge + center for edge in edges for center in centers] + [threshold])
    grid = grid[grid >= threshold]
    if len(grid) < 2:
        return result

    def densities(x):
        return np.stack([density(center, x) for center in centers])

    for length in range(1, min(k, len(occurring)) + 1):

        def others(x, whole=length == k):
            """Below the last of k, or below the threshold if fewer than k are above it."""
            return np.stack(
                [
                    below(center, x) if whole else np.full_like(x, at)
                    for center, at in zip(centers, under, strict=True)
                ]
            )

        for output, chance in _top_orders(densities, others, grid, nodes, length).items():
            result[tuple(occurring[i] for i in output)] = chance
    return result


def threshold_laplace(
    counts, k, epsilon, delta, neighbors, contributions=1, threshold=None, scale=None
):
    """Laplace noise of scale Δc/ε; a count of 1 stays below τ with probability (1 - δ)^(1/c)."""
    scale = DRIFT[neighbors] * contributions / epsilon if scale is None else scale
    passing = -math.expm1(math.log1p(-delta) / contributions)
    quantile = -math.log(2 * passing) if passing <= 0.5 else math.log(2 * (1 - passing))
    threshold = 1 + scale * quantile if threshold is None else threshold

    def density(center, x):
        return np.exp(-np.abs(x - center) / scale) / (2 * scale)

    def below(center, x):
        tail = np.exp(-np.abs(x - center) / scale) / 2
        return np.where(x < center, tail, 1 - tail)

    edges = scale * np.linspace(-45, 45, 91)
    return _above_threshold(counts, k, density, below, edges, 16, threshold)


def threshold_gaussian(
    counts, k, epsilon, delta, neighbors, contributions=1, threshold=None, sigma=None
):
    """Normal noise for (ε, δ/2), and a threshold for δ/2."""
    if sigma is None:
        sigma = math.sqrt(DRIFT[neighbors] * contributions) * _unit_sigma(epsilon, delta / 2)
    if threshold is None:
        passing = -math.expm1(math.log1p(-delta / 2) / contributions)
        threshold = 1 + sigma * statistics.NormalDist().inv_cdf(1 - passing)

    def density(center, x):
        return normal_density((x - center) / sigma) / sigma

    def below(center, x):
        return normal_below((x - center) / sigma)

    edges = sigma * np.linspace(-12, 12, 13)
    return _above_threshold(counts, k, density, below, edges, 16, threshold)


# ---------------------------------------------------------------- integration


def gauss_legendre(edges, nodes):
    """Nodes and weights on the panels between consecutive edges: arrays (…, panels, nodes)."""
    x, weight, _ = _panel_rules(nodes)
    half = np.diff(edges)[..., None] / 2
    return edges[..., :-1, None] + half * (1 + x), half * weight


def _integral_to_the_right(values, edges):
    """∫ from each node to the last edge, of a function given at the nodes of each panel."""
    _, weight, tail = _panel_rules(values.shape[-1])
    half = np.diff(edges)[..., None] / 2
    panels = (values * half) @ weight
    from_here = np.flip(np.cumsum(np.flip(panels, -1), -1), -1)
    later = np.concatenate([from_here[..., 1:], np.zeros_like(panels[..., :1])], axis=-1)
    return np.maximum(later[..., None] + half * (values @ tail.T), 0)  # rounding may go below


@functools.cache
def _panel_rules(nodes):
    """Nodes in [-1, 1], weights of ∫ over it, and the matrix that gives ∫ from each node to 1."""
    legendre = np.polynomial.legendre
    x, weight = legendre.leggauss(nodes)
    to_coefficients = np.linalg.inv(legendre.legvander(x, nodes - 1))
    tails = [
        legendre.legval(1, antiderivative) - legendre.legval(x, antiderivative)
        for antiderivative in map(legendre.legint, np.eye(nodes))
    ]
    return x, weight, np.stack(tails, axis=1) @ to_coefficients


DISTRIBUTIONS = {
    **{name: functools.partial(_over_sequences, choice) for name, choice in CHOICE_BY_LOSS.items()},
    "pair": pair,
    "canonical": canonical,
    "canonical_signed": functools.partial(canonical, loss=signed_set_loss),
    "pnf_peel": pnf_peel,
    "pnf_peel_alg2": pnf_peel,
    "cdp_peel": cdp_peel,
    "cdp_peel_alg3": cdp_peel,
    "rdp_peel": rdp_peel,
    "laplace": laplace,
    "gaussian": gaussian,
    "oneshot_exp": oneshot_exp,
    "gamma": gamma,
}

# Outputs that may hold fewer than k items.
PARTIAL = {
    "limited_joint": limited_joint,
    "limited_canonical": limited_canonical,
    "limited_peel": limited_peel,
    "threshold_laplace": threshold_laplace,
    "threshold_gaussian": threshold_gaussian,
}
