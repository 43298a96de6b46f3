#!/bin/sh
# package_boot_test.sh WORK: boots systemd on a throw-away copy of this machine and runs the packaged program under its units
# there: an upgrade of an instance with a full queue, what the agent cannot do, who edits. Run as root in a mount namespace of
# its own; the rest of the machine is neither seen nor touched.
set -eu

work=$1
. deploy/throwaway.sh
mount -t tmpfs -o mode=755 none "$root/run"
mount -t tmpfs none "$root/tmp"
mount -t tmpfs -o mode=755 none "$root/dev"
for device in null zero full random urandom tty; do
	: >"$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm"
mount -t tmpfs none "$root/dev/shm"
mkdir "$root/dev/pts"
mount -t devpts -o ptmxmode=0666 none "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
# Of the machine's own services only the journal starts.
rm -f "$root/usr/sbin/policy-rc.d" # which would forbid every start
: >"$root/etc/fstab"
find "$root/etc/systemd/system" "$root/usr/lib/systemd/system" -path '*.wants/*' ! -name 'systemd-journald*' -delete
mkdir -p "$root/etc/systemd/system-generators"
for generator in "$root"/usr/lib/systemd/system-generators/*; do
	ln -sf /dev/null "$root/etc/systemd/system-generators/${generator##*/}"
done
mkdir "$root/tmp/life"
cp "$work/gauger.deb" "$root/tmp/life/"

group=$(findmnt -nt cgroup2 -o TARGET | head -1)/gauger-boot-test-$$
if ! mkdir "$group" 2>/dev/null; then
	echo "package boot: left out, no control group can be made in ${group%/*}"
	exit 0
fi
outer='' init=''
finish() {
	[ -z "$init$outer" ] || kill -KILL "${init:-$outer}"
	wait # until all that ran inside has ended
	find "$group" -depth -type d -exec rmdir {} \;
}
trap finish EXIT
trap 'exit 1' INT TERM
fail() {
	echo "package boot: $*" >&2
	cat "$work/log" >&2
	inside journalctl --no-pager -n 40 -u 'gauger*' >&2 || true
	exit 1
}

cat >"$work/boot" <<BOOT
echo \$\$ >$group/cgroup.procs
exec unshare --mount --pid --fork --kill-child --cgroup --uts --ipc --net sh -c '
	mount -t proc proc $root/proc; mount -o bind,ro $root/proc/sys $root/proc/sys
	mount -t sysfs -o ro sysfs $root/sys; mount -t cgroup2 cgroup2 $root/sys/fs/cgroup
	cd $root && pivot_root . mnt && umount -l /mnt # in a changed root alone nobody may make a user namespace
	mount --make-rshared / # systemd mounts credentials in a process of its own
	exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /usr/lib/systemd/systemd --unit=multi-user.target'
