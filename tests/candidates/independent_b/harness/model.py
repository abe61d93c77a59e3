"""The model behind `$HARNESS_BASE_URL`: chat completions with tools, streamed or whole (wire.md)."""

import json
import os
import re
import time
from typing import Any
from urllib.parse import urlsplit

RETRIED = (408, 409, 429, 500, 502, 503, 504, 529)


class ModelError(Exception):
    """The endpoint's answer ends the run."""

    overflow = False


class Broken(Exception):
    """A try that gave no whole reply; `wait` is the least wait the endpoint asked for."""

    wait = 0.0


def clean(value):
    """The value with everything that no request may hold replaced by U+FFFD (WIRE-08)."""
    if isinstance(value, str):
        return re.sub("[\0\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, list):
        return [clean(v) for v in value]
    if isinstance(value, dict):
        return {clean(k): clean(v) for k, v in value.items()}
    return value


def text_of(content):
    if isinstance(content, list):
        return "".join(p["text"] for p in content
                       if isinstance(p, dict) and p.get("type") == "text" and isinstance(p.get("text"), str))
    return content if isinstance(content, str) else ""


def number(usage, key):
    n = usage.get(key) if isinstance(usage, dict) else 0
    return n if isinstance(n, int) and not isinstance(n, bool) and n >= 0 else 0


class Reply:
    def __init__(self):
        self.text, self.reasoning, self.calls, self.finish, self.usage = "", "", [], "stop", {}

    def close(self, finish, usage):
        self.finish = finish if finish in ("tool_calls", "length", "content_filter") else "stop"
        self.usage = {"input_tokens": number(usage, "prompt_tokens"), "output_tokens": number(usage, "completion_tokens")}
        return self


def fields(call):
    function = call.get("function")
    function = function if isinstance(function, dict) else {}

    def string(v):
        return v if isinstance(v, str) else ""
    arguments = function.get("arguments")
    if isinstance(arguments, dict):
        arguments = json.dumps(arguments)
    return string(call.get("id")), string(function.get("name")), string(arguments)


class ChatModel:
    def __init__(self, stream=True, idle=120.0, retries=4, wait=0.5, debug=None):
        self.base = (os.environ.get("HARNESS_BASE_URL") or "").rstrip("/")
        self.key = os.environ.get("HARNESS_API_KEY") or ""
        self.stream, self.idle, self.retries, self.wait, self.debug = stream, idle, retries, wait, debug

    def query(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], model: str = "default") -> Any:
        body: dict[str, Any] = {"model": model, "messages": messages, "stream": self.stream}
        if self.stream:
            body["stream_options"] = {"include_usage": True}
        if tools:
            body["tools"] = tools
        data = json.dumps(clean(body), ensure_ascii=False).encode("utf-8")
        pause = 0.0
        for attempt in range(self.retries + 1):
            try:
                return self.once(data)
            except Broken as e:
                if attempt == self.retries:
                    raise ModelError(str(e)) from None
                pause = min(max(self.wait, pause * 2), 30) if self.wait else 0.0
                if self.debug:
                    self.debug(f"try {attempt + 1}: {e}")
                time.sleep(max(pause, e.wait))
        raise ModelError("no reply")

    def once(self, data):
        import http.client
        url = urlsplit(self.base + "/chat/completions")
        secure = url.scheme == "https"
        try:
            kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
            link = kind(url.hostname or "", url.port, timeout=self.idle)
        except ValueError as e:
            raise ModelError(f"HARNESS_BASE_URL: {e}") from None
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            link.request("POST", url.path + (f"?{url.query}" if url.query else ""), data, headers)
            answer = link.getresponse()
            if answer.status >= 300:
                try:
                    body = answer.read()
                except (OSError, http.client.HTTPException):
                    body = b""
                raise self.failure(answer, body)
            if "text/event-stream" in (answer.getheader("Content-Type") or "").lower():
                return self.streamed(answer)
            return self.whole(answer.read())
        except UnicodeError as e:
            raise ModelError(f"bad endpoint or key: {e}") from None
        except (OSError, http.client.HTTPException) as e:
            raise Broken(f"broken connection to the model: {type(e).__name__} {e}".rstrip()) from None
        finally:
            link.close()

    def failure(self, answer, body):
        text, code = body.decode("utf-8", "replace"), None
        message = text[:500]
        try:
            error = json.loads(text)["error"]
            code = error.get("code")
            message = error["message"] if isinstance(error.get("message"), str) else message
        except (ValueError, KeyError, TypeError, AttributeError):
            code = code or None
        message = f"status {answer.status}: {message}" if message else f"status {answer.status}"
        if answer.status in RETRIED:
            broken = Broken(message)
            after = (answer.getheader("Retry-After") or "").strip()
            if re.fullmatch(r"\d+(\.\d+)?", after):
                broken.wait = float(after)
            return broken
        error = ModelError(message)
        error.overflow = answer.status == 400 and code == "context_length_exceeded"
        return error

    def whole(self, data):
        try:
            body = json.loads(data.decode("utf-8", "replace"))
            choice = body["choices"][0]
            message = choice["message"]
            if not isinstance(message, dict):
                raise TypeError
        except (ValueError, KeyError, IndexError, TypeError):
            raise Broken("broken reply: not a completion") from None
        reply = Reply()
        reply.text, reply.reasoning = text_of(message.get("content")), text_of(message.get("reasoning_content"))
        calls = message.get("tool_calls")
        reply.calls = [fields(c) for c in calls if isinstance(c, dict)] if isinstance(calls, list) else []
        return reply.close(choice.get("finish_reason"), body.get("usage"))

    def streamed(self, answer):
        reply, calls, finish, usage = Reply(), {}, None, {}
        text, reasoning = [], []
        while True:
            raw = answer.readline()
            if not raw:
                raise Broken("broken stream: it ended without its end mark")
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            if not line.startswith("data:"):
                continue
            line = line[6:] if line.startswith("data: ") else line[5:]
            if line.strip() == "[DONE]":
                break
            try:
                item = json.loads(line)
            except ValueError:
                raise Broken("broken stream: a line is not JSON") from None
            if not isinstance(item, dict) or item.get("error") is not None:
                raise Broken(f"broken stream: {line[:300]}")
            if item.get("usage") is not None:
                usage = item["usage"]
            choices = item.get("choices")
            choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
            finish = choice.get("finish_reason") or finish
            delta = choice.get("delta")
            delta = delta if isinstance(delta, dict) else {}
            text.append(text_of(delta.get("content")))
            reasoning.append(text_of(delta.get("reasoning_content")))
            for call in delta.get("tool_calls") or []:
                if isinstance(call, dict):
                    entry = calls.setdefault(call.get("index", 0), ["", "", ""])
                    ident, name, arguments = fields(call)
                    entry[0] = entry[0] or ident
                    entry[1] = entry[1] or name
                    entry[2] += arguments
        reply.text, reply.reasoning = "".join(text), "".join(reasoning)
        reply.calls = [tuple(calls[k]) for k in sorted(calls, key=lambda k: k if isinstance(k, int) else 0)]
        return reply.close(finish, usage)
