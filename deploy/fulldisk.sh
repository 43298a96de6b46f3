#!/bin/sh
# Plays the demonstration on a disk of its own that is full to the last byte from its sixth second on, kill and power
# cut included: every load must be ticketed all the same. Needs Linux with user namespaces, and bin/ built.
set -eu
cd "$(dirname "$0")/.."
if [ "${1:-}" != inside ]; then
	exec unshare -Urm "$0" inside
fi
TMPDIR=$(mktemp -d)
export TMPDIR
mount -t tmpfs -o size=14m none "$TMPDIR"
bin/wellsim demo --gauger bin/gauger &
demo=$!
sleep 6
dd if=/dev/zero of="$TMPDIR/ballast" bs=4k 2>/dev/null || true
df "$TMPDIR"
wait "$demo"
