"""What a release promises, in words and in numbers, for those who read what was published.

A receipt depends on the settings of a release, on the public list of items and on what was
published; it says nothing else about the data.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from math import ceil, exp
from typing import Any

from dp_topk import __version__
from dp_topk.mechanisms import Neighbors

from ._inputs import written
from .ledger import Entry

SOFTWARE = f"dp-topk {__version__}"

PENDING = "0" * 64  # stands for the digest of an output that has not been drawn yet

PROTECTS = {"add-remove": "one user more or less", "swap": "one user in place of another"}

MECHANISMS = {
    "Joint": "exponential mechanism over sequences (Joint)",
    "Canonical": "exponential mechanism over sets (Canonical)",
    "peeling": "k rounds of the exponential mechanism over the items that are left (peeling), with "
    "an epsilon for each round that was proved to give (epsilon, delta) for all of them",
    "limited peeling": "k rounds of the exponential mechanism over the most frequent items and an "
    "outcome that ends it (peeling over a limited domain): as many items as are safe to name",
    "limited Joint": "exponential mechanism over sequences of the most frequent items and one "
    "outcome that means none (Joint over a limited domain): k items or none",
    "limited Canonical": "exponential mechanism over sets of the most frequent items and one "
    "outcome that means none (Canonical over a limited domain): k items or none",
    "histogram": "discrete Laplace noise on the count of every item of the list, and the k largest "
    "noisy counts with their items",
}

EXACTLY = (
    "Drawn exactly, with integers, fractions and decimals rounded in a known direction, from the "
    "operating system's random bits: no floating-point number decides anything."
)

COUNTS_AFTER = (
    "; then discrete Laplace noise on the counts of the published items, independent of how these "
    "were chosen"
)

ALWAYS = (
    "The guarantee is for this output alone. The epsilons, and the deltas, of several releases "
    "from the same data add up.",
    "The random bits of the operating system cannot be predicted.",
    "Nobody who must not know the data sees the messages, the running time or the memory of the "
    "run.",
)


@dataclass(frozen=True)
class Release:
    """The settings of a release."""

    mechanism: str  # a key of MECHANISMS
    k: int
    epsilon: Fraction  # of the selection; counts_epsilon comes on top of it
    delta: Fraction
    counts_epsilon: Fraction | None
    neighbors: Neighbors
    limit: int | None  # how many of the most frequent items can come out, where there is no list
    max_items: int | None  # at most this many items of each user were counted
    counted: bool  # here, from rows, and not elsewhere by the person who ran this
    listed: bool  # the public items came as a list, and were not declared to be public
    d: int | None = None  # the number of items on the public list

    @property
    def total(self) -> Fraction:
        return self.epsilon + (self.counts_epsilon or 0)

    @property
    def with_counts(self) -> bool:
        return self.counts_epsilon is not None or self.mechanism == "histogram"

    @property
    def summary(self) -> str:
        """One line, for a ledger."""
        return f"{self.mechanism}, k = {self.k}{', with counts' if self.with_counts else ''}"

    @property
    def means(self) -> str:
        return MECHANISMS[self.mechanism] + COUNTS_AFTER * (self.counts_epsilon is not None)

    @property
    def in_words(self) -> str:
        power = written(self.total)
        factor = f"e^({power})" if "/" in power else f"e^{power}"
        about = f" (about {exp(self.total):.4g})" if self.total < 700 else ""
        plus = f", plus {written(self.delta)}" if self.delta else ""
        return (
            f"With {PROTECTS[self.neighbors]}, the probability of any set of outputs is at most "
            f"{factor}{about} times what it was{plus}."
        )

    @property
    def protects(self) -> str:
        items = "any number of items"
        if self.max_items:
            most = f"at most {self.max_items}"
            items = f"{items}, of which {most} were counted" if self.counted else f"{most} items"
        return f"{PROTECTS[self.neighbors]}, with {items}"

    @property
    def assumptions(self) -> list[str]:
        bound = f", and has at most {self.max_items} items" if self.max_items else ""
        said = {
            "A user was counted once for an item, and has one identifier. Somebody with several is "
            "counted under each, and protected less.": self.counted,
            f"At most {self.max_items} items of each user were counted, chosen by a hash of that "
            "user's rows alone; counts are of what was kept. The number was chosen without looking "
            "at the data.": self.counted and self.max_items,
            "The counts were made elsewhere. Whoever ran this vouches that no user adds more than "
            f"1 to the count of an item{bound}.": not self.counted,
            "No list of items was given. That fewer than k items were published means that no "
            "further item was safe to name, not that there is none. The limit was chosen without "
            "looking at the data.": self.limit,
            "The list of items does not depend on the data.": self.listed,
            "The items of the input are public knowledge. Whoever ran this says so.": (
                not self.listed and not self.limit
            ),
        }
        return [*(sentence for sentence, applies in said.items() if applies), *ALWAYS]

    def rendered(
        self, registry: bool, output_format: str, sha256: str = PENDING, entry: Entry | None = None
    ) -> bytes:
        """The receipt as JSON, which programs that expect YAML read as well."""
        content = (self.registry if registry else self.receipt)(output_format, sha256, entry)
        return json.dumps(content, default=written, indent=2).encode() + b"\n"

    def receipt(self, output_format: str, sha256: str, entry: Entry | None) -> dict[str, Any]:
        """What is promised, of which output, and under which assumptions."""
        content = {
            "mechanism": self.means,
            "sampling": EXACTLY,
            "guarantee": f"{'(epsilon, delta)' if self.delta else 'epsilon'}-differential privacy",
            "in words": self.in_words,
            "epsilon": self.total,
            "delta": self.delta,
            "epsilon of the selection": self.counts_epsilon and self.epsilon,
            "epsilon of the counts": self.counts_epsilon,
            "neighbors": self.neighbors,
            "protects": self.protects,
            "k": self.k,
            "limit": self.limit,
            "d": self.d,
            "max_items": self.max_items,
        }
        content = {name: value for name, value in content.items() if value is not None}
        return content | {
            "date": today(),
            "output": {"format": output_format, "sha256": sha256},
            "ledger": entry
            and {"dataset": entry.dataset, "entry": entry.entry, "budget": entry.budget._asdict()},
            "software": SOFTWARE,
            "assumptions": self.assumptions,
        }

    def registry(self, output_format: str, sha256: str, entry: Entry | None) -> dict[str, Any]:
        """A draft for the registry of deployments (opendp/deployments-registry-data).

        Laid out as its records of September 2026 are; what only the publisher knows is left open.
        """
        ask = "To be filled in"
        # Doubles end near 1e308; what is beyond is rounded up.
        parameters = {"epsilon": float(self.total) if self.total < 1e300 else ceil(self.total)}
        if self.delta:
            parameters["delta"] = float(max(self.delta, Fraction("1e-300")))
        public = "The list of items that can come out, which is public."
        account = "No ledger was kept."
        if entry:
            whose = f"the dataset {entry.dataset!r}, whose budget is {entry.budget}"
            account = f"Entry {entry.entry} of a ledger for {whose}."
        deployment = {
            "basic": {
                "name": ask,
                "data_curators": [{"data_curator_name": ask, "data_curator_type": "Industry"}],
                "description": f"{'At most' if self.limit else 'The'} {self.k} most frequent "
                f"items{', with noisy counts' if self.with_counts else ''}.",
                "intended_use": ask,
                "data_product_type": "Summary statistics",
                "data_product_region": ask,
                "publication_date": today(),
            },
            "dp_variant": {
                "variant_name": "Approximate DP" if self.delta else "Pure DP",
                "data_domain": "Sets of items, one for each user.",
                "unprotected_quantities": "None." if self.limit else public,
            },
            "privacy_loss": {
                "privacy_unit": "User-level",
                "privacy_unit_details": f"Neighbours differ by {self.protects}.",
                "privacy_parameters": parameters,
                "privacy_parameters_details": f"Exactly: epsilon = {written(self.total)}, "
                f"delta = {written(self.delta)}. {self.in_words}",
            },
            "deployment_model": {
                "model_name": "Central",
                "actors": "Whoever publishes this holds the data and draws; anybody may see the "
                f"output and the receipt. {' '.join(self.assumptions)}",
                "release_type": "One release",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": "None.",
                "composition": f"Basic composition: epsilons and deltas add up. {account}",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": ask,
                "mechanisms": f"{self.means}. {EXACTLY} Software: {SOFTWARE}.",
                "justification": ask,
            },
            "administrative": {
                "sources": f"The output has the sha256 {sha256} (format {output_format}).",
                "registry_authors": [ask],
            },
        }
        draft = {"url_slug": "to-be-filled-in", "status": "Draft", "tier": 2}
        return draft | {"deployment": deployment}


def today() -> str:
    return datetime.now(UTC).date().isoformat()
