"""The schema of the tables: names and types are API."""

import pytest

from usp._tables.batch import Batch
from usp._tables.schema import PAGE_PARTS, TABLES, Column, ColumnType, table_named
from usp.exceptions import UsageError

CONTRACT = {
    "pages": "site url sitemap_url position lastmod lastmod_raw changefreq priority updated_at "
    "published_at title news_publication news_language news_genres news_keywords "
    "news_stock_tickers images videos alternates links",
    "sitemaps": "site url declared_url parent_url level position found_by kind state code reason "
    "http_status attempts redirects content_type content_encoding bytes_received bytes etag "
    "http_last_modified sha256 index_lastmod pages children complete fetched_at seconds",
    "problems": "site sitemap_url code name severity message line offset page_url count",
    "attempts": "site url stage result http_status code detail seconds at",
    "sites": "site homepage final_url outcome code complete limit started_at seconds requests "
    "bytes sitemaps sitemaps_failed pages problems robots_status robots_allows crawl_delay "
    "content_signal",
}


@pytest.mark.parametrize("name", CONTRACT)
def test_the_columns_of_a_table_keep_their_names_and_order(name: str) -> None:
    assert TABLES[name].names == tuple(CONTRACT[name].split())


@pytest.mark.parametrize("name", PAGE_PARTS)
def test_a_part_of_a_page_names_its_page_and_its_position(name: str) -> None:
    assert TABLES[name].names[:3] == ("sitemap_url", "page_url", "position")


def columns_in(columns: tuple[Column, ...]) -> list[Column]:
    return [one for column in columns for one in (column, *columns_in(column.fields))]


def test_every_column_is_explained_in_one_sentence_and_only_rows_have_fields() -> None:
    for table in TABLES.values():
        assert len(set(table.names)) == len(table.columns)
        for column in columns_in(table.columns):
            assert column.origin
            assert column.meaning.endswith((".", "…")), column
            assert bool(column.fields) == (column.type is ColumnType.ROWS), column


def test_some_columns_of_a_table_come_in_the_order_that_was_asked_for() -> None:
    assert table_named("pages").only(["title", "url"]).names == ("title", "url")
    assert table_named("pages").only(None) is TABLES["pages"]


@pytest.mark.parametrize("names", [["nope"], [], ["url", "url"]])
def test_a_wrong_choice_of_columns_is_rejected(names: list[str]) -> None:
    with pytest.raises(UsageError):
        table_named("pages").only(names)


def test_an_unknown_table_is_rejected_with_the_names_that_there_are() -> None:
    with pytest.raises(UsageError, match="the tables are pages, sitemaps"):
        table_named("page")


def test_a_batch_of_rows_has_null_for_what_a_row_lacks() -> None:
    table = table_named("attempts").only(["url", "http_status"])
    batch = Batch.of_rows(table, [{"url": "a", "http_status": 200}, {"url": "b"}])
    assert list(batch) == [("a", 200), ("b", None)]
