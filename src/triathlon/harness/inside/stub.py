#!/usr/bin/python3 -IS
"""A stand-in command: notes its arguments as one JSON line, says what it was told to say, and exits so."""

import json
import os
import sys

TOLD = {}

if TOLD["log"] is not None:
    line = json.dumps(sys.argv[1:]) + "\n"
    place = os.open(TOLD["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(place, line.encode("ascii"))
sys.stdout.write(TOLD["says"])
sys.stderr.write(TOLD["errs"])
sys.exit(TOLD["exit"])
