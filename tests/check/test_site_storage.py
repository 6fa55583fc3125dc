"""What the rules about a whole site keep: on disk beyond a few MiB, and never left behind."""

import gc
import signal
import subprocess
import sys
import tracemalloc
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

import usp
from tests.open_files import open_files
from tests.server import LoopbackServer, urlset
from usp._check.disjoint_sets import DisjointSets
from usp._check.entry_ids import EntryIds, EntryNotes
from usp._check.hreflang import HreflangSignatures
from usp._check.listing import UrlListing
from usp._check.listing_rules import EntryText
from usp._check.partitions import COUNT, Partitions
from usp._check.return_links import LinkFault, ReturnLinks
from usp._check.spooled import SpooledRows

NAMESPACES = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)
WRITES_AND_WAITS = """
import sys
from usp._check.partitions import Partitions
records = Partitions(2)
for number in range(100_000):
    records.add(number % 4, number, number)
print("written", flush=True)
sys.stdin.read()
"""


def files_without_names() -> int:
    """How many files this process has open that no folder has."""
    return sum(name.endswith(" (deleted)") for name in open_files())


def test_records_come_back_by_partition_in_the_order_in_which_they_were_added() -> None:
    records = Partitions(2, block=100)
    for number in range(1000):
        records.add(number % 3, number, 2**64 - 1 - number)
    assert list(records.records(1)) == [(n, 2**64 - 1 - n) for n in range(1, 1000, 3)]
    assert records.read(2)[0::2].tolist() == list(range(2, 1000, 3))
    assert records.is_empty(COUNT - 1)
    records.close()
    assert all(records.is_empty(partition) for partition in range(COUNT))


def test_a_file_is_needed_only_where_a_block_is_full_and_closed_in_the_end() -> None:
    before = files_without_names()
    records = Partitions(1, block=8 * 1000)
    for number in range(999):
        records.add(0, number)
    assert files_without_names() == before
    records.add(0, 999)
    assert files_without_names() == before + 1
    assert records.read(0).tolist() == list(range(1000))
    records.close()
    assert files_without_names() == before


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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits of this kind")
def test_a_full_disk_is_a_clear_error(tmp_path: Path) -> None:
    line = f'ulimit -f 100; exec "{sys.executable}" -c "$1"'
    done = subprocess.run(
        ["/bin/sh", "-c", line, "sh", WRITES_AND_WAITS],
        capture_output=True,
        check=False,
        env={"TMPDIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
    )
    error = done.stderr.decode().splitlines()[-1]
    assert error.startswith("usp.exceptions.StorageError: Data can't be kept in a temporary file")


def test_a_check_that_is_closed_early_closes_its_files(server: LoopbackServer) -> None:
    server.robots("a.xml", "b.xml")
    server.site["/a.xml"] = urlset(*(server.at(str(n)) for n in range(1000)))
    server.site["/b.xml"] = server.site["/a.xml"]
    before = files_without_names()
    with usp.check(server.url) as findings:
        while next(findings).sitemap_url != server.at("a.xml"):
            pass
        assert files_without_names() > before
    assert files_without_names() == before


def test_entries_are_found_by_their_ids() -> None:
    texts = SpooledRows(EntryText)
    for n in range(2000):
        texts.add(f"rest of {n}", (("en", f"/{n}"),) if n % 7 else ())
    for entry_id in (0, 511, 512, 1999, *range(1990, 0, -37)):
        entry = texts.at(entry_id)
        assert entry.rest == f"rest of {entry_id}"
        assert entry.alternates == ((("en", f"/{entry_id}"),) if entry_id % 7 else ())
    texts.close()


def test_notes_come_in_the_order_of_entries_and_each_only_once() -> None:
    notes = EntryNotes(1, 1000)
    for entry_id in (999, 3, 500, 3, 0, 3):
        notes.add(entry_id, entry_id + 1)
    notes.add(3, 7)
    assert list(notes.in_order()) == [
        (0, [(1,)]),
        (3, [(4,), (7,)]),
        (500, [(501,)]),
        (999, [(1000,)]),
    ]


def test_ids_know_their_sitemaps_also_empty_ones() -> None:
    ids = EntryIds()
    for entries in (2, 0, 3):
        ids.begin_sitemap()
        for _ in range(entries):
            ids.next()
    assert [ids.sitemap_of(entry_id) for entry_id in range(5)] == [0, 0, 2, 2, 2]


def test_sets_are_joined_and_their_marks_stay() -> None:
    sets = DisjointSets(array("Q", [2, 3, 5, 7, 11]))
    sets.mark(7)
    for one, other in ((2, 5), (7, 11), (11, 5)):
        sets.join(one, other)
    assert len({sets.set_of(each) for each in (2, 5, 7, 11)}) == 1
    assert sets.is_marked(sets.set_of(2))
    assert not sets.is_marked(sets.set_of(3))


LONG = 20_000


def file_with(folder: Path, entries: str) -> Path:
    file = folder / "sitemap.xml"
    file.write_text(f"<urlset {NAMESPACES}>{entries}</urlset>", encoding="utf-8")
    return file


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loc", "content"),
    [
        ("https://example.org/{n}", lambda n: "<image:image/>" * (1000 + n)),
        ("https://{n}" + "a" * LONG, lambda _: ""),
        (
            "https://example.org/{n}",
            lambda n: f'<xhtml:link rel="alternate" hreflang="{n}{"a" * LONG}" href="/"/>',
        ),
    ],
    ids=["shapes", "hosts", "languages"],
)
def test_entries_unlike_any_other_leave_nothing_in_memory(
    tmp_path: Path, loc: str, content: Callable[[int], str]
) -> None:
    list(usp.check(file_with(tmp_path, "<url/>")))  # imports, and what is kept once
    entries = "".join(f"<url><loc>{loc.format(n=n)}</loc>{content(n)}</url>" for n in range(60))
    file = file_with(tmp_path, entries)
    tracemalloc.start()
    try:
        with usp.check(file, select=["SM350", "SM362", "SM560", "SM580"]) as findings:
            assert list(findings)
        del findings
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 500_000


@pytest.mark.slow
def test_a_site_that_is_one_cluster_is_never_in_memory_at_once() -> None:
    count = 20_000
    listing, signatures = UrlListing(), HreflangSignatures()
    links = ReturnLinks(signatures)
    urls = [f"https://example.org/{n}" for n in range(count)]
    for at, url in enumerate(urls):  # each links to the one before it, and to the next one
        listing.add(url, at)
        signatures.add(url, (), at)
        near = range(max(at - 1, 0), min(at + 2, count))
        links.add(url, [("de" if n % 2 else "en", urls[n]) for n in near], at)
    tracemalloc.start()
    try:
        faults = links.faults(listing)
        assert [next(faults).fault, *{fault.fault for fault in faults}] == [LinkFault.CONFLICT] * 2
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        for files in (listing, signatures, links):
            files.close()
    assert peak < 400 * count  # 130, most of it in blocks that are not full; 900 if sorted at once
