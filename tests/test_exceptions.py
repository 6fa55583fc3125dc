"""The exceptions of the library: one tree, whose leaves are also the builtins that fit."""

from pathlib import Path

import pytest

import usp
from usp import exceptions
from usp._store import Store
from usp.exceptions import SitemapException, StorageError, UsageError, UspError
from usp.helpers import strip_url_to_homepage


@pytest.mark.parametrize(
    ("exception", "bases"),
    [
        (UsageError, (ValueError, SitemapException, UspError)),
        (StorageError, (OSError, SitemapException, UspError)),
        (exceptions.StripURLToHomepageException, (UsageError, ValueError, SitemapException)),
        (exceptions.FetchError, (UspError,)),
        (exceptions.AddressRefusedError, (exceptions.FetchError,)),
        (exceptions.ConnectionDroppedError, (exceptions.FetchError,)),
        (exceptions.DeadlineError, (exceptions.FetchError,)),
        (exceptions.CancelledFetchError, (exceptions.FetchError,)),
        (exceptions.GunzipException, (UspError,)),
        (exceptions.NoWebClientException, (UspError,)),
        (exceptions.SitemapXMLParsingException, (UspError,)),
    ],
)
def test_an_exception_is_caught_by_its_bases(
    exception: type[UspError], bases: tuple[type[Exception], ...]
) -> None:
    for base in bases:
        with pytest.raises(base):
            raise exception("message")


@pytest.mark.parametrize("caught", [ValueError, UsageError, SitemapException, UspError])
def test_a_wrong_argument_raises_a_usage_error_that_is_a_value_error(
    caught: type[Exception],
) -> None:
    for wrong in (
        lambda: usp.Policy(max_attempts=0),
        lambda: usp.sitemap_tree_for_homepage("foo"),
        lambda: usp.iter_pages("foo"),
        lambda: usp.Crawl("foo"),
        lambda: strip_url_to_homepage("foo"),
    ):
        with pytest.raises(caught) as error:
            wrong()
        assert "\n" not in str(error.value)


def test_a_wrong_argument_is_no_storage_error() -> None:
    with pytest.raises(UsageError) as error:
        usp.Policy(max_attempts=0)
    assert not isinstance(error.value, OSError)


@pytest.mark.parametrize("caught", [OSError, StorageError, SitemapException, UspError])
def test_a_missing_temporary_directory_raises_a_storage_error_that_is_an_os_error(
    caught: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(caught, match="can't be kept in a temporary file") as error:
        Store().keep([bytes(1_000_000)])
    assert not isinstance(error.value, ValueError)
    assert isinstance(error.value.__cause__, FileNotFoundError)
