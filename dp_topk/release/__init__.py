"""Private top k for publication: the exponential mechanism without floating point.

    from dp_topk import release

    items = release.top_k(counts, k=10, epsilon="0.1")      # 10 indices into counts, best first
    items = release.top_k_set(counts, k=10, epsilon="0.1")  # 10 indices; their order means nothing

The samplers of `mechanisms` serve experiments: they round, and NumPy's generator can be
predicted. These draw from exactly the same distributions with integers, decimals rounded in a known
direction and the randomness of the operating system, so that the guarantee is epsilon and not
epsilon plus what rounding gives away. docs/release.md says what is promised and what is not.

Every call spends epsilon again, also with the same arguments.
"""

import secrets
from decimal import Decimal
from fractions import Fraction

from dp_topk.mechanisms import Profile, checked_k, get, ranked

from ._outputs import Sequences, Sets
from ._threshold import Threshold

__all__ = ["top_k", "top_k_set"]


def top_k(counts, k, epsilon, neighbors="add-remove", randbits=secrets.randbits):
    """k indices into `counts`, best first: Joint, drawn exactly.

    A sequence S of distinct items has probability proportional to e^(-epsilon loss(S) / 2), or
    e^(-epsilon loss(S) / 4) for swap neighbors, where loss(S) = max_r (c_r - c_{s_r}) and
    c_1 >= c_2 >= ... are the sorted counts. This is epsilon-DP if a user adds at most 1 to each
    count.

    counts, k, neighbors: as for `mechanisms.get("joint").prepare`.
    epsilon: text ("0.1", "1e-3", "1/3"), a Fraction, a Decimal or an integer. A float means the
        number that Python prints for it: 0.1 is one tenth.
    randbits: gives `randbits(n)` random bits as an integer. Anything but the default is for tests.

    The time it takes depends on the counts and on the draw.
    """
    return prepare(Sequences, counts, k, epsilon, neighbors)(randbits)


def top_k_set(counts, k, epsilon, neighbors="add-remove", randbits=secrets.randbits):
    """k indices into `counts` as a set: their order is random and tells nothing.

    As `top_k`, but for the loss of a set S: by how much the largest count outside S exceeds the
    smallest in S, or 0 if it does not.
    """
    return prepare(Sets, counts, k, epsilon, neighbors)(randbits)


def prepare(outputs, counts, k, epsilon, neighbors="add-remove"):
    """Do all the work that needs no randomness; return `draw(randbits)`."""
    profile, items_of = (counts, None) if isinstance(counts, Profile) else ranked(counts)
    k = checked_k(k, profile.d)
    epsilon = exact(epsilon)
    get("joint").check_relation(neighbors)
    threshold = Threshold(outputs(profile, k), epsilon / (4 if neighbors == "swap" else 2))

    def draw(randbits=secrets.randbits):
        ranks = threshold.draw(randbits)
        return ranks if items_of is None else items_of(ranks).tolist()

    return draw


def exact(epsilon):
    """epsilon as a Fraction: the number that is written, not the double next to it."""
    try:
        text = str(epsilon)  # which Python refuses for numbers of thousands of digits
        # Looked at first, so that 10 ** 1000000000 is not computed.
        size = 0 if "/" in text else Decimal(text).adjusted()
        value = Fraction(text) if abs(size) <= 400 else None
    except (ArithmeticError, ValueError):
        value = 0
    if value is None:
        raise ValueError(f"epsilon is {epsilon!r}; it must lie between 1e-400 and 1e400.")
    if value <= 0:
        raise ValueError(f"epsilon is {epsilon!r}; it must be a finite number above 0.")
    return value
