"""The file of a store: a line of JSON for each run, which several processes append."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from contextlib import contextmanager
from typing import NamedTuple

from fastrank.errors import FormatError, InputError, ReadError
from fastrank.formats.source import is_url, name_of
from fastrank.results_store.records import SCHEMA, is_intact, json_line, to_scores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from fastrank.measures.selection import BoundMeasure
    from fastrank.scores.scores import Scores

# What file systems without locks report.
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
FAMILY, VERSION = SCHEMA.split("/")
# How every line begins; and how the values of a run do, which follow what is known of its file.
START = f'{{"schema":"{FAMILY}/'.encode()
VALUES = b',"tag":'


class Entry(NamedTuple):
    """The line of a run: its number, where it is; the digest and the state of the run's file."""

    number: int
    offset: int
    length: int
    digest: str
    state: list[int]


class Store:
    """Scores of runs in a file with a line of JSON for each.

    Lines are appended whole, by one write to the end of the file while it is locked. A process that
    is killed leaves at most one unfinished line, at the end.

    evaluations: by group what the first line says of the evaluation, in the order of the file.
    runs: the newest entry of each file, by group. contents: the newest entry by group and digest.
    sizes: those of all files. All include what other processes have added when `read` was called.
    """

    def __init__(self, path: str, *, append: bool, warn: Callable[[str], None]) -> None:
        """Read a store. append: add to it, and create it if it does not exist.

        Raises ReadError; InputError for another file, one of a newer version, and damaged lines.
        """
        self.path, self._append = path, append
        self.evaluations: dict[str, dict[str, Any]] = {}
        self.runs: dict[str, dict[str, Entry]] = {}
        self.contents: dict[tuple[str, str], Entry] = {}
        self.sizes: set[int] = set()
        # The end of the last line that was read, and the number of lines up to there.
        self._end, self._lines = 0, 0
        if is_url(path):
            reason = "expected a local file, to which several processes may append"
            raise ReadError(name_of(path), reason)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT if append else os.O_RDONLY
        with self._readable():
            # Opening a pipe would wait for its other end.
            self._file = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
            mode = os.fstat(self._file).st_mode
        try:
            if not stat.S_ISREG(mode):
                reason = "is a directory" if stat.S_ISDIR(mode) else "not a regular file"
                raise ReadError(path, reason)
            # An unfinished line is being written unless the file is locked here.
            with self._readable(), self._locked():
                self.read()
                if self._remove_unfinished():
                    done = "removed" if append else "ignored"
                    warn(f"{path}: {done} the unfinished last line of a process that was killed")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def read(self) -> None:
        """Read the lines that were added since the last call. Raises ReadError, InputError."""
        with self._readable(), open(self._file, "rb", closefd=False) as file:
            file.seek(self._end)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._read_line(line[:-1])
                self._end += len(line)

    def scores(self, entry: Entry, measures: list[BoundMeasure]) -> Scores:
        """The scores of an entry. Raises ReadError, and InputError if its line has changed."""
        with self._readable():
            line = os.pread(self._file, entry.length, entry.offset)
        return to_scores(self._checked(line, entry.number, line), measures)

    def add(self, record: dict[str, Any]) -> None:
        """Append the line of a run; without values, it has those of the same content.

        Raises OSError, and then leaves the file as it was.
        """
        content = json_line(record) + b"\n"
        with self._locked():
            self.read()
            self._remove_unfinished()
            old = os.fstat(self._file).st_size
            try:
                while content:
                    content = content[os.write(self._file, content) :]
            except BaseException:
                os.ftruncate(self._file, old)
                raise

    def _read_line(self, line: bytes) -> None:
        """Read a line, but for the values of a run."""
        self._lines += 1
        head, values, _ = line.partition(VALUES)
        record = self._checked(line, self._lines, head + b"}" if values else line)
        group, digest, state = record["group"], record["run"], record["state"]
        entry = Entry(self._lines, self._end, len(line), digest, state)
        if not values:
            known = self.contents.get((group, digest))
            if known is None:
                return
            entry = known._replace(state=state)
        self.evaluations.setdefault(group, record)
        self.runs.setdefault(group, {})[record["file"]] = self.contents[group, digest] = entry
        self.sizes.add(state[0])

    def _checked(self, line: bytes, number: int, wanted: bytes) -> dict[str, Any]:
        """The record of what is wanted of a line. Raises InputError unless the line is intact."""
        if not line.startswith(START):
            if number == 1:
                raise self._other()
        elif (version := line[len(START) :].partition(b'"')[0]) != VERSION.encode():
            shown = f"{FAMILY}/{version.decode(errors='replace')}"
            reason = f"{shown} is newer than this version of fastrank; upgrade it"
            raise InputError(self.path, reason)
        elif is_intact(line):
            return json.loads(wanted)  # type: ignore[no-any-return]
        reason = "damaged (wrong checksum); remove the line, and its run is evaluated again"
        raise FormatError(self.path, number, reason)

    def _remove_unfinished(self) -> bool:
        """Whether there is an unfinished line; it is removed. The file must be locked."""
        rest = os.pread(self._file, len(START), self._end)
        if not rest:
            return False
        if not self._lines and not START.startswith(rest):
            raise self._other()
        if self._append:
            os.ftruncate(self._file, self._end)
        return True

    def _other(self) -> InputError:
        return InputError(self.path, "not a store of `fastrank eval --resume`")

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Raise ReadError for an OSError."""
        try:
            yield
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ReadError(self.path, reason) from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other processes from appending, where the file system has locks."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX if self._append else fcntl.LOCK_SH)
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            yield
            return
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)
