"""A build folder: checked as the site would serve it, and nothing outside of it is read."""

import gzip
import os
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.check.documents import NOW, urlset
from tests.check.documents import index as index_of
from usp._check.folder import BuildFolder
from usp.exceptions import UsageError

BASE = "https://example.org/"
PAGE = "<html><head><title>A</title>{}</head><body><p>Text</p></body></html>"


def site(folder: Path, *paths: str, **files: str) -> None:
    """Write a folder whose sitemap lists these paths; files are given by their names."""
    entries = (f"<loc>{BASE}{path}</loc><lastmod>2026-11-01</lastmod>" for path in paths)
    (folder / "robots.txt").write_text(f"User-agent: *\nSitemap: {BASE}sitemap.xml\n")
    (folder / "sitemap.xml").write_text(urlset(*entries))
    for name, text in files.items():
        (folder / f"{name}.html").write_text(text)


def check(folder: Path, base_url: str = BASE, **options: Any) -> list[usp.Occurrence]:
    found: list[usp.Occurrence] = []
    chosen: dict[str, Any] = {"now": NOW, **options}
    with usp.check(folder, base_url=base_url, on_occurrence=found.append, **chosen) as stream:
        list(stream)
    return found


def codes(folder: Path, **options: Any) -> list[str]:
    return [one.code for one in check(folder, **options)]


def test_a_folder_that_is_right_has_no_finding(tmp_path: Path) -> None:
    site(tmp_path, "", "a", index=PAGE.format(""), a=PAGE.format(""))
    assert codes(tmp_path) == []


def test_what_is_listed_must_be_built_and_what_is_built_must_be_listed(tmp_path: Path) -> None:
    site(tmp_path, "", "gone", index=PAGE.format(""), new=PAGE.format(""))
    found = [(one.code, one.url, one.line) for one in check(tmp_path)]
    assert found == [("SM920", f"{BASE}gone", 4), ("SM921", f"{BASE}new.html", None)]


@pytest.mark.parametrize(
    "text",
    [
        PAGE.format('<meta name="robots" content="noindex">'),
        PAGE.format(f'<link rel="canonical" href="{BASE}">'),
        PAGE.format('<meta http-equiv="refresh" content="0; url=/">'),
    ],
    ids=["noindex", "canonical", "forwards"],
)
def test_what_need_not_be_listed_is_no_finding(tmp_path: Path, text: str) -> None:
    site(tmp_path, "", index=PAGE.format(""), new=text)
    (tmp_path / "404.html").write_text(PAGE.format(""))
    assert codes(tmp_path) == []


def test_what_robots_txt_disallows_need_not_be_listed(tmp_path: Path) -> None:
    site(tmp_path, "", index=PAGE.format(""), private=PAGE.format(""))
    robots = f"User-agent: *\nDisallow: /private\nSitemap: {BASE}sitemap.xml\n"
    (tmp_path / "robots.txt").write_text(robots)
    assert codes(tmp_path) == []


def test_pages_of_the_folder_are_judged_like_live_ones(tmp_path: Path) -> None:
    texts = {
        "index": PAGE.format(""),
        "hidden": PAGE.format('<meta name="robots" content="noindex">'),
        "other": PAGE.format(f'<link rel="canonical" href="{BASE}">'),
        "empty": "<html><body></body></html>",
        "newer": PAGE.format('<meta property="og:updated_time" content="2026-12-24">'),
    }
    site(tmp_path, "", "hidden", "other", "empty", "newer", **texts)
    assert codes(tmp_path) == ["SM904", "SM905", "SM910", "SM908"]


def test_a_named_file_that_is_not_there_is_found_where_it_is_named(tmp_path: Path) -> None:
    site(tmp_path, "", index=PAGE.format(""))
    (tmp_path / "robots.txt").write_text(f"Sitemap: {BASE}index.xml\nSitemap: {BASE}gone.xml\n")
    (tmp_path / "index.xml").write_text(
        index_of(f"<loc>{BASE}sitemap.xml</loc>", f"<loc>{BASE}b.xml</loc>")
    )
    found = {(one.sitemap_url, one.url, one.line) for one in check(tmp_path, select=["SM662"])}
    assert found == {
        (f"{BASE}robots.txt", f"{BASE}gone.xml", 2),
        (f"{BASE}index.xml", f"{BASE}b.xml", 4),
    }
    assert "SM101" not in codes(tmp_path)


