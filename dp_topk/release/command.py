"""The command `dp-topk`: a private top k of files, for publication, and the ledger of a budget."""

import argparse
import contextlib
import csv
import functools
import glob
import hashlib
import json
import os
import re
import secrets
import signal
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from dp_topk import release
from dp_topk.mechanisms import checked_k

from . import ledger
from ._files import UNSAFE, NewFile, escaped, publish
from ._inputs import exact_delta
from .receipt import Release, rendered, software, written

DESCRIPTION = """\
Draw the k most frequent items of a table with differential privacy, and print them to be published.

The input is one or more files, or - for standard input: either rows of a user and an item (--user,
--item), in which a user counts once for an item however often the two occur together, or counts
(--item, --count). With counts it is you who vouches that no user adds more than 1 to the count of
an item.

Which items can come out?
  --domain FILE       those on a public list; items without rows count 0, other rows are left out
  --domain-is-public  those in a table of counts, if its list of items is public knowledge
  --unknown-domain    there is no public list; needs --delta. Take --whole if you want all k items
                      or nothing: it is the most accurate where the counts have clear gaps. Without
                      it as many items come out as are safe to name, which may be fewer than k.

Every run spends epsilon (and delta) again: --ledger keeps the account. Publish the output and the
receipt; keep messages, times and the input to yourself. docs/release.md says what is promised and
what is not."""

WHY_A_DOMAIN = (
    "say which items can come out, with --domain FILE (a public list, one item a line), or use "
    "--unknown-domain with --delta: a list of items that depends on the data can reveal by itself "
    "that somebody is in it"
)

NOT_PUBLIC = (
    "--domain-is-public is for counts (--count) only: which items occur in rows depends on the "
    "users, and an item that one user alone has would reveal that user; give a public list with "
    "--domain FILE, or use --unknown-domain with --delta"
)

DELIMITERS = (",", "\t", ";", "|")
LIMIT = 5  # times k: how many items can come out where there is no list, unless --limit says


class BadInput(ValueError):
    """What is wrong, where, and what to do: one sentence."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage in front of it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {escaped(message).rstrip('.')}.\n")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        tell(message or "")
        sys.exit(status)


def tell(message: str) -> None:
    """To the holder of the data, if there is anywhere to write it."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(message)
        sys.stderr.flush()


def whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:18]) > 0 and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer above 0")
    return int(text)


def named(text: str) -> str:
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError("a name is needed, and this one is empty")
    return text


