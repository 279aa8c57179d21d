"""Open files as people have them: plain, or compressed in one of the usual ways.

What a file is, its first bytes say, not its name.
"""

import bz2
import contextlib
import gzip
import importlib
import io
import lzma
import re
import zipfile
import zlib

from workflow.scripts.common import InputError

BLOCK = 1 << 16
ZIP = re.compile(rb"PK(\x03\x04|\x05\x06)")  # the latter: nothing in it
GZIP = re.compile(rb"\x1f\x8b\x08")
BZIP2 = re.compile(rb"BZh[1-9]1AY&SY")
XZ = re.compile(rb"\xfd7zXZ\0")
ZSTD = re.compile(rb"\x28\xb5\x2f\xfd")


@contextlib.contextmanager
def unpacked(file, name):
    """The content of an open file, called `name` in errors, as a file that can be peeked at."""
    start = file.peek(16)[:16]
    with _sentence_if_damaged(name), contextlib.ExitStack() as stack:
        if ZIP.match(start):
            file = stack.enter_context(open_member(file, None, name=name))
        elif GZIP.match(start):
            file = stack.enter_context(gzip.GzipFile(fileobj=file))
        elif BZIP2.match(start):
            file = stack.enter_context(bz2.BZ2File(file))
        elif XZ.match(start):
            file = stack.enter_context(lzma.LZMAFile(file))
        elif ZSTD.match(start):
            file = stack.enter_context(_zstd(name).ZstdFile(file))
        if isinstance(file, io.BufferedReader):
            yield file
        else:
            buffered = io.BufferedReader(file, BLOCK)
            try:
                yield buffered
            finally:
                buffered.detach()


@contextlib.contextmanager
def open_member(archive, member, max_bytes=None, name=None):
    """Open one file inside a zip for reading; nothing is unpacked, no other file is touched.

    `archive` is a path, or an open file called `name` in errors. Where `member` is None, the
    archive must hold a single file.
    """
    name = name or archive
    try:
        with zipfile.ZipFile(archive) as opened:
            info = _info(opened, member, name)
            if max_bytes and info.file_size > max_bytes:  # zipfile never reads more than this size
                raise InputError(
                    f"{info.filename!r} in {name} has {info.file_size:,} bytes unpacked, more "
                    f"than max_bytes ({max_bytes:,}); raise that if the file is right"
                )
            if info.flag_bits & 1:
                raise InputError(f"{info.filename!r} in {name} is encrypted: use one that is not")
            with opened.open(info) as file:
                yield file
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise InputError(f"{name} is not a usable zip archive ({error})") from None


def is_zip(path):
    """Whether a file begins like a zip."""
    with open(path, "rb") as file:
        return bool(ZIP.match(file.read(4)))


def _info(opened, member, name):
    """The entry of a member, or of the only file that there is."""
    if member is None:
        files = [info for info in opened.infolist() if not info.is_dir()]
        if len(files) == 1:
            return files[0]
        raise InputError(
            f"{name} is an archive of {len(files)} files (Excel's are such, too): unpack it, or "
            "save the table as CSV, and give the one file that has the counts"
        )
    if member in opened.namelist():
        return opened.getinfo(member)
    listed = ", ".join(map(repr, opened.namelist()[:5])) or "nothing"
    raise InputError(f"{name} has no member {member!r} (it holds {listed})")


def _zstd(name):
    for module in ("compression.zstd", "backports.zstd"):  # the first since Python 3.14
        with contextlib.suppress(ImportError):
            return importlib.import_module(module)
    raise InputError(
        f"{name} is compressed with zstd: unpack it (zstd -d), use Python 3.14 or newer, or "
        "install the extra `zstd`: pip install backports.zstd"
    )


@contextlib.contextmanager
def _sentence_if_damaged(name):
    try:
        yield
    except Exception as error:
        damage = isinstance(error, (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile))
        damage |= isinstance(error, OSError) and error.errno is None  # of bz2
        damage |= type(error).__name__ == "ZstdError"  # of whichever module it is
        if not damage:
            raise
        raise InputError(f"{name} is cut short or damaged ({error})") from None
