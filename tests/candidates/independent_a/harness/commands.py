"""Runs shell commands: in the foreground, and in the background."""

import codecs
import os
import re
import selectors
import signal
import subprocess
import threading
import time

ESCAPES = re.compile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b[PX^_].*?\x1b\\\\|\x1b[ -/]*[0-~]"
                     "|\x9b[0-?]*[ -/]*[@-~]", re.S)
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def clean(text):
    if "\x1b" in text or "\x9b" in text:
        text = ESCAPES.sub("", text)
    return CONTROLS.sub("", text)


def members(session):
    """(pid, whether it ignores SIGHUP) of the processes of a session."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            if int(fields[3]) != session or fields[0] in (b"Z", b"X"):
                continue
            with open("/proc/%s/status" % name) as file:
                ignored = int(re.search(r"^SigIgn:\s*([0-9a-f]+)", file.read(), re.M).group(1), 16)
        except (OSError, AttributeError, ValueError, IndexError):
            continue
        found.append((int(name), bool(ignored & 1)))
    return found


def end_session(session, spare=False):
    """Kills what is left of a command; with spare not what was started with nohup."""
    for _ in range(5):
        left = [pid for pid, nohup in members(session) if not (spare and nohup)]
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue


def environment(extra):
    env = {k: v for k, v in os.environ.items() if not k.startswith("HARNESS_")}
    env.update({k: v for k, v in (extra or {}).items() if not k.startswith("HARNESS_")})
    return env


def code_of(returncode):
    return 128 - returncode if returncode < 0 else returncode


class Decoder:
    """Pieces of two streams in order of arrival, decoded per stream."""

    def __init__(self):
        self.decoders = {}
        self.text, self.raw = [], []

    def feed(self, stream, data, final=False):
        decoder = self.decoders.get(stream)
        if decoder is None:
            decoder = self.decoders[stream] = codecs.getincrementaldecoder("utf-8")("replace")
        self.raw.append(data)
        self.text.append(decoder.decode(data, final))

    def finish(self):
        for stream in list(self.decoders):
            self.feed(stream, b"", True)


OUTPUTS = [0]


def cut(text, raw, home, session):
    """FILE-34."""
    if len(text) <= 30000:
        return text
    folder = os.path.join(home, "outputs")
    os.makedirs(folder, exist_ok=True)
    while True:
        OUTPUTS[0] += 1
        path = os.path.join(folder, "%s-%d-%d.txt" % (session or "run", os.getpid(), OUTPUTS[0]))
        try:
            with open(path, "xb") as file:
                file.write(raw)
            break
        except FileExistsError:
            continue
    head, tail = text[:15000], text[-15000:]
    return "%s\n[cut %d characters; whole output: %s]\n%s" % (head, len(text) - 30000, path, tail)


def number(value):
    return str(int(value)) if float(value) == int(value) else str(value)


def run(command, cwd, timeout, env, home, session, stop=None, running=None):
    """(result without notes, folder at the end or None)."""
    read_end, write_end = os.pipe()
    prefix = "trap '{ builtin pwd -P || builtin printf \"%%s\\\\n\" \"$PWD\"; } 2>/dev/null >&%d' EXIT; " % write_end
    env = environment(env)
    env["PWD"] = cwd
    try:
        process = subprocess.Popen(["bash", "-c", prefix + command], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                                   pass_fds=(write_end,))
    except BaseException:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    if running is not None:
        running.add(process.pid)
    decoder = Decoder()
    chooser = selectors.DefaultSelector()
    for stream in (process.stdout, process.stderr):
        os.set_blocking(stream.fileno(), False)
        chooser.register(stream, selectors.EVENT_READ)
    fd = None
    try:
        fd = os.pidfd_open(process.pid)
        chooser.register(fd, selectors.EVENT_READ)
    except (OSError, AttributeError):
        fd = None
    deadline = time.monotonic() + timeout
    ended, timed_out = None, False
    try:
        while True:
            now = time.monotonic()
            if stop is not None and stop():
                break
            if ended is None and process.poll() is not None:
                ended = now
            if ended is None and now >= deadline:
                timed_out = True
                break
            streams = [k for k in chooser.get_map().values() if k.fileobj is not fd]
            if ended is not None and (not streams or now >= ended + 1.0):
                break
            limit = (ended + 1.0 if ended is not None else deadline) - now
            for key, _ in chooser.select(max(0.0, min(limit, 0.5))):
                if key.fileobj is fd:
                    chooser.unregister(fd)
                    process.wait()
                    ended = time.monotonic()
                    continue
                data = os.read(key.fd, 65536)
                if data:
                    decoder.feed(key.fileobj, data)
                else:
                    chooser.unregister(key.fileobj)
            if ended is None and not streams:
                try:
                    process.wait(max(0.01, min(0.2, deadline - time.monotonic())))
                except subprocess.TimeoutExpired:
                    continue
    finally:
        if ended is None:
            end_session(process.pid)
            process.wait()
            for stream in (process.stdout, process.stderr):
                try:
                    data = os.read(stream.fileno(), 1 << 20)
                    while data:
                        decoder.feed(stream, data)
                        data = os.read(stream.fileno(), 1 << 20)
                except (OSError, ValueError):
                    continue
        else:
            end_session(process.pid, spare=True)
        if running is not None:
            running.discard(process.pid)
        chooser.close()
        if fd is not None:
            os.close(fd)
        process.stdout.close()
        process.stderr.close()
        os.set_blocking(read_end, False)
        try:
            place = os.read(read_end, 65536)
        except OSError:
            place = b""
        os.close(read_end)
    decoder.finish()
    text = clean("".join(decoder.text))
    if timed_out:
        first = "timed out after %s s" % number(timeout)
    else:
        first = "exit code: %d" % code_of(process.returncode)
    body = cut(text, b"".join(decoder.raw), home, session)
    folder = None
    if not timed_out and place:
        folder = os.fsdecode(place.removesuffix(b"\n").split(b"\n")[-1] if place.count(b"\n") == 1 else place.rstrip(b"\n"))
    return first + ("\n" + body if body else ""), folder


class Background:
    """A command that runs on while the conversation does."""

    def __init__(self, command, cwd, env):
        env = environment(env)
        env["PWD"] = cwd
        self.process = subprocess.Popen(["bash", "-c", command], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.decoder, self.lock = Decoder(), threading.Lock()
        self.threads = [threading.Thread(target=self.pump, args=(s,), daemon=True)
                        for s in (self.process.stdout, self.process.stderr)]
        for thread in self.threads:
            thread.start()

    def pump(self, stream):
        while True:
            data = os.read(stream.fileno(), 65536)
            if not data:
                return
            with self.lock:
                self.decoder.feed(stream, data)

    def output(self, home, session):
        code = self.process.poll()
        if code is not None:
            for thread in self.threads:
                thread.join(0.5)
        with self.lock:
            if code is not None and not any(t.is_alive() for t in self.threads):
                self.decoder.finish()
            text, raw = clean("".join(self.decoder.text)), b"".join(self.decoder.raw)
            self.decoder.text.clear()
            self.decoder.raw.clear()
        first = "running" if code is None else "exit code: %d" % code_of(code)
        body = cut(text, raw, home, session)
        return first + ("\n" + body if body else "")

    def kill(self):
        ended = self.process.poll() is not None
        end_session(self.process.pid)
        self.process.wait()
        return "ended" if ended else "killed"
