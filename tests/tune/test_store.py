from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest

from superopt.errors import UserError
from superopt.tune import store as module
from superopt.tune.record import Record
from superopt.tune.store import Store
from tests.conftest import ROOT
from tests.tune.records import FAILED
from tests.tune.records import KEY
from tests.tune.records import MACHINE
from tests.tune.records import TIMED
from tests.tune.records import timed

# Adds records FIRST, FIRST + 1, ..., and says the number of each one that is in the store.
WRITER = """
import sys
from pathlib import Path
from superopt.tune.store import Store
from tests.tune.records import timed
path, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
with Store(path) as store:
    for number in range(first, first + count):
        store.add(timed(number))
        print(number, flush=True)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs" / "timings.db"


def filled(path, count=10):
    with Store(path) as store:
        for number in range(count):
            store.add(timed(number))
    return path


def writer(path, first, count):
    """A process that adds records once it is told to."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(first), str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def start(process):
    process.stdin.write("\n")
    process.stdin.flush()


def test_what_was_added_is_there_when_it_is_opened_again(path):
    records = [timed(3), Record(KEY, TIMED, "2026"), timed(1)]
    with Store(path) as store:
        assert store.all() == []
        for record in records:
            store.add(record)
    with Store(path) as store:
        assert store.all() == records
        store.add(timed(2))
    with Store(path) as store:
        assert len(store.all()) == 4
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_the_latest_record_of_a_key_counts(path):
    with Store(path) as store:
        assert store.find(KEY) is None
        store.add(Record(KEY, replace(FAILED, error=None), "2026-01-01"))
        store.add(Record(KEY, TIMED, "2026-01-02"))
        store.add(timed(1))
        assert store.find(KEY) == Record(KEY, TIMED, "2026-01-02")
        assert store.find(replace(KEY, mode="eager")) is None
        assert len(store.all()) == 3


def test_a_near_record_has_all_that_is_asked_for(path):
    other = replace(MACHINE, gpu="NVIDIA A100")
    with Store(path) as store:
        for record in (
            timed(1),
            timed(2, sizes=(("m", 1), ("n", 1))),
            timed(3, graph="g2"),
            timed(4, dtype="fp16"),
            timed(5, machine=other),
            timed(6, machine=replace(MACHINE, driver="999.1")),
        ):
            store.add(record)

        def found(**wanted):
            return [int(r.outcome.figures.us) for r in store.near(**wanted)]

        assert found(program="p1", graph="g1", dtype="bf16", machine=MACHINE) == [1, 2, 6]
        assert found(graph="g2") == [3]
        assert found(dtype="fp16", machine=MACHINE) == [4]
        assert found(machine=other) == [5]
        assert found() == [1, 2, 3, 4, 5, 6]
        assert found(program="none") == []


def test_two_processes_write_to_one_store(path):
    """Both create it at the same time as well."""
    count = 40
    writers = [writer(path, first, count) for first in (0, 1000)]
    for process in writers:
        start(process)
    for process in writers:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert len(out.split()) == count
    with Store(path) as store:
        found = [int(r.outcome.figures.us) for r in store.all()]
    assert sorted(found) == [*range(count), *range(1000, 1000 + count)]
    for first in (0, 1000):  # each in its own order
        assert [n for n in found if first <= n < first + count] == [*range(first, first + count)]


@pytest.mark.parametrize("after", [1, 7, 20])
def test_a_killed_process_loses_nothing_that_it_was_told_of(path, after):
    process = writer(path, 0, 100_000)
    start(process)
    said = [int(process.stdout.readline()) for _ in range(after)]
    process.send_signal(signal.SIGKILL)
    said += [int(line) for line in process.stdout if line.endswith("\n")]
    assert process.wait(timeout=30) == -signal.SIGKILL
    process.stdout.close()
    process.stdin.close()
    with Store(path) as store:
        found = [int(r.outcome.figures.us) for r in store.all()]
        assert found == [*range(len(found))]
        assert len(said) <= len(found) <= len(said) + 1  # at most the one in flight
        store.add(timed(7))
        assert len(store.all()) == len(found) + 1


def refused(path, words):
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(UserError, match=words):
        Store(path)
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize("share", [0.999, 0.5, 0.1])
def test_a_truncated_store_is_refused(path, share):
    data = filled(path).read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    refused(path, "the store is damaged: .*left as it is")


def test_the_first_bytes_of_a_store_are_refused(path):
    path.write_bytes(filled(path).read_bytes()[:50])
    refused(path, "damaged: only 50 bytes are left")


def test_any_flipped_byte_of_a_record_is_found(path):
    data = filled(path).read_bytes()
    place = data.index(b"580.95.05")
    for offset in range(0, 9, 4):
        changed = bytearray(data)
        changed[place + offset] ^= 1
        path.write_bytes(changed)
        refused(path, "damaged: record [0-9]+ is not what was written")


def test_flipped_bytes_of_the_file_are_found_or_do_not_matter(path):
    """A byte that no page uses may change; every record is then as it was."""
    data = filled(path, 10).read_bytes()
    with Store(path) as store:
        expected = store.all()
    found = 0
    for place in range(0, len(data), 97):
        changed = bytearray(data)
        changed[place] ^= 0xFF
        path.write_bytes(changed)
        try:
            with Store(path) as store:
                assert store.all() == expected
        except UserError:
            found += 1
    assert found > len(data) / 97 / 8


def test_a_missing_record_is_found(path):
    base = sqlite3.connect(filled(path, 3), isolation_level=None)
    base.execute("drop trigger records_keep")
    base.execute("delete from records where id = 2")
    refused(path, "its tables are not those of a store")
    base.execute(next(s for s in module._statements(module._TABLES) if "records_keep" in s))
    base.close()
    refused(path, "record 2 is missing")


@pytest.mark.parametrize(
    "statement",
    [
        "delete from records",
        "update records set gpu = 'x'",
        "insert or replace into records select * from records where id = 1",
    ],
)
def test_records_are_only_added(path, statement):
    base = sqlite3.connect(filled(path, 2), isolation_level=None)
    with pytest.raises(sqlite3.IntegrityError, match="records are never"):
        base.execute(statement)
    base.close()


def database(path, *statements):
    path.parent.mkdir()
    base = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        base.execute(statement)
    base.close()


def test_files_of_others_are_refused(path, tmp_path):
    database(path, "create table t (x)")
    refused(path, "a database of another program")
    text = tmp_path / "notes.txt"
    text.write_text("mine")
    refused(text, "is no store of superopt; it is left as it is")
    refused(tmp_path, "is a directory")
    refused(text / "timings.db", "no store can be written there")


def test_a_store_of_another_schema_is_refused(path):
    base = sqlite3.connect(filled(path, 1), isolation_level=None)
    base.execute("pragma user_version = 9")
    base.close()
    refused(path, "a store of schema 9, this superopt reads 1")


def test_an_empty_file_becomes_a_store(path):
    path.parent.mkdir()
    path.touch()
    assert filled(path, 1).stat().st_size > 0


def test_a_writer_that_does_not_end_is_said(path, monkeypatch):
    filled(path, 1)
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.05)
    with Store(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("begin immediate")
        with pytest.raises(UserError, match="another process has been writing"):
            store.add(timed(1))
        other.execute("rollback")
        other.close()
        store.add(timed(1))
        assert len(store.all()) == 2
