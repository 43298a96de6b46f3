#!/bin/sh
# The tools that the integration tests need and this machine lacks, one word each, on one line. Nothing: all are here.
set -eu

missing=
lacks() { missing="$missing $1"; }

command -v mosquitto >/dev/null || [ -x /usr/sbin/mosquitto ] || lacks mosquitto
{ python3 -c 'import pymodbus.payload, serial_asyncio' || /usr/bin/python3 -c 'import pymodbus.payload, serial_asyncio'; } >/dev/null 2>&1 ||
	lacks python3-pymodbus+python3-serial-asyncio
{ command -v cc && pkg-config --exists libmodbus; } >/dev/null 2>&1 || lacks libmodbus
{ command -v node && command -v npm && [ "$(node -p 'parseInt(process.versions.node)')" -ge 20 ]; } >/dev/null 2>&1 || lacks node20
command -v socat >/dev/null || lacks socat
command -v mbpoll >/dev/null || lacks mbpoll
command -v strace >/dev/null || lacks strace
command -v promtool >/dev/null || lacks prometheus
echo "${missing# }"
