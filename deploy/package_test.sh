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

# Every file of a package, no more and no fewer: a page for each command that the program has, the manual and the fleet's files.
expected() { # expected ROOT PACKAGE
	cat <<-LIST
		-rw-r--r-- /etc/gauger/gauger.yaml.example
		-rwxr-xr-x /usr/bin/gauger
		-rw-r--r-- /usr/lib/systemd/system/gauger-user@.service
		-rw-r--r-- /usr/lib/systemd/system/gauger.service
		-rw-r--r-- /usr/lib/systemd/system/gauger@.service
		-rw-r--r-- /usr/lib/sysusers.d/gauger.conf
		-rw-r--r-- /usr/lib/tmpfiles.d/gauger.conf
		-rw-r--r-- /usr/share/bash-completion/completions/gauger
		-rw-r--r-- /usr/share/doc/gauger/README.md
		-rw-r--r-- /usr/share/doc/gauger/SECURITY.md
		-rw-r--r-- /usr/share/doc/$2/changelog.gz
		-rw-r--r-- /usr/share/doc/$2/copyright
		-rw-r--r-- /usr/share/doc/gauger/examples/no-serial.conf
		-rw-r--r-- /usr/share/doc/gauger/examples/site-networks.conf
		-rw-r--r-- /usr/share/doc/gauger/gauger.cdx.json
		-rw-r--r-- /usr/share/fish/vendor_completions.d/gauger.fish
		-rw-r--r-- /usr/share/lintian/overrides/$2
		-rw-r--r-- /usr/share/man/man1/gauger.1.gz
		-rw-r--r-- /usr/share/zsh/vendor-completions/_gauger
	LIST
	"$work/amd64/usr/bin/gauger" help | sed -n 's/^  gauger \([a-z]*\).*/\1/p' | grep -v '^help$' | sort -u | sed 's,.*,-rw-r--r-- /usr/share/man/man1/gauger-&.1.gz,'
	find deploy/doc -type f | sed 's,deploy/doc,-rw-r--r-- /usr/share/doc/gauger,'
	find deploy/fleet -type f | sed 's,deploy,-rw-r--r-- /usr/share/doc/gauger/examples,'
}

contents() { # contents DEB ARCH GOARCH [PACKAGE]
	root=$work/$2
	dpkg-deb -x "$1" "$root"
	expected "$root" "${4:-gauger}" | LC_ALL=C sort -k2 >"$work/expected"
	dpkg-deb -c "$1" | awk '$1 ~ /^-/ { print $1, substr($6, 2) }' | LC_ALL=C sort -k2 >"$work/found"
	diff "$work/expected" "$work/found" || fail "$1 does not hold exactly the expected files (< expected, > found)"
	dpkg-deb -c "$1" | awk '$2 != "root/root" { print; bad = 1 } END { exit bad }' || fail "$1 has files that are not root's"
	[ "$(dpkg-deb -f "$1" Architecture)" = "$2" ] || fail "$1 is not marked $2"
	go version -m "$root/usr/bin/gauger" >"$work/build"
	for setting in "GOARCH=$3" GOOS=linux CGO_ENABLED=0 -trimpath=true; do
		grep -q -e "$setting" "$work/build" || fail "the program in $1 was not built with $setting"
	done
	# The bill of materials is of this program, and names each module that is linked and has its licence in the copyright.
	bill=$root/usr/share/doc/gauger/gauger.cdx.json
	grep -q "$(sha256sum <"$root/usr/bin/gauger" | cut -d' ' -f1)" "$bill" || fail "the bill of materials in $1 is of another program"
	awk '$1 == "dep" { print $2 "@" $3 }' "$work/build" >"$work/linked"
	[ -s "$work/linked" ] || fail "the program in $1 does not say what is linked into it"
	while read -r module; do
		grep -q "\"purl\": \"pkg:golang/$module\"" "$bill" || fail "the bill of materials in $1 lacks $module"
		grep -q "^==== $module: " "$root/usr/share/doc/${4:-gauger}/copyright" || fail "the copyright in $1 lacks $module"
	done <"$work/linked"
}

