"""What the rules about a whole site keep: on disk beyond a few MiB, and never left behind."""

import signal
import subprocess
import sys
import tempfile
from array import array
from pathlib import Path

import pytest

import usp
from tests.server import LoopbackServer, urlset
from usp._check import partitions
from usp._check.disjoint_sets import DisjointSets
from usp._check.entry_texts import EntryTexts
from usp._check.partitions import COUNT, Partitions
from usp._check.places import PlaceNotes, Places
from usp._store import Spool
from usp.exceptions import StorageError

WRITES_AND_WAITS = """
import sys
from usp._check.partitions import Partitions
records = Partitions(2)
for number in range(100_000):
    records.add(number % 4, number, number)
print("written", flush=True)
sys.stdin.read()
"""


def test_records_come_back_by_partition_in_the_order_in_which_they_were_added(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(partitions, "_BLOCK", 100)
    records = Partitions(2)
    for number in range(1000):
        records.add(number % 3, number, 2**64 - 1 - number)
    assert list(records.records(1)) == [(n, 2**64 - 1 - n) for n in range(1, 1000, 3)]
    assert records.read(2)[0::2].tolist() == list(range(2, 1000, 3))
    assert records.is_empty(COUNT - 1)
    records.close()
    assert all(records.is_empty(partition) for partition in range(COUNT))


def test_a_few_records_need_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", pytest.fail)
    records = Partitions(1)
    for number in range(1000):
        records.add(0, number)
    assert len(records.read(0)) == 1000


@pytest.mark.skipif(sys.platform == "win32", reason="there, open files have names")
def test_nothing_is_left_behind_by_a_process_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITES_AND_WAITS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"TMPDIR": str(tmp_path)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        assert list(tmp_path.iterdir()) == []
        process.send_signal(signal.SIGKILL)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_a_clear_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    records = Partitions(1)
    with pytest.raises(StorageError, match="can't be kept in a temporary file"):
        add_many(records)


def add_many(records: Partitions) -> None:
    for number in range(100_000):
        records.add(0, number)


def test_a_check_that_is_closed_early_closes_its_files(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "_BLOCK", 16)
    spools: list[Spool] = []

    def spool() -> Spool:
        spools.append(Spool())
        return spools[-1]

    monkeypatch.setattr(partitions, "Spool", spool)
    server.robots("a.xml", "b.xml")
    server.site["/a.xml"] = urlset(*(server.at(str(n)) for n in range(100)))
    server.site["/b.xml"] = server.site["/a.xml"]
    with usp.check(server.url) as findings:
        while next(findings).sitemap_url != server.at("a.xml"):
            pass
    assert spools
    assert all(spool._file.closed for spool in spools)


def test_entries_are_found_by_their_places() -> None:
    texts = EntryTexts()
    for n in range(2000):
        texts.add(f"https://example.org/{n}", n, None, [("en", f"/{n}")] if n % 7 else ())
    for place in (0, 511, 512, 1999, *range(1990, 0, -37)):
        entry = texts.at(place)
        assert (entry.url, entry.line) == (f"https://example.org/{place}", place)
        assert entry.alternates == ((("en", f"/{place}"),) if place % 7 else ())
    texts.close()


def test_notes_come_in_the_order_of_places_and_each_only_once() -> None:
    notes = PlaceNotes(1, 1000)
    for place in (999, 3, 500, 3, 0, 3):
        notes.add(place, place + 1)
    notes.add(3, 7)
    assert list(notes.in_order()) == [
        (0, [(1,)]),
        (3, [(4,), (7,)]),
        (500, [(501,)]),
        (999, [(1000,)]),
    ]


def test_places_know_their_sitemaps_also_empty_ones() -> None:
    places = Places()
    for entries in (2, 0, 3):
        places.begin_sitemap()
        for _ in range(entries):
            places.next()
    assert [places.sitemap_of(place) for place in range(5)] == [0, 0, 2, 2, 2]


def test_sets_are_joined_and_their_marks_stay() -> None:
    sets = DisjointSets(array("Q", [2, 3, 5, 7, 11]))
    sets.mark(7)
    for one, other in ((2, 5), (7, 11), (11, 5)):
        sets.join(one, other)
    assert len({sets.set_of(each) for each in (2, 5, 7, 11)}) == 1
    assert sets.is_marked(sets.set_of(2))
    assert not sets.is_marked(sets.set_of(3))
