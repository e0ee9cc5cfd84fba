"""The rows of a text file as bytes that a strict parser reads, and a slow look at its lines for errors."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rapids_trav.errors import TravError
from rapids_trav.io.dialect import Dialect, check_comment, check_marked_row, comment_pattern
from rapids_trav.io.formats import compression_of, open_bytes
from rapids_trav.io.sniff import decoded
from rapids_trav.utilities.progress import Tell

Block = bytes | bytearray
BLOCK = 1 << 22  # bytes of text in a step
PIECE = 1 << 17  # bytes that are compared at once; the results stay in the cache
UNSEEN = "\u00a0\u200b\ufeff"  # blanks without a break, without a width, and the mark of the byte order
LINE_FEED, BLANK, ZERO = b"\n 0"
SIGNS = list(b"+-")


@dataclass
class Tally:
    """What was met on the way: rows, comments, integers written in another way, blanks, marks, quotes."""

    rows: int = 0
    comments: int = 0
    unusual: bool = False
    blanks: bool = False  # also those of `unseen`, which are not ASCII
    unseen: bool = False
    marks: bool = False  # of comments, within rows
    quotes: bool = False


def blocks(path: Path, dialect: Dialect, tell: Tell | None = None) -> Iterator[bytearray]:
    """Yield the text after the header in UTF-8, in blocks of whole lines; `tell` how many bytes were read."""
    done, total = 0, None if compression_of(path) else path.stat().st_size
    decode = codecs.getincrementaldecoder(dialect.encoding)().decode
    rest, skip, line, n_decoded = b"", dialect.skip, 1, 0
    with open_bytes(path) as stream:
        while True:
            # Read behind the end of the last block, so that nothing else is copied.
            block = bytearray(len(rest) + BLOCK)
            block[: len(rest)] = rest
            with memoryview(block) as whole:
                n_bytes = stream.readinto(whole[len(rest) :])
            del block[len(rest) + n_bytes :]
            if tell is not None:
                done += n_bytes
                tell(done, total, "bytes")
            if dialect.encoding != "utf-8-sig":
                read = bytes(block[len(rest) :])
                try:
                    block[len(rest) :] = decode(read, not n_bytes).encode()
                except UnicodeDecodeError as error:
                    decoded(path, error.object, dialect.encoding, n_decoded + 1)
                    raise
                n_decoded += block.count(b"\n", len(rest))
            elif line == 1 and block.startswith(codecs.BOM_UTF8):
                del block[: len(codecs.BOM_UTF8)]
            if dialect.line_end == "\r":
                block = block.replace(b"\r", b"\n")
            elif b"\r" in block:
                block = block.replace(b"\r\n", b"\n")
            end = block.rfind(b"\n") + 1 if n_bytes else len(block)
            rest = bytes(block[end:])
            del block[end:]
            while skip and block:
                del block[: block.find(b"\n") + 1 or None]
                skip, line = skip - 1, line + 1
            if block:
                yield block if block.endswith(b"\n") else block + b"\n"
            if not n_bytes:
                return


def strict(path: Path, dialect: Dialect, tally: Tally, blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the rows without comments, with one delimiter between two fields, and count them."""
    clean, quote = cleaner(path, dialect, tally), dialect.quote.encode()
    for block in blocks:
        if b"\0" in block:
            raise _null_character(path, dialect)
        block = clean(block)
        if not block:
            continue
        tally.quotes = tally.quotes or bool(quote and quote in block)
        _count(block, dialect, tally)
        tally.unseen = tally.unseen or (
            not block.isascii() and any(sign in block for sign in map(str.encode, UNSEEN))
        )
        tally.blanks = tally.blanks or tally.unseen or b" " in block or b"\t" in block
        tally.marks = tally.marks or b"#" in block or b"%" in block
        yield block


def _null_character(path: Path, dialect: Dialect) -> TravError:
    line = dialect.skip + 1
    for block in blocks(path, dialect):
        before, found, _ = block.partition(b"\0")
        line += before.count(b"\n")
        if found:
            break
    return TravError(f"Line {line} of {path} has a null character, as broken copies have: check the file.")


def _single_blanks(block: Block) -> Block:
    """Return lines with one blank between two fields, and none at either end."""
    text = np.frombuffer(block, dtype=np.uint8)
    white = text <= BLANK
    if b"\t" not in block and block[:1] > b" " and not np.any(white[1:] & white[:-1]):
        return block
    blank = white & (text != LINE_FEED)
    text = np.where(blank, np.uint8(BLANK), text)
    text = text[~(blank & np.concatenate([[True], white[:-1]]))]
    text = text[~((text == BLANK) & np.concatenate([text[1:] == LINE_FEED, [True]]))]
    return text.tobytes()


