# package_readme.sh, to be sourced by package_boot_test.sh: the README's "Put it on a box" is done word for word, as a person does. The
# machine is amd64, the package is made already, and the editor is one that writes what a person would.
mkdir -p "$root/tmp/life/dist" "$root/tmp/life/bin"
cp "$work/gauger.deb" "$root/tmp/life/dist/gauger_${packaged}_amd64.deb"
printf '#!/bin/sh\nexec "$@"\n' >"$root/tmp/life/bin/sudo"
printf '#!/bin/sh\n[ "$*" = package ]\n' >"$root/tmp/life/bin/make"
printf '#!/bin/sh\nsed -i "s,https://api.example.com,http://127.0.0.1:9," "$1"\n' >"$root/tmp/life/bin/nano"
chmod 755 "$root"/tmp/life/bin/*
awk '/^## Put it on a box/ { found = 1 } found && /^```$/ { if (inside) exit; inside = 1; next } inside' README.md | sed 's/ *# .*//; s/_arm64/_amd64/' >"$work/readme"
[ "$(wc -l <"$work/readme")" -ge 8 ] || fail "the README does not say how gauger is put on a box"
while IFS= read -r line; do
	status=0
	echo "a-key-of-32-characters-0123456789" | inside env PATH=/tmp/life/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c "cd /tmp/life && $line" >"$work/log" 2>&1 || status=$?
	case $line in
	"gauger read" | "gauger status") wanted=1 ;; # no device is there, nor the service: a person is needed
	*) wanted=0 ;;
	esac
	[ "$status" = "$wanted" ] || fail "the README's line '$line' ends with $status"
done <"$work/readme"
grep -q 'sending' "$work/log" || fail "the README's last line shows no status"
is "the agent by the README" "$(inside systemctl is-active gauger)" active
is "its key" "$(inside stat -c %a:%U /etc/gauger/primary-key)" 600:root
echo "  the README's lines, word for word, end in a gauger that runs"
