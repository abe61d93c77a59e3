"""What hostile candidates get, as one JSON object: run as root and as a normal user, it must be the same.

Uses nothing but the standard library and `triathlon.sandbox`, so that any account with a Python can run it.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import socket
import stat
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from triathlon.sandbox import BoxSpec, Capture, Limits
from triathlon.sandbox.namespaces import Namespaces
from triathlon.sandbox.namespaces.sandbox import Box

CANARY = "canary-" + "7d1f0c52-a95e-4b1f-9d4f-sandbox-tests"
"""Stands here, in a file of the project, and nowhere inside a sandbox."""

SMALL = Limits(memory_mb=128, tmpfs_mb=32, pids=64, file_size_mb=16, open_files=64)
PROBES: dict[str, Callable[[Namespaces], Any]] = {}


def probe(function: Callable[[Namespaces], Any]) -> Callable[[Namespaces], Any]:
    PROBES[function.__name__] = function
    return function


def told(box: Box, code: str, *arguments: str) -> Any:
    """What code inside prints as JSON; `tried(call)` in it names the error of a call."""
    head = """
    import ctypes, errno, json, os, signal, socket, sys, time
    libc = ctypes.CDLL(None, use_errno=True)
    def tried(call, *arguments):
        try:
            result = call(*arguments)
        except OSError as error:
            return errno.errorcode[error.errno]
        if result == -1:
            return errno.errorcode[ctypes.get_errno()]
        return "ok"
    """
    result = box.exec(
        ["python3", "-c", textwrap.dedent(head) + textwrap.dedent(code), *arguments], timeout=120, max_bytes=10_000_000
    )
    try:
        return json.loads(result.stdout)
    except ValueError:
        return [result.returncode, result.stderr.decode("utf-8", "replace")[-500:]]


@probe
def identity(made: Namespaces) -> Any:
    with made.open(BoxSpec()) as box:
        code = """
        status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
        names = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs")
        shown = {name: status[name].strip() for name in names}
        ids = [os.getresuid(), os.getresgid(), os.getgroups(), os.uname().nodename, os.getpid() > 1, os.getcwd()]
        print(json.dumps([ids, shown, sorted(map(int, os.listdir("/proc/self/fd")))[:3]]))
        """
        return told(box, code)


@probe
def what_is_refused(made: Namespaces) -> Any:
    with made.open(BoxSpec()) as box:
        code = """
        import resource
        libc.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]
        rights = 2 | 32 | 4096  # remount, bind, and no longer read-only
        refused = {
            "mount": tried(libc.mount, b"t", b"/tmp", b"tmpfs", 0, None),
            "remount": tried(libc.mount, None, b"/usr", None, rights, None),
            "unmount": tried(libc.umount2, b"/usr", 2),
            "new mounts": tried(libc.unshare, 0x20000),
            "new users": tried(libc.unshare, 0x10000000),
            "chroot": tried(os.chroot, "/tmp"),
            "mknod": tried(os.mknod, "/tmp/n", 0o20666, os.makedev(1, 1)),
            "host name": tried(socket.sethostname, "x"),
            "clock": tried(time.clock_settime, time.CLOCK_REALTIME, 0),
            "core pattern": tried(os.open, "/proc/sys/kernel/core_pattern", os.O_WRONLY),
            "more user namespaces": tried(os.open, "/proc/sys/user/max_user_namespaces", os.O_WRONLY),
            "low ports": tried(os.open, "/proc/sys/net/ipv4/ip_unprivileged_port_start", os.O_WRONLY),
            "bind port 81": tried(socket.socket().bind, ("127.0.0.1", 81)),
            "setuid 0": tried(os.setuid, 0),
            "setgroups": tried(os.setgroups, [0]),
            "trace init": tried(libc.ptrace, 16, 1, 0, 0),
            "vsock": tried(socket.socket, 40, socket.SOCK_STREAM),
            "packet": tried(socket.socket, socket.AF_PACKET, socket.SOCK_RAW),
            "kernel keys": tried(libc.syscall, {"x86_64": 250}.get(os.uname().machine, 219), 0, -3, 0),
            "io_uring": tried(libc.syscall, 425, 1, ctypes.create_string_buffer(256)),
        }
        try:
            resource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))
        except ValueError:
            refused["raise limits"] = "EPERM"
        for name in ("mem", "environ", "maps", "fd", "exe", "root", "cwd", "fdinfo"):
            path = f"/proc/1/{name}"
            call = os.readlink if name in ("exe", "root", "cwd") else os.listdir if name in ("fd", "fdinfo") else open
            refused["init's " + name] = tried(call, path)
        print(json.dumps(refused))
        """
        return told(box, code)


@probe
def init_cannot_be_hurt(made: Namespaces) -> Any:
    with made.open(BoxSpec()) as box:
        code = """
        for number in range(1, 65):
            if number not in (32, 33):
                os.kill(1, number)
        print(json.dumps(open("/proc/1/cmdline").read().rstrip("\\0")))
        """
        return [told(box, code), box.exec(["echo", "alive"]).stdout.decode()]


@probe
def init_without_descriptors_is_the_end_of_the_candidate(made: Namespaces) -> Any:
    with made.open(BoxSpec()) as box:
        box.exec(["python3", "-c", "import resource as r; r.prlimit(1, r.RLIMIT_NOFILE, (3, 3))"])
        first = box.exec(["true"]).returncode
        box.write_file(f"{box.workspace}/still", b"here")
        return [first, box.exec(["true"]).returncode, box.processes(), box.read_file(f"{box.workspace}/still").decode()]


@probe
def host_is_not_reachable(made: Namespaces) -> Any:
    with socket.create_server(("127.0.0.1", 0)) as listener, made.open(BoxSpec()) as box:
        code = """
        host, port, pid = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
        def connects(address):
            with socket.socket() as s:
                s.settimeout(3)
                return tried(s.connect, address)
        print(json.dumps([
            socket.if_nameindex()[0][1], len(socket.if_nameindex()), len(open("/proc/net/route").readlines()),
            connects((host, port)), connects(("10.0.0.1", 80)), connects(("1.1.1.1", 53)),
            tried(os.kill, pid, 0),
            len([name for name in os.listdir("/proc") if name.isdecimal()]) <= 3,
        ]))
        """
        return told(box, code, "127.0.0.1", str(listener.getsockname()[1]), str(os.getpid()))


@probe
def only_listed_places_can_be_written(made: Namespaces) -> Any:
    with made.open(BoxSpec()) as box:
        code = """
        found = []
        for folder, names, _ in os.walk("/"):
            if folder.startswith("/proc"):
                names.clear()
                continue
            try:
                os.close(os.open(f"{folder}/written", os.O_CREAT | os.O_WRONLY))
                found.append(folder)
            except OSError as error:
                if error.errno != errno.EROFS and not folder.startswith("/dev/pts"):
                    found.append([folder, errno.errorcode[error.errno]])
        print(json.dumps(sorted(found)))
        """
        return told(box, code)


LINK = """
def link(path):
    try:
        return os.fsencode(os.readlink(path)).lower()
    except OSError:
        return b""
