"""What doesn't count: select, ignore, ignores of sitemaps with an expiry, baselines."""

import json
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.check.documents import NOW, PAGE, dated, findings_of, url, urlset
from usp._check.baseline import MAX_KEYS, Baseline
from usp._check.url_key import url_key
from usp.exceptions import UsageError

FAULTY = url("<changefreq>daily</changefreq>", loc="https://example.org/a#b").replace(
    "2026-11-01", "2026-1-1"
)
"""It has SM357, SM451 and SM462."""


def codes(document: str, folder: Path, **options: Any) -> list[str]:
    return sorted(finding.code for finding in findings_of(document, folder, **options))


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({}, ["SM357", "SM451", "SM462"]),
        ({"select": ["SM4"]}, ["SM451", "SM462"]),
        ({"select": ["SM4"], "ignore": ["SM451"]}, ["SM462"]),
        ({"select": ["SM451"], "ignore": ["SM4"]}, ["SM451"]),
        ({"ignore": ["SM4"]}, ["SM357"]),
        ({"ignore": ["sm3", "SM45"]}, ["SM462"]),
        ({"select": ["SM4"], "ignore": ["SM4"]}, []),
    ],
)
def test_the_longest_prefix_decides(
    options: dict[str, object], left: list[str], tmp_path: Path
) -> None:
    assert codes(FAULTY, tmp_path, **options) == left


def test_rules_of_an_engine_count_only_for_that_engine(tmp_path: Path) -> None:
    document = url(loc=f"https://example.org/{'a' * 1024}")
    assert codes(document, tmp_path) == []
    assert codes(document, tmp_path, engine=["yandex"]) == ["SM351"]
    assert codes(document, tmp_path, select=["SM351"]) == ["SM351"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"select": ["SM99"]}, "select must have codes such as SM350.*there is no rule 'SM99'"),
        ({"ignore": ["E501"]}, "ignore must have codes"),
        ({"engine": ["altavista"]}, "engine must be google or bing or yandex or baidu"),
        ({"min_pages": 0}, "min_pages must be"),
        ({"per_sitemap_ignore": ["SM4"]}, "per_sitemap_ignore must be like"),
        ({"per_sitemap_ignore": ["SM4 * until never"]}, "per_sitemap_ignore must be like"),
        ({"now": NOW.replace(tzinfo=None)}, "now must be a time with a time zone"),
        ({"baseline": "no/such/file"}, "baseline no/such/file can't be read"),
    ],
)
def test_wrong_arguments_give_one_clear_line(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        usp.check("https://example.org/", **options)  # type: ignore[arg-type]  # wrong on purpose


def test_an_ignore_counts_for_its_sitemaps_until_its_day(tmp_path: Path) -> None:
    ignore = "SM451,SM357 */sitemap.xml until 2026-11-17"
    assert codes(FAULTY, tmp_path, per_sitemap_ignore=[ignore]) == ["SM462"]
    expired = ignore.replace("2026-11-17", "2026-11-16")
    found = findings_of(FAULTY, tmp_path, per_sitemap_ignore=[expired])
    assert sorted(f.code for f in found) == ["SM357", "SM451", "SM462", "SM751"]
    (stale,) = (f for f in found if f.code == "SM751")
    assert stale.examples[0].detail == f"the ignore has expired: {expired}"


def test_an_ignore_that_matches_nothing_is_reported(tmp_path: Path) -> None:
    found = findings_of(FAULTY, tmp_path, per_sitemap_ignore=["SM451 */other.xml"])
    (stale,) = (f for f in found if f.code == "SM751")
    assert (stale.severity, stale.sitemap_url) == ("warning", None)


def test_a_baseline_covers_what_is_known_and_reports_what_is_gone(tmp_path: Path) -> None:
    baseline, file = Baseline(), tmp_path / "known.json"
    findings_of(dated("2026-1-1", "2026-1-2"), tmp_path, on_occurrence=baseline.add)
    baseline.write(file)
    assert codes(dated("2026-1-1", "2026-1-2"), tmp_path, baseline=file) == []
    moved = urlset(
        f"<loc>{PAGE}9</loc><lastmod>2026-1-1</lastmod>",
        f"<loc>{PAGE}0/</loc><lastmod>2026-1-1</lastmod>",
    )
    found = {f.code: f for f in findings_of(moved, tmp_path, baseline=file)}
    assert sorted(found) == ["SM451", "SM751"]
    assert [example.url for example in found["SM451"].examples] == [f"{PAGE}9"]
    assert [example.url for example in found["SM751"].examples] == [url_key(f"{PAGE}1")]


def test_many_known_occurrences_are_a_ceiling(tmp_path: Path) -> None:
    baseline, file = Baseline(), tmp_path / "known.json"
    many = dated(*["2026-1-1"] * (MAX_KEYS + 1))
    findings_of(many, tmp_path, on_occurrence=baseline.add, ignore=["SM457"])
    baseline.write(file)
    (row,) = json.loads(file.read_text())["known"]
    assert (row["code"], row["count"]) == ("SM451", MAX_KEYS + 1)
    assert codes(many, tmp_path, baseline=file, ignore=["SM457"]) == []
    longer = dated(*["2026-1-1"] * (MAX_KEYS + 3))
    more = findings_of(longer, tmp_path, baseline=file, ignore=["SM457"])
    assert [(f.code, f.count) for f in more] == [("SM451", 2)]
    assert codes(dated("2026-01-01"), tmp_path, baseline=file) == ["SM751"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"schema_version": 2, "known": []}', "{]"])
def test_a_file_that_is_no_baseline_gives_one_clear_line(content: str, tmp_path: Path) -> None:
    (tmp_path / "known.json").write_text(content)
    with pytest.raises(UsageError, match="baseline"):
        usp.check("https://example.org/", baseline=tmp_path / "known.json")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("https://example.org/a", "http://www.example.org/A/"),
        ("https://example.org/a/index.html", "https://example.org/a"),
        ("https://example.org/?a=1&b=2", "https://example.org/?b=2&a=1"),
        ("https://example.org:443/", "https://EXAMPLE.org"),
    ],
)
def test_spellings_of_one_page_have_one_key(one: str, two: str) -> None:
    assert url_key(one) == url_key(two)


def test_other_pages_have_other_keys() -> None:
    urls = [
        "https://example.org/a",
        "https://example.org/b",
        "https://example.org/a?b",
        "http://[",
        "x",
    ]
    assert len({url_key(url) for url in urls}) == len(urls)