def parser() -> tuple[Parser, dict[str, Parser]]:
    top = Parser(prog="dp-topk", description="Differentially private top-k selection.")
    top.add_argument("--version", action="version", version=software())
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add = commands.add_parser(
        "release",
        help="draw a private top k of files, to be published",
        description=DESCRIPTION,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    table = add.add_argument_group("input")
    table.add_argument(
        "files",
        nargs="+",
        type=named,
        metavar="FILE",
        help="CSV, TSV, JSON lines or Parquet, plain or compressed; a folder or a pattern; or -",
    )
    table.add_argument(
        "--table", type=named, metavar="NAME", help="the table, if FILE is a DuckDB database"
    )
    table.add_argument("--item", required=True, metavar="COLUMN", help="the column of items")
    source = table.add_mutually_exclusive_group(required=True)
    source.add_argument("--user", metavar="COLUMN", help="the column of users")
    source.add_argument(
        "--count", metavar="COLUMN", help="the column of counts; you vouch for how they were made"
    )
    table.add_argument(
        "--max-items",
        type=whole,
        metavar="C",
        help="count at most C items of each user, chosen without regard to the others; with "
        "--count you vouch for it. Choose C without looking at the data",
    )
    items = add.add_argument_group("items that can come out")
    domain = items.add_mutually_exclusive_group()
    domain.add_argument(
        "--domain",
        type=named,
        metavar="FILE",
        help="the public list of items: one a line, no header, spelt as in the input (an item "
        "that is spelt otherwise counts 0, and nobody is told; see --dry-run)",
    )
    domain.add_argument(
        "--domain-is-public",
        action="store_true",
        help="the items in the table of counts are public already. Counts made by grouping rows "
        "list the items that somebody has: these are not",
    )
    domain.add_argument("--unknown-domain", action="store_true", help="there is no public list")
    items.add_argument(
        "--limit",
        type=whole,
        metavar="N",
        help=f"with --unknown-domain, only the N most frequent items can come out (default: "
        f"{LIMIT} times k). Choose it without looking at the data",
    )
    items.add_argument(
        "--whole", action="store_true", help="with --unknown-domain: all k items or nothing"
    )
    promise = add.add_argument_group("promise")
    promise.add_argument("--k", required=True, type=whole, help="how many items to publish")
    promise.add_argument(
        "--epsilon", required=True, help="exactly as written: 0.1 is one tenth; or 1/3"
    )
    promise.add_argument(
        "--delta",
        help="for --unknown-domain; with a public list, for peeling instead of Joint",
    )
    promise.add_argument(
        "--neighbors",
        choices=("add-remove", "swap"),
        default="add-remove",
        help="what epsilon protects: one user more or less, or one in place of another "
        "(default: %(default)s)",
    )
    promise.add_argument(
        "--set", action="store_true", help="choose a set; the order of the items means nothing"
    )
    promise.add_argument(
        "--counts-epsilon",
        metavar="E",
        help="publish noisy counts of the chosen items, for E on top of epsilon",
    )
    promise.add_argument(
        "--counts",
        action="store_true",
        help="publish items and noisy counts from one noisy histogram; needs --max-items and a "
        "public list",
    )
    out = add.add_argument_group("output")
    out.add_argument(
        "--format",
        choices=("lines", "csv", "json"),
        help="of the output (default: lines, or csv with counts)",
    )
    out.add_argument(
        "--output", type=named, metavar="FILE", help="write to this new file, whole or not at all"
    )
    out.add_argument(
        "--receipt", type=named, metavar="FILE", help="write what is promised to this new file"
    )
    out.add_argument(
        "--receipt-format",
        choices=("plain", "registry"),
        default="plain",
        help="registry: as a draft for the registry of deployments (default: %(default)s)",
    )
    account = add.add_argument_group("account")
    account.add_argument(
        "--ledger", type=named, metavar="FILE", help="add what this run spends to this file first"
    )
    account.add_argument(
        "--dataset", type=named, metavar="NAME", help="what the ledger calls these data"
    )
    account.add_argument(
        "--budget",
        metavar="E[,D]",
        help="the most that may ever be spent on the dataset, epsilon and delta; the ledger "
        "remembers it",
    )
    account.add_argument(
        "--dry-run",
        action="store_true",
        help="draw and spend nothing; tell the holder of the data how much of the input matches",
    )
    account.add_argument(
        "--memory", type=whole, metavar="MB", help="for counting; more goes to the disk, in TMPDIR"
    )
    book = commands.add_parser(
        "ledger",
        help="show what was spent",
        description="Show a ledger as a table: its entries, and what is left of each budget.",
        allow_abbrev=False,
    )
    book.add_argument("file", type=named, help="the ledger")
    ask = commands.add_parser(
        "query",
        help="print the query that counts users where the rows are",
        description="Print the SQL that counts the users of each item, for a warehouse that has "
        "the rows. Its answer goes to dp-topk release --item item --count users.",
        allow_abbrev=False,
    )
    ask.add_argument("--user", required=True, metavar="COLUMN", help="the column of users")
    ask.add_argument("--item", required=True, metavar="COLUMN", help="the column of items")
    ask.add_argument("--table", required=True, metavar="TABLE", help="as in schema.table")
    ask.add_argument("--max-items", type=whole, metavar="C", help="at most C items of each user")
    ask.add_argument("--dialect", default="duckdb", help="duckdb, spark, bigquery or postgres")
    return top, {"release": add, "ledger": book, "query": ask}


def main(arguments: Sequence[str] | None = None) -> None:
    closed = open_streams()
    top, commands = parser()
    options = top.parse_args(arguments)
    sub = commands[options.command]
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, stop)
    try:
        if closed and not (options.command == "release" and options.output):
            raise BadInput("standard output is closed; use --output FILE, or leave it open")
        if options.command == "ledger":
            put_out(ledger.table(ledger.read(options.file)).encode())
        elif options.command == "query":
            put_out(asked(options).encode())
        else:
            run(options)
    except ValueError as error:
        sub.error(str(error))
    except OSError as error:
        where = f"cannot use {error.filename}: " if error.filename else ""
        sub.error(f"{where}{error.strerror or error}")
    except MemoryError:
        sub.error("the counts do not fit in memory")
    except KeyboardInterrupt:
        sub.exit(130, f"{sub.prog}: stopped.\n")


