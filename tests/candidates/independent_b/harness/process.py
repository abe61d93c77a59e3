"""Shell commands: running, killing, and what of their output is shown (FILE-30 to 38)."""

import codecs
import os
import re
import select
import signal
import subprocess
import threading
import time

ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?"
                     r"|\x1b[ -/]*[0-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", re.S)


def environment(extra):
    env = {k: v for k, v in os.environ.items() if not k.startswith("HARNESS_")}
    env.update({k: v for k, v in extra.items() if not k.startswith("HARNESS_")})
    return env


def end_group(pid, spare_nohup=False):
    """Kills what is left of a session that began with pid; what ignores SIGHUP (nohup) may be spared."""
    if not spare_nohup:
        try:
            os.killpg(pid, signal.SIGKILL)
        except OSError:
            spare_nohup = False
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="latin-1") as f:
                session = int(f.read().rpartition(")")[2].split()[3])
            if session != pid or int(name) == pid:
                continue
            if spare_nohup:
                with open(f"/proc/{name}/status", encoding="latin-1") as f:
                    mask = re.search(r"SigIgn:\s*([0-9a-f]+)", f.read())
                if mask and int(mask[1], 16) & 1:
                    continue
            os.kill(int(name), signal.SIGKILL)
        except (OSError, ValueError, IndexError):
            continue


class Process:
    def __init__(self, command, cwd, env):
        self.end_read, end_write = os.pipe()
        out, err = os.pipe(), os.pipe()
        line = f"trap 'pwd -P >&{end_write} 2>/dev/null' EXIT; {command}"
        try:
            self.popen = subprocess.Popen(["bash", "-c", line], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out[1],
                                          stderr=err[1], start_new_session=True, pass_fds=(end_write,))
        finally:
            for fd in (end_write, out[1], err[1]):
                os.close(fd)
        self.pid, self.raw, self.text = self.popen.pid, [], []
        self.open = {fd: codecs.getincrementaldecoder("utf-8")("replace") for fd in (out[0], err[0])}
        self.taken = 0

    def pump(self, wait):
        """Takes what has come within `wait` seconds; True if something came."""
        if not self.open:
            time.sleep(min(wait, 0.02))
            return False
        ready = select.select(list(self.open), [], [], wait)[0]
        for fd in ready:
            data = os.read(fd, 65536)
            self.raw.append(data)
            self.text.append(self.open[fd].decode(data, not data))
            if not data:
                os.close(fd)
                del self.open[fd]
        return bool(ready)

    def wait(self, timeout):
        """Waits for the main process; False if the time was over and all was killed."""
        end = time.monotonic() + timeout
        while self.popen.poll() is None:
            left = end - time.monotonic()
            if left <= 0:
                self.kill()
                return False
            self.pump(min(left, 0.05 if self.open else 0.01))
        self.finish(True)
        return True

    def finish(self, spare):
        end = time.monotonic() + 0.4
        while self.open and time.monotonic() < end:
            self.pump(0.05)
        end_group(self.pid, spare)
        end = time.monotonic() + 0.3
        while self.open and time.monotonic() < end and self.pump(0.02):
            pass
        self.close()

    def kill(self):
        end_group(self.pid)
        try:
            self.popen.wait(2)
        except subprocess.TimeoutExpired:
            pass
        end = time.monotonic() + 0.5
        while self.open and time.monotonic() < end and self.pump(0.05):
            pass
        self.close()

    def close(self):
        for fd, decoder in self.open.items():
            self.text.append(decoder.decode(b"", True))
            os.close(fd)
        self.open = {}

    def code(self):
        n = self.popen.returncode
        return 128 - n if n < 0 else n

    def folder(self):
        """The folder in which the command ended, or None."""
        os.set_blocking(self.end_read, False)
        try:
            data = os.read(self.end_read, 65536)
        except BlockingIOError:
            data = b""
        os.close(self.end_read)
        return os.fsdecode(data).removesuffix("\n") or None

    def output(self):
        return ESCAPES.sub("", "".join(self.text))

    def drain(self):
        """What the thread of a background command does."""
        while self.popen.poll() is None:
            self.pump(0.1)
        self.finish(True)

    def fresh(self):
        """The output that came since the last call of this."""
        text = "".join(self.text)
        new, self.taken = text[self.taken:], len(text)
        return ESCAPES.sub("", new)


def shown(text, raw, outputs):
    """The output as a result has it: whole, or cut with a note and a file (FILE-34)."""
    if len(text) <= 30_000:
        return text
    import uuid
    os.makedirs(outputs, exist_ok=True)
    path = os.path.join(outputs, f"{uuid.uuid4().hex}.txt")
    with open(path, "wb") as f:
        f.write(raw)
    return f"{text[:15000]}\n[cut: {len(text) - 30_000} characters; the whole output is in {path}]\n{text[-15000:]}"


class Shell:
    """The shell of one conversation: its folder carries over."""

    def __init__(self, workspace, outputs, env, inside, jobs):
        self.workspace, self.outputs, self.env, self.inside, self.jobs = workspace, outputs, env, inside, jobs
        self.cwd, self.notes = workspace, []

    def folder(self):
        if not os.path.isdir(self.cwd) or not self.inside(self.cwd):
            self.cwd = self.workspace
            self.notes.append(f"[back in {self.workspace}]")
        return self.cwd

    def run(self, command, timeout, background):
        cwd = self.folder()
        process = Process(command, cwd, environment(self.env))
        if background:
            ident = f"b{len(self.jobs) + 1}"
            self.jobs[ident] = process
            process.thread = threading.Thread(target=process.drain, daemon=True)
            process.thread.start()
            return self.join(f"id: {ident}", "")
        try:
            ended = process.wait(min(timeout, 600))
        except BaseException:
            process.kill()
            raise
        first = f"exit code: {process.code()}" if ended else f"timed out after {min(timeout, 600):g} s"
        folder = process.folder()
        if ended and folder:
            self.cwd = folder
            self.folder()
        return self.join(first, shown(process.output(), b"".join(process.raw), self.outputs))

    def join(self, first, text):
        notes, self.notes = self.notes, []
        text = first + ("\n" + text if text else "")
        for note in notes:
            text += ("" if text.endswith("\n") else "\n") + note
        return text

    def job_output(self, ident):
        process = self.jobs.get(ident)
        if process is None:
            return f"error: no such id: {ident}"
        if process.popen.poll() is None:
            first = "running"
        else:
            process.thread.join(2)
            first = f"exit code: {process.code()}"
        raw = b"".join(process.raw)
        text = process.fresh()
        return self.join(first, shown(text, raw, self.outputs))

    def job_kill(self, ident):
        process = self.jobs.get(ident)
        if process is None:
            return f"error: no such id: {ident}"
        if process.popen.poll() is not None:
            return f"ended before: {ident}"
        end_group(process.pid)
        process.thread.join(2)
        return f"killed {ident}"


def end_jobs(jobs):
    for process in jobs.values():
        if process.popen.poll() is None:
            end_group(process.pid)
            process.thread.join(2)
