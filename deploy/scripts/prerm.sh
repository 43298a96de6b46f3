#!/bin/sh
# Before the program goes away. An upgrade leaves it running until the new one is there, so that no reading is missed.
set -e

[ "$1" = remove ] || exit 0
[ -d /run/systemd/system ] || exit 0

for unit in $(systemctl list-units --all --plain --no-legend 'gauger.service' 'gauger@*.service' | cut -d' ' -f1); do
	systemctl stop "$unit"
done
