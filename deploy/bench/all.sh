#!/bin/sh
# Rows 1 to 17 as one table, each with its goal and whether it is met: all.sh GAUGER [TELEGRAF [DIR]]. What is measured is measured briefly:
# the benches by themselves say more. DIR is a folder on the disk to measure. Status 1: a goal is missed, or a bench has failed.
set -u
gauger=$1 telegraf=${2:-} dir=${3:-/var/tmp}
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
failed=0

# take runs a bench and keeps its rows; a missed goal is status 1 of some, a bench that gives no row at all has failed.
take() {
	said=$("$@" 2>&1)
	got=$(printf '%s\n' "$said" | grep -P '^\d+\t') || { printf 'no rows of: %s: %s\n' "$*" "$(printf '%s\n' "$said" | tail -1)" >&2; return 1; }
	printf '%s\n' "$got" >>"$rows"
}

size=$(stat -c %s bin/gauger-linux-* | sort -n | tail -1)
[ "$size" -le 20000000 ] && met=met || met=MISSED
printf '1\tbinary, the largest of amd64, arm64 and armv7\t%s bytes\t<= 20000000\t%s\n' "$size" "$met" >>"$rows"
take bin/modbusbench -gauger "$gauger" -rows 17 -flash 6m -tab & # it waits, mostly
flash=$!
take bin/modbusbench -gauger "$gauger" -telegraf "$telegraf" -rows 2,3,4,5,6,7,8,9,10 -tab || failed=1
take bin/outboxbench -rows 2,12,13,14,15,16 -scale 0.1 -rounds 3 -only gauger -dir "$dir" -tab || failed=1
take bin/mqttbench -gauger "$gauger" -telegraf "$telegraf" -n 40000 -rounds 3 -tab || failed=1
take bin/mqttbench -gauger "$gauger" -garbage "$dir" -seconds 30 || failed=1
TMPDIR=$dir go test -count=1 -v -run '^TestAQuietDayWearsNoFlash$' ./agent/ledger |
	sed -n 's/.*quiet, tanks: \([0-9]*\), MB a day: \([0-9.]*\), .* goal: \([0-9]*\)$/\1 \2 \3/p' |
	while read -r tanks day goal; do
		verdict=- && [ "$goal" = 0 ] || verdict=$(awk "BEGIN { print $day <= $goal ? \"met\" : \"MISSED\" }")
		[ "$goal" = 0 ] && goal= || goal="<= $goal MB"
		printf '17\tflash a day, quiet, tanks: %s\t%s MB\t%s\t%s\n' "$tanks" "$day" "$goal" "$verdict"
	done >>"$rows"
wait $flash || failed=1

sort -s -n -k1,1 "$rows" | awk -F '\t' '
	BEGIN { print "row  verdict  what: measured (goal)" }
	{ sub(/NOT MET/, "MISSED", $5); printf "%3s  %-7s  %s: %s%s\n", $1, $5, $2, $3, $4 == "" ? "" : " (" $4 ")"; seen[$1] = 1 }
	$5 ~ /MISSED/ { missed++ }
	END {
		for (row = 1; row <= 17; row++) if (!(row in seen)) { printf "%3d  %-7s  not measured\n", row, "-"; missed++ }
		printf "%d missed or not measured\n", missed
		exit missed > 0
	}' || failed=1
exit $failed
