#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An emulated lab host with real KVM in it: where its guest's timers fire, and how its failures are told.
. lab/tap.sh

if ! ls /lib/modules/*/kernel/arch/x86/kvm/kvm-amd.ko* >/dev/null 2>&1; then
    skip "the box" "no installed kernel has kvm-amd"
    done_testing
    exit 0
fi
guests() { pgrep -f 'guest=nohzlab-' || :; }

# One boot of each of the four lab hosts. How many timers go depends on how busy the housekeeping CPU is, and with nohz_full
# alone that differs much from boot to boot (5% to 84% seen): the profile judges that over three boots, this test does not.
offload() {
    timeout 900 "$B/nohzlab" run --set main.boots=1 profiles/lapic-offload.ini >"$out" 2>"$err" </dev/null
    "$B/nohzlab" show last --json >"$state/json" && perl -MJSON::PP -e '
        local $/;
        my %share = map { $_->{cell} => $_->{median} } grep { $_->{metric} eq "cyclictest.offloaded_timers" }
            @{decode_json(<STDIN>)->{summaries}};
        print "$_: $share{$_}\n" for sort keys %share;
        die "die: not four cells" unless keys %share == 4;
        for (keys %share) {
            my ($nohz, $isol) = (scalar(/nohz_full=yes/), scalar(/isolcpus=domain/));
            die "die: $_: $share{$_}" if $nohz ? $share{$_} < ($isol ? 0.1 : 0.01) : $share{$_} > 0.01;
        }' <"$state/json"
}
ok "lapic-offload: timers stay without nohz_full, and go with it" offload
ok "... by the kernel's own events, of fidelity events" sh -c "
    '$B/nohzlab' show last --json | tr -d '\n ' | grep -q '\"fidelity\":\"events\"'"
ok "... durations are not claimed" sh -c "
    '$B/nohzlab' show last --all | grep 'cyclictest.max' | grep -q functional"
ok "... exits are counted by name, of AMD" sh -c "grep -h -q 'exit \(INTR\|HLT\|NPF\|MSR\)' '$NOHZLAB_STATE'/runs/*/box-cyclictest-host.txt"
ok "... both consoles are kept" sh -c "ls '$NOHZLAB_STATE'/runs/*/console.log '$NOHZLAB_STATE'/runs/*/box-console.log"

# The guest in the box panics; then the box itself.
ok "a guest that panics in the box" lab 1 run --set guest.cmdline=rdinit=/nowhere profiles/lab-host.ini
ok "... is the guest's failure, inside the box" sh -c "grep -q 'box' '$out' && grep -q 'boot: panic' '$out'"
ok "a box that panics" lab 1 run --set host.cmdline=rdinit=/nowhere profiles/lab-host.ini
ok "... is the lab host's failure" grep -q 'box-panic' "$out"

# nohzlab in the box, where it may set the machine it runs on, is killed at each step of a run.
cat >"$state/killed.ini" <<'END'
[main]
summary = a run that is killed at each step, then one that is not
boots = 1
[host]
platform = box
cpus = 2
housekeeping = 0
isolated = 1
tune = yes
[guest]
pin = 1
emulatorpin = 0
boot_timeout = 120s
[workload cyclictest]
cpu = 0
loops = 100
histogram = 1s
END
NOHZLAB_BOX_WRAPPER=$(realpath "$B/guest/kill-runs")
export NOHZLAB_BOX_WRAPPER
ok "nohzlab killed at every step of a run, in the box" lab 0 run "$state/killed.ini"
unset NOHZLAB_BOX_WRAPPER
ok "... and each time the next one put all right" grep -q "put right each time" "$NOHZLAB_STATE"/runs/*/box-output.txt
ok "no guest is left" test -z "$(guests)"
done_testing
