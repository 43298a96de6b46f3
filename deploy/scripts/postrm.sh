#!/bin/sh
# Removal keeps the queue, the ticket numbers and the keys; only a purge deletes them.
set -e

[ "$1" != 0 ] || set -- remove # rpm has no purge

# The state of an instance has a configuration or a user that says so, and an owner that is the instance's or gauger:
# what somebody else calls gauger-exporter, or a copy that a person made, is not ours to delete.
ours() { # ours STATE
	name=${1#/var/lib/gauger-}
	maker() { [ "$(getent passwd "gauger-$name" | cut -d: -f5)" = "Gauger tank gauging agent for $name" ]; }
	[ -d "$1" ] && [ ! -L "$1" ] || return 1
	case $(stat -c %U "$1") in
	gauger) [ -e "/etc/gauger/$name.yaml" ] || maker ;;
	"gauger-$name") maker ;;
	*) return 1 ;;
	esac
}

if [ "$1" = purge ]; then
	rm -f /etc/systemd/system/multi-user.target.wants/gauger.service
	rm -f /etc/systemd/system/multi-user.target.wants/gauger@*.service
	for state in /var/lib/gauger-*; do
		if ours "$state"; then
			dropins=/etc/systemd/system/gauger@${state#/var/lib/gauger-}.service.d
			rm -rf "$state" "$dropins/05-user-of-before.conf"
			[ ! -d "$dropins" ] || rmdir --ignore-fail-on-non-empty "$dropins"
		fi
	done
	rm -f /etc/systemd/system/gauger.service.d/05-exec-paths.conf /etc/systemd/system/gauger@*.service.d/05-exec-paths.conf
	rm -rf /var/lib/gauger /etc/gauger
elif [ "$1" = remove ] && [ -n "$(ls -A /var/lib/gauger 2>/dev/null)" ]; then
	echo "gauger: /var/lib/gauger still holds the tickets that were not sent and the keys; purge deletes them"
fi

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
