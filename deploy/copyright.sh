#!/bin/sh
# copyright.sh BINARY: the licences of everything that is linked into BINARY, on standard output. They ask to be
# passed on with the program. A module without a licence file ends this with an error, so that no package lacks one.
set -eu

binary=$1

notice() { # notice NAME DIRECTORY
	found=no
	for file in "$2"/LICENSE* "$2"/LICENCE* "$2"/COPYING* "$2"/NOTICE*; do
		[ -f "$file" ] || continue
		found=yes
		printf '\n==== %s: %s\n\n' "$1" "$(basename "$file")"
		cat "$file"
	done
	if [ "$found" = no ]; then
		echo "copyright.sh: $1 has no licence file in $2" >&2
		exit 1
	fi
}

cat <<'TEXT'
The licence of gauger itself has not been chosen yet by its owner. Until it is, this file grants no right to copy, change
or pass on gauger's own code.

gauger contains the following software under the licences below.
TEXT
notice "Go, its library and runtime" "$(go env GOROOT)"
go version -m "$binary" | awk '$1 == "dep" { print $2 "@" $3 }' | sort | while read -r module; do
	directory=$(go list -m -f '{{.Dir}}' "${module%@*}")
	notice "$module" "$directory"
done
