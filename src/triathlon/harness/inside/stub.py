#!/usr/bin/env -S python3 -IS
"""A stand-in command: notes its arguments as one JSON line, says what it was told to say, and exits so."""

import json
import os
import sys

LOG: str | None = None
SAYS, ERRS, EXIT = "", "", 0  # TOLD: replaced when the stub is laid out

if LOG is not None:
    line = json.dumps(sys.argv[1:]) + "\n"
    place = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(place, line.encode("ascii"))
sys.stdout.write(SAYS)
sys.stderr.write(ERRS)
sys.exit(EXIT)
