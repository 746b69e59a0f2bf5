#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# nohzlab host check, apply and restore, against a folder that stands for a machine of four CPUs.
# Starts no guest.
. lab/tap.sh
root=$state/root

host() {
    code=$1
    shift
    lab "$code" host "$@"
}

put() {
    mkdir -p "$root/$(dirname "$1")"
    printf '%s\n' "$2" >"$root/$1"
}

says() { grep -qe "$1" "$out" "$err"; }
has() { [ "$(cat "$root/$1")" = "$2" ]; }

cpu=sys/devices/system/cpu
put proc/cmdline 'isolcpus=managed_irq,domain,2-3 nohz_full=2-3 rcu_nocbs=2-3 irqaffinity=0-1'
put kmsg 'rcu: 	Offload RCU callbacks from CPUs: 2-3.'
put $cpu/possible 0-3
put $cpu/present 0-3
put $cpu/online 0-3
put $cpu/isolated 2-3
put $cpu/nohz_full 2-3
put proc/interrupts '     CPU0 CPU1 CPU2 CPU3
 45:  5    0    3    0  PCI-MSI 1-edge  nvme0q1'
put proc/irq/default_smp_affinity f
put proc/irq/45/smp_affinity_list 0-3
put proc/irq/45/effective_affinity_list 0
put proc/sys/kernel/random/boot_id 00000000-0000-4000-8000-000000000001
put sys/devices/virtual/workqueue/cpumask 00000000,0000000f
put sys/kernel/mm/transparent_hugepage/enabled 'always [madvise] never'
put $cpu/cpufreq/policy2/scaling_governor powersave
put $cpu/cpufreq/policy2/affected_cpus '2 3'
put $cpu/cpufreq/policy2/scaling_available_governors 'performance powersave'
put sys/module/kvm/parameters/halt_poll_ns 200000
printf '[host]\nisolated = 2-N\n' >"$state/good.ini"
printf '[host]\nisolated = 4-7\nhousekeeping = 0\n' >"$state/bigger.ini"

ok 'a violation is exit code 1' host 1 check --root "$root"
ok '... and is named with its fix' says '^FAIL *workqueue *work of unbound workqueues may run on isolated CPU 2-3'
ok '... after which the rest passes' says '^PASS *isolation *nohz_full: asked for 2-3, in force 2-3'
ok 'JSON has the same exit code' host 1 check --root "$root" --json
ok '... in it' says '"exit_code" : 1'
if command -v python3 >/dev/null; then
    ok '... and is JSON' python3 -c 'import json, sys; json.load(open(sys.argv[1]))["checks"][0]["fix"]' "$out"
else
    skip '... and is JSON' 'python3 is not installed'
fi
ok 'a partition for a bigger machine fails' host 1 check --root "$root" --partition "$state/bigger.ini"
ok '... by what is left of it' says 'asked for 4-7, host has 0-3, nothing left'
ok 'no such partition file is exit code 2' host 2 check --root "$root" --partition "$state/none.ini"
ok 'no such root is exit code 2' host 2 check --root "$state/none"

ok 'a dry run ends well' host 0 apply --root "$root" --dry-run
ok '... says what would be set' says '^would set /proc/irq/45/smp_affinity_list: 0-3 -> 0-1$'
ok '... and sets nothing' has proc/irq/45/smp_affinity_list 0-3
ok '... and makes no journal' [ ! -e "$NOHZLAB_STATE/host-journal" ]
ok 'nothing is applied for a bigger machine' host 2 apply --root "$root" --partition "$state/bigger.ini"
ok '... not even in part' has proc/irq/default_smp_affinity f

ok 'apply sets' host 0 apply --root "$root" --partition "$state/good.ini" --halt-poll-ns 0
ok '... interrupts' has proc/irq/45/smp_affinity_list 0-1
ok '... workqueues' has sys/devices/virtual/workqueue/cpumask 3
ok '... the governor' has $cpu/cpufreq/policy2/scaling_governor performance
ok '... halt polling' has sys/module/kvm/parameters/halt_poll_ns 0
ok '... and leaves a journal of mode 0600' [ "$(stat -c %a "$NOHZLAB_STATE/host-journal")" = 600 ]
ok 'then check has no failure' host 0 check --root "$root"
put $cpu/cpufreq/policy2/scaling_governor ondemand
ok 'restore tells what somebody else changed' host 1 restore --root "$root"
ok '... by name' says 'scaling_governor: somebody else changed it: it was powersave'
ok '... leaves that' has $cpu/cpufreq/policy2/scaling_governor ondemand
ok '... puts the rest back' has sys/devices/virtual/workqueue/cpumask 00000000,0000000f
ok '... all of it' has sys/module/kvm/parameters/halt_poll_ns 200000
ok '... and removes the journal' [ ! -e "$NOHZLAB_STATE/host-journal" ]
ok 'a second restore has nothing to do' host 0 restore --root "$root"
ok '... and says so' says 'nothing to put back'

put sys/kernel/mm/transparent_hugepage/enabled 'always [madvise] never'
ok 'an apply over an apply' host 0 apply --root "$root"
ok '... begins with the restore' host 0 apply --root "$root" --halt-poll-ns 7
ok '... of what was set' says 'of an earlier apply: /proc/irq/45/smp_affinity_list: put back to 0-3'
ok '... and one restore puts all back' host 0 restore --root "$root"
ok '... to the first values' has proc/irq/default_smp_affinity f

# The signal is there before the first setting is.
cancelled() {
    code=0
    env --block-signal=TERM sh -c 'kill -TERM $$; exec "$@"' sh "$B/nohzlab" host apply --root "$root" \
        >"$out" 2>"$err" || code=$?
    [ $code = 130 ]
}
ok 'a signal ends apply with 130' cancelled
ok '... with nothing set' has proc/irq/default_smp_affinity f
ok '... and no journal' [ ! -e "$NOHZLAB_STATE/host-journal" ]

locked() {
    code=0
    flock "$NOHZLAB_STATE/host-journal.lock" "$B/nohzlab" host apply --root "$root" >"$out" 2>"$err" || code=$?
    [ $code = 2 ] && says 'another nohzlab'
}
ok 'two at once: the second is told so' locked
ok '... and has set nothing' has proc/irq/default_smp_affinity f

this_machine() {
    "$B/nohzlab" host check --json >"$out" 2>"$err"
    [ $? -le 1 ]
}
ok 'this machine can be checked' this_machine
done_testing
