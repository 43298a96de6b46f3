#!/bin/sh
# arm_test.sh PROGRAM: the arm build starts under emulation and reads the example configuration.
set -eu

if ! command -v qemu-arm-static >/dev/null; then
	echo "arm test: left out, no qemu-arm-static here (Debian: qemu-user-static)"
	exit 0
fi
qemu-arm-static "$1" version
qemu-arm-static "$1" check -c config/example.yaml
echo "arm test: $1 starts and checks the example"
