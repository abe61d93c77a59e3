# Installs the package and a launcher that starts it isolated, so that it starts fast.
set -e
mkdir -p "$1/bin" "$1/lib"
rm -rf "$1/lib/harness"
cp -R harness "$1/lib/harness"
cat >"$1/bin/harness" <<END
#!/bin/sh
exec python3 -I -S -c 'import sys
sys.path.insert(0, "$1/lib")
import harness
sys.exit(harness.main(sys.argv[1:]))' "\$@"
END
chmod 755 "$1/bin/harness"
python3 -I -m compileall -q --invalidation-mode unchecked-hash "$1/lib/harness"