def stop(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def open_streams() -> bool:
    """Give closed standard streams something to stand on; return whether output was closed.

    Else the next file that is opened would take the place of one of them.
    """
    closed = sys.stdout is None
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (open until the end)
    return closed


def asked(options: argparse.Namespace) -> str:
    from dp_topk import counting

    settings = {"max_items": options.max_items, "dialect": options.dialect}
    return counting.query(options.user, options.item, options.table, **settings) + "\n"


# ---------------------------------------------------------------- what is to be done


def planned(options: argparse.Namespace) -> Release:
    """The release that the options describe, or a sentence on why they do not fit together."""
    delta = exact_delta("0" if options.delta is None else options.delta)
    counts_epsilon = None
    if options.counts_epsilon is not None:
        counts_epsilon = release.exact(options.counts_epsilon, "--counts-epsilon")
    known = options.domain is not None or options.domain_is_public
    for given, fits, sentence in (
        (True, known or options.unknown_domain, WHY_A_DOMAIN),
        (options.domain_is_public, options.count is not None, NOT_PUBLIC),
        (
            options.unknown_domain,
            delta,
            "--unknown-domain needs --delta, which bounds the chance that a name comes out that "
            "would give a user away; 1e-6 is usual, and it should be far below one in the number "
            "of users",
        ),
        (options.table, len(options.files) == 1, "--table goes with one DuckDB database"),
        (options.limit, options.unknown_domain, "--limit goes with --unknown-domain only"),
        (options.whole, options.unknown_domain, "--whole goes with --unknown-domain only"),
        (
            options.set and options.unknown_domain,
            options.whole,
            "with --unknown-domain, --set needs --whole",
        ),
        (
            options.set and known,
            not delta,
            "--set with a list of items needs no --delta; leave it out",
        ),
        (
            options.counts,
            known and options.max_items,
            "--counts needs a list of items and --max-items; else use --counts-epsilon",
        ),
        (
            options.counts,
            not (options.set or delta or counts_epsilon),
            "--counts takes items and counts from one noisy histogram; leave out --set, --delta "
            "and --counts-epsilon",
        ),
        (
            options.counts or counts_epsilon,
            options.format != "lines",
            "--format lines has no place for counts; use csv or json",
        ),
        (options.dataset or options.budget, options.ledger, "this needs --ledger FILE, too"),
        (options.ledger, options.dataset, "--ledger needs --dataset NAME: whose budget is it?"),
        (
            options.limit,
            not options.limit or options.limit >= options.k,
            f"--limit is {options.limit}; it must be at least k, {options.k}",
        ),
    ):
        if given and not fits:
            raise BadInput(sentence)
    if options.counts:
        mechanism = "histogram"
    elif options.unknown_domain and not options.whole:
        mechanism = "limited peeling"
    else:
        limited = "limited " if options.unknown_domain else ""
        mechanism = limited + ("Canonical" if options.set else "Joint")
        if delta and known:
            mechanism = "peeling"
    return Release(
        mechanism,
        options.k,
        release.exact(options.epsilon),
        delta,
        counts_epsilon,
        options.neighbors,
        limit=(options.limit or LIMIT * options.k) if options.unknown_domain else None,
        max_items=options.max_items,
        counted=options.user is not None,
        listed=options.domain is not None,
    )


def run(options: argparse.Namespace) -> None:
    plan = planned(options)
    budget = None
    if options.budget is not None:
        epsilon, _, delta = options.budget.partition(",")
        budget = epsilon, delta or "0"
    check_places(options)
    account: dict[str, Any] = {
        "path": options.ledger,
        "dataset": options.dataset,
        "epsilon": plan.total,
        "delta": plan.delta,
        "budget": budget,
        "neighbors": plan.neighbors,
    }
    if options.ledger:
        ledger.check(**account)  # before a long file is read; again when it is charged
    listed = read_domain(options) if options.domain else None
    if listed is not None:
        checked_k(options.k, len(listed))
    if options.dry_run:
        compare(options, listed)
        return
    items, counts = counted(options, listed)
    if not options.unknown_domain:
        if not items:
            raise BadInput("the input has no rows, so there are no items to choose from")
        checked_k(options.k, len(items))
        plan = replace(plan, d=len(items))
    with_counts = options.counts or options.counts_epsilon is not None
    form = options.format or ("csv" if with_counts else "lines")
    # The items of a public list are no secret. Those of an unknown domain are written out
    # instead, since a refusal would tell that somebody has such an item.
    if form == "lines" and not options.unknown_domain and any(map(UNSAFE.search, items)):
        raise BadInput(
            "there are items with line breaks, control characters or marks that change the "
            "direction of writing; use --format csv or json"
        )
    date = datetime.now(UTC).date().isoformat()
    content = plan.registry if options.receipt_format == "registry" else plan.receipt
    with contextlib.ExitStack() as stack:
        receipt = stack.enter_context(new_file(options.receipt, "the receipt"))
        draft = stack.enter_context(new_file(draft_of(options.output), "the output"))
        # The room that it needs is taken now: what is drawn has to have a receipt.
        if receipt:
            receipt.write(rendered(content(date, form)) + b" " * 1000)
        entry = ledger.charge(**account, release=plan.summary) if options.ledger else None
        rows = drawn(plan, items, counts)
        to_terminal = draft is None and os.isatty(sys.stdout.fileno())
        output = formatted(
            rows, form, ranks=not options.set, counts=with_counts, terminal=to_terminal
        )
        if receipt:
            digest = hashlib.sha256(output).hexdigest()
            receipt.write(rendered(content(date, form, digest, entry and noted(entry))))
        if draft:
            draft.write(output)
        if draft:
            publish(draft, options.output)
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
            raise BadInput(f"there is no folder {path.parent} for the {what}")
        if what != "ledger" and os.path.lexists(path):
            raise taken(path)
        real = os.path.join(os.path.realpath(path.parent), path.name)
        if real in places:
            raise BadInput(f"--{what} and --{places[real]} name the same file; name two")
        places[real] = what


def taken(path: str | Path) -> BadInput:
    return BadInput(f"{path} exists and may belong to another release; name a new file")


@contextlib.contextmanager
def new_file(path: str | Path | None, what: str) -> Iterator[NewFile | None]:
    if path is None:
        yield None
        return
    try:
        file = NewFile(path)
    except FileExistsError:
        raise taken(path) from None
    except OSError as error:
        raise BadInput(f"{what} {path} cannot be written: {error.strerror}") from None
    with file:
        yield file


def draft_of(output: str | None) -> Path | None:
    if output is None:
        return None
    path = Path(output)
    return path.with_name(f".{path.name[:200]}.{secrets.token_hex(8)}")


def noted(entry: ledger.Entry) -> dict[str, Any]:
    epsilon, delta = map(written, entry.budget)
    return {
        "dataset": entry.dataset,
        "entry": entry.entry,
        "budget": {"epsilon": epsilon, "delta": delta},
    }


# ---------------------------------------------------------------- what goes in


def source(options: argparse.Namespace) -> Any:
    return (options.files[0], options.table) if options.table else options.files


def counted(options: argparse.Namespace, listed: list[str] | None) -> tuple[list[str], Any]:
    """The items that can come out, and the number of users of each."""
    from dp_topk import counting  # and DuckDB with it, which takes its time

    limits: dict[str, Any] = {"memory_mb": options.memory, "progress": True}
    if options.user is not None:
        return counting.count_users(
            source(options),
            options.user,
            options.item,
            among=listed,
            max_items=options.max_items,
            **limits,
        )
    found = counting.read_counts(source(options), options.item, options.count, **limits)
    if listed is None:
        return found
    known = dict(zip(found.items, found.counts.tolist(), strict=True))
    return listed, [known.get(item, 0) for item in listed]


def compare(options: argparse.Namespace, listed: list[str] | None) -> None:
    """Tell the holder of the data how much of the input there is to draw from; draw nothing."""
    rows = rows_of_items(options)
    total = sum(rows.values())
    if listed is None:
        found = f"{total:,} rows, with {len(rows):,} items"
    else:
        matched = [item for item in listed if item in rows]
        found = (
            f"{sum(rows[item] for item in matched):,} of {total:,} rows have an item of the list, "
            f"and {len(matched):,} of its {len(listed):,} items occur"
        )
    tell(
        "dp-topk release: for the holder of the data only, NOT FOR PUBLICATION: "
        f"{found}. Nothing was drawn or spent.\n"
    )


def rows_of_items(options: argparse.Namespace) -> dict[str, int]:
    """How many rows each item has."""
    from dp_topk.counting import Engine

    other = options.count if options.user is None else options.user
    columns = {"item": (options.item, "text"), "other": (other, "text")}
    statement = "SELECT item, COUNT(*) AS number FROM rows GROUP BY item"
    with Engine(source(options), options.memory, progress=True) as engine:
        found = engine.answer(columns, statement, lambda: lambda place, row: None)
    return dict(zip(found["item"].tolist(), found["number"].tolist(), strict=True))


def read_domain(options: argparse.Namespace) -> list[str]:
    """The items of the public list, one a line; blank lines do not count.

    Errors name lines and never what they hold: somebody may have named the data by mistake.
    """
    path = options.domain
    for name in input_files(options):
        with contextlib.suppress(OSError):
            if os.path.samefile(path, name):
                raise BadInput(
                    f"--domain names the input itself, {path}, whose rows would become items; it "
                    "must be a public list, one item a line"
                )
    lines: dict[str, int] = {}
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            for number, line in enumerate(file, 1):
                item = line.rstrip("\r\n")
                if not item:
                    continue
                if item != item.strip():
                    raise BadInput(f"{path}, line {number}, has blanks around it; take them away")
                if item in lines:
                    raise BadInput(
                        f"{path}, line {number}, repeats line {lines[item]}; list every item once"
                    )
                lines[item] = number
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not text in UTF-8; convert it, or unpack it, first") from None
    if not lines:
        raise BadInput(f"{path} lists no items; it must have one item a line")
    refuse_rows(path, list(lines), options)
    return list(lines)


def refuse_rows(path: str, lines: list[str], options: argparse.Namespace) -> None:
    """Refuse a list that looks like rows of the input, which would be published as items.

    Only the names of the columns are looked at, not the rows: whether a list is refused must not
    depend on the data.
    """
    if lines[0] == options.item:
        raise BadInput(
            f"{path} begins with {lines[0]!r}, the name of the column; it must list items only"
        )
    named = {options.item, options.count if options.user is None else options.user}
    for mark in DELIMITERS:
        if named <= set(fields(lines[0], mark)):
            raise BadInput(
                f"{path} begins with the names of the input's columns, so its lines are rows; it "
                "must list items only"
            )
    delimiter, width = shape(options)
    if not delimiter:
        return
    alike = sum(is_row(line, delimiter, width) for line in lines)
    if 2 * alike >= len(lines):
        raise BadInput(
            f"{path} looks like rows of the input: {alike} of its {len(lines)} lines have {width} "
            "fields, as the input has columns; it must list items only, and if these are items, "
            "give the input another delimiter"
        )


def is_row(line: str, delimiter: str, width: int) -> bool:
    """Whether a line is like a row: as wide, and without blanks beside the delimiters."""
    cells = fields(line, delimiter)
    return len(cells) == width and all(cell == cell.strip() for cell in cells)


def fields(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


def input_files(options: argparse.Namespace) -> Iterator[str]:
    """The files of the input, also those in a folder or of a pattern."""
    for name in options.files:
        yield "/dev/stdin" if name == "-" else name
        if os.path.isdir(name):
            yield from (entry.path for entry in os.scandir(name))
        elif not os.path.exists(name):
            yield from glob.iglob(name)


def shape(options: argparse.Namespace) -> tuple[str | None, int]:
    """The delimiter and the number of columns of the first text file of the input, if any."""
    from dp_topk._tables import CountingError, File, Form, Text

    needed = [options.item, options.count if options.user is None else options.user]
    for name in filter(os.path.isfile, input_files(options)):
        if stat.S_ISREG(os.stat(name).st_mode):  # what is read from a pipe would be missing later
            with contextlib.suppress(CountingError, OSError):
                text = Text(File(name, functools.partial(open, name, "rb")), needed, Form())
                if not text.json and len(text.columns) > 1:
                    return text.delimiter, len(text.columns)
    return None, 0


# ---------------------------------------------------------------- what comes out


def drawn(plan: Release, items: list[str], counts: Any) -> list[Any]:
    """What is published: (item,) or (item, count, low, high) for each place."""
    table = (items, np.asarray(counts, np.int64))
    if plan.mechanism == "histogram":
        most = plan.max_items or len(items)
        return release.noisy_top_k(
            table, plan.k, plan.epsilon, max_items=most, neighbors=plan.neighbors
        )
    if plan.limit:
        chosen = release.top_k_unknown(
            table,
            plan.k,
            plan.epsilon,
            plan.delta,
            limit=plan.limit,
            whole=plan.mechanism != "limited peeling",
            as_set=plan.mechanism == "limited Canonical",
            neighbors=plan.neighbors,
        )
    elif plan.mechanism == "Canonical":
        chosen = release.top_k_set(table, plan.k, plan.epsilon, neighbors=plan.neighbors)
    else:
        chosen = release.top_k(
            table, plan.k, plan.epsilon, delta=plan.delta, neighbors=plan.neighbors
        )
    if not (plan.counts_epsilon and chosen):
        return [(item,) for item in chosen]
    # Each count changes by at most 1, and a user has at most max_items of them, or two users
    # have twice that. How many items came out is known by now.
    sensitivity = len(chosen)
    if plan.max_items:
        users = 2 if plan.neighbors == "swap" else 1
        sensitivity = min(sensitivity, users * plan.max_items)
    number = dict(zip(items, table[1].tolist(), strict=True))
    known = {item: number[item] for item in chosen}
    return release.noisy_counts(known, plan.counts_epsilon, sensitivity=sensitivity)


def formatted(
    rows: list[Any], form: str, *, ranks: bool, counts: bool, terminal: bool = False
) -> bytes:
    """The output as it is written, and as its digest is taken."""
    if form == "lines":
        return "".join(f"{quoted(i) if UNSAFE.search(i) else i}\n" for (i, *_) in rows).encode()
    names = ["rank"] * ranks + ["item"] + ["count", "low", "high"] * counts
    table = [[place] * ranks + list(row) for place, row in enumerate(rows, 1)]
    if form == "json":
        objects = [quoted(dict(zip(names, row, strict=True))) for row in table]
        text = "[" + ",".join(f"\n  {line}" for line in objects) + "\n" * bool(objects) + "]\n"
    else:
        lines = [",".join(cell(value, terminal) for value in row) for row in [names, *table]]
        text = "".join(f"{line}\n" for line in lines)
    return text.encode()


def quoted(value: object) -> str:
    """As JSON, in which nothing can pass for something else."""
    return UNSAFE.sub(
        lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False)
    )


def cell(value: object, terminal: bool) -> str:
    """A field of CSV that every reader understands alike; on a terminal it is shown, not obeyed."""
    text = escaped(str(value)) if terminal else str(value)
    if re.search(r'[",]|^\s|\s$', text) or UNSAFE.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def warn(plan: Release, published: int, entry: ledger.Entry | None) -> None:
    """Tell the holder of the data what was spent."""
    if plan.total > 10:
        tell("dp-topk release: an epsilon above 10 promises next to nothing (docs/release.md).\n")
    if plan.limit and published < plan.k:
        tell(
            f"dp-topk release: {published or 'no'} items came out, since no further item is safe "
            "to name at this epsilon and delta; this is part of what is published.\n"
        )
    spent = f"epsilon = {written(plan.total)}"
    if plan.delta:
        spent += f" and delta = {written(plan.delta)}"
    where = f" (entry {entry.entry} of the ledger)" if entry else ""
    tell(
        f"dp-topk release: this run spends {spent}{where}; every further run on the same data "
        "spends its epsilon again, and they add up.\n"
    )


def put_out(output: bytes, receipt: NewFile | None = None) -> None:
    """Print the output; the receipt stays from the moment that anybody may have seen a part."""
    descriptor, written_yet = sys.stdout.fileno(), 0
    try:
        sys.stdout.flush()
        while written_yet < len(output):
            written_yet += os.write(descriptor, output[written_yet:])
            if receipt:
                receipt.keep()
    except OSError as error:
        seen = "not all of it; epsilon is spent" if written_yet else "nothing of it was"
        raise BadInput(f"the output cannot be written ({error.strerror}), {seen}") from None
