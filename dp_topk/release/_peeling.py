"""Peeling: k items one after another, each by the exponential mechanism, drawn exactly.

What is released
----------------
k rounds. A round chooses item i among the items that are left with probability proportional to
e^(epsilon' c_i), or e^(epsilon' c_i / 2) for swap neighbours. The items come out best first.

What is promised
----------------
(epsilon, delta)-differential privacy: P(A) <= e^epsilon P'(A) + delta for every set A of outputs
and all neighbouring datasets, for one user with any number of items.

What is assumed
---------------
A user adds at most 1 to each count, and the list of items does not depend on the data.

Why it holds
------------
*One round.* Let P and P' be the distributions of a round for neighbours, given the same items
left. log(P(i) / P'(i)) is epsilon' (c_i - c'_i) plus a number that is the same for all i. One user
who comes or goes moves counts in one direction, so c_i - c'_i takes values in an interval of
length 1. (A swap moves them by -1, 0 or 1, an interval of length 2, and the weights have
epsilon' / 2.) So the log-ratios lie in an interval [t - epsilon', t], whatever t is.

*Its moments.* Write r = P / P', which has the mean 1 under P', and let alpha = a + 1 > 1. Since
r^alpha is convex in r, E'[r^alpha] is at most what the two ends of the interval give if r takes
no other value and keeps the mean 1:

    E'[r^alpha] <= (A u^a - B u^alpha) / (1 - e^-epsilon'),     u = e^t,
    A = 1 - e^(-alpha epsilon'),     B = e^-epsilon' - e^(-alpha epsilon').

The right side is largest at u = a A / (alpha B), and is then

    F = a^a A^alpha / (alpha^alpha B^a (1 - e^-epsilon')).

*All rounds.* What a round chooses from depends on the rounds before it alone, so the bound F holds
given any of them, and for k rounds the moment is at most F^k.

*Epsilon and delta.* P(A) - e^epsilon P'(A) is at most E[(1 - e^epsilon / r)+], with r now the ratio
for k rounds and the mean taken under P. For w = e^epsilon / r < 1,

    (1 - w) w^a <= (1 / alpha) (a / alpha)^a = a^a / alpha^alpha,

so (1 - e^epsilon / r)+ <= r^a e^(-a epsilon) a^a / alpha^alpha. The mean of r^a under P is that of
r^alpha under P', and therefore k rounds are (epsilon, delta)-DP if for some a > 0

    k log F - a epsilon + a log a - alpha log alpha <= log delta.

`proven` decides this inequality with decimals that enclose each logarithm. Doubles only guess a
good epsilon' and a; a bad guess gives a smaller epsilon' and no weaker promise. Where nothing
better is proven, epsilon' = epsilon / k, which makes k rounds epsilon-DP: one round is epsilon'-DP,
since both P and P' sum to 1 and so 0 lies in the interval [t - epsilon', t].

How it is drawn
---------------
A round is the exponential mechanism with the loss (largest count left) - c_i, and `_threshold`
draws it exactly; see `Left` in `_outputs`.
"""

import functools
import math
from collections.abc import Iterator
from decimal import ROUND_FLOOR, Context
from fractions import Fraction

from dp_topk.mechanisms import rdp_peel

from ._lottery import RandBits, directed, exp_minus, log_between, quotient
from ._outputs import Left
from ._threshold import Threshold

DIGITS = 60  # of the numbers whose logarithms prove epsilon'


def peel(left: Left, k: int, rate: Fraction, randbits: RandBits) -> list[int]:
    """The ranks that k rounds take, in their order; fewer if a round takes a dummy."""
    order: list[int] = []
    while len(order) < k and (chosen := Threshold(left, rate).draw(randbits)):
        left.take(*chosen)
        order += chosen
    return order


@functools.lru_cache(maxsize=64)
def epsilon_per_round(k: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """An epsilon' for which k rounds are proven to be (epsilon, delta)-DP.

    It is within a millionth of the largest that Rényi DP can show, or epsilon / k.
    """
    for rate, a in guesses(k, epsilon, delta):
        if rate > epsilon / k and proven(k, epsilon, delta, rate, a):
            return rate
    return epsilon / k


def guesses(k: int, epsilon: Fraction, delta: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Pairs of epsilon' and a that may satisfy the inequality; most promising first."""
    if not (delta >= Fraction("1e-300") and Fraction("1e-9") < epsilon < 10**9):
        return
    best = rdp_peel.epsilon_per_round(k, float(epsilon), float(delta))
    for shortfall in (1e-7, 1e-5, 1e-3, 1e-1):
        rate = best * (1 - shortfall)
        shown = functools.partial(rdp_peel.log_delta, rate=rate, k=k, epsilon=float(epsilon))
        low, high = -30.0, 50.0  # log(a); the least delta that is shown is unimodal in it
        while high - low > 1e-6:
            left, right = low + (high - low) / 3, high - (high - low) / 3
            fewer = shown(math.exp(left)) < shown(math.exp(right))
            low, high = (low, right) if fewer else (left, high)
        short = Context(prec=8, rounding=ROUND_FLOOR).create_decimal_from_float(rate)
        yield Fraction(short), Fraction(math.exp(low))


def proven(k: int, epsilon: Fraction, delta: Fraction, rate: Fraction, a: Fraction) -> bool:
    """Whether order a + 1 proves that k rounds with epsilon' = rate are (epsilon, delta)-DP.

    True is certain; False may mean that more DIGITS would tell.
    """
    alpha = a + 1
    try:
        one, rounds, orders = (log_of_complement(rate * order) for order in (1, alpha, a))
        log_a, log_alpha, log_delta = map(log_of, (a, alpha, delta))
    except ArithmeticError:  # a lower bound of 0 has no logarithm
        return False
    # log B = log(1 - e^(-a epsilon')) - epsilon'
    log_moment = a * log_a[1] + alpha * (rounds[1] - log_alpha[0]) - a * (orders[0] - rate) - one[0]
    return k * log_moment - a * epsilon + a * log_a[1] - alpha * log_alpha[0] <= log_delta[0]


def log_of(x: Fraction) -> tuple[Fraction, Fraction]:
    """Fractions low <= log x <= high."""
    return log_between(*quotient(x, DIGITS))


def log_of_complement(x: Fraction) -> tuple[Fraction, Fraction]:
    """Fractions low <= log(1 - e^-x) <= high."""
    down, up = directed(DIGITS)
    low, high = exp_minus(x, DIGITS)
    return log_between(down.subtract(1, high), up.subtract(1, low))
