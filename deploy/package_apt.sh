# package_apt.sh, to be sourced by package_boot_test.sh: the next version comes by apt from a repository on the box while the queue of
# north is full; then removal, return and purge.
dpkg-deb -R "$work/gauger.deb" "$work/next"
next=$(sed -n 's/^Version: //p' "$work/next/DEBIAN/control" | sed 's/[.][^.]*$//').99999
sed -i "s/^Version: .*/Version: $next/" "$work/next/DEBIAN/control"
mkdir "$root/tmp/life/repository"
dpkg-deb --root-owner-group -Zgzip -z1 -b "$work/next" "$root/tmp/life/repository/gauger_${next}_amd64.deb" >"$work/log"
(cd "$root/tmp/life/repository" && apt-ftparchive packages . >Packages)
rm -rf "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*
echo "deb [trusted=yes] file:/tmp/life/repository ./" >"$root/etc/apt/sources.list"
rm "$root/etc/systemd/system/gauger@.service.d/"* 2>/dev/null || true
there "the units without drop-ins" sh -c 'systemctl daemon-reload && systemctl restart gauger@north'
before=$(memos north waiting)
is "the queue before apt" "$([ "$before" -gt 200 ] && echo full)" full
sum() { # of the numbers and texts of what waits
	gauger north outbox export memos --state waiting --format json >"$root/tmp/life/waits"
	inside /usr/bin/python3 -c 'import hashlib, json
print(hashlib.sha256(repr([(e["seq"], e.get("body"), (e.get("request") or {}).get("body")) for e in map(json.loads, open("/tmp/life/waits"))]).encode()).hexdigest())'
}
queued=$(sum)
there "apt update" apt-get -q update
there "the upgrade by apt" apt-get -qy -o Dpkg::Use-Pty=0 install --only-upgrade gauger
is "the version by apt" "$(inside dpkg-query -Wf '${Version}' gauger)" "$next"
is "north after apt" "$(inside systemctl is-active gauger@north)" active
is "what waits after apt" "$(memos north waiting) $(sum)" "$before $queued"
! inside apt-get -qs upgrade | grep -q '^Inst gauger' || fail "apt would upgrade gauger to what it has"
echo "  apt upgrades to $next with $before records in the queue: the same wait, byte for byte"

there "the removal" apt-get -qy -o Dpkg::Use-Pty=0 remove gauger
is "north after the removal" "$(inside systemctl is-active gauger@north || true)" inactive
there "the removal took the queue" test -s /var/lib/gauger-north/outbox.db
there "the return" apt-get -qy -o Dpkg::Use-Pty=0 install gauger
grep -q 'configured, and off:.*gauger@north' "$work/log" || fail "the return does not say what is off"
there "north is started again" systemctl start gauger@north
is "what waits after the return" "$(memos north waiting) $(sum)" "$before $queued"
there "the purge" apt-get -qy -o Dpkg::Use-Pty=0 purge gauger
there "the purge left something" sh -c '[ ! -e /etc/gauger ] && [ -z "$(ls -d /var/lib/gauger* 2>/dev/null)" ]'
echo "  removed, back again and purged: the queue goes with the purge alone"
