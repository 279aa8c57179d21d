"""Count for each item the users who have it, each once, in rows that repeat them in any order."""

import hashlib
from itertools import islice

import numpy as np

BUCKETS = 64
RECORD = 16  # bytes
ROWS = 1 << 18  # between two looks at the buckets


class DistinctUsers:
    """How many different users each item has.

    A pair is kept as 16 bytes: the item's number (4) and a digest of item and user (12). Two
    pairs of n are taken for one with a probability below n^2 / 2^97: 3e-15 for 20 million.
    Pairs are spread over buckets by their digest, and a bucket is rid of repetitions whenever
    it has doubled, so that memory is for different pairs only.
    """

    def __init__(self):
        self._numbers = {}
        self._buckets = [bytearray() for _ in range(BUCKETS)]
        self._limits = [RECORD * ROWS // BUCKETS] * BUCKETS

    def add(self, pairs):
        """Note pairs of item and user."""
        pairs = iter(pairs)
        while self._add(islice(pairs, ROWS)):
            for at, bucket in enumerate(self._buckets):
                if len(bucket) > self._limits[at]:
                    self._buckets[at] = bytearray(_without_repetitions(bucket))
                    self._limits[at] = max(self._limits[at], 2 * len(self._buckets[at]))

    def _add(self, pairs):
        """Note some pairs; False if there were none."""
        numbers, buckets, blake2b, number = self._numbers, self._buckets, hashlib.blake2b, None
        for item, user in pairs:
            number = numbers.setdefault(item, len(numbers))
            pair = f"{number} {user}".encode("utf-8", "surrogateescape")
            digest = blake2b(pair, digest_size=RECORD - 4).digest()
            buckets[digest[0] % BUCKETS] += number.to_bytes(4, "little") + digest
        return number is not None

    def counts(self):
        """The number of users of each item, items in the order of their first appearance."""
        total = np.zeros(len(self._numbers), np.int64)
        for bucket in filter(None, self._buckets):
            numbers = _without_repetitions(bucket).view("<u4")[::4]
            total += np.bincount(numbers, minlength=len(total))
        return total


def _without_repetitions(bucket):
    """The different records of a bucket, as one array of 64-bit words, two for each."""
    first, second = np.frombuffer(bucket, np.dtype("<u8")).reshape(-1, 2).T
    order = np.lexsort((first, second))
    first, second = first[order], second[order]
    new = np.ones(len(order), bool)
    new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    return np.column_stack((first[new], second[new])).ravel()
