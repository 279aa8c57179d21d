"""The command `dp-topk`: a private top k of files, for publication, and the ledger of a budget."""

import argparse
import contextlib
import hashlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from dp_topk import release
from dp_topk.mechanisms import checked_k, moves

from . import ledger
from ._files import UNSAFE, NewFile, escaped, formatted, put_out
from ._inputs import exact_delta, written
from .receipt import SOFTWARE, Release

DESCRIPTION = """\
Draw the k most frequent items of a table with differential privacy, and print them to be published.

The input is one or more files, or - for standard input: either rows of a user and an item (--user,
--item), in which a user counts once for an item however often the two occur together, or counts
(--item, --count). With counts it is you who vouches that no user adds more than 1 to the count of
an item.

Without a public list of items, take --unknown-domain: as many items come out as are safe to name,
perhaps fewer than k. Take --whole if the counts have clear gaps: all k items come out, or nothing.

Every run spends epsilon (and delta) again: --ledger keeps the account. Publish the output and the
receipt; keep messages, times and the input to yourself. docs/release.md says what is promised and
what is not."""

QUERY_DESCRIPTION = """\
Print the SQL that counts the users of each item, for a warehouse that has the rows. Its answer goes
to dp-topk release --item item --count users."""


RELEASE = {
    "input": {
        "--item COLUMN": "the column of items",
        "--user COLUMN": "the column of users, if there is a row for each user and item",
        "--count COLUMN": "the column of counts; you vouch for how they were made",
        "--max-items C": "count at most C items of each user, chosen without regard to the others; "
        "with --count you vouch for it. Choose C without looking at the data",
        "--table NAME": "the table, if FILE is a DuckDB database",
        "--memory MB": "for counting; more goes to the disk, in TMPDIR",
    },
    "items that can come out": {
        "--domain FILE": "those on a public list: one a line, no header, spelt as in the input (an "
        "item that is spelt differently counts 0, and nobody is told; see --dry-run)",
        "--domain-is-public": "those in a table of counts, if its list of items is public already. "
        "Counts made by grouping rows list the items that somebody has: these are not",
        "--unknown-domain": "there is no public list; needs --delta",
        "--limit N": "with --unknown-domain, only the N most frequent items can come out (default: "
        f"{release.LIMIT} times k). Choose it without looking at the data",
        "--whole": "with --unknown-domain: all k items or nothing",
    },
    "promise": {
        "--k K": "how many items to publish",
        "--epsilon EPSILON": "exactly as written: 0.1 is one tenth; or 1/3",
        "--delta DELTA": "for --unknown-domain; with a public list, for peeling instead of Joint",
        "--neighbors add-remove|swap": "what epsilon protects: one user more or less (add-remove, "
        "the default), or one in place of another",
        "--set": "choose a set; the order of the items means nothing",
        "--counts-epsilon E": "publish noisy counts of the chosen items, for E on top of epsilon",
        "--counts": "publish items and noisy counts from one noisy histogram; needs --max-items "
        "and a public list",
    },
    "output": {
        "--format lines|csv|json": "of the output (default: lines, or csv with counts)",
        "--output FILE": "write to this new file, whole or not at all",
        "--receipt FILE": "write what is promised to this new file",
        "--receipt-format plain|registry": "registry: as a draft for the registry of deployments",
    },
    "account": {
        "--ledger FILE": "add what this run spends to this file first",
        "--dataset NAME": "what the ledger calls these data",
        "--budget E[,D]": "the most that may ever be spent on the dataset, epsilon and delta; the "
        "ledger remembers it",
        "--dry-run": "draw and spend nothing; tell the holder of the data how much of the input "
        "matches",
    },
}

QUERY = {
    "options": {
        "--user COLUMN": "the column of users",
        "--item COLUMN": "the column of items",
        "--table TABLE": "as in schema.table",
        "--max-items C": "at most C items of each user",
        "--dialect DIALECT": "duckdb (the default), spark, bigquery or postgres",
    },
}


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage in front of it."""

    def error(self, message: str) -> NoReturn:
        end = "" if message.endswith((".", "?")) else "."
        self.exit(2, f"{self.prog}: error: {escaped(message)}{end}\n")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        tell(message or "")
        sys.exit(status)


def tell(message: str) -> None:
    """To the holder of the data, if there is anywhere to write it."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(message)
        sys.stderr.flush()


def say(sentence: str) -> None:
    tell(f"dp-topk release: {sentence}\n")


def whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 15 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer above 0, of up to 15 digits")
    return int(text)


def named(text: str) -> str:
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError("a name is needed, and this one is empty")
    return text


TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("K", "N", "C", "MB"), whole),
    **dict.fromkeys(("NAME", "FILE"), named),
    "E[,D]": lambda text: (text if "," in text else f"{text},0").split(",", 1),
}


def add_options(parser: Parser, groups: dict[str, dict[str, str]], required: set[str]) -> None:
    """Options as they stand in the tables above: a flag, what it takes, and what it does."""
    for title, options in groups.items():
        group = parser.add_argument_group(title)
        for option, text in options.items():
            flag, _, value = option.partition(" ")
            kind: dict[str, Any] = {"action": "store_true"}
            if "|" in value:
                kind = {"choices": value.split("|")}
            elif value:
                kind = {"metavar": value, "type": TYPES.get(value, str)}
            group.add_argument(flag, help=text, required=flag in required, **kind)


def parser() -> Parser:
    """The commands, each with `action`, the function of its options, and `parser`, itself."""
    top = Parser(prog="dp-topk", description="Differentially private top-k selection.")
    top.add_argument("--version", action="version", version=SOFTWARE)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    raw = argparse.RawDescriptionHelpFormatter
    settings: dict[str, Any] = {"allow_abbrev": False, "formatter_class": raw}

    about = "draw a private top k of files, to be published"
    sub = commands.add_parser("release", help=about, description=DESCRIPTION, **settings)
    files = "CSV, TSV, JSON lines or Parquet, plain or compressed; a folder or a pattern; or -"
    sub.add_argument("files", nargs="+", type=named, metavar="FILE", help=files)
    add_options(sub, RELEASE, {"--item", "--k", "--epsilon"})
    sub.set_defaults(action=run, parser=sub, neighbors="add-remove", delta="0")

    about = "Show a ledger as a table: its entries, and what is left of each budget."
    sub = commands.add_parser("ledger", help="show what was spent", description=about, **settings)
    sub.add_argument("file", type=named, help="the ledger")
    sub.set_defaults(action=show_ledger, parser=sub)

    about = "print the query that counts users where the rows are"
    sub = commands.add_parser("query", help=about, description=QUERY_DESCRIPTION, **settings)
    add_options(sub, QUERY, {"--user", "--item", "--table"})
    sub.set_defaults(action=print_query, parser=sub, dialect="duckdb")
    return top


def main(arguments: Sequence[str] | None = None) -> None:
    closed = open_streams()
    options = parser().parse_args(arguments)
    sub: Parser = options.parser
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if closed and not getattr(options, "output", None):
            raise ValueError("standard output is closed; leave it open, or write to a file")
        options.action(options)
    except ValueError as error:
        sub.error(str(error))
    except FileExistsError as error:
        sub.error(taken(error.filename))
    except OSError as error:
        where = f"cannot use {error.filename}: " if error.filename else ""
        sub.error(f"{where}{error.strerror or error}")
    except MemoryError:
        sub.error("the counts do not fit in memory")
    except KeyboardInterrupt:
        sub.exit(130, f"{sub.prog}: stopped.\n")


def open_streams() -> bool:
    """Open closed standard streams, whose place the next file would take; was output closed?"""
    closed = sys.stdout is None
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (open until the end)
    return closed


def show_ledger(options: argparse.Namespace) -> None:
    put_out(ledger.table(ledger.read(options.file)).encode())


def print_query(options: argparse.Namespace) -> None:
    from dp_topk import counting

    settings = {"max_items": options.max_items, "dialect": options.dialect}
    sql = counting.query(options.user, options.item, options.table, **settings)
    put_out(f"{sql}\n".encode())


