"""Joint by the paper's Algorithm 1: the published way to sample what `joint` samples.

Samples, guarantee: those of `joint`.

How: literally, but vectorised. For the sorted counts, form the k x d utilities
    U_ij = -(c_i - c_j) - z_ij with tie-breakers z_ij in (0, 1/2]; sort them; count the sequences
    through each one, in log space, by updating a product; sample a utility; sample a sequence
    with that utility. The integer (c_i - c_j) d k + (d (k - i) + j - 1) orders the entries as
    -U_ij does, so it is sorted instead, and gives back the row and the column.

    It serves as the published algorithm in the timing figure and, in the tests, as a second
    implementation of the same distribution.

Cost: O(d k log(d k)) time and O(d k) memory, about 48 bytes for each of the d k entries.
"""

import numpy as np

from . import Draw, Neighbors, Profile, Ranks, sequence_at
from ._sequences import loss_rate
from ._thresholds import choose

label = "Joint, as published"
guarantee = "pure"
citation = (
    "Gillenwater, Joseph, Munoz Medina, Ribero. A Joint Exponential Mechanism For "
    "Differentially Private Top-k. ICML 2022, algorithm 1."
)
published_of = "joint"
every_pair = True
paper_name = "Algorithm 1"
order = 70


def extra_memory(d: int, k: int) -> int:
    return 50 * d * k


def prepare(profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors) -> Draw:
    counts = np.repeat(profile.counts, profile.items)
    d, rate = profile.d, loss_rate(epsilon, neighbors)
    cells, top, rows = d * k, counts[:k], np.arange(k)
    if (profile.spread + 1) * cells >= 2**63:
        raise ValueError(
            f"joint_alg1 cannot order {d} x {k} utilities of counts that range over "
            f"{profile.spread}; use joint, which samples the same distribution."
        )
    row_keys = d * (k - 1 - rows)
    keys = np.subtract.outer(top, counts)
    keys *= cells
    keys += row_keys[:, None]
    keys += np.arange(d)
    keys = keys.ravel()
    keys.sort()
    # Before the first entry of row 1, some place of a sequence has nothing to choose from; at
    # it, row r > 1 has the items with counts of at least c_r, and row 1 has one.
    keys = keys[np.searchsorted(keys, row_keys[0]) :]
    losses, ties = np.divmod(keys, cells)
    row, options = np.divmod(ties, d)
    np.subtract(k - 1, row, out=row)
    options -= row
    options += 1  # n_r after this entry: its column, less the r - 1 items of earlier places
    log_options = np.log(options)
    del row, ties
    first = profile.at_least(top) - rows
    first[0] = 1
    options -= 1  # n_r before this entry
    options[0] = 1  # (of row 1 there is none before the first)
    log_sequences = log_options - np.log(options)
    log_sequences[0] = np.log(first).sum()
    np.cumsum(log_sequences, out=log_sequences)  # log of the product of all n_r
    log_sequences -= log_options  # without the row of the entry: log m(U_ij)
    del options, log_options
    log_sequences -= rate * losses
    del losses
    log_sequences -= log_sequences.max()
    cumulative = np.exp(log_sequences, out=log_sequences)
    np.cumsum(cumulative, out=cumulative)

    def draw(rng: np.random.Generator) -> Ranks:
        entry = choose(cumulative, rng)
        loss, tie = divmod(int(keys[entry]), cells)
        chosen_row, column = k - 1 - tie // d, tie % d
        # t_r: of the items that row r has at exactly this loss, those up to the tie-breaker
        allowed = np.clip(
            tie - row_keys + 1, profile.at_least(top - loss + 1), profile.at_least(top - loss)
        )
        # No earlier place could choose the item in this column: it is still where it was.
        positions = rng.integers(rows, allowed)
        positions[chosen_row] = column
        return np.array(sequence_at(positions.tolist()))

    return draw
