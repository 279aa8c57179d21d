"""The list of claims: what the paper states and where, and the check of it.

The modules `section_*`, `appendix_*` and `ours` fill it when they are imported; `checking`
imports them all.
"""

from dataclasses import dataclass

SECTIONS = {
    "1": "Abstract and section 1: introduction",
    "2": "Section 2: error measures",
    "3": "Section 3: the joint mechanism",
    "3.1": "Section 3.1: sampling it",
    "4.1": "Section 4.1: comparison methods",
    "4.2": "Section 4.2: datasets",
    "4.3.1": "Section 4.3.1: ℓ∞ error",
    "4.3.2": "Section 4.3.2: ℓ1 error",
    "4.3.3": "Section 4.3.3: time",
    "5": "Section 5: conclusion",
    "C": "Appendix C: further plots",
    "D": "Appendix D: permute-and-flip",
    "ours": "This project",
}


@dataclass(frozen=True)
class Claim:
    """A statement in our words, its place, what is asked for, and the function that looks."""

    name: str
    section: str
    place: str
    statement: str
    asked_for: str
    check: object
    depends_on_time: bool


CLAIMS = {}


def claim(section, place, statement, asked_for, *, name=None, depends_on_time=False):
    """Register a check: a function from Results to Outcome that may raise NotChecked.

    Its name is the claim's name, which stays the same from version to version. `place` is the
    paragraph, caption or figure within the section.
    """
    if section not in SECTIONS:
        raise ValueError(f"{section!r} is not among the sections")

    def register(check):
        key = name or check.__name__.replace("_", "-")
        if key in CLAIMS:
            raise ValueError(f"two claims are called {key}")
        CLAIMS[key] = Claim(key, section, place, statement, asked_for, check, depends_on_time)
        return check

    return register