def planned(options: argparse.Namespace) -> Release:
    """The release that the options describe, or a sentence on why they do not fit together."""
    delta = exact_delta(options.delta)
    counts_epsilon = None
    if options.counts_epsilon is not None:
        counts_epsilon = release.exact(options.counts_epsilon, "--counts-epsilon")
    rows, table = options.user is not None, options.count is not None
    unknown, public, limit = options.unknown_domain, options.domain_is_public, options.limit
    as_set, histogram = options.set, options.counts
    domains = (options.domain is not None) + public + unknown
    counts_in_lines = options.format == "lines" and (histogram or counts_epsilon)
    unbounded = histogram and (unknown or not options.max_items)
    account = options.dataset or options.budget
    wrong = {
        "give --user, the column of users, or for a table of counts --count, and not both": (
            rows == table
        ),
        "say which items can come out, with --domain FILE (a public list, one item a line), or use "
        "--unknown-domain with --delta: a list of items that depends on the data can reveal by "
        "itself that somebody is in it": domains == 0,
        "take one of --domain, --domain-is-public and --unknown-domain": domains > 1,
        "--domain-is-public is for counts (--count) only: which items occur in rows depends on the "
        "users, and an item that one user alone has would reveal that user; give a public list "
        "with --domain FILE, or use --unknown-domain with --delta": public and rows,
        "--unknown-domain needs --delta, which bounds the chance that a name comes out that would "
        "give a user away; 1e-6 is usual, and it should be far below one in the number of "
        "users": unknown and not delta,
        "--table goes with one DuckDB database": options.table and len(options.files) > 1,
        "standard input (-) can be read once only": options.files.count("-") > 1,
        "--limit goes with --unknown-domain only": limit and not unknown,
        "--whole goes with --unknown-domain only": options.whole and not unknown,
        f"--limit is {limit}; it must be at least k, {options.k}": limit and limit < options.k,
        "with --unknown-domain, --set needs --whole": unknown and as_set and not options.whole,
        "--set with a list of items needs no --delta": as_set and delta and not unknown,
        "--counts needs a list of items and --max-items; else use --counts-epsilon": unbounded,
        "--counts takes items and counts from one noisy histogram; leave out --set, --delta and "
        "--counts-epsilon": histogram and (as_set or delta or counts_epsilon),
        "--format lines has no place for counts; use csv or json": counts_in_lines,
        "--receipt-format needs --receipt FILE": options.receipt_format and not options.receipt,
        "--dataset and --budget need --ledger FILE": account and not options.ledger,
        "--ledger needs --dataset NAME, what it calls these data": options.ledger
        and not options.dataset,
    }
    for sentence, applies in wrong.items():
        if applies:
            raise ValueError(sentence)
    chosen_by = "peeling" if delta and not options.whole else "Canonical" if as_set else "Joint"
    return Release(
        mechanism="histogram" if histogram else "limited " * unknown + chosen_by,
        k=options.k,
        epsilon=release.exact(options.epsilon),
        delta=delta,
        counts_epsilon=counts_epsilon,
        neighbors=options.neighbors,
        limit=(limit or release.LIMIT * options.k) if unknown else None,
        max_items=options.max_items,
        counted=rows,
        listed=options.domain is not None,
    )


def run(options: argparse.Namespace) -> None:
    plan = planned(options)
    check_places(options)
    account = {name: getattr(options, name) for name in ("dataset", "budget", "neighbors")}
    account |= {"path": options.ledger, "epsilon": plan.total, "delta": plan.delta}
    account["release"] = plan.summary
    if options.ledger:
        ledger.check(**account)  # before a long file is read; again when it is charged
    listed = None
    if options.domain is not None:
        from ._domain import read_domain  # and what reads files, which takes its time

        columns = {options.item, options.count if options.user is None else options.user}
        listed = read_domain(options.domain, options.files, columns)
        checked_k(options.k, len(listed))
    if options.dry_run:
        options.max_items = None
        say(compared(options, listed, counted(options, None)))
        return
    users = counted(options, listed)
    if not plan.limit:
        if not users:
            raise ValueError("the input has no rows, so there are no items to choose from")
        checked_k(options.k, len(users))
        plan = replace(plan, d=len(users))
    form = options.format or ("csv" if plan.with_counts else "lines")
    # The items of a public list are no secret. Those of an unknown domain are written out
    # instead, since a refusal would tell that somebody has such an item.
    if form == "lines" and not plan.limit and any(map(UNSAFE.search, users)):
        raise ValueError(
            "some items have line breaks, control characters or marks that change the direction "
            "of writing; use --format csv or json"
        )
    as_asked = options.receipt_format == "registry", form
    with contextlib.ExitStack() as stack:
        receipt = stack.enter_context(NewFile(options.receipt)) if options.receipt else None
        file = stack.enter_context(NewFile(options.output, draft=True)) if options.output else None
        # The room that it needs is taken now: what is drawn has to have a receipt.
        if receipt:
            receipt.write(plan.rendered(*as_asked) + b" " * 1000)
        entry = ledger.charge(**account) if options.ledger else None
        rows = drawn(plan, users)
        terminal = file is None and os.isatty(sys.stdout.fileno())
        shown = {"ranks": not options.set, "counts": plan.with_counts, "terminal": terminal}
        output = formatted(rows, form, **shown)
        if receipt:
            digest = hashlib.sha256(output).hexdigest()
            receipt.write(plan.rendered(*as_asked, digest, entry))
        if file:
            file.write(output)
            file.keep()
        else:
            put_out(output, receipt)
        if receipt:
            receipt.keep()
    warn(plan, len(rows), entry)


