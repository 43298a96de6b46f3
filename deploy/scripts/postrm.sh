#!/bin/sh
# Removal keeps the queue, the ticket numbers and the keys; only a purge deletes them.
set -e

if [ "$1" = purge ]; then
	rm -f /etc/systemd/system/multi-user.target.wants/gauger.service
	rm -f /etc/systemd/system/multi-user.target.wants/gauger@*.service
	rm -rf /var/lib/gauger /var/lib/gauger-* /etc/gauger
elif [ "$1" = remove ] && [ -n "$(ls -A /var/lib/gauger 2>/dev/null)" ]; then
	echo "gauger: /var/lib/gauger still holds the tickets that were not sent and the keys; purge deletes them"
fi

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
