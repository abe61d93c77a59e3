#!/bin/sh
# Becomes PREFIX/bin/harness. Isolated: neither PYTHONPATH nor the folder it is called in can change what runs.
lib=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")/lib
exec python3 -I -c 'import sys; sys.path.insert(0, sys.argv.pop(1)); from harness.__main__ import main; sys.exit(main())' "$lib" "$@"
