#!/bin/sh
# reproduce_test.sh NFPM [MACHINE...]: two clones of this commit, in folders of different names, give the same packages, byte for byte.
set -eu

nfpm=$(realpath "$1")
shift
export MACHINES="${*:-amd64 arm64 armv7 armv6}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for clone in one a-longer-name-of-a-folder; do
	git clone -q . "$work/$clone"
	for machine in $MACHINES; do
		make -s -C "$work/$clone" "cross-$machine"
	done
	(cd "$work/$clone" && umask 027 && TZ=Asia/Tokyo deploy/package.sh "$nfpm" "$(deploy/version.sh)" >"$work/log" 2>&1) || { cat "$work/log"; exit 1; }
	(cd "$work/$clone/dist" && sha256sum ./*) >"$work/$clone.sums"
done
cat "$work/one.sums"
diff "$work/one.sums" "$work/a-longer-name-of-a-folder.sums" || { echo "reproduce test: two clones give other bytes" >&2; exit 1; }
echo "reproduce test: $(wc -l <"$work/one.sums") files, byte for byte the same from two clones"