def check_places(options: argparse.Namespace) -> None:
    """Refuse, before anything is read, files that cannot be written or must not be."""
    places: dict[str, str] = {}
    for what in ("receipt", "output", "ledger"):
        if not (name := getattr(options, what)):
            continue
        path = Path(name)
        if not path.parent.is_dir():
            raise ValueError(f"there is no folder {path.parent} for the {what}")
        if os.path.basename(name) in ("", "."):
            raise ValueError(f"{name} names a folder; name a file for the {what}")
        if what != "ledger" and os.path.lexists(path):
            raise ValueError(taken(name))
        real = os.path.join(os.path.realpath(path.parent), path.name)
        if real in places:
            raise ValueError(f"--{what} and --{places[real]} name the same file; name two")
        places[real] = what


def taken(path: str) -> str:
    return f"{path} exists and may belong to another release; name a new file"


def counted(options: argparse.Namespace, listed: list[str] | None) -> dict[str, int]:
    """The items that can come out, and the number of users of each."""
    from dp_topk import counting  # and DuckDB with it, which takes its time

    source = (options.files[0], options.table) if options.table else options.files
    if options.table and os.path.isfile(source[0]) and not counting.is_database(source[0]):
        raise ValueError(f"{source[0]} is not a DuckDB database, so --table has nothing to name")
    item: str = options.item
    limits: dict[str, Any] = {"memory_mb": options.memory, "progress": True}
    rows = options.user is not None
    if rows:
        limits |= {"among": listed, "max_items": options.max_items}
        found = counting.count_users(source, options.user, item, **limits)
    else:
        found = counting.read_counts(source, item, options.count, **limits)
    users = dict(zip(found.items, found.counts.tolist(), strict=True))
    return users if rows or listed is None else {item: users.get(item, 0) for item in listed}


def compared(options: argparse.Namespace, listed: list[str] | None, users: dict[str, int]) -> str:
    """For the holder of the data: how much of the input there is to draw from."""
    what = "counted users" if options.user is None else "rows (each user and item once)"
    total, found = sum(users.values()), {item for item, count in users.items() if count}
    text = f"{total:,} {what}, with {len(found):,} items"
    if listed is not None:
        matched = found.intersection(listed)
        text = (
            f"{sum(users[item] for item in matched):,} of {total:,} {what} have an item of the "
            f"list, and {len(matched):,} of its {len(listed):,} items occur"
        )
    return (
        f"for the holder of the data only, NOT FOR PUBLICATION: {text}. Nothing was drawn or spent."
    )


def drawn(plan: Release, users: dict[str, int]) -> list[Any]:
    """What is published: (item,) or (item, count, low, high) for each place."""
    wanted = users, plan.k, plan.epsilon
    settings: dict[str, Any] = {"neighbors": plan.neighbors}
    if plan.mechanism == "histogram":
        settings["max_items"] = plan.max_items
        return release.noisy_top_k(*wanted, **settings)
    if plan.limit:
        settings["whole"] = plan.mechanism != "limited peeling"
        settings["as_set"] = plan.mechanism == "limited Canonical"
        chosen = release.top_k_unknown(*wanted, plan.delta, limit=plan.limit, **settings)
    elif plan.mechanism == "Canonical":
        chosen = release.top_k_set(*wanted, **settings)
    else:
        chosen = release.top_k(*wanted, delta=plan.delta, **settings)
    if not (plan.counts_epsilon and chosen):
        return [(item,) for item in chosen]
    # Each count changes by at most 1, and a user has at most max_items of them (the two users of
    # a swap have twice that). How many items came out is known by now.
    sensitivity = len(chosen)
    if plan.max_items:
        sensitivity = min(sensitivity, moves(plan.neighbors) * plan.max_items)
    known = {item: users[item] for item in chosen}
    return release.noisy_counts(known, plan.counts_epsilon, sensitivity=sensitivity)


def warn(plan: Release, published: int, entry: ledger.Entry | None) -> None:
    """Tell the holder of the data what was spent."""
    if plan.total > 10:
        say("an epsilon above 10 promises next to nothing (docs/release.md).")
    if plan.limit and published < plan.k:
        say(
            f"{published or 'no'} item{'s' * (published != 1)} came out, since no further item is "
            "safe to name at this epsilon and delta; this is part of what is published."
        )
    delta = f" and delta = {written(plan.delta)}" if plan.delta else ""
    where = f" (entry {entry.entry} of the ledger)" if entry else ""
    say(
        f"this run spends epsilon = {written(plan.total)}{delta}{where}; every further run on the "
        "same data spends again, and it all adds up."
    )
