#!/bin/sh
# Judges the packages in dist/: the files lie where the units look for them, the units are as hardened as promised,
# and installing, upgrading, removing and purging do what they say. Says what it could not try on this machine.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "package test: $*" >&2
	exit 1
}

# Every file of a package, no more and no fewer.
cat >"$work/expected" <<'LIST'
-rw-r--r-- /etc/gauger/gauger.yaml.example
-rwxr-xr-x /usr/bin/gauger
-rw-r--r-- /usr/lib/systemd/system/gauger.service
-rw-r--r-- /usr/lib/systemd/system/gauger@.service
-rw-r--r-- /usr/lib/sysusers.d/gauger.conf
-rw-r--r-- /usr/lib/tmpfiles.d/gauger.conf
-rw-r--r-- /usr/share/bash-completion/completions/gauger
-rw-r--r-- /usr/share/doc/gauger/README.md
-rw-r--r-- /usr/share/doc/gauger/copyright
-rw-r--r-- /usr/share/doc/gauger/examples/no-serial.conf
-rw-r--r-- /usr/share/doc/gauger/examples/site-networks.conf
-rw-r--r-- /usr/share/fish/vendor_completions.d/gauger.fish
-rw-r--r-- /usr/share/man/man1/gauger-backtest.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-book.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-check.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-clock.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-completion.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-devices.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-discover.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-events.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-export.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-keys.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-login.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-memo.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-outbox.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-probe.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-proof.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-read.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-run.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-scan.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-status.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-tagvalues.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-tanks.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-targets.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-tickets.1.gz
-rw-r--r-- /usr/share/man/man1/gauger-version.1.gz
-rw-r--r-- /usr/share/man/man1/gauger.1.gz
-rw-r--r-- /usr/share/zsh/vendor-completions/_gauger
LIST

contents() { # contents DEB ARCH GOARCH
	root=$work/$2
	dpkg-deb -x "$1" "$root"
	dpkg-deb -c "$1" | awk '$1 ~ /^-/ { print $1, substr($6, 2) }' | LC_ALL=C sort -k2 >"$work/found"
	diff "$work/expected" "$work/found" || fail "$1 does not hold exactly the expected files (< expected, > found)"
	dpkg-deb -c "$1" | awk '$2 != "root/root" { print; bad = 1 } END { exit bad }' || fail "$1 has files that are not root's"
	[ "$(dpkg-deb -f "$1" Architecture)" = "$2" ] || fail "$1 is not marked $2"
	go version -m "$root/usr/bin/gauger" >"$work/build"
	for setting in "GOARCH=$3" GOOS=linux CGO_ENABLED=0 -trimpath=true; do
		grep -q -e "$setting" "$work/build" || fail "the program in $1 was not built with $setting"
	done
}

units() { # units ROOT: what the units name must be in the package, or be made by systemd itself
	lib=$1/usr/lib/systemd/system
	for unit in gauger.service gauger@.service; do
		program=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$lib/$unit")
		[ -x "$1$program" ] || fail "$unit starts $program, which the package does not hold"
		user=$(sed -n 's/^User=//p' "$lib/$unit")
		grep -q "^u $user " "$1/usr/lib/sysusers.d/gauger.conf" || fail "$unit runs as $user, whom nobody creates"
		sed -n 's/^\(LoadCredential\|SetCredential\)=\([^:]*\):.*/\2/p' "$lib/$unit" | sort | uniq -c |
			awk '$1 != 2 { bad = 1 } END { exit bad || NR == 0 }' || fail "$unit: a credential without its fallback"
	done
	grep -q '^StateDirectory=gauger$' "$lib/gauger.service" || fail "the state is not in /var/lib/gauger"
	# The two units differ in the instance's name only.
	for unit in gauger.service gauger@.service; do
		sed -e '/^#/d; /^$/d' -e 's/ for %i//; s/gauger-%i/gauger/g; s/%i\.yaml/gauger.yaml/; s/%i\.//' \
			-e 's, --socket /run/gauger/gauger.sock,,' "$lib/$unit" >"$work/$unit"
	done
	diff "$work/gauger.service" "$work/gauger@.service" || fail "gauger@.service has drifted from gauger.service"
}

exposure() { # exposure ROOT LIMIT DROP-IN...: systemd's own figure, times ten, must not pass the limit
	root=$1 limit=$2
	shift 2
	rm -rf "$root/etc/systemd"
	mkdir -p "$root/etc/systemd/system/gauger.service.d"
	for dropin in "$@"; do
		cp "$root/usr/share/doc/gauger/examples/$dropin.conf" "$root/etc/systemd/system/gauger.service.d/"
	done
	systemd-analyze security --offline=true --root="$root" --threshold="$limit" gauger.service >"$work/security" 2>&1 ||
		fail "exposure with drop-ins [$*] above $limit/10: $(tail -1 "$work/security")"
	! grep -i -e invalid -e unknown -e ignoring "$work/security" || fail "systemd does not understand every line"
	tail -1 "$work/security" | sed "s/^[^O]*/  /; s/\$/ with drop-ins [$*]/"
}

echo "package test: contents"
contents dist/gauger_*_amd64.deb amd64 amd64
contents dist/gauger_*_arm64.deb arm64 arm64
contents dist/gauger_*_armhf.deb armhf arm
units "$work/amd64"

if command -v systemd-analyze >/dev/null; then
	echo "package test: hardening"
	cp -r "$work/amd64" "$work/hard"
	mkdir -p "$work/hard/bin"
	cp /bin/kill "$work/hard/bin/"
	cp /usr/lib/systemd/system/*.target "$work/hard/usr/lib/systemd/system/"
	systemd-analyze verify --man=no --root="$work/hard" gauger.service >"$work/verify" 2>&1 || true
	! grep gauger "$work/verify" || fail "systemd-analyze verify complains"
	exposure "$work/hard" 15
	exposure "$work/hard" 12 site-networks
	exposure "$work/hard" 10 site-networks no-serial
else
	echo "package test: left out, no systemd-analyze here: hardening"
fi

# The whole life of the package on a copy of this machine that vanishes with its mount namespace.
if [ "$(id -u)" = 0 ] && [ "$(dpkg --print-architecture)" = amd64 ] && command -v systemd-sysusers >/dev/null &&
	unshare -m true 2>/dev/null; then
	echo "package test: install, upgrade, remove, purge"
	cp dist/gauger_*_amd64.deb "$work/gauger.deb"
	unshare -m deploy/package_life_test.sh "$work" || fail "the package's life ended badly"
else
	echo "package test: left out, needs root, amd64, systemd and mount namespaces: install, upgrade, remove, purge"
fi
echo "package test: all good"
