#!/bin/sh
# package_life_test.sh WORK: installs WORK/gauger.deb on a throw-away copy of this machine (an overlay in memory) and
# follows it to its purge. Run in a mount namespace of its own.
set -eu

work=$1
mkdir "$work/overlay"
mount -t tmpfs none "$work/overlay"
mkdir "$work/overlay/upper" "$work/overlay/work" "$work/overlay/root"
root=$work/overlay/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/overlay/upper,workdir=$work/overlay/work" "$root"
mount -t proc proc "$root/proc"
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

there "the removal" dpkg --remove gauger
grep -q "purge deletes them" "$work/log" || fail "the removal does not say that the state stays"
there "the removal took the state" sh -c '[ -s /var/lib/gauger/outbox.db ] && [ -s /etc/gauger/primary-key ]'
there "the removal left the program" sh -c '[ ! -e /usr/bin/gauger ]'
there "coming back after a removal" dpkg -i /tmp/life/gauger.deb
there "the purge" dpkg --purge gauger
there "the purge left state or secrets" sh -c '[ ! -e /var/lib/gauger ] && [ ! -e /etc/gauger ]'
there "a purge of what is gone" dpkg --purge gauger