def test_a_sitemap_that_nothing_names_is_found(tmp_path: Path) -> None:
    site(tmp_path, "", index=PAGE.format(""))
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "sitemap-old.xml").write_text(urlset(f"<loc>{BASE}</loc>"))
    found = [one.sitemap_url for one in check(tmp_path, select=["SM661"])]
    assert found == [f"{BASE}maps/sitemap-old.xml"]


def test_what_is_on_other_hosts_is_undecided_and_not_fetched(tmp_path: Path) -> None:
    site(tmp_path, "", index=PAGE.format(""))
    robots = "Sitemap: https://cdn.example.net/sitemap.xml\n"
    (tmp_path / "robots.txt").write_text(f"Sitemap: {BASE}sitemap.xml\n{robots}")
    (occurrence,) = check(tmp_path, select=["SM1", "SM66", "SM75"])
    assert occurrence.code == "SM750"
    assert occurrence.detail.endswith("not checked: https://cdn.example.net/sitemap.xml")


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("", "index.html"),
        ("a.html", "a.html"),
        ("a", "a.html"),
        ("blog/", "blog/index.html"),
        ("blog", "blog/index.html"),
        ("blog/?page=2#top", "blog/index.html"),
        ("packed.xml", "packed.xml.gz"),
        ("caf%C3%A9", "café.html"),
        ("a/", None),
        ("nothing", None),
        ("../secret.html", None),
        ("%2e%2e/secret.html", None),
        ("..%2fsecret.html", None),
        ("blog/..%5c..%5csecret.html", None),
        ("a.html%00.txt", None),
        ("//etc/passwd", None),
        ("link.html", None),
        ("inside.html", "inside.html"),
        ("linked/secret.html", None),
        ("loop.html", None),
        ("pipe", None),
    ],
)
def test_urls_lead_to_files_of_the_folder_only(tmp_path: Path, path: str, file: str | None) -> None:
    root = tmp_path / "public"
    (root / "blog").mkdir(parents=True)
    (tmp_path / "secret.html").write_text("secret")
    for name in ("index.html", "a.html", "blog/index.html", "café.html"):
        (root / name).write_text(PAGE)
    (root / "packed.xml.gz").write_bytes(gzip.compress(b"<urlset/>"))
    (root / "link.html").symlink_to(tmp_path / "secret.html")
    (root / "inside.html").symlink_to(root / "a.html")
    (root / "linked").symlink_to(tmp_path)
    (root / "loop.html").symlink_to(root / "loop.html")
    os.mkfifo(root / "pipe")
    folder = BuildFolder.of(root, BASE)
    found = folder.file_for(BASE + path)
    assert (found.relative_to(root).as_posix() if found else None) == file
    assert folder.file_for(f"https://other.example/{path}") is None


def test_a_folder_may_be_served_below_a_path(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(PAGE)
    (tmp_path / "sitemap.xml").write_text(
        urlset(f"<loc>{BASE}docs/</loc>", f"<loc>{BASE}other</loc>", f"<loc>{BASE}docs/x</loc>")
    )
    found = check(tmp_path, f"{BASE}docs", select=["SM92"])
    assert [(one.code, one.url) for one in found] == [("SM920", f"{BASE}docs/x")]


def test_compressed_sitemaps_are_read(tmp_path: Path) -> None:
    site(tmp_path, index=PAGE.format(""))
    text = (
        (tmp_path / "sitemap.xml")
        .read_text()
        .replace("</urlset>", f"<url><loc>{BASE}x</loc></url></urlset>")
    )
    (tmp_path / "sitemap.xml").unlink()
    (tmp_path / "sitemap.xml.gz").write_bytes(gzip.compress(text.encode()))
    assert "SM920" in codes(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "public"}, "base_url must be the HTTP"),
        ({"base_url": BASE, "live": 5}, "live and twice need a network"),
        ({"base_url": BASE, "twice": True}, "live and twice need a network"),
    ],
)
def test_wrong_use_gives_one_clear_line(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        usp.check(tmp_path, **options)
    with pytest.raises(UsageError, match="is no folder"):
        usp.check(tmp_path / "sitemap.xml", base_url=BASE)
