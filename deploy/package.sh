#!/bin/sh
# package.sh NFPM VERSION: in dist/, from the programs that make cross left in bin/, for each machine (MACHINES has some of them): a .deb, a .rpm, a plain archive
# with an installer, and the bill of materials that is also inside of each.
# The same commit gives the same bytes: every time inside a package is the commit's.
set -eu

nfpm=$1
export VERSION="$2"
epoch=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y go.mod)
export SOURCE_DATE_EPOCH="$epoch"
umask 022
mkdir -p dist
rm -rf dist/*.deb dist/*.rpm dist/*.tar.gz dist/*.cdx.json dist/manual dist/tree dist/fleet
cp -r deploy/fleet dist/fleet
chmod -R u=rwX,go=rX dist/fleet # whatever the clone has
# The manual's pages and what shells complete with are made from the program's own tree of commands.
GAUGER_MANUAL="$PWD/dist/manual" go test -count=1 -run '^TestManual$' ./cmd/gauger >/dev/null
gzip -9n dist/manual/*.1
printf 'gauger (%s) stable; urgency=medium\n\n  * Made from the sources of this date; their log says what has changed.\n\n -- Gauger maintainers <gauger@localhost>  %s\n' \
	"$VERSION" "$(LC_ALL=C date -u -d "@$epoch" '+%a, %d %b %Y %H:%M:%S +0000')" | gzip -9n >dist/changelog.gz

# plain makes an archive of what a Debian package holds, with the installer and the scripts that every package runs.
plain() { # plain DEB NAME
	tree=dist/tree/$2
	mkdir -p "$tree/scripts"
	dpkg-deb -x "$1" "$tree/root"
	cp deploy/scripts/*.sh "$tree/scripts/"
	install -m 755 deploy/install.sh "$tree/install.sh"
	echo "$VERSION" >"$tree/VERSION"
	chmod -R u=rwX,go=rX "$tree"
	tar -C dist/tree --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner -cf - "$2" | gzip -9n >"dist/$2.tar.gz"
}

# Debian's name of a machine, ours, rpm's, and the package's. Raspbian calls armv6 armhf, which Debian has for armv7: it is a package
# of another name, so that no box takes the wrong one by an upgrade.
while read -r arch target rpm package; do
	case " ${MACHINES:-$target} " in *" $target "*) ;; *) continue ;; esac
	export ARCH="$arch" GOTARGET="$target" PACKAGE="$package" OTHER=gauger-armv6
	[ "$package" = gauger ] || OTHER=gauger
	deploy/copyright.sh "bin/gauger-linux-$target" >dist/copyright
	export BILL="dist/gauger_${VERSION}_$target.cdx.json"
	go run ./deploy/sbom "bin/gauger-linux-$target" "$VERSION" >"$BILL"
	"$nfpm" package --config deploy/nfpm.yaml --packager deb --target "dist/${package}_${VERSION}_$arch.deb"
	plain "dist/${package}_${VERSION}_$arch.deb" "gauger-$VERSION-linux-$target"
	[ "$rpm" = - ] || ARCH="$rpm" "$nfpm" package --config deploy/nfpm.yaml --packager rpm --target "dist/$package-$VERSION-1.$rpm.rpm"
done <<MACHINES
amd64 amd64 x86_64 gauger
arm64 arm64 aarch64 gauger
armhf armv7 armv7hl gauger
armhf armv6 - gauger-armv6
MACHINES
rm -rf dist/copyright dist/manual dist/tree dist/fleet dist/changelog.gz
