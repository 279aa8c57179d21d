"""`python -m dp_topk.release` is `dp-topk release`."""

import sys

from .command import main

main(["release", *sys.argv[1:]])
