#!/bin/sh
# package_life_test.sh WORK: installs WORK/gauger.deb on a throw-away copy of this machine (an overlay in memory) and
# follows it to its purge. Run in a mount namespace of its own.
set -eu

work=$1
. deploy/throwaway.sh
mount -t tmpfs none "$root/run"
mkdir -p "$root/tmp/life"
cp "$work/gauger.deb" "$root/tmp/life/"

fail() {
	echo "package life: $*" >&2
	cat "$work/log" >&2
	exit 1
}
there() { # there WHAT COMMAND...: the command succeeds on the copy
	what=$1
	shift
	chroot "$root" "$@" >"$work/log" 2>&1 || fail "$what"
}
# Off the copy what the machine itself may have: this is a first installation.
chroot "$root" dpkg --purge gauger >/dev/null 2>&1 || true

there "the first installation" dpkg -i /tmp/life/gauger.deb
grep -q "not started: it has no configuration" "$work/log" || fail "it does not say what to do next"
there "the user is missing" sh -c 'getent passwd gauger | grep -q :/usr/sbin/nologin$'
there "the user cannot open serial lines" sh -c 'id -nG gauger | grep -qw dialout'
there "/var/lib/gauger is not the agent's alone" sh -c '[ "$(stat -c %a:%U:%G /var/lib/gauger)" = 700:gauger:gauger ]'
there "the program does not start" gauger version

# Somebody writes a configuration and a key, the agent leaves state; then comes an upgrade.
there "writing a site" sh -c 'cp /etc/gauger/gauger.yaml.example /etc/gauger/gauger.yaml
	echo secret >/etc/gauger/primary-key; chmod 644 /etc/gauger/primary-key; echo queue >/var/lib/gauger/outbox.db'
there "the second installation" dpkg -i /tmp/life/gauger.deb
! grep -q "not started" "$work/log" || fail "it asks for a configuration that is there"
there "the upgrade touched the site or left the key open" sh -c '[ -s /var/lib/gauger/outbox.db ] &&
	[ -s /etc/gauger/gauger.yaml ] && [ "$(stat -c %a:%U /etc/gauger/primary-key)" = 600:root ]'

# Instances of a version that gave them all the user gauger: one that can have a user of its own, one whose certificate is
# gauger's alone, one whose name no user can have; and things beside them that are somebody else's.
long=a-site-with-a-name-too-long-for-a-user
there "writing instances" sh -c 'useradd -M ann && usermod -aG gauger ann && useradd -M gauger-exporter
	for name in north south '$long' copy; do
		mkdir -m 700 /var/lib/gauger-$name; echo queue >/var/lib/gauger-$name/outbox.db; chown -R gauger: /var/lib/gauger-$name
		echo "{store: {path: /var/lib/gauger-$name}, ca_file: /srv/$name/ca.pem}" >/etc/gauger/$name.yaml
	done
	rm /etc/gauger/copy.yaml
	mkdir -p /srv/south /var/lib/gauger-exporter /var/lib/gauger-exporter-of-somebody
	echo cert >/srv/south/ca.pem; chown root:gauger /srv/south/ca.pem; chmod 640 /srv/south/ca.pem
	chown gauger-exporter /var/lib/gauger-exporter'
there "writing drop-ins" sh -c 'cd /etc/systemd/system; mkdir gauger.service.d gauger@north.service.d gauger@south.service.d
	printf "[Service]\nExecStartPre=-/bin/sleep 1\n" >gauger.service.d/wait.conf
	printf "[Service]\nExecStart=\nExecStart=/usr/bin/gauger run\n" >gauger@north.service.d/start.conf
	printf "[Service]\nExecStartPost=/bin/true\nExecPaths=/bin/true\n" >gauger@south.service.d/true.conf'
there "the upgrade with instances" dpkg -i /tmp/life/gauger.deb
grep -q "starts /bin/sleep, so" "$work/log" || fail "it does not say that every program may run"
for name in south $long; do
	grep -q "gauger@$name keeps the user gauger: gauger-$name" "$work/log" || fail "it does not say that $name keeps its user"
done
grep -q "may not use /srv/south/ca.pem, as gauger may" "$work/log" || fail "it does not say what gauger-south may not read"
for name in south $long; do
	there "$name has lost its user" grep -q '^User=gauger$' "/etc/systemd/system/gauger@$name.service.d/05-user-of-before.conf"
done
there "north has no user of its own" sh -c '[ "$(getent passwd gauger-north | cut -d: -f7)" = /usr/sbin/nologin ] &&
	id -nG gauger-north | grep -qw dialout && ! id -nG gauger-north | tr " " "\n" | grep -qx gauger &&
	[ ! -e /etc/systemd/system/gauger@north.service.d/05-user-of-before.conf ]'
there "who could use the socket of north cannot now" sh -c 'id -nG ann | grep -qw gauger-north'
there "a copy is taken for an instance" sh -c '! getent passwd gauger-copy'
there "a site's own program cannot run" grep -qx NoExecPaths= /etc/systemd/system/gauger.service.d/05-exec-paths.conf
there "programs may run that nobody starts" sh -c '[ -z "$(find /etc/systemd/system/gauger@* -name 05-exec-paths.conf)" ]'
there "handing over north, as its start does" chown -R gauger-north: /var/lib/gauger-north

there "the removal" dpkg --remove gauger
grep -q "purge deletes them" "$work/log" || fail "the removal does not say that the state stays"
there "the removal took the state" sh -c '[ -s /var/lib/gauger/outbox.db ] && [ -s /etc/gauger/primary-key ]'
there "the removal left the program" sh -c '[ ! -e /usr/bin/gauger ]'
there "coming back after a removal" dpkg -i /tmp/life/gauger.deb
there "the purge" dpkg --purge gauger
there "the purge left state or secrets" sh -c '[ ! -e /var/lib/gauger ] && [ ! -e /etc/gauger ]'
there "the purge left state of an instance" sh -c '[ ! -e /var/lib/gauger-north ] && [ ! -e /var/lib/gauger-south ] &&
	[ ! -e /var/lib/gauger-'$long' ] && [ -z "$(find /etc/systemd/system -name "05-*.conf")" ]'
there "the purge took what is not ours" sh -c '[ -d /var/lib/gauger-exporter ] && [ -d /var/lib/gauger-exporter-of-somebody ] &&
	[ -s /var/lib/gauger-copy/outbox.db ] && [ -s /srv/south/ca.pem ]'
there "a purge of what is gone" dpkg --purge gauger
