#!/bin/bash
# Mutation testing of one folder, or of some of its files: mutate.sh GREMLINS FOLDER "FILES" [FLAGS].
#
# gremlins can leave no file out, but it can mutate only what a commit has changed. So it is shown a history of our own, in
# which exactly the named files are new; the checkout's is not touched. It mutates a copy, and may be edited beside.
set -euo pipefail
gremlins=$(realpath "$1"); folder=$(realpath "$2"); files=$3; shift 3
if [ -n "$files" ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  export GIT_DIR="$scratch" GIT_WORK_TREE="$PWD"
  git init -q
  git -c user.name=mutate -c user.email=mutate@localhost commit -q --allow-empty -m empty
  (cd "$folder" && git add -f $files)
  export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=diff.relative GIT_CONFIG_VALUE_0=true # it knows files by their names in the folder
  set -- --diff HEAD "$@"
fi
# The vet of go test finds no mutant that the tests do not, and takes a third of the time.
cd "$folder"
GOFLAGS="${GOFLAGS:-} -vet=off -buildvcs=false" "$gremlins" unleash "$folder" --workers 1 "$@" | grep --line-buffered -v SKIPPED
