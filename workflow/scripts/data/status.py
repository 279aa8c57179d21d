"""What the counts of a dataset are, by its `status` in the config, in words for people."""

STATUS = {
    "real": "real",
    "real-head": "real head",
    "from-figure": "read from a figure",
    "stand-in": "stand-in",
}
