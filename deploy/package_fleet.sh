# package_fleet.sh, to be sourced by package_boot_test.sh: the Ansible role puts gauger on the booted machine, twice; the second time
# nothing changes, and a configuration that is wrong never takes the place of the right one.
mkdir -p "$root/tmp/fleet/sites"
cp -r deploy/fleet/ansible/. "$root/tmp/fleet/"
cp "$work/gauger.deb" "$root/tmp/fleet/gauger.deb"
sed 's,https://api.example.com,http://127.0.0.1:9,' config/example.yaml >"$root/tmp/fleet/sites/box.yaml"
printf '[gauger]\nbox ansible_connection=local ansible_python_interpreter=/usr/bin/python3\n' >"$root/tmp/fleet/boxes"
echo '{"gauger_package": "/tmp/fleet/gauger.deb", "gauger_config": "/tmp/fleet/sites/box.yaml", "ansible_become": false, "gauger_credentials": {"primary-key": "a-key-of-32-characters-0123456789"}}' >"$root/tmp/fleet/box.json"

play() { inside env HOME=/tmp/fleet LC_ALL=C.UTF-8 ansible-playbook -i /tmp/fleet/boxes -e @/tmp/fleet/box.json /tmp/fleet/site.yml >"$work/log" 2>&1; }
play || fail "the role does not put gauger on the box"
is "gauger by the role" "$(inside systemctl is-active gauger)" active
is "its credential" "$(inside stat -c %a:%U /etc/gauger/primary-key)" 600:root
! grep -q a-key-of-32 "$work/log" || fail "the role shows a key"
play || fail "the role does not run again"
grep -q 'changed=0' "$work/log" || fail "the role changes something when nothing has changed"
echo 'site: [' >"$root/tmp/fleet/sites/box.yaml"
! play || fail "the role takes a configuration that gauger refuses"
there "the right configuration is gone" gauger check --plan=false
echo "  the Ansible role installs, changes nothing the second time, and refuses a bad configuration"
there "the end of the role's gauger" systemctl disable --now gauger
