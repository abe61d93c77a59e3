"""Get a web page as text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.types import Call, Context, ToolError

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse
    from urllib.parse import SplitResult

MOST_BYTES = 1_000_000
MOST_CHARACTERS = 30_000
MOST_REDIRECTS = 10
PATIENCE = 30.0  # seconds for the whole of it
_TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript", "application/xhtml")


class _Page(NamedTuple):
    status: int
    kind: str  # the content type, lower case, without its parameters
    charset: str
    data: bytes
    cut: bool
    location: str | None


def run(context: Context, arguments: dict[str, Any]) -> str:
    """The status and the text. A redirect to another host is a fetch of its own under the permission rules."""
    from urllib.parse import urljoin, urlsplit

    url = arguments["url"]
    deadline = time.monotonic() + PATIENCE
    for _ in range(MOST_REDIRECTS + 1):
        page = _get(context, url, deadline)
        if page.location is None:
            return _result(url, page)
        target = urljoin(url, page.location)
        if urlsplit(target).hostname != urlsplit(url).hostname:
            _settle(context, target)
        url = target
    raise ToolError(f"more than {MOST_REDIRECTS} redirects, the last to {url}")


def _settle(context: Context, url: str) -> None:
    """Return if `url` may be fetched; the user may be asked. ToolError if not."""
    from harness.approvals import settle

    _split(url)
    settle(context, Call("", "fetch", {"url": url}, ""))


def _split(url: str) -> SplitResult:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    except ValueError:
        pass
    raise ToolError(f"only http and https addresses can be fetched, not {url}")


def _get(context: Context, url: str, deadline: float) -> _Page:
    import http.client

    parts = _split(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=max(0.1, deadline - time.monotonic()))
    handle = context.cancel.on_set(lambda: _shut(connection))
    try:
        connection.request("GET", _path(parts), headers={"User-Agent": "harness", "Accept-Encoding": "identity"})
        return _read(connection, connection.getresponse(), deadline)
    except (OSError, ValueError, http.client.HTTPException) as error:
        context.cancel.check()
        why = f"no answer within {PATIENCE:g} s" if isinstance(error, TimeoutError) else str(error) or repr(error)
        raise ToolError(f"{url}: {why}") from None
    finally:
        context.cancel.forget(handle)
        connection.close()


def _path(parts: SplitResult) -> str:
    from urllib.parse import quote

    path = quote(parts.path or "/", safe="/%:=&~+!$,;'()*@")
    return path + ("?" + quote(parts.query, safe="/%:=&~+!$,;'()*@?[]") if parts.query else "")


def _read(connection: HTTPConnection, response: HTTPResponse, deadline: float) -> _Page:
    data = b""
    redirects = response.status in (301, 302, 303, 307, 308)
    location = response.getheader("Location") if redirects else None
    while location is None and len(data) <= MOST_BYTES:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if connection.sock is not None:
            connection.sock.settimeout(left)
        chunk = response.read1(65536)
        if not chunk:
            break
        data += chunk
    headers = response.headers
    kind = headers.get_content_type() if headers.get("Content-Type") else ""
    charset = headers.get_content_charset() or "utf-8"
    if headers.get("Content-Encoding", "identity").lower() != "identity":
        kind = "application/octet-stream"  # it is packed, though that was not asked for
    return _Page(response.status, kind, charset, data[:MOST_BYTES], len(data) > MOST_BYTES, location)


def _result(url: str, page: _Page) -> str:
    if not 200 <= page.status < 300:
        raise ToolError(f"{url}: status {page.status}")
    is_text = not page.kind or page.kind.startswith(_TEXT_TYPES) or page.kind.endswith(("+json", "+xml"))
    if not is_text or b"\0" in page.data:
        raise ToolError(f"{url}: the body is not text ({page.kind or 'no content type'})")
    try:
        text = page.data.decode(page.charset, "replace")
    except LookupError:
        text = page.data.decode("utf-8", "replace")
    if page.kind in ("text/html", "application/xhtml+xml"):
        from harness.html_text import text_of

        text = text_of(text)
    note = ""
    if page.cut or len(text) > MOST_CHARACTERS:
        note = f"\n[cut: the page is longer than {MOST_CHARACTERS} characters]"
        text = text[:MOST_CHARACTERS]
    return f"status: {page.status}\n{text}{note}"


def _shut(connection: HTTPConnection) -> None:
    """Wake whoever reads from the connection."""
    try:
        if connection.sock is not None:
            connection.sock.shutdown(2)
    except OSError:
        pass