def _count(block: Block, dialect: Dialect, tally: Tally) -> None:
    """Count the lines that are not empty, and look for integers with a needless zero or a 0x before them."""
    text = np.frombuffer(block, dtype=np.uint8)
    zeros = [np.zeros(int(text[0] == ZERO), np.intp)]
    for begin in range(1, len(text), PIECE):
        here = text[begin : begin + PIECE]
        before = text[begin - 1 :][: len(here)]
        tally.rows += int(np.count_nonzero((here == LINE_FEED) & (before != LINE_FEED)))
        if not tally.unusual:
            zeros.append(begin + np.flatnonzero((here == ZERO) & (before - ZERO > 9)))  # of unsigned bytes
    if tally.unusual:
        return
    at = np.concatenate(zeros)
    at = at[text[at + 1] - ZERO <= 9]
    before = text[at - 1 - np.isin(text[at - 1], SIGNS)]  # the first byte follows the last, a line feed
    limits = [*b"\n\t ", *dialect.delimiter.encode(), *dialect.quote.encode()]
    tally.unusual = bool(np.isin(before, limits).any())
    tally.unusual |= any(sign in block and b"0" + sign in block for sign in (b"x", b"X"))


def cleaner(path: Path, dialect: Dialect, tally: Tally):
    """Return a function that makes lines of the dialect strict."""
    quote, delimiter = dialect.quote.encode(), dialect.delimiter.encode()
    comments = tuple(sign.encode() for sign in dialect.comments)
    starts = [start + sign for sign in comments for start in (b"\n", b"\n ", b"\n\t")]
    inner = [blank + sign for sign in comments for blank in (b" ", b"\t")] if dialect.inline else []
    signs = "|".join(map(re.escape, dialect.comments))
    lines = re.compile(rf"^[ \t]*(?:{signs}).*\n?", re.MULTILINE)
    between = re.compile(
        (rb"(%b(?:[^%b\n]|%b%b)*%b)|" % ((quote,) * 5) if quote else rb"((?!))|")
        + (rb"[ \t]+" if dialect.delimiter == " " else rb" *%b *|(?m:^ +| +$)" % re.escape(delimiter))
    )
    white = [blank for blank in (b" ", b"\t") if blank != delimiter]
    within = comment_pattern(dialect.comments, dialect.quote) if dialect.inline else None

    def skipped(found: re.Match[str]) -> str:
        line = found[0]
        if not dialect.explicit:
            if dialect.header and dialect.delimiter != " " and len(dialect.split(line)) == len(dialect.names):
                check_marked_row(path, line, dialect)
                return line
            check_comment(path, line, dialect)
        tally.comments += 1
        return ""

    def cut(found: re.Match[str]) -> str:
        tally.comments += found[1] is None
        return found[1] or ""

    def clean(block: Block) -> Block:
        if dialect.multiline:
            return block
        marked = any(sign in block for sign in comments)  # one byte is found much faster than two
        if marked and (block.lstrip(b" \t").startswith(comments) or any(start in block for start in starts)):
            block = lines.sub(skipped, block.decode(errors="surrogateescape")).encode(
                errors="surrogateescape"
            )
        if marked and within and any(sign in block for sign in inner):
            block = within.sub(cut, block.decode(errors="surrogateescape")).encode(errors="surrogateescape")
        if dialect.delimiter == " ":
            if quote and quote in block:
                block = between.sub(lambda found: found[1] or b" ", block)
                block = block.replace(b"\n ", b"\n").replace(b" \n", b"\n").lstrip(b" ")
            else:
                block = _single_blanks(block)
        elif dialect.padded and quote in block:
            block = between.sub(lambda found: found[1] or found[0].strip(b" "), block)
        elif any(blank in block and blank + b"\n" in block for blank in white):
            block = re.sub(rb"(?m)^[%b]+$" % b"".join(white), b"", block)
        return block

    return clean


class Stream:
    """Blocks as a file that can be read once."""

    closed = False

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._blocks, self._rest = iter(blocks), memoryview(b"")

    def read(self, size: int = -1) -> memoryview:
        """Return at most `size` bytes, and nothing at the end."""
        if not self._rest:
            self._rest = memoryview(next(self._blocks, b""))
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken

    def close(self) -> None:
        """Close the file."""
        self._blocks = iter(())


def numbered(path: Path, dialect: Dialect) -> Iterator[tuple[int, str, list[str]]]:
    """Yield the rows with the numbers of their lines, their text and their fields, slowly, for an error."""
    clean = cleaner(path, dialect, Tally())
    lines = (
        f"{line}\n"
        for block in blocks(path, dialect)
        for line in block.decode(errors="replace").removesuffix("\n").split("\n")
    )
    if dialect.multiline:
        reader = csv.reader(
            lines, delimiter=dialect.delimiter, quotechar=dialect.quote, skipinitialspace=True
        )
        number = dialect.skip + 1
        for row in reader:
            if row:
                yield number, dialect.delimiter.join(row), [part.strip() for part in row]
            number = dialect.skip + reader.line_num + 1
        return
    for number, line in enumerate(lines, dialect.skip + 1):
        text = clean(line.encode()).decode()
        if text.strip(None if dialect.delimiter == " " else " \r\n"):
            yield number, line, dialect.split(text)
