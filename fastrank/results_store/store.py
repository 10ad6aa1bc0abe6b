"""The file of a store: lines that several processes append, and what is known of each."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from contextlib import contextmanager
from typing import NamedTuple

from fastrank.errors import InputError, ReadError
from fastrank.formats.source import is_url, name_of
from fastrank.results_store.records import (
    SCHEMA,
    is_intact,
    json_line,
    read_line,
    to_record,
    to_scores,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from fastrank.results_store.records import Evaluation
    from fastrank.scores.scores import Scores

# What file systems without locks report.
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
FAMILY, VERSION = SCHEMA.split("/")
# How every line begins; and how the values of a run do, which follow its digest and state.
START = f'{{"schema":"{FAMILY}/'.encode()
VALUES = b',"tag":'
DAMAGE = (AttributeError, IndexError, KeyError, TypeError, ValueError)


class LineFile:
    """A file of lines that any number of processes read and append to.

    Lines are appended whole, by one write to the end of the file while it is locked. A process that
    is killed leaves at most one unfinished line, at the end.
    """

    def __init__(self, path: str, *, append: bool) -> None:
        """Open a file. Raises ReadError.

        append: create the file if it does not exist; otherwise the file is only read.
        """
        self.path, self._shared = path, not append
        # The end of the last line that was read, and the number of lines up to there.
        self.end, self.lines = 0, 0
        if is_url(path):
            reason = "expected a local file, to which several processes may append"
            raise ReadError(name_of(path), reason)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT if append else os.O_RDONLY
        with self.readable():
            # Opening a pipe would wait for its other end.
            self._file = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
            mode = os.fstat(self._file).st_mode
        if not stat.S_ISREG(mode):
            self.close()
            raise ReadError(path, "is a directory" if stat.S_ISDIR(mode) else "not a regular file")

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    @contextmanager
    def readable(self) -> Iterator[None]:
        """Raise ReadError for an OSError."""
        try:
            yield
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ReadError(self.path, reason) from error

    def new_lines(self) -> Iterator[tuple[int, bytes]]:
        """The whole lines after those that were read, each with its offset. Raises ReadError."""
        with self.readable(), open(self._file, "rb", closefd=False) as file:
            file.seek(self.end)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                offset = self.end
                self.end += len(line)
                self.lines += 1
                yield offset, line[:-1]

    def line_at(self, offset: int, length: int) -> bytes:
        """A line that was read before. Raises ReadError."""
        with self.readable():
            return os.pread(self._file, length, offset)

    def unread(self) -> bytes:
        """The beginning of what follows the lines that were read: an unfinished line, or none."""
        return self.line_at(self.end, 1 << 10)

    def append(self, lines: Callable[[], bytes]) -> None:
        """Append lines. Raises OSError, and then leaves the file as it was.

        lines: makes them, while no other process can append. They replace an unfinished line of
        a process that was killed.
        """
        with self.locked() as alone:
            content = lines()
            if alone:
                self.remove_unfinished()
            elif self.unread():
                content = b"\n" + content
            old = os.fstat(self._file).st_size
            try:
                while content:
                    content = content[os.write(self._file, content) :]
            except BaseException:
                if alone:
                    os.ftruncate(self._file, old)
                raise

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Keep other processes from appending; False on file systems without locks."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_SH if self._shared else fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            yield False
            return
        try:
            yield True
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def remove_unfinished(self) -> None:
        """Remove an unfinished line from the end of the file, which must be locked."""
        added = os.pread(self._file, os.fstat(self._file).st_size - self.end, self.end)
        if not added.endswith(b"\n"):
            os.ftruncate(self._file, self.end + added.rfind(b"\n") + 1)


class Entry(NamedTuple):
    """The line with the values of a run: where it is; the digest and the state of the file."""

    offset: int
    length: int
    digest: str
    state: list[int]


class Runs:
    """The entries of an evaluation: the newest of each file, and one for each digest."""

    def __init__(self) -> None:
        self.files: dict[str, Entry] = {}
        self.digests: dict[str, Entry] = {}
        self.sizes: set[int] = set()

    def add(self, file: str, entry: Entry, *, has_values: bool) -> None:
        """Add an entry, which is newer than those before it.

        A line without values has those of an earlier line with the same digest.
        """
        if not has_values:
            known = self.digests.get(entry.digest)
            if known is None:
                return
            entry = known._replace(state=entry.state)
        self.files[file] = self.digests[entry.digest] = entry
        self.sizes.add(entry.state[0])


class Store:
    """Scores of runs in a file with a line of JSON for each.

    evaluations: the descriptions of evaluations by group, in the order of the file. runs: the
    entries of each group. Both include what other processes have added when `read` was called.
    """

    def __init__(self, path: str, *, append: bool, warn: Callable[[str], None]) -> None:
        """Read a store. append: add to it, and create it if it does not exist.

        Raises ReadError, and InputError for another file and one of a newer version. Damaged lines
        are reported and ignored.
        """
        self.path = path
        self.evaluations: dict[str, dict[str, Any]] = {}
        self.runs: dict[str, Runs] = {}
        self._damaged: list[int] = []
        self._file = LineFile(path, append=append)
        self.read()
        if self._file.unread():
            with self._file.readable():
                self._settle_unfinished(remove=append, warn=warn)
        if self._damaged:
            first, *others = self._damaged
            more = f", and {len(others)} more" if others else ""
            warn(f"{path}:{first}: ignored a damaged line (wrong checksum){more}")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _settle_unfinished(self, *, remove: bool, warn: Callable[[str], None]) -> None:
        """Deal with an unfinished last line, unless it is being written."""
        with self._file.locked() as alone:
            self.read()
            rest = self._file.unread()
            if not rest:
                return
            if not self._file.lines and not START.startswith(rest) and not rest.startswith(START):
                raise self._other()
            if remove and alone:
                self._file.remove_unfinished()
        done = "removed" if remove and alone else "ignored"
        warn(f"{self.path}: {done} the unfinished last line of a process that was killed")

    def read(self) -> None:
        """Read the lines that were added since the last call. Raises ReadError, InputError."""
        for offset, line in self._file.new_lines():
            try:
                self._read_line(offset, line)
            except InputError:
                raise
            except DAMAGE:
                if self._file.lines == 1 and not line.startswith(START):
                    raise self._other() from None
                self._damaged.append(self._file.lines)

    def _read_line(self, offset: int, line: bytes) -> None:
        """Read a line, but for the values of a run. Raises DAMAGE, InputError."""
        head, values, _ = line.partition(VALUES)
        has_values = bool(values) and is_intact(line)
        record = json.loads(head + b"}" if has_values else line)
        family, version = record["schema"].split("/")
        if family != FAMILY:
            raise ValueError(family)
        if int(version) > int(VERSION):
            reason = f"{record['schema']} is newer than this version of fastrank; upgrade it"
            raise InputError(self.path, reason)
        if not has_values:
            record = read_line(line)
        group = record["group"]
        if "run" in record:
            entry = Entry(offset, len(line), record["run"], record["state"])
            runs = self.runs.setdefault(group, Runs())
            runs.add(str(record["file"]), entry, has_values=has_values or "values" in record)
        else:
            self.evaluations.setdefault(group, record)

    def _other(self) -> InputError:
        return InputError(self.path, "not a store of `fastrank eval --resume`")

    def scores(self, entry: Entry, evaluation: Evaluation) -> Scores:
        """The scores of an entry. Raises ReadError, also if its line has changed."""
        line = self._file.line_at(entry.offset, entry.length)
        try:
            return to_scores(read_line(line), evaluation)
        except DAMAGE:
            raise ReadError(self.path, "the file changed while it was read") from None

    def add(
        self,
        file: str,
        digest: str,
        state: list[int],
        scores: Scores | None,
        evaluation: Evaluation,
    ) -> None:
        """Add a run; without scores, it has those of a run with the same digest.

        Raises OSError, ReadError and InputError.
        """
        record = {
            "schema": SCHEMA, "group": evaluation.group, "run": digest, "file": file,
            "state": state, **(to_record(scores, evaluation) if scores else {}),
        }  # fmt: skip
        line = json_line(record) + b"\n"

        def lines() -> bytes:
            self.read()
            if evaluation.group in self.evaluations:
                return line
            return json_line(evaluation.to_record()) + b"\n" + line

        self._file.append(lines)
