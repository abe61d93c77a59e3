#!/bin/sh
# Installs the tree it stands in: sh install.sh PREFIX. Needs no network; a second time replaces the first.
set -eu
if [ $# -ne 1 ]; then
    echo "usage: sh install.sh PREFIX" >&2
    exit 2
fi
tree=$(cd -- "$(dirname -- "$0")" && pwd)
mkdir -p -- "$1/bin" "$1/lib"
prefix=$(cd -- "$1" && pwd)
rm -rf -- "$prefix/lib/harness"
cp -R -- "$tree/harness" "$prefix/lib/harness"

# The launcher knows where it was installed and with which interpreter: it looks nothing up when it starts.
python=$(python3 -c 'import sys; print(sys.executable)')
quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }
{
    sed -n '1,/^$/p' "$tree/entry.sh"
    echo "python=$(quoted "$python")"
    echo "lib=$(quoted "$prefix/lib")"
    sed -n '1,/^$/!p' "$tree/entry.sh"
} >"$prefix/bin/harness.new"
chmod 755 "$prefix/bin/harness.new"
mv -f -- "$prefix/bin/harness.new" "$prefix/bin/harness"

# Bytecode that stays valid whatever the time stamps are, so that a tree that cannot be written to starts as fast.
"$python" -I -m compileall -q --invalidation-mode unchecked-hash "$prefix/lib/harness"
