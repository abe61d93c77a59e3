"""`triathlon view`: the site on loopback, written again when the store has grown, and reloaded by the page."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

STAMP = "/.stamp"
RELOADER = b"""<script>
(function () {
  let first = null;
  setInterval(() => fetch("/.stamp", { cache: "no-store" }).then((r) => r.text()).then((stamp) => {
    if (first === null) first = stamp;
    else if (stamp !== first) location.reload();
  }, () => {}), 2000);
})();
</script>"""


class Viewer:
    """Serves a folder on 127.0.0.1. `write` makes the site; it is called again when `state` gives another value."""

    def __init__(self, folder: Path, write: Callable[[], object], state: Callable[[], object], port: int = 0) -> None:
        """Write the site once and listen; OSError if the port is taken."""
        self._write, self._state = write, state
        self._seen = state()
        write()
        self._version = 0
        self._over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, self, directory=str(folder)))
        self.port = int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}/index.html"

    @property
    def stamp(self) -> str:
        """Changes with every writing."""
        return str(self._version)

    def look(self) -> bool:
        """Write the site again if the store has changed; whether it has."""
        now = self._state()
        if now == self._seen:
            return False
        self._seen = now
        self._write()
        self._version += 1
        return True

    def serve(self, every_s: float = 2.0) -> None:
        """Serve until `close` or Ctrl-C, looking at the store in between, in this thread."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        thread.start()
        try:
            while not self._over.wait(every_s):
                self.look()
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()

    def close(self) -> None:
        """End `serve`."""
        self._over.set()


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, viewer: Viewer, *given: object, directory: str) -> None:
        self.viewer = viewer
        super().__init__(*given, directory=directory)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        # Another site's page may not read this one through a name that it has pointed here.
        host = self.headers.get("Host", "").rpartition(":")[0]
        if host not in ("127.0.0.1", "localhost"):
            self.send_error(403, "this server answers to 127.0.0.1 only")
            return
        path = urlsplit(self.path).path
        if path == STAMP:
            self._answer(self.viewer.stamp.encode(), "text/plain")
        elif path.endswith(".html") or path == "/":
            self._page()
        else:
            super().do_GET()

    def _page(self) -> None:
        # The same folder opens without a server, so the reloading is put in here and not into the files.
        name = self.translate_path("/index.html" if self.path == "/" else self.path)
        try:
            body = Path(name).read_bytes()
        except OSError:
            self.send_error(404)
            return
        self._answer(body.replace(b"</body>", RELOADER + b"</body>"), "text/html; charset=utf-8")

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: standard error is for what a person needs to know."""
