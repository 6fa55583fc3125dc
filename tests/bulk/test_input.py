"""Lists of sites as they are found: which lines count, and what they name."""

import gzip
import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from usp.bulk import shards
from usp.bulk._input import InputLine, read_input
from usp.bulk._sites import NamedSite, SiteList
from usp.exceptions import UsageError

LISTS = {
    "plain": ("example.org\nexample.com\n", ["example.org", "example.com"]),
    "blank lines and comments": ("\n# mine\nexample.org\n  \n\t# more\n", ["example.org"]),
    "no line end": ("example.org", ["example.org"]),
    "Windows": ("\ufeffexample.org\r\nexample.com\r\n", ["example.org", "example.com"]),
    "Tranco": ("1,google.com\n2,example.org\n", ["google.com", "example.org"]),
    "Majestic": (
        "GlobalRank,TldRank,Domain,TLD,RefSubNets\n1,1,google.com,com,487\n2,1,x.org,org,9\n",
        ["google.com", "x.org"],
    ),
    "a rank and quotes": ('"1","google.com"\n"2","example.org"\n', ["google.com", "example.org"]),
    "Chrome UX Report": ("origin,rank\nhttps://www.x.org,1000\n", ["https://www.x.org"]),
    "a name with blanks": ("id;Domain_Name\n1;one.org\n", ["one.org"]),
    "a delimiter in quotes": ('"a,b,c,d";url\n"x,y";one.org\n', ["one.org"]),
    "tabs": ("name\turl\nOne\thttps://one.example/\n", ["https://one.example/"]),
    "a quote that is left open": ('id,domain\n1,"one.org\n2,two.org\n', ["one.org", "two.org"]),
    "a cell that is missing": ("id,domain\n7\n8,two.org\n", ["7", "two.org"]),
    "NULs": ("one.org\0\n\0\0\n\0two.org\n", ["one.org", "\0\0", "two.org"]),
    "nothing": ("", []),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_has_these_sites(name: str, tmp_path: Path) -> None:
    text, expected = LISTS[name]
    file = tmp_path / "list"
    file.write_bytes(text.encode())
    assert [line.text for line in read_input(file)] == expected


def test_the_number_of_a_line_is_that_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_text("# a comment\nid,Domain\n\n1,one.org\n2,two.org\n")
    assert list(read_input(file)) == [InputLine(4, "one.org"), InputLine(5, "two.org")]


COMPRESSED: dict[str, Callable[[bytes], bytes | bytearray]] = {
    "gzip": gzip.compress,
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
    "zip": lambda data: zipped(zipfile.ZIP_DEFLATED, content=data),
    "gzip in zip": lambda data: zipped(zipfile.ZIP_STORED, content=gzip.compress(data)),
    "two members": lambda data: gzip.compress(data[:8]) + gzip.compress(data[8:]),
    "plain": bytes,
}


@pytest.mark.parametrize("name", COMPRESSED)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_list_may_be_compressed_and_in_utf_16(name: str, encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "list"
    file.write_bytes(COMPRESSED[name]("one.org\r\ntwo.org\r\n".encode(encoding)))
    assert [line.text for line in read_input(file)] == ["one.org", "two.org"]


def test_the_charset_is_known_though_the_first_block_of_zstd_is_long(tmp_path: Path) -> None:
    hosts = [f"{random.Random(number).getrandbits(400):x}.org" for number in range(1000)]  # noqa: S311 -- the same in every run
    data = zstandard.ZstdCompressor().compress("\n".join(hosts).encode("utf-16"))
    (tmp_path / "list.zst").write_bytes(data)
    assert [line.text for line in read_input(tmp_path / "list.zst")] == hosts


def test_a_column_is_chosen_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_text("Company,Web page\nOne,one.org\n")
    assert [line.text for line in read_input(file, "web page")] == ["one.org"]
    with pytest.raises(UsageError, match="no column 'Domain'; there are Company, Web page"):
        list(read_input(file, "Domain"))


def test_a_list_that_cannot_be_read_is_one_clear_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(b"one.org\n" * 10_000)[:-20])
    for name in (tmp_path / "absent", broken):
        with pytest.raises(UsageError, match="can't be read"):
            list(read_input(name))


def test_a_table_of_another_format_is_no_list(tmp_path: Path) -> None:
    file = tmp_path / "domains.parquet"
    parquet.write_table(pa.table({"domain": ["one.org"]}), file)
    with pytest.raises(
        UsageError, match=r"domains.parquet can't be read: it is no text \(parquet\)"
    ):
        list(read_input(file))


HOSTS = b"".join(b"h%d.example\n" % number for number in range(5000))


def zipped(method: int, name: str = "list.csv", content: bytes = HOSTS) -> bytearray:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr(name, content)
    return bytearray(file.getvalue())


def gzip_with_a_flipped_bit() -> bytearray:
    data = bytearray(gzip.compress(HOSTS))
    data[10] ^= 1
    return data


def lzma_zip_with_flipped_bits() -> bytearray:
    data = zipped(zipfile.ZIP_LZMA)
    for at in range(100, 200):
        data[at] ^= 0xFF
    return data


def zip_with(local: int, central: int, value: int) -> bytearray:
    """A zip archive with another byte at these places of its two headers."""
    data = zipped(zipfile.ZIP_DEFLATED)
    data[local] = data[data.index(b"PK\1\2") + central] = value
    return data


def zip_with_a_damaged_name() -> bytearray:
    data = zipped(zipfile.ZIP_DEFLATED, "é.csv")
    data[data.rindex("é".encode())] = 0xFF
    return data


@pytest.mark.parametrize(
    ("damaged", "why"),
    [
        (gzip_with_a_flipped_bit, "it is not compressed like that"),
        (lzma_zip_with_flipped_bits, "Corrupt input data"),
        (lambda: zip_with(6, 8, 1), "it is encrypted"),
        (lambda: zip_with(8, 10, 99), "compression method is not supported"),
        (zip_with_a_damaged_name, "the name of a file in it is damaged"),
    ],
    ids=["gzip", "LZMA", "encrypted", "unknown method", "name"],
)
def test_a_damaged_list_is_one_clear_line(
    damaged: Callable[[], bytearray], why: str, tmp_path: Path
) -> None:
    file = tmp_path / "list"
    file.write_bytes(damaged())
    with pytest.raises(UsageError, match=f"list can't be read: .*{why}") as raised:
        list(read_input(file))
    assert "\n" not in str(raised.value)


def test_a_line_without_an_end_takes_no_memory_and_is_no_site(tmp_path: Path) -> None:
    file = tmp_path / "list"
    file.write_text(f"{'x' * 1_000_000}.org\none.org\n")
    long, short = read_input(file)
    assert len(long.text) < 200
    assert NamedSite.of(long.text) is None
    assert short == InputLine(2, "one.org")


@pytest.mark.parametrize(
    ("text", "name", "key", "domain"),
    [
        ("example.org", "example.org", "example.org/", "example.org"),
        ("Example.ORG/", "example.org", "example.org/", "example.org"),
        ("example.org.", "example.org", "example.org/", "example.org"),
        ("//example.org", "example.org", "example.org/", "example.org"),
        ('"example.org"', "example.org", "example.org/", "example.org"),
        ("https://example.org/a/b?c", "https://example.org/", "example.org/", "example.org"),
        ("http://example.org:80", "http://example.org/", "example.org/", "example.org"),
        ("www.a.co.uk", "www.a.co.uk", "www.a.co.uk/", "a.co.uk"),
        ("one.github.io", "one.github.io", "one.github.io/", "one.github.io"),
        ("münchen.de", "münchen.de", "xn--mnchen-3ya.de/", "xn--mnchen-3ya.de"),
        ("straße.de", "straße.de", "xn--strae-oqa.de/", "xn--strae-oqa.de"),  # not strasse.de
        ("127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1:8080/", "127.0.0.1"),
        ("[::1]:80", "[::1]", "::1/", "::1"),
        (
            "https://a.org/news-sitemap.xml?x=1",
            "https://a.org/news-sitemap.xml?x=1",
            "a.org/news-sitemap.xml?x=1",
            "a.org",
        ),
    ],
)
def test_a_line_names_a_site(text: str, name: str, key: str, domain: str) -> None:
    assert NamedSite.of(text) == NamedSite(name, key, domain)


@pytest.mark.parametrize(
    "text",
    [
        *("google", "", "a b.org", "ftp://a.org", "a..org", "/etc/passwd", "../x.xml", "-"),
        *("\\xff.org", "mailto:me@a.org", "a.org, b.org", "http://", "*.a.org", "http://[::1"),
    ],
)
def test_a_line_names_no_site(text: str) -> None:
    assert NamedSite.of(text) is None


def test_a_name_in_letters_and_the_same_in_punycode_are_one_site() -> None:
    names = ("bücher.example", "xn--bcher-kva.example", "https://BÜCHER.example./")
    assert len({site.key for name in names if (site := NamedSite.of(name))}) == 1


def test_all_hosts_of_a_registered_domain_are_in_one_shard() -> None:
    hosts = [f"{name}{number}.co.uk" for number in range(50) for name in ("a.x", "b.x", "x")]
    found = shards(hosts, 8)
    assert sorted(line for shard in found for line in shard.lines) == [
        InputLine(number, host) for number, host in enumerate(hosts, 1)
    ]
    assert sum(bool(shard.lines) for shard in found) == 8
    for shard in found:
        domains = [line.text.rpartition("x")[2] for line in shard.lines]
        assert all(domains.count(domain) == 3 for domain in domains)


@given(st.lists(st.text(max_size=30)), st.integers(1, 9))
def test_every_line_is_in_exactly_one_shard_whatever_it_is(texts: list[str], count: int) -> None:
    lines = [InputLine(number, text) for number, text in enumerate(texts)]
    listed = SiteList(lines, count)
    found = sorted(line.number for shard in listed for line in shard.lines)
    assert found == list(range(len(texts)))
    assert len(listed) == len(texts)
