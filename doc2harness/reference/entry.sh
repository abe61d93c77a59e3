#!/bin/sh
# Becomes PREFIX/bin/harness; install.sh puts `python` and `lib` in. Isolated: no PYTHON* variable, site folder or
# folder it is called in changes what runs.

exec "$python" -I -S -c '
import sys
sys.path.insert(0, sys.argv.pop(1))
from harness.__main__ import main
sys.exit(main())
' "$lib" "$@"
