#!/bin/sh
# package_other_test.sh WORK: follows WORK/gauger.rpm and WORK/gauger.tar.gz to their ends on a throw-away copy of this machine, which
# is Debian's: rpm is asked to pass over what it cannot know of. Run in a mount namespace of its own.
set -eu

work=$1
. deploy/throwaway.sh
mount -t tmpfs none "$root/run"
mkdir -p "$root/tmp/life"
fail() {
	echo "package other: $*" >&2
	cat "$work/log" >&2
	exit 1
}
there() { # there WHAT COMMAND...: the command succeeds on the copy
	what=$1
	shift
	chroot "$root" "$@" >"$work/log" 2>&1 || fail "$what"
}
chroot "$root" dpkg --purge gauger >/dev/null 2>&1 || true
rm -rf "$root/var/lib/rpm"
there "rpm's own list" rpm --initdb

lives() { # lives WHAT: what both kinds leave behind a first installation, and what they must keep
	there "the $1's program" gauger check --plan=false -c /etc/gauger/gauger.yaml.example
	there "the $1's user" sh -c 'getent passwd gauger | grep -q :/usr/sbin/nologin$ && [ "$(stat -c %a:%U /var/lib/gauger)" = 700:gauger ]'
	there "a site with the $1" sh -c 'cp /etc/gauger/gauger.yaml.example /etc/gauger/gauger.yaml; echo queue >/var/lib/gauger/outbox.db'
}
kept() {
	there "$1 took the queue or the site" sh -c '[ -s /var/lib/gauger/outbox.db ] && [ -s /etc/gauger/gauger.yaml ]'
}

cp "$work/gauger.rpm" "$root/tmp/life/"
there "the rpm" rpm -i --nodeps --ignoreos --ignorearch /tmp/life/gauger.rpm
grep -q "not started: it has no configuration" "$work/log" || fail "the rpm does not say what to do next"
lives rpm
there "the rpm again" rpm -U --force --nodeps --ignoreos --ignorearch /tmp/life/gauger.rpm
kept "the rpm's upgrade"
there "the rpm's removal" rpm -e gauger
grep -q "purge deletes them" "$work/log" || fail "the rpm does not say that the state stays"
there "the rpm's program is still there" sh -c '[ ! -e /usr/bin/gauger ]'
kept "the rpm's removal"
rm -rf "$root/etc/gauger" "$root/var/lib/gauger"
echo "  the rpm is installed, upgraded and removed; the queue stays"

tar -C "$root/tmp/life" -xzf "$work/gauger.tar.gz"
archive=/tmp/life/$(basename "$root"/tmp/life/gauger-*-linux-amd64)
there "the archive" "$archive/install.sh"
grep -q "not started: it has no configuration" "$work/log" || fail "the archive does not say what to do next"
lives archive
rm "$root$archive/root/usr/share/doc/gauger/SECURITY.md" # which the next version has not
there "the archive again" "$archive/install.sh"
kept "the archive's upgrade"
there "the archive's older file is still there" sh -c '[ ! -e /usr/share/doc/gauger/SECURITY.md ] && [ -e /usr/share/doc/gauger/README.md ]'
there "the archive's removal" "$archive/install.sh" --remove
there "the archive's program is still there" sh -c '[ ! -e /usr/bin/gauger ] && [ ! -e /usr/lib/systemd/system/gauger.service ]'
kept "the archive's removal"
there "the archive on a box without systemd" sh -c 'mkdir /tmp/life/bin && for tool in /usr/bin/* /usr/sbin/*; do
	case $tool in */systemd-*) ;; *) ln -s "$tool" /tmp/life/bin/ ;; esac; done; userdel gauger; PATH=/tmp/life/bin '"$archive"'/install.sh'
grep -q "this box has no systemd" "$work/log" || fail "the archive does not say who starts gauger without systemd"
there "its purge" "$archive/install.sh" --purge
there "the archive's purge left something" sh -c '[ ! -e /var/lib/gauger ] && [ ! -e /etc/gauger ]'
echo "  the archive is installed, upgraded, removed and purged, with systemd and without"
