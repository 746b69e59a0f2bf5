#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# nohzlab host plan as a whole: what it prints where, and how it ends.
# Starts no guest.
. lab/tap.sh

four='core:4 pu:1'
# plan EXIT ARGUMENTS...
plan() {
    status=$1
    shift
    lab "$status" host plan "$@"
}
in_out() { grep -qF -e "$1" "$out"; }
in_err() { grep -qF -e "$1" "$err"; }

printed() {
    plan 0 --topology "$four" --housekeeping 0 --isolated 1-N --guest-vcpus 2 && [ ! -s "$err" ] &&
        in_out 'isolcpus=domain,managed_irq,1-3 nohz_full=1-3 rcu_nocbs=1-3 irqaffinity=0' &&
        in_out 'vCPU 1    CPU 2' && in_out 'emulator and iothreads: CPU 0'
}
json() {
    plan 0 --topology "$four" --isolated 1-N --json &&
        python3 - "$out" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["refused"] is False, d
assert d["machine"]["online"] == "0-3", d
assert d["plan"]["vcpupin"] == ["1", "2", "3"], d
assert d["plan"]["emulatorpin"] == "0", d
assert all(i["why"] for i in d["plan"]["items"]), d
PY
}
bigger_host() {
    plan 2 --topology "$four" --isolated 4-7 && [ ! -s "$out" ] &&
        in_err 'asked for 4-7, the machine has 0-3, nothing left'
}
split() {
    plan 2 --topology 'core:4 pu:2' --housekeeping 0 --isolated 1-N && [ ! -s "$out" ] &&
        in_err 'error smt-split: CPU 1 is isolated, but shares its core with CPU 0' && in_err 'Refused'
}
no_export() {
    plan 2 --topology "$four" --isolated 0-N --export "$1" && [ ! -s "$out" ] &&
        in_err 'error no-housekeeping'
}
refused_json() {
    plan 2 --topology "$four" --isolated 0-N --json && in_out '"refused" : true' &&
        in_out '"plan" : null'
}
export_only() {
    plan 0 --topology "$four" --isolated 1-N --export cmdline && [ ! -s "$err" ] &&
        [ "$(wc -l <"$out")" -eq 1 ]
}
fake_root() {
    cpu=$state/root/sys/devices/system/cpu
    mkdir -p "$cpu" && echo 0-7 >"$cpu/possible" && echo 0-3 >"$cpu/present" &&
        echo "$1" >"$cpu/online"
}
offline() {
    fake_root 0-2 && plan 2 --root "$state/root" --isolated 1-2 --vcpupin 0=3 &&
        in_err 'vCPU 0 is pinned to CPU 3, which is offline'
}
online() {
    fake_root 0-3 && plan 0 --root "$state/root" --isolated 1-N --vcpupin 0=3 && in_out 'vCPU 0    CPU 3'
}

ok 'a plan is printed' printed
if command -v python3 >/dev/null; then
    ok 'JSON holds the plan' json
else
    skip 'JSON holds the plan' 'python3 is not installed'
fi
ok 'a plan for a bigger host is none' bigger_host
ok 'a refused plan prints no plan' split
for format in cmdline guest-cmdline libvirt tuned systemd; do
    ok "a refused plan does not export $format" no_export $format
done
ok 'JSON of a refused plan has the findings and no plan' refused_json
ok 'an export is all there is on stdout' export_only
ok 'a pin to an offline CPU is refused' offline
ok 'and accepted once it is online' online
ok 'an unknown export' plan 2 --topology "$four" --isolated 1-N --export grub
ok 'two formats' plan 2 --topology "$four" --isolated 1-N --export cmdline --json
ok 'two machines' plan 2 --topology "$four" --root / --isolated 1
ok 'no such machine' plan 2 --topology nonsense --isolated 1
ok 'a root without a machine' plan 2 --root "$state" --isolated 1
ok 'a priority out of range' plan 2 --topology "$four" --isolated 1 --fifo 100
ok 'vCPUs out of range' plan 2 --topology "$four" --isolated 1 --guest-vcpus -1
ok 'an unknown way of tsc=' plan 2 --topology "$four" --isolated 1 --tsc maybe
ok 'no wish' plan 2 --topology "$four"
ok 'an argument too many' plan 2 --topology "$four" --isolated 1 extra
ok 'an unknown command of host' lab 2 host nonsense
ok 'host alone' lab 2 host
ok 'host --help' lab 0 host --help
for option in $(sed -n 's/^        {"\([a-z-]*\)",.*/\1/p' lab/cmd_host_plan.c); do
    ok "host plan --help has --$option" sh -c "'$B/nohzlab' host plan --help | grep -q -e '--$option\\b'"
done
done_testing
