"""`triathlon view`: what it serves, to whom, and that it follows the store."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from triathlon.report.view import Viewer


class Site:
    """A store of a number and a site that shows it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.rows = folder, 1

    def write(self) -> None:
        self.folder.mkdir(exist_ok=True)
        (self.folder / "index.html").write_text(f"<html><body>{self.rows} rows</body></html>")
        (self.folder / "style.css").write_text("body {}")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "site")


@pytest.fixture
def viewer(site: Site) -> Iterator[Viewer]:
    made = Viewer(site.folder, site.write, lambda: site.rows)
    thread = threading.Thread(target=made.serve, args=(0.01,))
    thread.start()
    yield made
    made.close()
    thread.join(10)
    assert not thread.is_alive()


def get(viewer: Viewer, path: str, host: str | None = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=10)
    connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{viewer.port}"})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def test_pages_reload_themselves_and_files_are_as_they_are(viewer: Viewer, site: Site) -> None:
    status, body = get(viewer, "/")
    assert status == 200 and "1 rows" in body and "/.stamp" in body
    assert "/.stamp" not in (site.folder / "index.html").read_text()
    assert get(viewer, "/style.css") == (200, "body {}")
    assert get(viewer, "/nothing.html")[0] == 404


def test_when_the_store_grows_the_site_is_written_again(viewer: Viewer, site: Site) -> None:
    assert get(viewer, "/.stamp") == (200, "0")
    site.rows = 2
    for _ in range(500):
        if get(viewer, "/.stamp")[1] == "1":
            break
    assert "2 rows" in get(viewer, "/index.html")[1]


def test_other_names_and_paths_outside_are_refused(viewer: Viewer, site: Site) -> None:
    (site.folder.parent / "secret.html").write_text("secret")
    assert get(viewer, "/", host="evil.example:80")[0] == 403
    for path in ("/../secret.html", "/%2e%2e/secret.html", "//secret.html"):
        assert "secret" not in get(viewer, path)[1].replace("secret.html", "")
