"""What stands in the listed root, by name. Anything else of the host is not there."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


COREUTILS = _words("""
[ arch b2sum base32 base64 basename basenc cat chgrp chmod chown cksum comm cp csplit cut date dd df dir dircolors
dirname du echo env expand expr factor false fmt fold groups head hostid id install join link ln logname ls md5sum mkdir
mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk pinky pr printenv printf ptx pwd readlink realpath rm
rmdir seq sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail
tee test timeout touch tr true truncate tsort tty uname unexpand uniq unlink users vdir wc who whoami yes
""")

NEEDED = _words("bash sh cat cp ls mkdir mv rm sort env find xargs grep sed awk diff cmp tar gzip git")
"""Without one of these the root is not made."""

COMMANDS = sorted(
    {*NEEDED, *COREUTILS, *_words("dash egrep fgrep diff3 sdiff mawk gawk gunzip zcat setsid flock which")}
)
"""All commands that are copied, where the host has them."""

DIRECTORIES = "/usr/bin:/bin:/usr/local/bin"
"""Where commands are looked for on the host: never in the user's own PATH."""

DLOPENED = _words("libnss_files.so.2 libnss_dns.so.2 libresolv.so.2 libgcc_s.so.1")
"""Libraries that programs load by name, so that `ldd` does not tell."""

TERMINALS = _words("""
dumb linux vt100 vt220 ansi xterm xterm-color xterm-256color screen screen-256color tmux tmux-256color
""")
"""Terminal descriptions (terminfo)."""

NOT_FROM_LIBRARY = _words("""
site-packages dist-packages test tests idlelib turtledemo lib2to3 ensurepip tkinter turtle.py EXTERNALLY-MANAGED
sitecustomize.py usercustomize.py
""")
"""Parts of the standard library's folder that are left out: packages of the host, and what needs a screen or pip."""

NOT_FROM_LIBRARY_PREFIXES = ("config-", "_tkinter.", "_test", "_ctypes_test.", "xxlimited")

_COMMANDS_WITH_VERSION = {
    "bash": "bash --version",
    "git": "git --version",
    "coreutils": "ls --version",
    "findutils": "find --version",
    "grep": "grep --version",
    "sed": "sed --version",
    "diffutils": "diff --version",
    "tar": "tar --version",
    "gzip": "gzip --version",
    "awk": "awk --version 2>/dev/null || awk -W version 2>/dev/null",
}

CHECK = f"""
import ast, asyncio, ctypes, hashlib, json, os, platform, re, sqlite3, ssl, subprocess, sys, zlib
found = {{"python": platform.python_version(), "libc": " ".join(platform.libc_ver()), "machine": platform.machine()}}
for name, command in {_COMMANDS_WITH_VERSION!r}.items():
    out = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True).stdout
    number = re.search(r"[0-9]+([.][0-9]\\w*)+", out.partition("\\n")[0])
    found[name] = number.group() if number else "?"
json.dump(found, sys.stdout)
"""
"""Run inside: fails where the interpreter cannot do what a harness may expect of it, else prints the versions."""
