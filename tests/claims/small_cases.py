"""Definitions and lemmas of sections 2 and 3 on small inputs: enumerated, in whole numbers.

Nothing here uses a mechanism of this project. Items are numbered from 1 in the order of
descending counts, as in the paper.
"""

import itertools
import math
from collections import Counter
from fractions import Fraction

# (counts, k): ties at the top, at the k-th place and below, all counts equal, k = 1, k = d.
CASES = (
    ((9, 1), 1),
    ((6, 6), 2),
    ((4, 4, 4), 2),
    ((5, 3, 3, 1), 2),
    ((7, 4, 2), 3),
    ((7, 5, 5, 2, 0), 3),
    ((3, 3, 2, 2, 2), 3),
    ((8, 4, 4, 4, 1, 1), 2),
)


def sequences(d, k):
    """All sequences of k distinct items."""
    return list(itertools.permutations(range(1, d + 1), k))


def k_relative_errors(counts, k):
    """The k-relative errors of all sequences."""
    counts = sorted(counts, reverse=True)
    return {
        max(counts[k - 1] - counts[item - 1] for item in chosen)
        for chosen in sequences(len(counts), k)
    }


def utilities(counts, sequence):
    """(u*, u'): minus the largest signed and the largest absolute loss of a sequence.

    `counts` in any order: item i has counts[i - 1].
    """
    true = sorted(counts, reverse=True)
    loss = [true[r] - counts[item - 1] for r, item in enumerate(sequence)]
    return -max(loss), -max(map(abs, loss))


def users_to_change(counts, sequence):
    """The least number of users to add or remove so that `sequence` is a true top k.

    Adding a users and removing b moves each count by anything from -b to a (a user may have any
    set of items). An item that must come before another, or before one that is left out, can
    catch up with it just if a + b is at least what it is behind.
    """
    order = list(sequence) + [i for i in range(1, len(counts) + 1) if i not in sequence]
    pairs = [(a, b) for n, a in enumerate(sequence) for b in order[n + 1 :]]
    return max(0, *(counts[b - 1] - counts[a - 1] for a, b in pairs))


def largest_change_of_utility(counts, k):
    """How much u* of any sequence changes when a user with any set of items is added."""
    d = len(counts)
    neighbours = [
        [c + more for c, more in zip(counts, user, strict=True)]
        for user in itertools.product((0, 1), repeat=d)
    ]
    return max(
        abs(utilities(counts, s)[0] - utilities(other, s)[0])
        for other in neighbours
        for s in sequences(d, k)
    )


# ---------------------------------------------------------------- the exponential mechanism

# Counts of items, in any order. A neighbour has one more user, with any set of items.
DATASETS = tuple(itertools.product((0, 1, 3), repeat=3))


def neighbouring_utilities(utility, outputs):
    """For each pair of neighbours, the utilities of all outputs in one and in the other."""
    for counts in DATASETS:
        for user in itertools.product((0, 1), repeat=len(counts)):
            other = tuple(c + more for c, more in zip(counts, user, strict=True))
            yield [[utility(data, output) for output in outputs] for data in (counts, other)]


def count_of(counts, item):
    """The utility of the peeling mechanisms: monotonic, one item."""
    return counts[item - 1]


def signed_utility(counts, sequence):
    return utilities(counts, sequence)[0]


def log_chances(utility, rate):
    """log P of each output, where P is proportional to exp(rate utility)."""
    weights = [rate * u for u in utility]
    largest = max(weights)
    total = largest + math.log(sum(math.exp(w - largest) for w in weights))
    return [w - total for w in weights]


def largest_log_ratio(utility, outputs, rate):
    """The largest |log P(o) / P'(o)| over all outputs and neighbours."""
    return max(
        abs(p - q)
        for one, other in neighbouring_utilities(utility, outputs)
        for p, q in zip(log_chances(one, rate), log_chances(other, rate), strict=True)
    )


def largest_divergence(utility, outputs, rate, order):
    """The largest Rényi divergence of an order between neighbours, both ways."""
    return max(
        math.log(sum(math.exp(order * p + (1 - order) * q) for p, q in zip(a, b, strict=True)))
        / (order - 1)
        for pair in neighbouring_utilities(utility, outputs)
        for a, b in itertools.permutations([log_chances(u, rate) for u in pair])
    )


# ---------------------------------------------------------------- the matrix of section 3.1


def tie_breaker(i, j, d, k):
    """z_ij, times 2 d k."""
    return d * (k - i) + j


