"""The client of the model endpoint: one request, its retries, and the reply."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from . import http11, sse
from . import reply as replies
from .reply import Broken, Reply
from .types import Cancel, Stop, UsageError

if TYPE_CHECKING:
    import socket

    from .settings import Settings

RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
LONGEST_WAIT = 30.0  # seconds; only the endpoint itself may ask for more


class ModelError(Stop):
    """The endpoint did not give a reply: exit 1."""

    def __init__(self, message: str) -> None:
        super().__init__(1, "error", message)


class Overflow(ModelError):
    """The request is larger than the model's context."""


class Client:
    """Speaks chat completions to `$HARNESS_BASE_URL`."""

    def __init__(self, settings: Settings, base_url: str, key: str, warn: Callable[[str], None], debug: bool) -> None:
        """UsageError: `base_url` is no address."""
        self.settings = settings
        self.url = urlsplit(base_url.rstrip("/"))
        self.key = key
        self.warn = warn
        self.debug = debug
        try:
            right = self.url.scheme in ("http", "https") and self.url.hostname and self.url.port != 0
        except ValueError:  # the port is no number
            right = False
        if not right:
            raise UsageError(f"HARNESS_BASE_URL is not an http or https address: {base_url}")

    @classmethod
    def of_environment(cls, settings: Settings, warn: Callable[[str], None], debug: bool = False) -> Client:
        """The endpoint that the environment names; UsageError if it names none."""
        url = os.environ.get("HARNESS_BASE_URL")
        if not url:
            raise UsageError("HARNESS_BASE_URL is not set: it names the model endpoint")
        return cls(settings, url, os.environ.get("HARNESS_API_KEY", "").strip(), warn, debug)

    def ask(self, model: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]], cancel: Cancel) -> Reply:
        """Send the conversation and return the whole reply.

        Raises Overflow, ModelError when the endpoint refuses or the retries are used up, Interrupted.
        """
        body = self._body(model, messages, tools)
        self._note(f"request to {model}: {len(messages)} messages, {len(tools)} tools, {len(body)} bytes")
        wait = self.settings.retry_wait
        for attempt in range(self.settings.max_retries + 1):
            cancel.check()
            try:
                reply = self._try(body, cancel)
                self._note(f"reply: {reply.finish}, {len(reply.text)} characters, {len(reply.calls)} calls")
                return reply
            except Broken as failure:
                cancel.check()  # a connection we shut ourselves is no fault of the endpoint
                if attempt == self.settings.max_retries:
                    raise ModelError(
                        f"the model endpoint failed {attempt + 1} times, the last time: {failure}"
                    ) from failure
                wait = max(wait, failure.retry_after)
                self.warn(f"{failure}; trying again in {wait:g} s")
                cancel.wait(wait)
                wait = min(2 * wait, LONGEST_WAIT)
        raise AssertionError("unreachable")

    def _note(self, text: str) -> None:
        if self.debug:
            print(f"debug: {text}", file=sys.stderr, flush=True)

    def _body(self, model: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> bytes:
        request: dict[str, Any] = {"model": model, "messages": messages, "stream": self.settings.stream}
        if self.settings.stream:
            request["stream_options"] = {"include_usage": True}
        if tools:
            request["tools"] = tools
        text = json.dumps(request, ensure_ascii=False)
        if "\\u0000" in text or _has_surrogate(text):
            text = json.dumps(_clean(request), ensure_ascii=False)
        return text.encode("utf-8")

    def _try(self, body: bytes, cancel: Cancel) -> Reply:
        """One request; Broken if it may be repeated."""
        sock, handle = None, 0
        try:
            sock = cancel.wait_for(self._connect)
            handle = cancel.on_set(partial(_shut, sock))
            host = self.url.netloc.rpartition("@")[2]
            response = http11.post(sock, host, f"{self.url.path}/chat/completions", self._headers(), body)
            if not 200 <= response.status < 300:
                raise self._refusal(response)
            if response.header("content-type").lower().startswith("text/event-stream"):
                return replies.from_stream(sse.data(response.chunks()))
            return replies.from_body(response.read())
        except TimeoutError as error:
            raise Broken(f"the endpoint was silent for {self.settings.stream_idle_timeout:g} s") from error
        except (OSError, http11.BadAnswer) as error:
            raise Broken(f"the connection broke: {error}") from error
        finally:
            cancel.forget(handle)
            if sock is not None:
                sock.close()

    def _connect(self) -> socket.socket:
        url = self.url
        return http11.connect(url.scheme, url.hostname or "", url.port, self.settings.stream_idle_timeout)

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        return headers

    def _refusal(self, response: http11.Response) -> Exception:
        """What an answer that is no 2xx means: try again, give up, or make room."""
        text = response.read().decode("utf-8", "replace").strip()
        code, message = None, text[:500]
        try:
            error = json.loads(text)["error"]
            code = error.get("code")
            message = error["message"] if isinstance(error.get("message"), str) else message
        except (ValueError, LookupError, TypeError, AttributeError):
            pass  # not the usual form: the body itself is the message
        said = f"the model endpoint answered {response.status}" + (f": {message}" if message else "")
        if self.key:
            said = said.replace(self.key, "***")
        if response.status in RETRIED:
            return Broken(said, _retry_after(response.header("retry-after")))
        if response.status == 400 and code == "context_length_exceeded":
            return Overflow(said)
        return ModelError(said)


def _retry_after(value: str) -> float:
    """The least wait in seconds; other forms than a number of seconds are ignored."""
    return float(value) if value.replace(".", "", 1).isdecimal() else 0.0


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _clean(value: Any) -> Any:
    """The same value with U+FFFD for what is not valid Unicode, and for NUL."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    return value


def _shut(sock: socket.socket) -> None:
    """Wake whoever reads from the connection."""
    try:
        sock.shutdown(2)  # SHUT_RDWR
    except OSError:
        pass
