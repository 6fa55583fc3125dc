"""Plain implementations of the rules about the whole site, which hold everything in memory."""

from collections import defaultdict
from collections.abc import Sequence
from urllib.parse import urlsplit

from usp._check.url_key import url_key

Entry = tuple[str, Sequence[tuple[str, str]]]
"""A URL, and its alternates: codes and URLs."""
Sitemaps = Sequence[Sequence[Entry]]
Fault = tuple[int, int, str]
"""The number of a code, the id of an entry, and the URL that it is about."""


def repeated(sitemaps: Sitemaps) -> set[tuple[int, int, bool]]:
    """Entries with a URL that was listed before: the id, the first id, whether it is a twin."""
    found = set()
    first_of_url: dict[str, int] = {}
    first_of_key: dict[str, int] = {}
    listed_in: dict[str, set[int]] = defaultdict(set)
    entry_id = 0
    for number, entries in enumerate(sitemaps):
        for url, _ in entries:
            if url not in first_of_url:
                if url_key(url) in first_of_key:
                    found.add((entry_id, first_of_key[url_key(url)], True))
                first_of_url[url] = entry_id
                first_of_key.setdefault(url_key(url), entry_id)
            elif number not in listed_in[url]:
                found.add((entry_id, first_of_url[url], False))
            listed_in[url].add(number)
            entry_id += 1
    return found


def faulty_links(entries: Sequence[Entry]) -> set[Fault]:
    """What is wrong with the links between all pages."""
    site = Links(entries)
    faults: set[Fault] = set()
    neighbours: dict[str, set[str]] = {url: {url} for url in site.listed}
    renamed = set()
    for entry_id, (url, alternates) in enumerate(entries):
        for code, href in alternates:
            if code.lower() == "x-default" or href == url:
                continue
            fault = site.fault(url, code.lower(), href)
            if fault:
                faults.add((fault, entry_id, href))
            if fault == 587:
                renamed.add(href)
            if url in site.targets[href]:
                neighbours[url].add(href)
                neighbours[href].add(url)
    for cluster in clusters(neighbours):
        if not cluster & renamed:
            faults |= conflicts(entries, cluster)
    return faults


class Links:
    """Who links to whom."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.listed = {url for url, _ in entries}
        self.hosts = {urlsplit(url).hostname for url in self.listed}
        self.targets: dict[str, set[str]] = defaultdict(set)
        self.defaults: dict[str, set[str]] = defaultdict(set)
        self.own_codes: dict[str, set[str]] = defaultdict(set)
        for url, alternates in entries:
            for code, href in alternates:
                is_default = code.lower() == "x-default"
                (self.defaults if is_default else self.targets)[url].add(href)
                if href == url and not is_default:
                    self.own_codes[url].add(code.lower())

    def fault(self, url: str, code: str, href: str) -> int | None:
        """What is wrong with a link to another page, if something is."""
        if urlsplit(href).hostname not in self.hosts:
            return None
        if href not in self.listed:
            return 586
        if url not in self.targets[href]:
            return None if url in self.defaults[href] else 583
        return 587 if self.own_codes[href] and code not in self.own_codes[href] else None


def clusters(neighbours: dict[str, set[str]]) -> list[set[str]]:
    """The sets of pages that are connected."""
    left = set(neighbours)
    found = []
    while left:
        cluster: set[str] = set()
        new = {left.pop()}
        while new:
            cluster |= new
            new = set().union(*(neighbours[url] for url in new)) - cluster
        left -= cluster
        found.append(cluster)
    return found


def conflicts(entries: Sequence[Entry], cluster: set[str]) -> set[Fault]:
    """The URLs that are not the first one for their code."""
    by_code: dict[str, dict[str, int]] = defaultdict(dict)
    for entry_id, (url, alternates) in enumerate(entries):
        if url in cluster:
            first: dict[str, str] = {}
            for code, href in alternates:
                first.setdefault(code.lower(), href)
            for code, href in first.items():
                by_code[code].setdefault(href, entry_id)
    return {
        (585, entry_id, href)
        for first_ids in by_code.values()
        for href, entry_id in list(first_ids.items())[1:]
    }