BOOT
sh "$work/boot" >"$work/console" 2>&1 </dev/null &
outer=$!
inside() { nsenter -t "$init" -m -p -u -i -n -C env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
for attempt in $(seq 300); do
	init=$(tr -d ' ' <"/proc/$outer/task/$outer/children")
	if [ -n "$init" ] && inside systemctl is-system-running >"$work/log" 2>&1; then
		break
	fi
	if [ "$attempt" = 300 ]; then
		echo "package boot: left out, systemd does not come up here: $(tail -1 "$work/console")"
		exit 0
	fi
	sleep 0.1
done
there() { # there WHAT COMMAND...: the command succeeds inside
	what=$1
	shift
	inside "$@" >"$work/log" 2>&1 </dev/null || fail "$what"
}
is() { # is WHAT GOT WANTED
	[ "$2" = "$3" ] || fail "$1: $2 instead of $3"
}
pid() { inside systemctl show -p MainPID --value "$1"; }
gauger() { # gauger INSTANCE ARGUMENT...
	instance=$1
	shift
	inside gauger "$@" -c "/etc/gauger/$instance.yaml" --socket "/run/gauger-$instance/gauger.sock"
}
memos() { # memos INSTANCE FIELD: of all memos ever accepted, those that are accepted, waiting, evicted ...
	gauger "$1" proof --format json | sed -n '/"stream": "memos"/,/"queued"/s/.*"'"$2"'": \([0-9]*\).*/\1/p' | head -1
}

# The version before, in which all instances had the user gauger.
dpkg-deb -R "$work/gauger.deb" "$work/before"
lib=$work/before/usr/lib/systemd/system
sed -i 's/^\(User\|Group\)=.*/\1=gauger/; s/ *gauger-user@%i.service//; /^Wants=$/d' "$lib/gauger@.service"
rm "$lib/gauger-user@.service"
sed -i 's/^Version: .*/Version: 0~0/' "$work/before/DEBIAN/control"
dpkg-deb --root-owner-group -Znone -b "$work/before" "$root/tmp/life/before.deb" >"$work/log"

inside dpkg --purge gauger >/dev/null 2>&1 || true
there "the version before" dpkg -i /tmp/life/before.deb
site() { # site NAME: its configuration, with a service that is away
	cat >"$root/etc/gauger/$1.yaml" <<SITE
site: $1
id: TEST
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: America/Chicago
service: {url: "http://127.0.0.1:9", primary_key: {credential: primary-key}, secondary_key: {credential: secondary-key}, wire: {request_timeout: 1s}} # a drain hangs after four of these and a minute
store: {path: /var/lib/gauger-$1, max_bytes: 1MiB}
recorder: {max_bytes: 0}
devices: [{name: plc, modbus: "tcp://127.0.0.1:9", points: [{name: level, holding: 100, unit: in}]}]
tanks: [{id: TK-1, level: plc/level, sensor: radar, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme}]
SITE
	for key in primary secondary; do
		echo "$key-key-of-$1" >"$root/etc/gauger/$1.$key-key"
	done
}
packaged=$(dpkg-deb -f "$work/gauger.deb" Version)
site north
there "the instance does not start" systemctl start gauger@north
is "the instance's user before" "$(inside stat -c %U /var/lib/gauger-north/outbox.db)" gauger
awk 'BEGIN { for (i = 0; i < 200; i++) printf "%s{\"text\": \"%0400d\"}", i ? "," : "[", i; print "]" }' >"$root/tmp/life/memos.json"
for round in $(seq 50); do
	gauger north memo add 4711 --file /tmp/life/memos.json --no-wait >"$work/log" 2>&1 && [ "$(memos north evicted)" = 0 ] || break
	[ "$round" -lt 50 ] || fail "the queue is never full"
done
before=$(memos north waiting)
[ "$before" -gt 200 ] || fail "only [$before] records wait in a full queue"

mkdir -p "$root/etc/systemd/system/gauger@north.service.d"
printf '[Service]\nExecStartPre=/bin/mkdir -p /var/lib/gauger-north/sites-own\n' >"$root/etc/systemd/system/gauger@north.service.d/own.conf"
there "the upgrade" dpkg -i /tmp/life/gauger.deb
agent=$(pid gauger@north)
is "the instance after the upgrade" "$(inside systemctl show -p ActiveState,NRestarts gauger@north | tr '\n' ' ')" "NRestarts=0 ActiveState=active "
is "the owner of its state" "$(inside find /var/lib/gauger-north ! -user gauger-north)" ""
is "what waits in its queue" "$(memos north waiting)" "$before"
echo "  upgrade with a full queue of $before records: the user is gauger-north now, and all of them wait"

# What hangs, and what is only away.
if [ -x "$work/gauger-fault" ]; then
	. deploy/package_watchdog.sh
fi

# What the running agent cannot do. Its files below /proc are root's when nobody but root may read its memory.
is "who may read its memory" "$(inside stat -c %U "/proc/$agent/environ")" root
is "its open files" "$(inside awk '/^Max open files/ { print $4, $5 }' "/proc/$agent/limits")" "1024 1024"
there "the site's own program does not run" test -d /var/lib/gauger-north/sites-own
there "the site without its own program" sh -c 'cd /etc/systemd/system/gauger@north.service.d && rm 05-exec-paths.conf own.conf &&
	systemctl daemon-reload && systemctl restart gauger@north'
agent=$(pid gauger@north)
if inside nsenter -t "$agent" -m -r /usr/bin/true >"$work/log" 2>&1; then
	fail "a program beside gauger runs where the agent lives"
fi
there "gauger itself does not run where the agent lives" nsenter -t "$agent" -m -r /usr/bin/gauger version
there "the reload" systemctl reload gauger@north

# A new instance needs nothing but its configuration.
site fresh
there "a new instance" systemctl start gauger@fresh
is "the new instance's user" "$(inside stat -c %U /var/lib/gauger-fresh)" gauger-fresh

# With the drop-in that shuts it in a user namespace, the name of who edits is that of the login.
mkdir -p "$root/etc/systemd/system/gauger@.service.d"
cp "$root/usr/share/doc/gauger/examples/site-networks.conf" "$root/etc/systemd/system/gauger@.service.d/"
there "a technician" sh -c 'useradd -M ann && usermod -aG gauger-fresh ann && systemctl daemon-reload && systemctl restart gauger@fresh'
cat >"$root/etc/systemd/system/edit.service" <<UNIT
[Service]
Type=oneshot
User=ann
Slice=user-$(inside id -u ann).slice
ExecStart=/usr/bin/gauger tanks inhibit TK-1 1h --why cleaning -c /etc/gauger/fresh.yaml --socket /run/gauger-fresh/gauger.sock
UNIT
there "an edit of the technician's" sh -c 'systemctl daemon-reload && systemctl start edit'
gauger fresh tanks list >"$work/log" 2>&1
grep -qw ann "$work/log" || fail "the name of who edits is lost with the drop-in"

# What the agent reads at a site, as shipped and with the drop-ins: a slave on Modbus TCP, one on a serial line, a broker. The
# line is a pseudo terminal, for which the units make no exception: no-serial keeps real lines away, which this machine has not.
if [ -x /usr/sbin/mosquitto ] && command -v socat >/dev/null && /usr/bin/python3 -c 'import pymodbus.payload, serial_asyncio' 2>/dev/null; then
	. deploy/package_reads.sh
else
	echo "package boot: left out, needs mosquitto, socat and pymodbus: what the packaged agent reads"
fi

. deploy/package_readme.sh
if command -v ansible-playbook >/dev/null; then
	. deploy/package_fleet.sh
else
	echo "package boot: left out, needs ansible: the role of deploy/fleet"
fi
if command -v apt-ftparchive >/dev/null; then
	. deploy/package_apt.sh
else
	echo "package boot: left out, needs apt-ftparchive (Debian: apt-utils): an upgrade by apt"
fi
