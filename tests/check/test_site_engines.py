"""The rules about the whole site give what plain implementations give."""

from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st

from tests.check import site_models
from tests.check.site_models import Entry, Fault
from usp._check.entry_ids import EntryIds, EntryNotes
from usp._check.hreflang import HreflangSignatures
from usp._check.listing import UrlListing
from usp._check.partitions import hash64
from usp._check.return_links import ReturnLinks

SPELLINGS = st.sampled_from(
    [
        "https://example.org/a",
        "https://example.org/a/",
        "https://www.example.org/a",
        "http://example.org/A",
        "https://example.org/a/index.html",
        "https://example.org/?b=1&a=2",
        "https://example.org/?a=2&b=1",
        "https://example.org/",
        "https://example.org",
        "https://example.org/%C3%A9",
        "https://example.org/é",
    ]
)
PAGES = st.sampled_from([f"https://{host}.example/{n}" for host in "abc" for n in range(3)])
CODES = st.sampled_from(["en", "de", "EN", "fr", "x-default"])
ENTRIES = st.lists(
    st.tuples(PAGES, st.lists(st.tuples(CODES, PAGES), max_size=4)), min_size=1, max_size=8
)


def faulty_links(entries: Sequence[Entry]) -> set[Fault]:
    """What the engines find in the entries of one sitemap."""
    listing, signatures, ids = UrlListing(), HreflangSignatures(), EntryIds()
    ids.begin_sitemap()
    for url, alternates in entries:
        entry_id = ids.next()
        listing.add(url, entry_id)
        signatures.add(url, alternates, entry_id)
    suspects = EntryNotes(0, ids.count)
    for entry_id in signatures.suspects():
        suspects.add(entry_id)
    links = ReturnLinks(signatures)
    for entry_id, _ in suspects.in_order():
        links.add(*entries[entry_id], entry_id)
    texts = {hash64(href): href for _, alternates in entries for _, href in alternates}
    return {(link.fault, link.entry_id, texts[link.target]) for link in links.faults(listing)}


@given(st.lists(st.lists(SPELLINGS, max_size=6), max_size=4))
def test_repeated_urls_and_twins_are_found_exactly(sitemaps: list[list[str]]) -> None:
    listing, ids = UrlListing(), EntryIds()
    for urls in sitemaps:
        ids.begin_sitemap()
        for url in urls:
            listing.add(url, ids.next())
    found = set(listing.repeated(ids.sitemap_of))
    assert found == site_models.repeated([[(url, ()) for url in urls] for urls in sitemaps])


@given(ENTRIES)
@example(
    [  # two entries of one page, each in a whole cluster or nearly so
        ("https://a.example/0", [("en", "https://a.example/0"), ("de", "https://a.example/1")]),
        ("https://a.example/1", [("en", "https://a.example/0"), ("de", "https://a.example/1")]),
        ("https://a.example/0", [("de", "https://a.example/1"), ("fr", "https://a.example/2")]),
    ]
)
@example(
    [  # the host b is read after the entry that links to it
        ("https://a.example/0", [("en", "https://a.example/0"), ("de", "https://b.example/0")]),
        ("https://b.example/0", [("en", "https://a.example/0"), ("de", "https://b.example/0")]),
        ("https://b.example/1", [("fr", "https://c.example/0")]),
    ]
)
def test_faulty_links_are_found_exactly(entries: list[Entry]) -> None:
    assert faulty_links(entries) == site_models.faulty_links(entries)


@st.composite
def nearly_whole_clusters(draw: st.DrawFn) -> list[Entry]:
    """Clusters that are whole, but for a change here and there."""
    entries: list[Entry] = []
    for cluster in range(draw(st.integers(1, 3))):
        codes = ["en", "de", "fr", "es"][: draw(st.integers(1, 4))]
        pages = [(code, f"https://a.example/{code}/{cluster}") for code in codes]
        for _, url in pages:
            alternates = list(pages)
            if draw(st.integers(0, 5)) == 0:
                at = draw(st.integers(0, len(pages) - 1))
                changed = (draw(CODES), f"https://a.example/en/{draw(st.integers(0, 3))}")
                alternates[at : at + 1] = draw(st.sampled_from([[], [changed]]))
            entries.append((url, alternates))
    return draw(st.permutations(entries))


@given(nearly_whole_clusters())
def test_faults_in_nearly_whole_clusters_are_found_exactly(entries: list[Entry]) -> None:
    assert faulty_links(entries) == site_models.faulty_links(entries)
