#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels that are kept for profiles: from the mirror and from files, checked, planned with, removed.
# Starts no guest.
. lab/tap.sh

image=$(find /boot -name 'vmlinuz-*' | sort -V | tail -n 1)

ok "no kernel yet" lab 0 kernel list
ok "... and it says how to get one" grep -q "kernel add" "$out"
ok "a kernel from a file" lab 0 kernel add "path:$image"
id=$(sed -n 's/^\(kernel:[0-9a-f]*\) .*/\1/p' "$out")
ok "... which is known by its hash" test "${#id}" -eq 23
ok "the same again is the same" sh -c "'$B/nohzlab' kernel add 'path:$image' | grep -q '^$id '"
ok "it is listed once" sh -c "test \$('$B/nohzlab' kernel list --json | grep -c '\"kernel\" : \"$id\"') -eq 1"
ok "a profile may name it" lab 0 plan --set "main.kernel=$id" profiles/trivial.ini
ok "... and it is taken from there" grep -q "cache/kernels/${id#kernel:}/boot/" "$out"
ok "it has what the lab wants" lab 0 kernel check "$id"
ok "... item by item" grep -q "^has .*CONFIG_NO_HZ_FULL" "$out"

ok "a plan leaves out a kernel that can't be had" lab 0 plan --set "matrix.kernel=$id | debian:3.2" profiles/trivial.ini
ok "... and says so" grep -q "^cell kernel=debian:3.2: left out: .*kernel add debian:3.2" "$out"
ok "a plan of such kernels alone is none" lab 2 plan --set "matrix.kernel=debian:3.1 | debian:3.2" profiles/trivial.ini

ok "no kernel" lab 2 kernel add "path:/etc/passwd"
ok "no package" lab 2 kernel add "deb:/etc/passwd"
ok "... says so" grep -q "not a whole Debian package" "$err"
ok "an unknown command" lab 2 kernel nonsense
ok "one that is not there" lab 2 kernel rm 0123
ok "removed" lab 0 kernel rm "$id"
ok "... and not found any more" lab 2 plan --set "main.kernel=$id" profiles/trivial.ini

# From the mirror: a series that is not installed, without installing it.
if ! "$B/nohzlab" kernel add debian:3.2 2>"$err" && grep -q "there is .*6.12" "$err"; then
    before=$(dpkg-query -W -f '${Package}\n' 'linux-*' 2>/dev/null | sort)
    ok "Debian's 6.12" lab 0 kernel add debian:6.12
    ok "a profile may name it by its series" lab 0 plan --set main.kernel=debian:6.12 profiles/trivial.ini
    ok "... and it is that" grep -q "vmlinuz-6.12" "$out"
    ok "nothing was installed" test "$before" = "$(dpkg-query -W -f '${Package}\n' 'linux-*' 2>/dev/null | sort)"
else
    skip "Debian's 6.12" "no mirror that has it can be reached: $(tail -n 1 "$err")"
fi
done_testing
