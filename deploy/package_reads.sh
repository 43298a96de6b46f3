# package_reads.sh, to be sourced by package_boot_test.sh: foreign parts beside the packaged agent, and what it reads from them.
part() { # part COMMAND...: runs inside until its end
	inside "$@" >>"$work/parts" 2>&1 </dev/null &
}
cp collectors/modbus/testdata/pymodbus_slave.py "$root/tmp/life/"
echo '1 holding 100 float32 CDAB 61.5' >"$root/tmp/life/values"
printf 'listener 1883 127.0.0.1\nallow_anonymous true\n' >"$root/tmp/life/broker.conf"
part mosquitto -c /tmp/life/broker.conf
part /usr/bin/python3 /tmp/life/pymodbus_slave.py /tmp/life/values tcp 1502
part /usr/bin/python3 /tmp/life/pymodbus_slave.py /tmp/life/values rtu+tcp 1503
there "the slave" sh -c 'for i in $(seq 50); do socat -u /dev/null tcp:127.0.0.1:1503 && exit; sleep 0.1; done; exit 1'
part socat pty,raw,echo=0,mode=666,link=/run/line tcp:127.0.0.1:1503
# One CONNECT and one retained PUBLISH; the broker answers the first with a CONNACK of four bytes.
printf '\020\017\000\004MQTT\004\002\000\074\000\003pub\061\017\000\011field/tk262.5' >"$root/tmp/life/publish"
there "the broker" sh -c 'for i in $(seq 50); do [ "$(socat -t1 - tcp:127.0.0.1:1883 <"/tmp/life/publish" | wc -c)" = 4 ] && exit; sleep 0.1; done; exit 1'

site parts
sed -i '/^devices:/,$d' "$root/etc/gauger/parts.yaml"
cat >>"$root/etc/gauger/parts.yaml" <<'SITE'
devices:
  - {name: plc, modbus: "tcp://127.0.0.1:1502", every: 1s, points: [{name: level, holding: 100, type: float32, order: CDAB, unit: in}]}
  - {name: gauge, modbus: "rtu:///run/line?baud=19200&parity=N", every: 1s, points: [{name: level, holding: 100, type: float32, order: CDAB, unit: in}]}
  - {name: radio, mqtt: "mqtt://127.0.0.1", points: [{name: level, topic: field/tk2, unit: in}]}
tanks: [{id: TK-1, level: plc/level, sensor: radar, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme}]
SITE
dropins=$root/etc/systemd/system/gauger@.service.d
reads() { # reads WITH: the packaged agent reads all three, with what lies in its drop-ins
	there "the reader $1" sh -c 'systemctl daemon-reload && systemctl restart gauger@parts'
	for round in $(seq 50); do # the retained message is uncertain by its age
		gauger parts read --format json plc/level gauge/level radio/level >"$work/log" 2>&1 || true
		[ "$(grep -c '"value":6[12].5,.*"quality":"\(good\|uncertain\)"' "$work/log")" != 3 ] || return 0
		sleep 0.2
	done
	fail "not everything is read $1"
}
rm "$dropins/site-networks.conf"
reads "as shipped"
cp "$root/usr/share/doc/gauger/examples/site-networks.conf" "$dropins/"
reads "with site-networks"
cp "$root/usr/share/doc/gauger/examples/no-serial.conf" "$dropins/"
reads "with site-networks and no-serial"
echo "  a slave on TCP, one on a serial line and a broker are read as shipped and with each drop-in"