"""


@probe
def nothing_of_the_project_can_be_read(made: Namespaces) -> Any:
    """Everything readable inside, also in /proc, is searched for the canary and for paths of the host."""
    repository = Path(__file__).resolve().parents[2]
    words = [CANARY, "triathlon", str(repository), sys.prefix, sys.base_prefix]
    words = [word for word in words if not word.startswith("/usr")]
    with made.open(BoxSpec()) as box:
        box.write_file(f"{box.workspace}/control", CANARY.upper().encode())
        code = """
        import base64, stat
        words = [base64.b64decode(word).lower() for word in sys.argv[1:]]
        found, searched = [], 0
        def search(path):
            global searched
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            except OSError:
                return
            with open(descriptor, "rb", buffering=0) as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return
                rest = b""
                try:
                    for _ in range(64):
                        part = file.read(1 << 20)
                        if not part:
                            break
                        searched += len(part)
                        text = (rest + part).lower()
                        found.extend([path, i] for i, word in enumerate(words) if word in text)
                        rest = part[-200:]
                except (OSError, TypeError):
                    pass
        skipped = ("pagemap", "kpage", "kcore", "mem", "smaps")
        for folder, names, files in os.walk("/", followlinks=False):
            for name in files:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    target = link(path)
                    found.extend([path, i] for i, word in enumerate(words) if word in target)
                elif not (folder.startswith("/proc") and name.startswith(skipped)):
                    search(path)
        print(json.dumps([sorted(map(list, {tuple(f) for f in found})), searched > 50_000_000]))
        """
        code = LINK + textwrap.dedent(code)
        return told(box, code, *(base64.b64encode(word.encode()).decode() for word in words))


@probe
def mounts_name_neither_user_nor_project(made: Namespaces) -> Any:
    with made.open(BoxSpec()) as box:
        text = box.exec(["cat", "/proc/self/mountinfo", "/proc/self/cgroup", "/proc/mounts"]).stdout.decode()
    words = [str(Path.home()), os.environ.get("USER", "?"), "triathlon", str(Path(__file__).resolve().parents[2])]
    return [word for word in words if word not in ("/", "root", "/root") and word in text]


@probe
def nested_namespaces_only_where_allowed(made: Namespaces) -> Any:
    before = Path("/proc/sys/user/max_user_namespaces").read_text()
    found = []
    for allowed in (False, True):
        with made.open(BoxSpec(allow_nested=allowed)) as box:
            found.append(told(box, "print(json.dumps(tried(libc.unshare, 0x10000000)))"))
    return [found, Path("/proc/sys/user/max_user_namespaces").read_text() == before]


@probe
def fork_bomb(made: Namespaces) -> Any:
    with made.open(BoxSpec(limits=SMALL)) as box:
        bomb = box.start(["bash", "-c", "b() { b | b & }; b; while :; do b; done"])
        began = time.monotonic()
        while len(box.processes()) < 30 and time.monotonic() - began < 20:
            time.sleep(0.05)
        running = len(box.processes())
        box.kill_all()
        return [0 < running <= 64, box.processes(), bomb.wait(10) is not None, box.exec(["true"]).returncode]


@probe
def full_disk_is_an_error_and_not_the_end(made: Namespaces) -> Any:
    with made.open(BoxSpec(limits=SMALL)) as box:
        code = """
        errors = set()
        for place in (".", "/tmp", "/home/agent", "/dev/shm"):
            for i in range(4):
                try:
                    with open(f"{place}/f{i}", "wb") as file:
                        for _ in range(15):
                            file.write(bytes(1 << 20))
                except OSError as error:
                    errors.add(errno.errorcode[error.errno])
        print(json.dumps(sorted(errors)))
        """
        first = told(box, code)
        size = sum(entry.size for entry in box.tree("/work").values())
        return [first, size <= 32 << 20, box.exec(["rm", "-r", "/tmp/f0"]).returncode, box.usage().oom]


@probe
def no_end_of_small_files(made: Namespaces) -> Any:
    with made.open(BoxSpec(limits=SMALL)) as box:
        code = """
        try:
            for i in range(10 ** 6):
                os.close(os.open(f"f{i}", os.O_CREAT | os.O_WRONLY))
        except OSError as error:
            print(json.dumps([errno.errorcode[error.errno], i < 20_000]))
        """
        return told(box, code)


@probe
def large_file_is_cut(made: Namespaces) -> Any:
    with made.open(BoxSpec(limits=SMALL)) as box:
        code = """
        file = os.open("big", os.O_CREAT | os.O_WRONLY)
        print(json.dumps(tried(os.pwrite, file, b"x", 1 << 30)))
        """
        return [told(box, code), box.exec(["sh", "-c", "head -c 20000000 /dev/zero > big"]).returncode]


@probe
def memory_hogs(made: Namespaces) -> Any:
    """One process is stopped by its own limit; several together by the group or by the watch."""
    with made.open(BoxSpec(limits=SMALL)) as box:
        one = box.exec(["python3", "-c", "b = bytearray(10 ** 9)"], timeout=60).returncode
        code = """
        import os, time
        for _ in range(7):
            os.fork()
        data = [bytearray(os.urandom(1 << 16)) * 16 for _ in range(100)]
        time.sleep(60)
        """
        many = box.exec(["python3", "-c", textwrap.dedent(code)], timeout=60)
        box.kill_all()  # a group's kernel takes one after the other, the watch takes all
        return [one, many.timed_out, box.usage().oom, box.exec(["echo", "alive"]).stdout.decode()]


@probe
def a_gigabyte_of_output(made: Namespaces) -> Any:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with made.open(BoxSpec()) as box:
        capture = Capture()
        process = box.start(["head", "-c", "1000000000", "/dev/zero"], stdout=capture.write_end)
        capture.begin()
        code = process.wait(120)
        capture.finish(10)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return [code, capture.total, len(capture.data), capture.truncated, grown < 30_000]


@probe
def never_ends(made: Namespaces) -> Any:
    """Ignores every signal, closes all it has, leaves daemons: it goes with its sandbox at once."""
    box = made.open(BoxSpec())
    code = """
    import os, signal, time
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    os.closerange(0, 1000)
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
    while True:
        time.sleep(1)
    """
    process = box.start(["python3", "-c", textwrap.dedent(code)])
    began = time.monotonic()
    while len(box.processes()) < 8 and time.monotonic() - began < 20:
        time.sleep(0.05)
    process.signal(15, group=True)
    stays = process.wait(0.2)
    began = time.monotonic()
    box.close()
    return [stays, time.monotonic() - began < 5, process.wait(0)]


@probe
def workspace_replaced_by_a_link_to_the_root(made: Namespaces) -> Any:
    with made.open(BoxSpec()) as box:
        box.write_file(f"{box.workspace}/mine", b"1")
        box.exec(["sh", "-c", "cd / && rm -r /work/project && ln -s / /work/project && ln -s /etc/passwd /work/file"])
        errors = []
        for call in (
            lambda: box.write_file(f"{box.workspace}/tmp/planted", b"x"),
            lambda: box.write_file("/work/file", b"x"),
            lambda: box.read_file(f"{box.workspace}/etc/hostname"),
            lambda: box.read_file("/work/file"),
            lambda: box.remove(f"{box.workspace}/tmp"),
            lambda: box.chmod("/work/file", 0o777),
            lambda: box.mkdir(f"{box.workspace}/tmp/made"),
        ):
            try:
                call()
                errors.append("ok")
            except OSError as error:
                errors.append(os.strerror(error.errno or 0))
        seen = {name: (entry.kind, entry.target) for name, entry in box.tree(box.workspace).items()}
        box.remove(box.workspace)
        return [errors, seen, Path("/tmp/planted").exists(), sorted(box.tree("/work"))]


@probe
def folders_that_turn_into_links_while_we_write(made: Namespaces) -> Any:
    with tempfile.TemporaryDirectory() as target, made.open(BoxSpec()) as box:
        code = """
        import os, sys
        os.mkdir("real"); os.symlink(sys.argv[1], "link")
        while True:
            os.rename("real", "d"); os.rename("d", "real"); os.rename("link", "d"); os.rename("d", "link")
        """
        box.start(["python3", "-c", textwrap.dedent(code), target])
        began = time.monotonic()
        while time.monotonic() - began < 1:
            try:
                box.write_file(f"{box.workspace}/d/planted", b"x")
            except OSError:
                continue
            box.tree(box.workspace)
        return [path.name for path in Path(target).iterdir()]


@probe
def locked_and_odd_files_are_seen(made: Namespaces) -> Any:
    with made.open(BoxSpec()) as box:
        script = """
        mkdir -p locked/deep && echo secret > locked/deep/file && echo plain > alone && chmod 000 alone locked/deep/file
        chmod 000 locked/deep locked && mkfifo pipe && ln -s nowhere broken && printf x > "$(printf 'a\\377b')"
        python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('sock')"
        """
        box.exec(["sh", "-c", script])
        stopped = box.start(["sh", "-c", "kill -STOP $$"])
        time.sleep(0.1)
        seen = {
            name.encode("utf-8", "surrogateescape").decode("latin-1"): (
                entry.kind,
                oct(entry.mode),
                (entry.data or b"").decode(),
                entry.target,
            )
            for name, entry in box.tree(box.workspace).items()
        }
        again = [oct(stat.S_IMODE(entry.mode)) for _, entry in sorted(box.tree(f"{box.workspace}/locked").items())]
        text = box.read_file(f"{box.workspace}/locked/deep/file").decode()
        box.write_file(f"{box.workspace}/locked/deep/new", b"from outside")
        inside = box.exec(["ls", "locked"]).returncode
        box.remove(f"{box.workspace}/locked")
        return [seen, again, text, inside, stopped.poll(), sorted(box.tree(box.workspace))[0]]


@probe
def trees_without_end_are_bounded(made: Namespaces) -> Any:
    with made.open(BoxSpec()) as box:
        code = """
        import os
        here = os.open(".", os.O_RDONLY)
        for i in range(1000):
            os.mkdir("d"); os.chdir("d")
        os.fchdir(here)
        os.mkdir("many"); os.mkdir("sparse")
        for i in range(30_000):
            os.close(os.open(f"many/{i}", os.O_CREAT | os.O_WRONLY))
        for i in range(300):
            file = os.open(f"sparse/{i}", os.O_CREAT | os.O_WRONLY); os.truncate(file, 200 << 20); os.close(file)
        """
        status = box.exec(["python3", "-c", textwrap.dedent(code)]).returncode
        began = time.monotonic()
        whole, sparse = box.tree(box.workspace), box.tree(f"{box.workspace}/sparse")
        kept = sum(len(entry.data or b"") for entry in sparse.values())
        hashed = sum(bool(entry.sha256) for entry in sparse.values())
        return [status, len(whole), len(sparse), kept, hashed, time.monotonic() - began < 60]


@probe
def invalid_output(made: Namespaces) -> Any:
    with made.open(BoxSpec()) as box:
        return box.exec(["printf", r"\377\376 bad"]).stdout.decode("latin-1")


if __name__ == "__main__":
    with Namespaces() as provider:
        seen, took = {}, {}
        for name, function in PROBES.items():
            began = time.monotonic()
            seen[name] = function(provider)
            took[name] = round(time.monotonic() - began, 2)
    json.dump({"seen": seen, "took": took}, sys.stdout, default=repr)
