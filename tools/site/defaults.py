"""One page with every default: of the policy, the functions, the web clients and the options.

The values come from the policy, the signatures and the table of options; the meanings from their
docstrings and help texts.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from tests.package_files import public_objects
from tools.site.docstrings import as_markdown, parameters_of
from usp import Policy, bulk
from usp._check.choices import CheckChoices
from usp._sync.options import SyncChoices
from usp.bulk._options import CLIENT_SETTINGS, LIMITS_OF_A_SITE, BulkOptions
from usp.cli._arguments import COMMANDS
from usp.cli._change_options import SYNC_OPTIONS
from usp.cli._check_options import CHECK_OPTIONS
from usp.cli._crawl_options import CRAWL_OPTIONS
from usp.cli._options import SHARED, Destination, Option
from usp.web_client import ClientSettings
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

PLACE: Final = "reference/defaults.md"

MODULES: Final = ("usp", "usp.aio", "usp.bulk")
"""The modules whose functions people call."""
CLIENTS: Final[tuple[tuple[str, type], ...]] = (
    ("RequestsWebClient", RequestsWebClient),
    ("AioWebClient", AioWebClient),
)

_INTRO: Final = """\
# Every default

What is used where you say nothing. An option of the command that has no row of its own here takes
the default of the keyword that it stands for.
"""


def pages() -> dict[str, str]:
    """Return the page by its path in the site."""
    return {PLACE: "\n".join(_lines()) + "\n"}


def _lines() -> Iterator[str]:
    yield _INTRO
    yield from _choices(
        "The policy: limits and options of a crawl",
        "Each is a field of `usp.Policy`, and a keyword of every function that crawls.",
        Policy,
        _flags(option for option in SHARED if option.target is Destination.POLICY),
    )
    yield from _choices(
        "The client that a crawl makes",
        "Each is a keyword of every function that crawls, unless it is given a `web_client`.",
        ClientSettings,
        _flags(option for option in SHARED if option.target is Destination.CLIENT),
    )
    yield from _choices(
        "Changes since the last run",
        "Each is a keyword of `usp.sync` and `usp.aio.sync`, beside the fields of the policy.",
        SyncChoices,
        _flags(SYNC_OPTIONS),
    )
    yield from _choices(
        "Checks",
        "Each is a keyword of `usp.check`, beside the fields of the policy.",
        CheckChoices,
        _flags(CHECK_OPTIONS),
    )
    yield from _many_sites()
    yield from _functions()
    yield from _clients()
    yield from _commands()


def _choices(
    title: str, sentence: str, choices: "type[DataclassInstance]", flags: Mapping[str, str]
) -> Iterator[str]:
    yield from (f"## {title}", "", sentence, "")
    yield "| field | default | option | what it is |"
    yield "|---|---|---|---|"
    meanings = parameters_of(choices)
    for field in fields(choices):
        option = f"`{flags[field.name]}`" if field.name in flags else ""
        yield f"| `{field.name}` | {shown(field.default)} | {option} | {meanings[field.name]} |"
    yield ""


def _many_sites() -> Iterator[str]:
    """Yield what a crawl of a list of sites has, and what it has instead of other defaults."""
    flags, meanings = _flags(CRAWL_OPTIONS), parameters_of(bulk.crawl)
    policy = BulkOptions.of({"user_agent": "https://example.org/"}).policy
    own = {one.name: one.default for one in fields(BulkOptions) if one.name in meanings}
    limits = {name: getattr(policy, field) for name, field in LIMITS_OF_A_SITE.items()}
    yield from ("## Many sites", "")
    yield "Each is a keyword of `usp.bulk.crawl` and `usp.bulk.crawl_shard`."
    yield from ("", "| field | default | option | what it is |", "|---|---|---|---|")
    for name, value in (own | limits).items():
        if value is not MISSING and name != "policy":
            option = f"`{flags[name]}`" if name in flags else ""
            yield f"| `{name}` | {shown(value)} | {option} | {meanings[name]} |"
    yield from (
        "",
        "A crawl of many sites has these defaults instead of those of the policy and the client:",
    )
    yield from ("", "| field | for many sites | else |", "|---|---|---|")
    usual = Policy()
    for field in fields(Policy):
        value, other = getattr(policy, field.name), getattr(usual, field.name)
        if value != other and field.name not in {"robots_agent", *LIMITS_OF_A_SITE.values()}:
            yield f"| `{field.name}` | {shown(value)} | {shown(other)} |"
    of_client = inspect.signature(AioWebClient).parameters
    for name, value in CLIENT_SETTINGS.items():
        yield f"| `{name}` | {shown(value)} | {shown(of_client[name].default)} |"
    yield ""


def _flags(options: Iterable[Option]) -> dict[str, str]:
    """Return the long option that stands for each keyword of the library."""
    return {option.keyword or option.dest: option.flags[-1] for option in options}


def _functions() -> Iterator[str]:
    yield "## Functions"
    for name, function in _called():
        yield from ("", f"### `{name}`", "")
        yield from _parameters(function)


def _called() -> Iterator[tuple[str, FunctionType]]:
    """Yield the functions that have a default."""
    for name, value in public_objects():
        if name.rpartition(".")[0] in MODULES and isinstance(value, FunctionType):
            parameters = inspect.signature(value).parameters.values()
            if any(parameter.default is not parameter.empty for parameter in parameters):
                yield name, value


def _clients() -> Iterator[str]:
    yield from ("", "## Web clients")
    for name, client in CLIENTS:
        yield from ("", f"### `{name}`", "")
        yield from _parameters(client)


def _parameters(called: Callable[..., Any]) -> Iterator[str]:
    yield "| keyword | default | what it is |"
    yield "|---|---|---|"
    documented = parameters_of(called) | parameters_of(getattr(called, "__init__", None))
    for parameter in inspect.signature(called).parameters.values():
        if parameter.default is not inspect.Parameter.empty:
            meaning = documented.get(parameter.name, "")
            yield f"| `{parameter.name}` | {shown(parameter.default)} | {meaning} |"


def _commands() -> Iterator[str]:
    yield from ("", "## Options of the command", "")
    yield "Options whose help names a default. [Commands](commands/index.md) has all options."
    yield ""
    yield "| command | option | what it does, and its default |"
    yield "|---|---|---|"
    owners = [("all that fetch", SHARED), *((f"usp {one.name}", one.own) for one in COMMANDS)]
    for owner, options in owners:
        for option in options:
            if "default" in option.help:
                yield f"| {owner} | `{option.flags[-1]}` | {as_markdown(option.help)} |"


def shown(value: object) -> str:
    """Return a default as it stands in a table."""
    if value is None or value in ((), frozenset()):
        return "none"
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1000:  # noqa: PLR2004
        return f"{value:,}"
    return f"`{value!r}`"
