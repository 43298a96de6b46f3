package config

var deviceMistakes = []mistake{
	{"kind misspelt", "    modbus: tcp://10.20.0.5:502", "    modbuss: tcp://10.20.0.5:502", 17, "devices[0].modbuss", "did you mean modbus?"},
	{"no kind", "    modbus: tcp://10.20.0.5:502\n", "", 16, "devices[0]", "modbus, mqtt, recording, host"},
	{"two kinds", "    unit: 3\n", "    host: self\n", 26, "devices[1]", "modbus and host"},
	{"device without a name", "  - name: radio\n    mqtt: mqtts://10.20.0.9:8883\n", "  - mqtt: mqtts://10.20.0.9:8883\n", 31, "devices[2].name", "missing"},
	{"device name with a slash", "name: serial-plc", "name: serial/plc", 26, "devices[1].name", "slash"},
	{"two devices with one name", "name: serial-plc", "name: battery-plc", 26, "devices[1].name", "already the name of devices[0]"},
	{"device as a text", "  - name: battery-plc\n", "  - plc\n  - name: battery-plc\n", 16, "devices[0]", "write {name:"},
	{"interval without a unit", "every: 5s", "every: 5", 19, "devices[0].every", "write 5s, 5m or 5h"},
	{"interval of zero", "every: 5s", "every: 0s", 19, "devices[0].every", "10s"},
	{"interval below zero", "every: 5s", "every: -5s", 19, "devices[0].every", "negative"},
	{"interval in days", "every: 5s", "every: 2d", 19, "devices[0].every", "write 48h"},
	{"time-out of zero", "timeout: 1s", "timeout: 0s", 20, "devices[0].timeout", "10s"},
	{"unit that is no number", "unit: 3\n", "unit: three\n", 28, "devices[1].unit", "whole number"},
	{"number that begins with zero", "holding: 200", "holding: 0200", 25, "devices[0].points[3].holding", "write 200"},
	{"key of another kind", "    unit: 3\n", "    unit: 3\n    client_id: x\n", 29, "devices[1].client_id", "here stand"},
	{"password in the file", "{credential: mqtt-password}", "hunter2", 34, "devices[2].password", "{file: PATH}"},
	{"object of a device no GUID", "    unit: 3\n", "    unit: 3\n    object: plc\n", 29, "devices[1].object", "not a GUID"},
	{"broker without a scheme", "mqtts://10.20.0.9:8883", "10.20.0.9:8883", 32, "devices[2].mqtt", "mqtt"},
	{"password without a user", "    username: gauger\n", "", 31, "devices[2].username", "user name"},
}

var lineMistakes = []mistake{
	{"modbus address", "tcp://10.20.0.5:502", "udp://10.20.0.5:502", 17, "devices[0].modbus", "tcp://"},
	{"one unit twice on a line", "rtu:///dev/serial/by-id/usb-A?baud=9600&parity=N\n    unit: 3", "tcp://10.20.0.5\n    unit: 1", 28, "devices[1].unit", "already devices[0] (battery-plc)"},
	{"one unit twice by default", "rtu:///dev/serial/by-id/usb-A?baud=9600&parity=N\n    unit: 3", "tcp://10.20.0.5", 26, "devices[1].unit", "already devices[0] (battery-plc)"},
	{"two protocols at one place", "rtu:///dev/serial/by-id/usb-A?baud=9600&parity=N", "rtu+tcp://10.20.0.5:502", 27, "devices[1].modbus", "one protocol"},
	{"one line with two speeds", "  - name: radio\n", "  - {name: third, modbus: \"rtu:///dev/serial/by-id/usb-A?baud=19200\", unit: 9, points: [{name: a, coil: 1}]}\n  - name: radio\n", 31, "devices[2].modbus", "one speed"},
	{"one session with two users", "tanks:\n", "  - {name: other, mqtt: \"mqtts://10.20.0.9:8883\", client_id: gauger-COOPER12-7-radio, username: b, points: [{name: a, topic: x}]}\ntanks:\n", 37, "devices[3].username", "shares this session"},
}

var pointMistakes = []mistake{
	{"unknown type", "type: int32", "type: int23", 25, "devices[0].points[3].type", "int32"},
	{"unknown order", "order: CDAB", "order: CDBA", 22, "devices[0].points[0].order", "CDAB"},
	{"float32 at the last register", "holding: 100", "holding: 65535", 22, "devices[0].points[0].holding", "65535"},
	{"register out of range", "holding: 200", "holding: 70000", 25, "devices[0].points[3].holding", "65535"},
	{"point without a place", "{name: tk1-valve, discrete: 12}", "{name: tk1-valve}", 24, "devices[0].points[2].name", "holding"},
	{"point with two places", "{name: tk1-valve, discrete: 12}", "{name: tk1-valve, discrete: 12, coil: 3}", 24, "devices[0].points[2].discrete", "one"},
	{"two points with one name", "name: oil-target", "name: tk1-valve", 25, "devices[0].points[3].name", "tk1-valve"},
	{"range with one end", "range: [0, 240]", "range: [240]", 22, "devices[0].points[0].range", "240"},
	{"range upside down", "range: [0, 240]", "range: [240, 0]", 22, "devices[0].points[0].range", "240"},
	{"point key misspelt", "holding: 200", "holdin: 200", 25, "devices[0].points[3].holdin", "did you mean holding?"},
	{"verify misspelt", "discrete: 12", "discrete: 12, verify: thrice", 24, "devices[0].points[2].verify", "twice"},
	{"topic missing", "topic: field/tk2, ", "", 36, "devices[2].points[0].topic", "topic"},
	{"sentinel that is no number", "range: [0, 240]", "bad: [9999, none]", 22, "devices[0].points[0].bad[1]", "not a number"},
	{"sentinels not in a list", "range: [0, 240]", "bad: 9999", 22, "devices[0].points[0].bad", "where a list is wanted"},
	{"sentinel that the type cannot hold", "type: int16", "type: int16, bad: [65535]", 23, "devices[0].points[1].bad[0]", "65535"},
}
