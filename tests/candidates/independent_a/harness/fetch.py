"""The `fetch` tool: one GET."""

import http.client
from urllib.parse import urljoin, urlsplit

from harness.environment import ToolError


def to_text(html):
    from html.parser import HTMLParser

    class Text(HTMLParser):
        def __init__(self):
            super().__init__(convert_charrefs=True)
            self.out, self.skip = [], 0

        def handle_starttag(self, tag, attrs):
            self.skip += tag in ("script", "style")

        def handle_endtag(self, tag):
            self.skip -= tag in ("script", "style") and self.skip > 0

        def handle_data(self, data):
            if not self.skip:
                self.out.append(data)

    parser = Text()
    parser.feed(html)
    parser.close()
    return "".join(parser.out)


def fetch(url, allowed):
    for _ in range(11):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ToolError("only http and https addresses can be fetched: " + url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        try:
            connection = kind(parts.hostname, parts.port, timeout=30)
        except (ValueError, http.client.HTTPException):
            raise ToolError("bad http address: " + url) from None
        try:
            connection.request("GET", (parts.path or "/") + ("?" + parts.query if parts.query else ""),
                               headers={"User-Agent": "harness"})
            response = connection.getresponse()
            data = response.read(1000000)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ToolError("no answer from %s: %s" % (url, error)) from None
        finally:
            connection.close()
        status, location = response.status, response.headers.get("Location")
        if status in (301, 302, 303, 307, 308) and location:
            target = urljoin(url, location)
            if urlsplit(target).hostname != parts.hostname:
                refused = allowed(target)
                if refused:
                    return refused
            url = target
            continue
        if not 200 <= status <= 299:
            raise ToolError("status %d from %s" % (status, url))
        kind = response.headers.get_content_type()
        try:
            text = data.decode(response.headers.get_content_charset() or "utf-8", "replace")
        except LookupError:
            text = data.decode("utf-8", "replace")
        if b"\0" in data or kind.startswith(("image/", "audio/", "video/")) or kind == "application/octet-stream":
            raise ToolError("the body is not text")
        if kind in ("text/html", "application/xhtml+xml"):
            text = to_text(text)
        note = ""
        if len(text) > 30000:
            note = "\n[cut: 30000 of %d characters]" % len(text)
        return "status: %d\n%s%s" % (status, text[:30000], note)
    raise ToolError("too many redirects (http): " + url)
