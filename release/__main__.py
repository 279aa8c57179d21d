"""`python -m release` is `dp-topk release`."""

import sys

from release.command import main

main(["release", *sys.argv[1:]])