class Matrix:
    """The k x d matrix of utilities of section 3.1 and what is counted in it, by definition."""

    def __init__(self, counts, k):
        self.counts, self.k, self.d = sorted(counts, reverse=True), k, len(counts)
        self.unit = 2 * self.d * k
        # all entries times 2 d k: whole numbers
        self.entry = {
            (i, j): -(self.counts[i - 1] - self.counts[j - 1]) * self.unit
            - tie_breaker(i, j, self.d, k)
            for i in range(1, k + 1)
            for j in range(1, self.d + 1)
        }
        self.sequences = sequences(self.d, k)
        self.through = Counter(map(self.score, self.sequences))

    def score(self, sequence):
        return min(self.entry[i, s] for i, s in enumerate(sequence, start=1))

    def utility(self, value):
        """The ceiling of an entry."""
        return -(-value // self.unit)

    def t(self, r, value):
        """The last column of row r with an entry of at least `value`; 0 if there is none."""
        return max((j for j in range(1, self.d + 1) if self.entry[r, j] >= value), default=0)

    def all_t(self, value):
        return [self.t(r, value) for r in range(1, self.k + 1)]

    def sorted_entries(self):
        """(value, row, column), largest first."""
        return sorted(((value, i, j) for (i, j), value in self.entry.items()), reverse=True)

    # ------------------------------------------------------------ what the lemmas state

    def is_ordered(self):
        """Lemma 3.4: rows decrease, columns increase, entries are distinct, z is in (0, 1/2]."""
        u, rows, columns = self.entry, range(1, self.k + 1), range(1, self.d + 1)
        return (
            all(u[i, j] > u[i, j + 1] for i in rows for j in columns[:-1])
            and all(u[i, j] < u[i + 1, j] for i in rows[:-1] for j in columns)
            and len(set(u.values())) == len(u)
            and all(0 < 2 * tie_breaker(i, j, self.d, self.k) <= self.unit for i, j in u)
        )

    def has_few_scores(self):
        """At most d k values of u*, each the negative of some c_i - c_j."""
        found = {utilities(self.counts, s)[0] for s in self.sequences}
        return found <= {self.utility(value) for value in self.entry.values()}

    def adds_up(self):
        """Lemma 3.5: the number of sequences of a utility is the sum over its entries."""
        of_utility = Counter(utilities(self.counts, s)[0] for s in self.sequences)
        summed = Counter()
        for value in self.entry.values():
            summed[self.utility(value)] += self.through[value]
        return +summed == of_utility

    def bounds_items(self):
        """Lemma 3.6: t grows with the row, bounds the items, and says where sequences exist."""
        grows = all(
            all(a <= b for a, b in itertools.pairwise(self.all_t(value)))
            for value in self.entry.values()
        )
        bounds = all(
            all(s <= t for s, t in zip(chosen, self.all_t(self.score(chosen)), strict=True))
            for chosen in self.sequences
        )
        exists = all(
            (self.through[value] > 0)
            == all(t >= r for r, t in enumerate(self.all_t(value), start=1))
            for value in self.entry.values()
        )
        return grows and bounds and exists

    def is_a_product(self):
        """Lemma 3.7: the number of sequences through an entry is a product over other rows."""
        return all(
            self.through[value]
            == math.prod(
                max(t - (r - 1), 0) for r, t in enumerate(self.all_t(value), start=1) if r != i
            )
            for (i, _), value in self.entry.items()
        )

    def changes_one_row(self):
        """Lemma 3.8: from an entry to the next smaller one, only t of its own row grows, by 1."""
        return all(
            [b - a for a, b in zip(self.all_t(first), self.all_t(second), strict=True)]
            == [int(r == row) for r in range(1, self.k + 1)]
            for (first, _, _), (second, row, _) in itertools.pairwise(self.sorted_entries())
        )

    def is_counted_by_algorithm_1(self):
        """Lines 4 to 18 of Algorithm 1, as printed, give every number of sequences."""
        entries = iter(self.sorted_entries())
        n, seen, through = [0] * (self.k + 1), set(), {}
        for value, row, column in entries:
            n[row] = column - (row - 1)
            seen.add(row)
            if len(seen) == self.k:
                break
            through[value] = 0
        product = math.prod(n[1:])
        if not product:
            return False
        through[value] = product // n[row]
        for value, row, _ in entries:
            through[value] = product // n[row]
            product = through[value] * (n[row] + 1)
            n[row] += 1
        return through == {value: self.through[value] for value in self.entry.values()}

    def chance_given_entry(self, sequence):
        """The chance of a sequence in section 3.1.3, once its entry was drawn."""
        value = self.score(sequence)
        ((i, j),) = [(r, s) for r, s in enumerate(sequence, start=1) if self.entry[r, s] == value]
        chance, used = Fraction(1), {j}
        for r, item in enumerate(sequence, start=1):
            if r != i:
                options = set(range(1, self.t(r, value) + 1)) - used
                if item not in options:
                    return Fraction(0)
                chance /= len(options)
                used.add(item)
        return chance

    def is_drawn_uniformly(self):
        """Section 3.1.3: the sequences through an entry are equally likely."""
        return all(
            self.chance_given_entry(s) == Fraction(1, self.through[self.score(s)])
            for s in self.sequences
        )

    def samples_the_exponential_mechanism(self):
        """Theorem 3.9: the weight of a sequence is exp(ε u* / 2), by way of entries too.

        Weights are polynomials in exp(-ε / 2): comparing exponents and factors is exact for all ε.
        """
        return all(
            self.utility(self.score(s)) == utilities(self.counts, s)[0]
            and self.through[self.score(s)] * self.chance_given_entry(s) == 1
            for s in self.sequences
        )

    def tells_ties_apart(self):
        """Footnote to theorem 3.9: do rows of equal counts differ in one column?"""
        return any(
            self.counts[a - 1] == self.counts[b - 1]
            and self.through[self.entry[a, j]] != self.through[self.entry[b, j]]
            for a, b in itertools.combinations(range(1, self.k + 1), 2)
            for j in range(1, self.d + 1)
        )
