"""The command `dp-topk release`: a private top k of a file, for publication."""

import argparse
import contextlib
import csv
import errno
import io
import json
import os
import sys
from importlib import metadata
from pathlib import Path
from tempfile import gettempdir

from dp_topk import release
from dp_topk.mechanisms import checked_k

from ._counting import BadInput, Domain, count_users, read_counts, read_domain

DESCRIPTION = """\
Draw the k most frequent items of a file with differential privacy, and print them to be published.

The input is a CSV file with a header: either rows of a user and an item (--user, --item), in which
a user counts once for an item however often the two occur together, or counts (--item, --count).
With counts it is you who vouches that no user adds more than 1 to the count of an item.

The items that can come out must be public knowledge. Give a list of them (--domain): items
without rows count 0, and rows with other items are left out. Or say that the items in the file are
public already (--domain-is-public).

Every run spends epsilon again. Publish the output; keep messages, times and the input to yourself.
docs/release.md says what is promised and what is not."""

WHY_A_DOMAIN = (
    "say which items can come out, with --domain FILE (a public list, one item a line) or "
    "--domain-is-public: a list of items that depends on the data can reveal by itself that "
    "somebody is in it"
)

ASSUMPTIONS = {
    "rows": "A user was counted once for an item, and has one identifier. Somebody with several is "
    "counted under each, and protected less.",
    "counts": "The counts were made elsewhere. Whoever ran this vouches that no user adds more "
    "than 1 to the count of an item.",
    "list": "The list of items does not depend on the data.",
    "declared": "The items of the input are public knowledge. Whoever ran this says so.",
    "always": [
        "The guarantee is for this output alone. The epsilons of several releases from the same "
        "data add up.",
        "The random bits of the operating system cannot be predicted.",
        "Nobody who must not know the data sees the messages, the running time or the memory of "
        "the run.",
    ],
}


