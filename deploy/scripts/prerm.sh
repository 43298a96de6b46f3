#!/bin/sh
# Before the program goes away. An upgrade leaves it running until the new one is there, so that no reading is missed.
set -e

case $1 in remove | 0) ;; *) exit 0 ;; esac # dpkg's word, and rpm's
[ -d /run/systemd/system ] || exit 0

for unit in $(systemctl list-units --all --plain --no-legend 'gauger.service' 'gauger@*.service' | cut -d' ' -f1); do
	systemctl stop "$unit"
done
