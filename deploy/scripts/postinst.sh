#!/bin/sh
# After unpacking: the user and its folders, then the service, but only where somebody has written a configuration.
set -e

case $1 in # dpkg says configure and the version before, rpm how many of it there are now
configure) previous=${2:-} ;;
1) previous='' ;;
[2-9]*) previous=before ;;
*) exit 0 ;;
esac

systemd-sysusers gauger.conf
# A queue that was left here by a removal goes on; that is said, and so is what does not run.
[ -n "$previous" ] || [ -z "$(ls -A /var/lib/gauger 2>/dev/null)" ] ||
	echo "gauger: /var/lib/gauger holds the queue, the ticket numbers and the keys of before; gauger goes on with them when it is started"
# In a container without the usual mounts some of it may not apply; systemd makes the folders again at the start.
systemd-tmpfiles --create gauger.conf || echo "gauger: systemd-tmpfiles reported the problem above; going on" >&2

# Instances had the user gauger together once, and have a user each now. What gauger could read or write for one of them
# and the new user cannot is printed: a file of the site's own that is gauger's alone, a store in another place.
withheld() { # withheld INSTANCE
	{
		find /etc/gauger -mindepth 1
		grep -o "/[^][ ,;{}?&'\"]*" "/etc/gauger/$1.yaml" || true
	} 2>/dev/null | sort -u | while IFS= read -r path; do
		case $path in "/var/lib/gauger-$1" | "/var/lib/gauger-$1/"*) continue ;; esac # systemd hands it over at the start
		for right in -r -w; do
			if runuser -u gauger -- test "$right" "$path" && ! runuser -u "gauger-$1" -- test "$right" "$path"; then
				printf '%s\n' "$path"
				break
			fi
		done
	done
}

# An instance that cannot have a user of its own goes on as before.
keep_user() { # keep_user INSTANCE WHY
	mkdir -p "/etc/systemd/system/gauger@$1.service.d"
	printf '[Service]\nUser=gauger\nGroup=gauger\n' >"/etc/systemd/system/gauger@$1.service.d/05-user-of-before.conf"
	printf 'gauger: gauger@%s keeps the user gauger: %s. Mend it, delete %s, and restart it.\n' "$1" "$2" \
		"/etc/systemd/system/gauger@$1.service.d/05-user-of-before.conf" >&2
}

# The instances that have run under the user gauger: their state is its.
for state in /var/lib/gauger-*; do
	[ -d "$state" ] && [ "$(stat -c %U "$state")" = gauger ] || continue
	name=${state#/var/lib/gauger-}
	if [ -e "/etc/systemd/system/gauger@$name.service.d/05-user-of-before.conf" ]; then
		continue
	elif [ ! -e "/etc/gauger/$name.yaml" ]; then
		[ -z "$(find /etc/systemd/system -name "gauger@$name.service")" ] ||
			keep_user "$name" "what /etc/gauger/$name.yaml needs cannot be seen, since it is not there"
		continue
	fi
	if ! printf '%s' "$name" | grep -Eqx '[A-Za-z0-9_-]{1,24}' || ! systemd-sysusers --inline \
		"u gauger-$name - \"Gauger tank gauging agent for $name\" $state /usr/sbin/nologin" "m gauger-$name dialout"; then
		keep_user "$name" "gauger-$name cannot be a user's name"
		continue
	fi
	# Who could use the instance's control socket can go on with it.
	for person in $(getent group gauger | cut -d: -f4 | tr , ' '); do
		usermod -aG "gauger-$name" "$person"
	done
	if missing=$(withheld "$name" | tr '\n' ' ') && [ -n "$missing" ]; then
		keep_user "$name" "gauger-$name may not use ${missing% }, as gauger may"
	fi
done

# The units let nothing run but /usr/bin/gauger. Where a site's drop-in starts another program beside it or in its place, that
# goes on, since nobody else can say what the program needs.
for folder in /etc/systemd/system/gauger.service.d /etc/systemd/system/gauger@*.service.d; do
	ours=$folder/05-exec-paths.conf
	program=$(grep -hos '^Exec[A-Z][A-Za-z]*=[-@:+!|]*/[^ ]*' "$folder"/*.conf | sed 's/.*=[^/]*//' | grep -vx /usr/bin/gauger | head -1) || true
	if [ -z "$program" ] || [ -e "$ours" ] || grep -Eqs '^(No)?ExecPaths=' "$folder"/*.conf; then
		continue
	fi
	printf '[Service]\nNoExecPaths=\n' >"$ours"
	printf 'gauger: a drop-in in %s starts %s, so %s lets every program run. ExecPaths= in a drop-in of yours, with the programs it needs, is narrower: delete %s then.\n' \
		"$folder" "$program" "$ours" "$ours" >&2
done

running=no
if [ -d /run/systemd/system ]; then
	running=yes
	systemctl daemon-reload
fi

# Debian's way of asking the machine's policy (policy-rc.d) first.
service() {
	if command -v deb-systemd-invoke >/dev/null; then
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
	fi
elif [ -z "$(find /etc/gauger -maxdepth 1 -name '*.yaml')" ]; then
	cat <<-'TEXT'
	gauger is installed and not started: it has no configuration yet. Next:
	  1. cp /etc/gauger/gauger.yaml.example /etc/gauger/gauger.yaml   and write the site into it
	  2. install -m 0600 /dev/stdin /etc/gauger/primary-key           and paste the service's key, then Ctrl-D;
	     the same with /etc/gauger/secondary-key
	  3. gauger check -c /etc/gauger/gauger.yaml
	  4. systemctl enable --now gauger
	TEXT
fi

# What has a configuration and does not run: a removal has stopped it, or nobody has started it yet.
off=''
for site in /etc/gauger/*.yaml; do
	[ -e "$site" ] || continue
	unit=$(basename "$site" .yaml)
	[ "$unit" = gauger ] || unit=gauger@$unit
	[ "$running" = yes ] && systemctl -q is-active "$unit" || off="$off $unit"
done
if [ -n "$off" ] && { [ "$running" = yes ] || [ -z "$previous" ]; }; then
	echo "gauger: configured, and off:$off. Start with: systemctl enable --now$off"
fi
