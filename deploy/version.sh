#!/bin/sh
# version.sh: the version of this tree, as packages and the program have it: the date of the newest commit so far and how many there
# are, so that every later one sorts later and apt upgrades to it. What is not committed adds +changed.
set -eu

if ! git rev-parse HEAD >/dev/null 2>&1; then
	echo 0~dev
	exit 0
fi
day=$(TZ=UTC git log --format=%cd --date=format-local:%Y.%m.%d | sort | tail -1)
changed=
[ -z "$(git status --porcelain --untracked-files=no)" ] || changed=+changed
echo "$day.$(git rev-list --count HEAD)$changed"
