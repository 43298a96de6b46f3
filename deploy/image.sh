#!/bin/sh
# image.sh MACHINE [TOOL]: an OCI image of the program of a machine (amd64, arm64, armv7, armv6) that make cross has built, with podman,
# buildah or docker.
set -eu

machine=$1
tool=${2:-$(command -v podman || command -v buildah || command -v docker)}
authorities=/etc/ssl/certs/ca-certificates.crt
[ -s "$authorities" ] || { echo "image.sh: no $authorities here; install ca-certificates" >&2; exit 1; }
case $machine in
armv*) platform=linux/arm/${machine#arm} ;;
*) platform=linux/$machine ;;
esac
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
install -D -m 755 "bin/gauger-linux-$machine" "$context/usr/bin/gauger"
install -D -m 644 "$authorities" "$context/etc/ssl/certs/ca-certificates.crt"
install -d -m 755 "$context/etc/gauger"
install -d -m 1777 "$context/tmp"
install -d -m 700 -o 65532 -g 65532 "$context/var/lib/gauger" "$context/run/gauger"
echo 'gauger:x:65532:65532::/var/lib/gauger:/sbin/nologin' >"$context/etc/passwd"
echo 'gauger:x:65532:' >"$context/etc/group"
"$tool" build --platform "$platform" -t "gauger:$(deploy/version.sh | tr + -)" -f deploy/Containerfile "$context"
