#!/bin/sh
# Installs the tree it stands in: sh install.sh PREFIX. Needs no network; a second time replaces the first.
set -eu
if [ $# -ne 1 ]; then
    echo "usage: sh install.sh PREFIX" >&2
    exit 2
fi
tree=$(cd -- "$(dirname -- "$0")" && pwd)
mkdir -p -- "$1/bin" "$1/lib"
rm -rf -- "$1/lib/harness"
cp -R -- "$tree/harness" "$1/lib/harness"
cp -- "$tree/entry.sh" "$1/bin/harness"
chmod 755 -- "$1/bin/harness"
python3 -I -m compileall -q --invalidation-mode unchecked-hash "$1/lib/harness"
