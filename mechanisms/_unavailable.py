"""What a mechanism answers when it cannot serve the counts it was given."""


class Unavailable(Exception):
    """The mechanism cannot serve these counts; fine in an experiment, never in a release.

    Whether it is raised depends on the data, so the answer itself is not private.
    """
