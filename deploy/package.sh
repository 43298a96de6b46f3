#!/bin/sh
# package.sh NFPM VERSION: the three Debian packages in dist/, each with its bill of materials beside and inside it, from the programs that make cross left in bin/.
# The same commit gives the same bytes: every time inside a package is the commit's.
set -eu

nfpm=$1
epoch=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y go.mod)

# Debian's versions begin with a digit and sort: v1.2.0-3-gabc is later than 1.2.0, a build without a tag earlier than all.
case $2 in
v[0-9]*) VERSION=$(echo "${2#v}" | sed 's/-/+/; s/-/./g') ;;
*) VERSION=0~$(echo "$2" | sed 's/-/./g') ;;
esac

export VERSION SOURCE_DATE_EPOCH="$epoch"
mkdir -p dist
rm -rf dist/*.deb dist/*.cdx.json dist/manual
# The manual's pages and what shells complete with are made from the program's own tree of commands.
GAUGER_MANUAL="$PWD/dist/manual" go test -count=1 -run '^TestManual$' ./cmd/gauger >/dev/null
gzip -9n dist/manual/*.1
for pair in amd64:amd64 arm64:arm64 armhf:armv7; do
	export ARCH="${pair%:*}" GOTARGET="${pair#*:}"
	deploy/copyright.sh "bin/gauger-linux-$GOTARGET" >dist/copyright
	export BILL="dist/gauger_${VERSION}_$ARCH.cdx.json"
	go run ./deploy/sbom "bin/gauger-linux-$GOTARGET" "$VERSION" >"$BILL"
	"$nfpm" package --config deploy/nfpm.yaml --packager deb --target "dist/gauger_${VERSION}_$ARCH.deb"
done
rm -rf dist/copyright dist/manual
