"""A dataset as the mechanisms see it: its profile.

A profile says for each distinct count, largest first, how many items have it. As a file it is
a CSV with the columns `count,items` and nothing else, so equal profiles are equal bytes.
Trials read it hundreds of times: this module needs NumPy only.
"""

import hashlib
import io
import json
import re
from pathlib import Path

import numpy as np

from dp_topk.mechanisms import LARGEST_COUNT
from workflow.scripts.common import InputError, altered, read_digests, sha256, written

HEADER = b"count,items\n"
FACTS = ["dataset", "source", "users", "d", "total", "largest", "sha256"]
# The longest beginning of a file that is right.
_RIGHT = re.compile(HEADER + rb"((0|[1-9][0-9]{0,15}),[1-9][0-9]{0,15}\n)*+|")


def profile_of(values, items=None):
    """The profile (counts, items) of one count per item, in any order.

    With `items`, values[i] is the count of items[i] items; repeated values are added up.
    """
    values = np.asarray(values, dtype=np.int64)
    if items is None:
        counts, items = np.unique(values, return_counts=True)
    else:
        order = np.argsort(values)
        counts, first = np.unique(values[order], return_index=True)
        items = np.add.reduceat(np.asarray(items, dtype=np.int64)[order], first)
    return counts[::-1].copy(), items[::-1].copy()


def top(counts, items, n):
    """The n largest counts, one for each item; fewer if there are fewer items."""
    return np.repeat(counts[:n], np.minimum(items[:n], n))[:n]


def size(items):
    """d, the number of items."""
    return int(items.sum())


def total(counts, items):
    """The sum of all counts, exact however large it is."""
    return sum(int(count) * int(n) for count, n in zip(counts, items, strict=True))


def require_enough_items(dataset, d, ks):
    """Refuse a dataset with fewer items than the smallest k."""
    if d < min(ks):
        possible = sorted({max(1, d * fifth // 5) for fifth in range(1, 6)})
        raise InputError(
            f"{dataset} has {d:,} item{'s' if d > 1 else ''}, fewer than the smallest k, "
            f"{min(ks)}; set `ks: {possible}` in your config"
        )


def require_exact(name, counts, items):
    """Refuse counts, or numbers of items, that a float64 cannot hold exactly."""
    if counts[0] > LARGEST_COUNT or items.sum(dtype=float) >= LARGEST_COUNT:
        raise InputError(f"{name} has a count over {LARGEST_COUNT} (2^53), or as many items")


def require_published(path):
    """Refuse a profile that is listed in the file sha256sums beside it, with another checksum.

    One that is not listed was added by somebody, and may be anything.
    """
    sums = Path(path).with_name("sha256sums")
    name = Path(path).name
    expected = read_digests(sums).get(name) if sums.exists() else None
    if expected and sha256(path) != expected:
        raise InputError(
            f"{path} was cut short or altered: its sha256 is not the published one in {sums}; "
            f"restore it (git checkout {name}), or use counts of your own under another name, with "
            "source: file and counts: {profile: true}"
        )


def _encoded(counts, items):
    rows = zip(counts.tolist(), items.tolist(), strict=True)
    return HEADER + "".join(f"{count},{n}\n" for count, n in rows).encode()


def write_profile(path, counts, items):
    """Write a profile that `read_profile` accepts."""
    with written(path, "wb") as file:
        file.write(_encoded(counts, items))


def read_profile(path, facts=None):
    """Read a profile as two int64 arrays: counts (strictly descending) and items.

    The file has to be as `write_profile` makes it; anything else is refused by name. `facts`
    is the JSON file beside it (see `write_facts`): with it, every altered byte is noticed,
    also a row that is missing as a whole.
    """
    data = Path(path).read_bytes()
    if facts is not None and hashlib.sha256(data).hexdigest() != read_facts(facts)["sha256"]:
        raise InputError(
            f"{path} is not the file that {facts} describes (cut short or altered): "
            "delete both and run again"
        )
    right = _RIGHT.match(data).end()
    if right < len(data) or right <= len(HEADER):
        line, wrong = data.count(b"\n", 0, right) + 1, io.BytesIO(data[right:]).readline(40)
        raise InputError(
            f"{path} is not a profile: line {line} must be "
            f"{'two whole numbers ' if right else ''}'count,items' but is "
            f"{wrong.decode('utf-8', 'backslashreplace')!r}"
        )
    numbers = np.fromstring(data[len(HEADER) :].replace(b"\n", b","), np.int64, sep=",")
    counts, items = numbers.reshape(-1, 2).T.copy()
    rising = np.flatnonzero(np.diff(counts) >= 0)
    if rising.size:
        raise InputError(
            f"{path} is not a profile: line {rising[0] + 3} must have a smaller count than the "
            "line above it"
        )
    require_exact(path, counts, items)
    return counts, items


def write_facts(path, counts, items, *, dataset, source, users="unknown"):
    """Write what is known of a profile, as JSON.

    users: how often a user may count for one item. "once", as the privacy guarantee assumes;
    "any" number of times; or "unknown", where only the counts were there.
    """
    digest = hashlib.sha256(_encoded(counts, items)).hexdigest()
    numbers = size(items), total(counts, items), int(counts[0])
    facts = dict(zip(FACTS, (dataset, source, users, *numbers, digest), strict=True))
    with written(path) as file:
        json.dump(facts, file, indent=2, ensure_ascii=False)
        file.write("\n")


def read_facts(path):
    """Read what `write_facts` wrote."""
    try:
        facts = json.loads(Path(path).read_bytes())
        return {key: facts[key] for key in FACTS}
    except (ValueError, KeyError, TypeError):
        raise altered(path) from None
