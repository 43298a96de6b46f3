#!/bin/sh
# After unpacking: the user and its folders, then the service, but only where somebody has written a configuration.
set -e

[ "$1" = configure ] || exit 0
previous=${2:-}

systemd-sysusers gauger.conf
# In a container without the usual mounts some of it may not apply; systemd makes the folders again at the start.
systemd-tmpfiles --create gauger.conf || echo "gauger: systemd-tmpfiles reported the problem above; going on" >&2

running=no
if [ -d /run/systemd/system ]; then
	running=yes
	systemctl daemon-reload
fi

# Debian's way of asking the machine's policy (policy-rc.d) first.
service() {
	if [ -x /usr/bin/deb-systemd-invoke ]; then
		deb-systemd-invoke "$@"
	else
		systemctl "$@"
	fi
}

# An upgrade puts the new program under the sites that run now, and starts no other.
if [ -n "$previous" ] && [ "$running" = yes ]; then
	for unit in $(systemctl list-units --state=active --plain --no-legend 'gauger.service' 'gauger@*.service' | cut -d' ' -f1); do
		service restart "$unit" || echo "gauger: $unit did not restart: journalctl -u $unit" >&2
	done
fi

if [ -e /etc/gauger/gauger.yaml ]; then
	if ! gauger check -c /etc/gauger/gauger.yaml >/dev/null; then
		echo "gauger: /etc/gauger/gauger.yaml has the mistakes above; correct them, then: systemctl restart gauger" >&2
	elif [ -z "$previous" ]; then
		echo "gauger: start it with: systemctl enable --now gauger"
	fi
elif [ -z "$(find /etc/gauger -maxdepth 1 -name '*.yaml')" ]; then
	cat <<-'TEXT'
	gauger is installed and not started: it has no configuration yet. Next:
	  1. cp /etc/gauger/gauger.yaml.example /etc/gauger/gauger.yaml   and write the site into it
	  2. install -m 0600 /dev/stdin /etc/gauger/primary-key           and paste the service's key, then Ctrl-D
	  3. gauger check -c /etc/gauger/gauger.yaml
	  4. systemctl enable --now gauger
	TEXT
fi
