#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The man page and the help tell of the same commands and options.
# Starts no guest.
. lab/tap.sh

page=lab/nohzlab.1
commands() { "$B/nohzlab" --help | sed -n 's/^  \([a-z]*\)  *.*/\1/p'; }
in_page() { sed 's/\\-/-/g' $page | grep -q -e "$1"; }

ok "commands are listed" test "$(commands | wc -l)" -ge 8
for command in $(commands); do
    ok "man page: $command" in_page "^\.B[RI]* *$command\\b"
    for option in $("$B/nohzlab" "$command" --help | grep -o -e '--[a-z][a-z-]*' | sort -u); do
        ok "man page: $command $option" in_page "$option"
    done
done
for option in $(sed 's/\\-/-/g' $page | grep -o -e '--[a-z][a-z-]*' | sort -u); do
    ok "help: some command has $option" sh -c "for c in $(commands | tr '\n' ' '); do '$B/nohzlab' \$c --help; done | grep -q -e '$option'"
done
ok "exit codes: help and page agree" sh -c "for n in 0 1 2 77 130; do '$B/nohzlab' --help | grep -q \"\\b\$n\\b\" && grep -q \"^.B \$n\" $page || exit 1; done"
ok "an unknown command: usage error" lab 2 nonsense
ok "no command: usage error" lab 2
ok "an unknown option: usage error" lab 2 run --nonsense x
ok "a missing argument: usage error" lab 2 run
ok "a profile that is a folder: cannot run" lab 2 run lab
ok "a set that is not there: cannot run" lab 2 show 20000101-000000-0000
ok "an empty store: says so" lab 2 show
ok "list of an empty store: nothing, no error" lab 0 list
ok "list --json of an empty store is an empty array" sh -c "'$B/nohzlab' list --json | tr -d ' \n' | grep -qx '\[\]'"
done_testing
