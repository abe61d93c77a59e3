# Installs the script as the command, and the package beside it.
set -e
mkdir -p "$1/bin" "$1/lib"
rm -rf "$1/lib/harness"
cp -R harness "$1/lib/harness"
cp harness.sh "$1/bin/harness"
chmod 755 "$1/bin/harness"