PROTECTS = {
    "add-remove": "one user more or less, with any number of items",
    "swap": "one user in place of another, with any number of items",
}


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage in front of it."""

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {message.rstrip('.')}.\n")


def whole(text):
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer above 0")
    return int(text)


def parser():
    top = Parser(prog="dp-topk", description="Differentially private top-k selection.")
    top.add_argument("--version", action="version", version=f"dp-topk {version()}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add = commands.add_parser(
        "release",
        help="draw a private top k of a file, to be published",
        description=DESCRIPTION,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add.add_argument("file", help="a CSV file with a header, comma-separated, in UTF-8")
    add.add_argument("--item", required=True, metavar="COLUMN", help="the column of items")
    source = add.add_mutually_exclusive_group(required=True)
    source.add_argument("--user", metavar="COLUMN", help="the column of users")
    source.add_argument(
        "--count", metavar="COLUMN", help="the column of counts; you vouch for how they were made"
    )
    domain = add.add_mutually_exclusive_group()
    domain.add_argument(
        "--domain",
        metavar="FILE",
        help="the public list of items: one a line, no header, spelt as in the file (an item "
        "that is spelt otherwise counts 0, and nobody is told)",
    )
    domain.add_argument(
        "--domain-is-public", action="store_true", help="the items in the file are public already"
    )
    add.add_argument("--k", required=True, type=whole, help="how many items to publish")
    add.add_argument(
        "--epsilon", required=True, help="exactly as written: 0.1 is one tenth; or 1/3"
    )
    add.add_argument(
        "--neighbors",
        choices=("add-remove", "swap"),
        default="add-remove",
        help="what epsilon protects: one user more or less, or one in place of another "
        "(default: %(default)s)",
    )
    add.add_argument(
        "--set", action="store_true", help="choose a set; the order of the items means nothing"
    )
    add.add_argument("--format", choices=("lines", "csv"), default="lines", help="of the output")
    add.add_argument("--receipt", metavar="FILE", help="write what was promised to this JSON file")
    return top, add


def main(arguments=None):
    top, sub = parser()
    options = top.parse_args(arguments)
    try:
        run(options)
    except ValueError as error:
        sub.error(str(error))
    except OSError as error:
        where = f"cannot use {error.filename}: " if error.filename else ""
        full = error.errno == errno.ENOSPC
        hint = f"; rows are sorted out in {gettempdir()}, or where TMPDIR says" if full else ""
        sub.error(f"{where}{error.strerror or error}{hint}")
    except MemoryError:
        sub.error("the counts do not fit in memory")
    except KeyboardInterrupt:
        sub.exit(130, f"{sub.prog}: stopped.\n")


def run(options):
    release.exact(options.epsilon)  # before a long file is read
    if not (options.domain or options.domain_is_public):
        raise BadInput(WHY_A_DOMAIN)
    if options.receipt:
        check_receipt(Path(options.receipt))
    domain = read_domain(options.domain, options.item) if options.domain else Domain()
    if options.domain:
        checked_k(options.k, len(domain))
    if options.user is not None:
        counts = count_users(options.file, options.user, options.item, domain)
    else:
        counts = read_counts(options.file, options.item, options.count, domain)
    items = list(domain)
    if options.format == "lines" and any("\n" in item or "\r" in item for item in items):
        raise BadInput("there are items with line breaks in them; use --format csv")
    if not items:
        raise BadInput(f"{options.file} has no rows, so there are no items to choose from.")
    choose = release.top_k_set if options.set else release.top_k
    with kept(options.receipt, receipt(options, len(items))):
        chosen = choose(counts, options.k, options.epsilon, neighbors=options.neighbors)
        warn(options.epsilon)
        write([items[place] for place in chosen], options)


def warn(epsilon):
    if release.exact(epsilon) > 10:
        print(
            "dp-topk release: an epsilon above 10 promises next to nothing (docs/release.md).",
            file=sys.stderr,
        )
    print(
        f"dp-topk release: this run spends epsilon = {epsilon}; every further run on the same data "
        "spends its epsilon again, and they add up.",
        file=sys.stderr,
    )


def write(items, options):
    """All of the output at once."""
    text = io.StringIO()
    if options.format == "lines":
        text.writelines(f"{item}\n" for item in items)
    else:
        rows = csv.writer(text, lineterminator="\n")
        if options.set:
            rows.writerows([["item"], *([item] for item in items)])
        else:
            rows.writerows([["rank", "item"], *enumerate(items, 1)])
    try:
        with open(sys.stdout.fileno(), "wb", closefd=False) as stdout:
            stdout.write(text.getvalue().encode())
    except OSError as error:
        raise BadInput(
            f"the output cannot be written ({error.strerror}), or not all of it; "
            "epsilon is spent if anybody saw a part"
        ) from None


def receipt(options, d):
    """What was promised, and nothing about the data."""
    outputs = "sets (Canonical)" if options.set else "sequences (Joint)"
    return {
        "mechanism": f"exponential mechanism over {outputs}",
        "guarantee": "epsilon-differential privacy",
        "epsilon": options.epsilon,
        "neighbors": options.neighbors,
        "protects": PROTECTS[options.neighbors],
        "k": options.k,
        "d": d,
        "software": f"dp-topk {version()}",
        "assumptions": [
            ASSUMPTIONS["counts" if options.user is None else "rows"],
            ASSUMPTIONS["list" if options.domain else "declared"],
            *ASSUMPTIONS["always"],
        ],
    }


def version():
    try:
        return metadata.version("dp-topk")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def check_receipt(path):
    if path.exists():
        raise BadInput(f"{path} exists and may be the receipt of another release; name a new file")
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent} for the receipt")


@contextlib.contextmanager
def kept(path, content):
    """Write the receipt to a file that appears, whole, once all inside has been done."""
    if path is None:
        yield
        return
    path = Path(path)
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, "utf-8")  # first, so that nothing is released without a receipt
        yield
        with open(path, "x", encoding="utf-8") as file:  # not over that of another run
            file.write(text)
    finally:
        draft.unlink(missing_ok=True)
