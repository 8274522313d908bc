"""The store of measured times: one file of records that are added and never changed.

A file is an SQLite database in the mode with a rollback journal: a record is on the disk when
``add`` returns, a process that dies leaves only what it had added, and writers wait for each
other. A file that is not such a store, or is damaged, is refused and left as it is.
"""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from superopt.closing import Closing
from superopt.errors import UserError
from superopt.tune.record import Key
from superopt.tune.record import Machine
from superopt.tune.record import Record
from superopt.tune.record import from_text
from superopt.tune.record import to_text

SCHEMA = 1
APPLICATION = 0x73757054  # marks the file as a store of superopt ("supT")
WAIT_SECONDS = 60.0  # for another writer
_MAGIC = b"SQLite format 3\0"
_TABLES = """
create table records (
    id integer primary key,
    key text not null,
    program text not null,
    graph text not null,
    dtype text not null,
    gpu text not null,
    record text not null,
    sha256 text not null
);
create index records_key on records (key);
create index records_graph on records (graph);
create trigger records_keep before delete on records
    begin select raise(abort, 'records are never deleted'); end;
create trigger records_hold before update on records
    begin select raise(abort, 'records are never changed'); end;
create trigger records_last before insert on records
    when new.id in (select id from records)
    begin select raise(abort, 'records are never replaced'); end;
"""


class Store(Closing):
    """The records of one file, which is created if there is none.

    Every record of an existing file is checked when it is opened.

    Raises:
        UserError: the file is no store, of another schema, damaged, or cannot be used. Nothing
            of it is changed. ``add`` and the queries raise it for what happens later.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        exists = _look(path)
        with self._speaking():
            self._base = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
        try:
            with self._speaking():
                self._base.execute("pragma synchronous = extra")
                if not exists:
                    self._create()
                self._check()
        except BaseException:
            self._base.close()
            raise

    def close(self) -> None:
        """Ends the use of the file."""
        self._base.close()

    def add(self, record: Record) -> None:
        """Adds ``record``; it survives the death of this process once this returns."""
        key, text = record.key, to_text(record)
        with self._speaking(), self._alone():
            (last,) = self._base.execute("select coalesce(max(id), 0) from records").fetchone()
            row = (last + 1, key.digest, key.program, key.graph, key.dtype, key.machine.gpu, text)
            self._base.execute(
                "insert into records values (?, ?, ?, ?, ?, ?, ?, ?)", (*row, _seal(*row))
            )

    def find(self, key: Key) -> Record | None:
        """The latest record of ``key``."""
        found = list(self._rows("where key = ? order by id desc limit 1", key.digest))
        return found[0] if found else None

    def near(
        self,
        *,
        program: str | None = None,
        graph: str | None = None,
        dtype: str | None = None,
        machine: Machine | None = None,
    ) -> list[Record]:
        """The records with all that is given, oldest first: where another search may start.

        Of ``machine`` only the GPU counts: a start need not be exact, a time is measured again.
        """
        wanted = {"program": program, "graph": graph, "dtype": dtype}
        wanted["gpu"] = machine.gpu if machine else None
        given = {column: value for column, value in wanted.items() if value is not None}
        condition = " and ".join(f"{column} = ?" for column in given) or "true"
        return list(self._rows(f"where {condition} order by id", *given.values()))

    def all(self) -> list[Record]:
        """Every record, oldest first."""
        return list(self._rows("order by id"))

    def _rows(self, rest: str, *values: str) -> Iterator[Record]:
        with self._speaking():
            rows = self._base.execute(f"select * from records {rest}", values).fetchall()
        for row in rows:
            yield self._read(row)

    def _read(self, row: tuple[int, str, str, str, str, str, str, str]) -> Record:
        *content, seal = row
        if _seal(*content) != seal:
            raise self._damaged(f"record {row[0]} is not what was written")
        try:
            return from_text(row[6])
        except ValueError as error:
            raise self._damaged(f"record {row[0]}: {error}") from error

    def _create(self) -> None:
        with self._alone():  # another process may have been first
            if self._base.execute("select count(*) from sqlite_master").fetchone() != (0,):
                return
            self._base.execute(f"pragma application_id = {APPLICATION}")
            self._base.execute(f"pragma user_version = {SCHEMA}")
            for statement in _statements(_TABLES):
                self._base.execute(statement)

    def _check(self) -> None:
        """Whether the whole file is as it was written."""
        problems = [text for (text,) in self._base.execute("pragma integrity_check(3)")]
        if problems != ["ok"]:
            raise self._damaged("; ".join(p.replace("\n", " ") for p in problems))
        have = self._base.execute("select sql from sqlite_master where sql is not null")
        if {_words(sql) for (sql,) in have} != {_words(sql) for sql in _statements(_TABLES)}:
            raise self._damaged("its tables are not those of a store")
        rows = self._base.execute("select * from records order by id").fetchall()
        for number, row in enumerate(rows, 1):
            if row[0] != number:
                raise self._damaged(f"record {number} is missing")
            self._read(row)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One transaction, in which no other process writes; undone if anything fails."""
        self._base.execute("begin immediate")
        try:
            yield
            self._base.execute("commit")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("rollback")
            raise

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """Errors of the database in words."""
        try:
            yield
        except UnicodeDecodeError as error:  # text of a damaged file, also in error messages
            raise self._damaged(str(error)) from error
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise self._damaged(str(error)) from error
            if code == sqlite3.SQLITE_BUSY:
                raise UserError(
                    f"{self._path}: another process has been writing for {WAIT_SECONDS:.0f} s; "
                    "wait for it, or name another store"
                ) from error
            raise UserError(f"{self._path}: the store cannot be used: {error}") from error

    def _damaged(self, what: str) -> UserError:
        return UserError(
            f"{self._path}: the store is damaged: {what}; it is left as it is: put a copy of it "
            "in its place, or move it away and begin a new one"
        )


