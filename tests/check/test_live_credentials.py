"""Live pages of a source whose URL has a user and password: its own pages get them, nobody else."""

import base64
from pathlib import Path

import pytest

import usp
from tests.check.source_pairs import page
from tests.cli.command import usp as command
from tests.server import Answer, Callback, Handler, LoopbackServer, redirect, urlset
from tests.servers import Certificate, TLSServer

LOGIN = f"Basic {base64.b64encode(b'me:pw').decode()}"
CHALLENGE = Answer(401, headers={"WWW-Authenticate": 'Basic realm="x"'})


def guarded(answer: Answer | bytes) -> Callback:
    def respond(handler: Handler) -> Answer | bytes:
        return answer if handler.headers.get("Authorization") == LOGIN else CHALLENGE

    return respond


def serve(server: LoopbackServer, other: LoopbackServer) -> str:
    """Serve a site behind a login that lists pages of two hosts; return its URL with the login."""
    elsewhere = other.at("page").replace("127.0.0.1", "localhost")
    pages = (server.at("page"), server.at("moved"), elsewhere)
    server.site = {
        "/robots.txt": guarded(f"Sitemap: {server.at('sitemap.xml')}\n".encode()),
        "/sitemap.xml": guarded(urlset(*pages)),
        "/page": guarded(page()),
        "/moved": redirect(other.at("page")),
    }
    server.otherwise = guarded(Answer(404))
    other.site["/page"] = page()
    return server.url.replace("//", "//me:pw@")


def sent(server: LoopbackServer, path: str = "/page") -> list[str | None]:
    return [r.headers.get("authorization") for r in server.requests if r.path == path]


def test_the_login_of_the_source_goes_to_its_own_pages_only(server: LoopbackServer) -> None:
    with LoopbackServer() as other:
        url = serve(server, other)
        with usp.check(url, live="all", select=["SM906"], max_attempts=1) as stream:
            found = [*stream]
        assert sent(server) == [LOGIN]
        assert set(sent(other)) == {None}
    assert "pw" not in repr(found)
    assert not any("127.0.0.1" in str(one) and "/page" in str(one) for one in found)


def test_an_image_with_a_login_of_its_own_gets_that(server: LoopbackServer) -> None:
    with LoopbackServer() as other:
        url = serve(server, other)
        image = server.at("picture").replace("//", "//bob:own@")
        namespace = "http://www.google.com/schemas/sitemap-image/1.1"
        listed = (
            f'<image:image xmlns:image="{namespace}"><image:loc>{image}</image:loc></image:image>'
        )
        document = urlset(server.at("page")).replace(b"</url>", f"{listed}</url>".encode())
        server.site["/sitemap.xml"] = guarded(document)
        with usp.check(url, live="all", max_attempts=1) as stream:
            found = [*stream]
        own = f"Basic {base64.b64encode(b'bob:own').decode()}"
        assert set(sent(server, "/picture")) == {own}
    assert "own@" not in repr(found)


def test_the_command_shows_the_login_nowhere_and_replays_without_it(
    server: LoopbackServer, tmp_path: Path
) -> None:
    with LoopbackServer() as other:
        url = serve(server, other)
        file = str(tmp_path / "site.warc.gz")
        options = ("--live=all", "--allow-private", "--max-attempts", "1", "--select", "SM9")
        made = command("check", url, *options, "--record", file)
        assert sent(server) == [LOGIN]
    assert "401" not in made.out
    assert "pw" not in made.out + made.err
    count = len(server.requests)
    replayed = command("check", url, *options, "--replay", file)
    assert (replayed.code, replayed.out) == (made.code, made.out)
    assert len(server.requests) == count


@pytest.mark.parametrize("source", ["site", "file"])
def test_a_cookie_set_over_https_does_not_go_to_a_live_page_over_http(
    server: LoopbackServer,
    secure: TLSServer,
    certificate: Certificate,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate.file))
    moved = {"Set-Cookie": "sid=SECRET; Path=/", "Location": secure.at("next")}
    listed = urlset(secure.at("page"))
    secure.otherwise = 404
    secure.site = {
        "/robots.txt": f"Sitemap: {secure.at('sitemap.xml')}\n",
        "/sitemap.xml": listed,
        "/page": Answer(302, headers=moved),
        "/next": redirect(server.at("page")),
    }
    server.site["/page"] = page()
    (tmp_path / "sitemap.xml").write_bytes(listed)
    checked = tmp_path / "sitemap.xml" if source == "file" else secure.url
    with usp.check(
        checked, live="all", select=["SM9"], allow_private=True, max_attempts=1
    ) as stream:
        assert [*stream]
    sent = [one.headers.get("cookie") for one in secure.requests if one.path == "/next"]
    assert sent == ["sid=SECRET"]
    assert [one.headers.get("cookie") for one in server.requests] == [None]
