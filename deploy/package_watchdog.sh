# package_watchdog.sh, to be sourced by package_boot_test.sh: under a watchdog of five seconds a line, the ledger and a drain hang by a
# fault that a program of the test's own has ("go build -tags fault"); each is named and restarted. A device that is away is not.
cp "$work/gauger-fault" "$root/usr/bin/gauger-fault"
hang() { # hang NAME PART
	site "$1"
	mkdir -p "$root/etc/systemd/system/gauger@$1.service.d"
	cat >"$root/etc/systemd/system/gauger@$1.service.d/fault.conf" <<UNIT
[Service]
WatchdogSec=5s
ExecPaths=/usr/bin/gauger-fault
ExecStart=
ExecStart=/usr/bin/gauger-fault run -c /etc/gauger/$1.yaml --socket /run/gauger-$1/gauger.sock
Environment="GAUGER_HANG=$2" GAUGER_HANG_WHEN=/run/gauger-$1/now
UNIT
}
hang line "modbus tcp"
hang ledger "the ledger"
hang drain sending # whatever: while nothing is taken one stream tries for all
hang away nothing
for name in line ledger drain away; do
	there "the site $name" sh -c "systemctl daemon-reload && systemctl start gauger@$name"
	inside touch "/run/gauger-$name/now"
	gauger $name memo add 4711 "something to be sent" --no-wait >"$work/log" 2>&1 || fail "no memo at $name"
done
inside sh -c 'for name in line ledger drain; do
	i=0
	while [ "$(systemctl show -p NRestarts --value gauger@$name)" = 0 ]; do
		i=$((i + 1)); [ $i -lt 1800 ] || { echo "$name is not restarted"; exit 1; }; sleep 0.1
	done; rm -f /run/gauger-$name/now
done' >"$work/log" 2>&1 || fail "a part that hangs is not restarted"
named() { # named SITE PART
	inside journalctl --no-pager -u "gauger@$1" >"$work/log" 2>&1
	grep -q "$2 hangs: it has been at one piece of work for" "$work/log" || fail "the log of $1 does not name $2 before the restart"
	grep -q "goroutine " "$work/log" || fail "the log of $1 has no goroutines"
}
named line "modbus tcp://127.0.0.1:9"
named ledger "the ledger"
named drain "sending [a-z]*"
is "restarts beside a dead device and a dead service" "$(inside systemctl show -p NRestarts --value gauger@away)" 0
echo "  a line, the ledger and a drain that hang are named and restarted; a device and a service that are away are not"
for name in line ledger drain away; do
	there "the end of $name" systemctl stop "gauger@$name"
	rm -r "$root/etc/systemd/system/gauger@$name.service.d"
done
