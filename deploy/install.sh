#!/bin/sh
# install.sh [--remove | --purge]: puts gauger on a box that has neither dpkg nor rpm, or takes it away; run as root, in the unpacked
# archive. A newer one over an older one is an upgrade. Removal keeps the configuration, the queue and the keys; --purge deletes them.
set -eu

cd "$(dirname "$0")"
fail() {
	echo "install.sh: $*" >&2
	exit 1
}
[ "$(id -u)" = 0 ] || fail "run it as root: sudo ./install.sh"
for owner in dpkg-query rpm; do
	case $owner in
	dpkg-query) dpkg-query -W gauger >/dev/null 2>&1 && fail "gauger is here as a Debian package; apt upgrades or removes that" ;;
	rpm) rpm -q gauger >/dev/null 2>&1 && fail "gauger is here as an rpm package; rpm upgrades or removes that" ;;
	esac || true
done
list=/var/lib/gauger.files # what an earlier run has put here
was=$(cat /usr/share/doc/gauger/VERSION 2>/dev/null || true)

# The scripts of the packages work with systemd. Without it there is a user to be made, and somebody else starts the program.
systemd() { command -v systemd-sysusers >/dev/null && command -v systemd-tmpfiles >/dev/null; }

case ${1:-} in
--remove | --purge)
	[ -e "$list" ] || fail "there is no list $list of what was installed"
	! systemd || sh scripts/prerm.sh remove
	while IFS= read -r file; do rm -f "$file"; done <"$list"
	rm -f "$list"
	sh scripts/postrm.sh remove
	[ "$1" != --purge ] || sh scripts/postrm.sh purge
	exit 0
	;;
'') ;;
*) fail "$1: it takes --remove, --purge or nothing" ;;
esac

root/usr/bin/gauger version >/dev/null 2>&1 || fail "this program does not run on this machine ($(uname -m)); take the archive of its kind"
(cd root && find . ! -type d | sed 's/^\.//') >"$list.new"
while IFS= read -r file; do
	mkdir -p "$(dirname "$file")"
	cp -p "root$file" "$file.new" # a program that runs is replaced, never written over
	chown 0:0 "$file.new"
	mv -f "$file.new" "$file"
done <"$list.new"
cp VERSION /usr/share/doc/gauger/VERSION
echo /usr/share/doc/gauger/VERSION >>"$list.new"
# What an older version had and this one has not.
[ ! -e "$list" ] || grep -vxFf "$list.new" "$list" | while IFS= read -r file; do rm -f "$file"; done
mv "$list.new" "$list"
if systemd; then
	exec sh scripts/postinst.sh configure "$was"
fi
id gauger >/dev/null 2>&1 || useradd --system --home-dir /var/lib/gauger --shell /usr/sbin/nologin gauger 2>/dev/null ||
	adduser -S -D -H -h /var/lib/gauger gauger || fail "no user gauger could be made; make one, and run this again"
mkdir -p /etc/gauger /var/lib/gauger
chown gauger: /var/lib/gauger
chmod 700 /var/lib/gauger
echo "gauger is installed and nothing starts it, since this box has no systemd: let its supervisor run, as the user gauger,"
echo "  gauger run -c /etc/gauger/gauger.yaml"
