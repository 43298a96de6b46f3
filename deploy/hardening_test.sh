#!/bin/sh
# hardening_test.sh [ROOT]: how far the units in ROOT, an unpacked package, shut the agent in; without ROOT those of this tree.
# systemd's own figure (0 is the best, 10 the worst) is printed, as shipped and with the example drop-ins.
set -eu

if ! command -v systemd-analyze >/dev/null; then
	echo "hardening test: left out, no systemd-analyze here (Debian: systemd)"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "hardening test: $*" >&2
	exit 1
}

root=$work/root
lib=$root/usr/lib/systemd/system
if [ $# -gt 0 ]; then
	cp -r "$1" "$root"
	examples=$root/usr/share/doc/gauger/examples
else
	mkdir -p "$lib" "$root/usr/bin"
	cp systemd/*.service "$lib/"
	printf '#!/bin/sh\n' >"$root/usr/bin/gauger"
	chmod 755 "$root/usr/bin/gauger"
	examples=systemd/dropins
fi
mkdir -p "$root/bin"
cp /bin/kill /bin/systemd-sysusers "$root/bin/"
cp "$root/bin/systemd-sysusers" "$root/usr/bin/"
cp /usr/lib/systemd/system/*.target "$lib/"
for unit in gauger.service gauger@north.service gauger-user@north.service; do
	systemd-analyze verify --man=no --root="$root" "$unit" >"$work/verify" 2>&1 || true
	! grep gauger "$work/verify" || fail "systemd-analyze verify complains of $unit"
done

exposure() { # exposure UNIT LIMIT DROP-IN...: systemd's own figure, times ten, must not pass the limit
	unit=$1 limit=$2
	shift 2
	rm -rf "$root/etc/systemd"
	mkdir -p "$root/etc/systemd/system/$unit.d"
	for dropin in "$@"; do
		cp "$examples/$dropin.conf" "$root/etc/systemd/system/$unit.d/"
	done
	systemd-analyze security --offline=true --root="$root" --threshold="$limit" "$unit" >"$work/security" 2>&1 ||
		fail "exposure of $unit with drop-ins [$*] above $limit/10: $(tail -1 "$work/security")"
	! grep -i -e invalid -e unknown -e ignoring "$work/security" || fail "systemd does not understand every line"
	tail -1 "$work/security" | sed "s/^[^O]*/  /; s/\$/ with drop-ins [$*]/"
}

echo "hardening test: systemd-analyze security"
for unit in gauger.service gauger@north.service; do
	exposure $unit 15
	exposure $unit 12 site-networks
	exposure $unit 10 site-networks no-serial
done
echo "hardening test: all good"
