#!/bin/sh
# arm_test.sh PROGRAM...: each arm build starts under emulation, reads the example configuration, and makes the ticket of a whole load.
set -eu

if ! command -v qemu-arm-static >/dev/null || ! command -v qemu-aarch64-static >/dev/null; then
	echo "arm test: left out, no qemu-arm-static here (Debian: qemu-user-static)"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/site.yaml" <<'SITE'
site: arm
id: ARM
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: America/Chicago
service: {url: "http://127.0.0.1:9", primary_key: {env: KEY}}
store: {path: store, max_bytes: 1MiB}
devices: [{name: rec, recording: load.csv, points: [{name: level, unit: in}]}]
tanks: [{id: TK-1, level: rec/level, sensor: radar, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme}]
SITE
# A well fills a tank by 12 inches an hour; from the third hour on a truck takes 100 inches in 40 minutes, in which 8 come: 92, 184 bbl.
awk 'BEGIN {
	print "ts,mono_s,boot,point,value,quality"
	for (s = 0; s < 6 * 3600; s += 10) {
		drawn = s < 10800 ? 0 : s > 13200 ? 100 : (s - 10800) / 24
		printf "2026-03-02T%02d:%02d:%02dZ,%d,1,rec/level,%.3f,good\n", 12 + s / 3600, s / 60 % 60, s % 60, s, 150 + s / 3600 * 12 - drawn
	}
}' >"$work/load.csv"
for program in "$@"; do
	case $program in
	*arm64) emulate=qemu-aarch64-static ;;
	*) emulate=qemu-arm-static ;;
	esac
	"$emulate" "$program" version
	"$emulate" "$program" check -c config/example.yaml
	"$emulate" "$program" backtest -c "$work/site.yaml" --readings "$work/load.csv" >"$work/tickets"
	grep -q '^A-ARM-TK-1-20260302T1500Z .* 18[34]\.[0-9] ' "$work/tickets" && grep -q '^1 ticket, 0 events' "$work/tickets" ||
		{ cat "$work/tickets" >&2; echo "arm test: $program makes something else of a load of 184 bbl" >&2; exit 1; }
	echo "arm test: $program starts, checks the example, and makes one ticket of a whole load"
done