def _look(path: Path) -> bool:
    """Whether there is a store at ``path``; an empty file is none, and may become one.

    The first bytes are read without the database library, which could already change a file
    of another program (it would complete or undo what a dead process of it had begun).

    Raises:
        UserError: there is something else, or nothing can be made there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise UserError(f"{path}: is a directory; a store is one file")
        with path.open("a+b") as file:
            file.seek(0)
            start = file.read(100)
        if not path.is_file():
            raise UserError(f"{path}: is no ordinary file; a store is one")
    except OSError as error:
        raise UserError(f"{path}: no store can be written there: {error.strerror}") from error
    if not start:
        return False
    other = "; it is left as it is: name another file for the store"
    if not start.startswith(_MAGIC):
        raise UserError(f"{path}: is no store of superopt{other}")
    if len(start) < 100:
        raise UserError(f"{path}: the store is damaged: only {len(start)} bytes are left{other}")
    (schema,) = struct.unpack_from(">I", start, 60)
    (application,) = struct.unpack_from(">I", start, 68)
    if application != APPLICATION:
        raise UserError(f"{path}: is a database of another program{other}")
    if schema != SCHEMA:
        raise UserError(f"{path}: a store of schema {schema}, this superopt reads {SCHEMA}{other}")
    return True


def _seal(*content: object) -> str:
    """The hash of one row, of which the number is a part."""
    return hashlib.sha256("\n".join(map(str, content)).encode()).hexdigest()


def _statements(text: str) -> list[str]:
    """The statements of ``text``, in which every statement begins on a line of its own."""
    found, lines = [], list[str]()
    for line in text.strip().splitlines():
        lines.append(line)
        if sqlite3.complete_statement("\n".join(lines)):
            found.append("\n".join(lines))
            lines = []
    return found


def _words(sql: str) -> str:
    """``sql`` without what SQLite does not keep of it."""
    return " ".join(sql.lower().rstrip("; \n").split())