units() { # units ROOT: what the units name must be in the package, or be made by systemd itself
	lib=$1/usr/lib/systemd/system
	for unit in gauger.service gauger@.service; do
		program=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$lib/$unit")
		[ -x "$1$program" ] || fail "$unit starts $program, which the package does not hold"
		user=$(sed -n 's/^User=//p' "$lib/$unit")
		sed "s/.*'\(u [^']*\)'.*/\1/" "$1/usr/lib/sysusers.d/gauger.conf" "$lib/gauger-user@.service" | grep -q "^u $user " ||
			fail "$unit runs as $user, whom nobody creates"
		sed -n 's/^\(LoadCredential\|SetCredential\)=\([^:]*\):.*/\2/p' "$lib/$unit" | sort | uniq -c |
			awk '$1 != 2 { bad = 1 } END { exit bad || NR == 0 }' || fail "$unit: a credential without its fallback"
	done
	grep -q '^StateDirectory=gauger$' "$lib/gauger.service" || fail "the state is not in /var/lib/gauger"
	# Every secret of the example is a credential that the units hand over, and none is a file that they close for the agent.
	example=$1/etc/gauger/gauger.yaml.example
	! grep -n '{file: /etc/gauger/' "$example" || fail "the example has a secret that the agent cannot read at a packaged site"
	sed -n 's/.*: {credential: \([^}]*\)}.*/\1/p' "$example" | sort -u >"$work/credentials"
	[ "$(wc -l <"$work/credentials")" -ge 7 ] || fail "the example names $(wc -l <"$work/credentials") credentials only"
	while read -r credential; do
		grep -q "^LoadCredential=$credential:/etc/gauger/$credential\$" "$lib/gauger.service" ||
			fail "the example's credential $credential is not handed over by gauger.service"
	done <"$work/credentials"
	# The two units differ in the instance's name only, and in who makes its user.
	for unit in gauger.service gauger@.service; do
		sed -e '/^#/d; /^$/d; /^Wants=gauger-user@%i.service$/d; s/ gauger-user@%i.service$//' \
			-e 's/ for %i//; s/gauger-%i/gauger/g; s/%i\.yaml/gauger.yaml/; s/%i\.//' \
			-e 's, --socket /run/gauger/gauger.sock,,' "$lib/$unit" >"$work/$unit"
	done
	diff "$work/gauger.service" "$work/gauger@.service" || fail "gauger@.service has drifted from gauger.service"
}

echo "package test: contents"
contents dist/gauger_*_amd64.deb amd64 amd64
contents dist/gauger_*_arm64.deb arm64 arm64
contents dist/gauger_*_armhf.deb armhf arm
rm -rf "$work/armhf"
contents dist/gauger-armv6_*_armhf.deb armhf arm gauger-armv6
if command -v lintian >/dev/null; then
	lintian --allow-root --fail-on error,warning dist/*.deb || fail "lintian complains of more than deploy/lintian-overrides says"
else
	echo "package test: left out, needs lintian: what Debian's policy says"
fi
units "$work/amd64"

deploy/hardening_test.sh "$work/amd64"

# The whole life of the package on a copy of this machine that vanishes with its mount namespace.
if [ "$(id -u)" = 0 ] && [ "$(dpkg --print-architecture)" = amd64 ] && command -v systemd-sysusers >/dev/null &&
	unshare -m true 2>/dev/null; then
	echo "package test: install, upgrade, remove, purge"
	cp dist/gauger_*_amd64.deb "$work/gauger.deb"
	unshare -m deploy/package_life_test.sh "$work" || fail "the package's life ended badly"
	rm -rf "$work/overlay"
	if command -v rpm >/dev/null; then
		echo "package test: the rpm and the archive"
		cp dist/gauger-*.x86_64.rpm "$work/gauger.rpm"
		cp dist/gauger-*-linux-amd64.tar.gz "$work/gauger.tar.gz"
		unshare -m deploy/package_other_test.sh "$work" || fail "the rpm's or the archive's life ended badly"
		rm -rf "$work/overlay"
	else
		echo "package test: left out, needs rpm: the rpm and the archive"
	fi
	if [ -n "$(findmnt -nt cgroup2)" ] && [ -x /usr/lib/systemd/systemd ] && unshare -mpuinCf true 2>/dev/null; then
		echo "package test: a booted systemd"
		CGO_ENABLED=0 go build -tags fault -o "$work/gauger-fault" ./cmd/gauger
		unshare -m deploy/package_boot_test.sh "$work" || fail "under a booted systemd the package does not do what it says"
	else
		echo "package test: left out, needs systemd, control groups of version 2 and namespaces: a booted systemd"
	fi
else
	echo "package test: left out, needs root, amd64, systemd and mount namespaces: install, upgrade, remove, purge"
fi
echo "package test: all good"
