"""The model behind `$HARNESS_BASE_URL`: chat completions with tools, streamed or whole."""

import json
import socket
import threading
import time


class ModelError(Exception):
    """The endpoint's last word."""

    def __init__(self, message, overflow=False):
        super().__init__(message)
        self.overflow = overflow


class Broken(Exception):
    """A connection that gave no whole reply."""


class Aborted(Exception):
    """The run was ended while a request was under way."""


RETRY = {408, 409, 429, 500, 502, 503, 504, 529}


def scrub(value):
    """Valid Unicode without NUL, at any depth."""
    if isinstance(value, str):
        if "\0" in value:
            value = value.replace("\0", "\ufffd")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return value
    if isinstance(value, list):
        return [scrub(v) for v in value]
    if isinstance(value, dict):
        return {scrub(k): scrub(v) for k, v in value.items()}
    return value


def text_of(value):
    if isinstance(value, list):
        return "".join(p["text"] for p in value
                       if isinstance(p, dict) and p.get("type") == "text" and isinstance(p.get("text"), str))
    return value if isinstance(value, str) else ""


def count(value):
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


class ChatModel:
    def __init__(self, base, key=None, stream=True, idle=120, retries=4, wait=0.5, stop=None):
        self.base, self.key, self.stream, self.idle, self.retries, self.wait = base.rstrip("/"), key, stream, idle, retries, wait
        self.stop = stop or (lambda: False)

    def pause(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.stop():
                raise Aborted
            time.sleep(min(0.05, max(0.0, end - time.monotonic())))

    def query(self, messages, tools, model="default"):
        body = {"model": model, "messages": messages, "stream": self.stream}
        if self.stream:
            body["stream_options"] = {"include_usage": True}
        if tools:
            body["tools"] = tools
        data = json.dumps(scrub(body), ensure_ascii=False).encode("utf-8")
        tries, wait = 0, self.wait
        while True:
            least = 0.0
            try:
                status, headers, result = self.once(data)
                if status < 300:
                    return result
                cause, code = self.cause(status, result)
                if status not in RETRY:
                    raise ModelError(cause, status == 400 and code == "context_length_exceeded")
                try:
                    least = max(0.0, float(headers.get("Retry-After", "")))
                except ValueError:
                    least = 0.0
                if least != least or least == float("inf"):
                    least = 0.0
            except (OSError, Broken) as error:
                cause = "connection to the endpoint broken: %s" % (str(error) or type(error).__name__)
            if tries >= self.retries:
                raise ModelError(cause)
            tries += 1
            self.pause(max(min(wait, 30.0), least))
            wait *= 2

    @staticmethod
    def cause(status, body):
        text = body.decode("utf-8", "replace")
        message, code = None, None
        try:
            error = json.loads(text)["error"]
            if isinstance(error, dict):
                message, code = error.get("message"), error.get("code")
        except (ValueError, TypeError, KeyError, RecursionError):
            message = None
        if not isinstance(message, str):
            message = text[:500]
        return ("%d: %s" % (status, message)) if message else str(status), code

    def once(self, data):
        """In a thread of its own, so that it can be left at once."""
        box, sockets = {}, []

        def work():
            try:
                box["result"] = self.exchange(data, sockets)
            except Exception as error:  # handed to the caller below
                box["error"] = error

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(0.05)
            if self.stop():
                for s in sockets:
                    try:
                        s.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        continue
                raise Aborted
        if "error" in box:
            import http.client
            error = box["error"]
            if isinstance(error, (http.client.HTTPException, ValueError)) and not isinstance(error, OSError):
                raise Broken(repr(error))
            raise error
        return box["result"]

    def exchange(self, data, sockets):
        import http.client
        from urllib.parse import urlsplit
        parts = urlsplit(self.base)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self.idle)
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
        if self.key:
            headers["Authorization"] = "Bearer " + self.key
        path = parts.path + "/chat/completions" + ("?" + parts.query if parts.query else "")
        try:
            connection.connect()
            sockets.append(connection.sock)
            connection.request("POST", path, data, headers)
            response = connection.getresponse()
            if response.status >= 300:
                try:
                    body = response.read()
                except (OSError, http.client.HTTPException):
                    body = b""
                return response.status, response.headers, body
            if response.headers.get_content_type() == "text/event-stream":
                return response.status, response.headers, self.read_stream(response)
            body = response.read()
            return response.status, response.headers, self.read_whole(body)
        finally:
            connection.close()

    def read_whole(self, body):
        try:
            value = json.loads(body.decode("utf-8"))
            choice = value["choices"][0]
            message = choice["message"]
        except (ValueError, KeyError, IndexError, TypeError, RecursionError):
            raise Broken("no message in the reply") from None
        if not isinstance(message, dict):
            raise Broken("no message in the reply")
        calls = []
        for call in message.get("tool_calls") or []:
            if isinstance(call, dict):
                function = call.get("function") if isinstance(call.get("function"), dict) else {}
                arguments = function.get("arguments")
                calls.append({"id": call.get("id"), "name": function.get("name"),
                              "arguments": arguments if isinstance(arguments, str) else
                              "" if arguments is None else json.dumps(arguments)})
        return self.reply(text_of(message.get("content")), text_of(message.get("reasoning_content")), calls,
                          choice.get("finish_reason"), value.get("usage"))

    def read_stream(self, response):
        text, reasoning, calls, finish, usage, done = [], [], {}, None, None, False
        while True:
            line = response.readline()
            if not line:
                break
            if not line.endswith(b"\n"):
                break
            line = line.rstrip(b"\n").removesuffix(b"\r")
            if not line.startswith(b"data:"):
                continue
            line = line[5:].removeprefix(b" ")
            if line == b"[DONE]":
                done = True
                break
            try:
                value = json.loads(line.decode("utf-8"))
            except (ValueError, RecursionError):
                raise Broken("a line of the stream is not JSON") from None
            if not isinstance(value, dict) or "error" in value:
                raise Broken("an error in the stream")
            if isinstance(value.get("usage"), dict):
                usage = value["usage"]
            choices = value.get("choices")
            if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
                continue
            delta = choices[0].get("delta") or {}
            finish = choices[0].get("finish_reason") or finish
            text.append(text_of(delta.get("content")))
            reasoning.append(text_of(delta.get("reasoning_content")))
            for entry in delta.get("tool_calls") or []:
                if not isinstance(entry, dict):
                    continue
                call = calls.setdefault(entry.get("index", 0), {"id": None, "name": None, "arguments": ""})
                function = entry.get("function") or {}
                if not call["id"] and isinstance(entry.get("id"), str):
                    call["id"] = entry["id"]
                if not call["name"] and isinstance(function.get("name"), str):
                    call["name"] = function["name"]
                if isinstance(function.get("arguments"), str):
                    call["arguments"] += function["arguments"]
        if not done:
            raise Broken("the stream ended without its end mark")
        return self.reply("".join(text), "".join(reasoning), list(calls.values()), finish, usage)

    @staticmethod
    def reply(text, reasoning, calls, finish, usage):
        usage = usage if isinstance(usage, dict) else {}
        for call in calls:
            call["id"] = call["id"] if isinstance(call["id"], str) else ""
            call["name"] = call["name"] if isinstance(call["name"], str) else ""
        return {"text": text, "reasoning": reasoning, "calls": calls,
                "finish": finish if finish in ("stop", "tool_calls", "length", "content_filter") else "stop",
                "input": count(usage.get("prompt_tokens")), "output": count(usage.get("completion_tokens"))}
