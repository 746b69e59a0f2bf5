#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The flat guest exit-cost: an image of a few KiB, which keeps to the report's format whatever job it gets; and for real, in a box.
. lab/tap.sh

image=$B/guest/exit-cost
qemu=qemu-system-x86_64

# flat JOB-LINE...: boots it by hand, on an emulated CPU, with that job; its report is in $state/report.
flat() {
    printf '%s\n' "$@" >"$state/job"
    : >"$state/report"
    timeout 120 $qemu -nodefaults -vga none -nic none -display none -M pc -cpu max -m 64 -smp "${vcpus:-1}" \
        -kernel "$image" -append 'a b' -fw_cfg name=opt/org.nohzlab/job,file="$state/job" \
        -device virtio-serial -chardev file,id=report,path="$state/report" \
        -device virtserialport,chardev=report,name=org.nohzlab.report \
        -serial file:"$state/console" -icount shift=0,sleep=off
}
job() {
    flat 'nohzlab-job 1' 'barriers none' 'workload e 60' 'argv /exit-cost' "$@" end 'done'
}
whole() {
    [ "$(head -n 1 "$state/report")" = 'nohzlab-report 1' ] &&
        [ "$(tail -n 1 "$state/report")" = "end $(($(wc -l <"$state/report") - 1))" ]
}
says() { grep -q -e "$1" "$state/report"; }

ok "the image is of a few KiB" test "$(wc -c <"$image")" -le 20480
if command -v $qemu >/dev/null; then
    ok "it boots without KVM, too" job 'argv --batches=5'
    ok "... its report is whole" whole
    ok "... so many batches of a kind" test "$(grep -c '^batch cpuid 0 [0-9]* measure 10 ' "$state/report")" -eq 5
    ok "... its clock counts instructions" says '^value ticks_per_1000_insns 100[01]$'
    ok "... and its frequency is known" says '^fact tsc_khz \(999[5-9]..\|1000[0-4]..\)$'
    ok "... what can't be had is said, with the reason" says '^text vmcall was not measured: this is not a guest of KVM$'
    ok "... of a second vCPU, too" says '^text ipi_running was not measured: the guest has one vCPU'
    vcpus=2
    ok "two vCPUs, one kind" job 'argv --kinds=ipi_running'
    ok "... is measured, and no other" sh -c "grep -c '^batch ipi_running' '$state/report' | grep -qx 54 && ! grep -q '^batch cpuid' '$state/report'"
    ok "a kind asked for by name that can't be had" job 'argv --kinds=cpuid,vmcall'
    ok "... fails the workload" sh -c "grep -qx 'done e 1' '$state/report'"
    for bad in '--kinds=cpuid,nonsense' '--kinds=,' '--batches=0' '--batches=1001' '--batches=' '--nonsense' '%'; do
        ok "argument $bad" job "argv $bad"
        ok "... is refused, in a whole report" sh -c "grep -q '^fail ' '$state/report'" && whole
    done
    ok "a job of another version" flat 'nohzlab-job 2' 'done'
    ok "... is refused" says '^fail the job is not of version 1'
    ok "a job that was cut short" flat 'nohzlab-job 1' 'workload e 60'
    ok "... is refused" says '^fail the job was cut short'
    ok "a job for a guest with a system" flat 'nohzlab-job 1' 'collect /etc/passwd' 'done'
    ok "... is refused" says '^fail the job holds what a flat guest'
else
    skip "the flat guest by hand" "no $qemu"
fi

# In a box, in instructions: exits of real KVM.
ok "plan shows it" lab 0 plan profiles/exit-cost.ini
ok "... as a guest without an initramfs" sh -c "[ \$(grep -c '<kernel>RUN/exit-cost</kernel>' '$out') -eq \$(grep -c '<initrd>' '$out') ]"
cat >"$state/p.ini" <<'END'
[main]
summary = a few kinds of exit, one boot
boots = 1
[host]
platform = box
clock = icount
cpus = 2
housekeeping = 0
isolated = 1
cmdline = mitigations=off nokaslr norandmaps
[guest]
memory = 64M
pin = 1
emulatorpin = 0
boot_timeout = 600s
[workload e]
type = exit-cost
kinds = cpuid,pio_kernel,pio_qemu,tscdeadline,hlt_timer
batches = 9
functions = yes
[expect]
# A device in QEMU is reached by way of user space, one in the kernel not.
costs = e.pio_qemu / e.pio_kernel >= 2
more = e.tscdeadline - e.cpuid >= 100
END
if ls /lib/modules/*/kernel/arch/x86/kvm/kvm-amd.ko* >/dev/null 2>&1; then
    ok "a boot in a box, and what it expects" lab 0 run "$state/p.ini"
    figures() {
        "$B/nohzlab" show last --json >"$state/json" && perl -MJSON::PP -e '
            local $/;
            my %e = map { $_->{metric} => $_ } @{decode_json(<STDIN>)->{summaries}};
            print "$_ $e{$_}{median} $e{$_}{unit} $e{$_}{fidelity}\n" for sort keys %e;
            for (qw(cpuid pio_kernel pio_qemu tscdeadline hlt_timer)) {
                my $m = delete $e{"e.$_"} or die "die: no $_";
                die "die: $_" unless $m->{unit} eq "insns" && $m->{fidelity} eq "instructions" && $m->{median} > 500;
            }
            die "die: no function that writes the APIC" unless grep { /^e[.]tscdeadline[.]/ } keys %e;
            my @kinds = grep { /^e[.][a-z_]+$/ } keys %e;
            die "die: more than was asked for: @kinds" if @kinds;' <"$state/json"
    }
    ok "... each kind asked for, in instructions, and no other" figures
    ok "... with every batch" sh -c "grep -h '^batch cpuid 0 [0-9]* measure' '$NOHZLAB_STATE'/runs/*/box-report.txt | wc -l | grep -qx 9"
    ok "... the functions of a kind, each time it was traced" grep -q '  1\.00  kvm_emulate_cpuid$' "$NOHZLAB_STATE"/runs/*/box-e-functions.txt
    hash=$(sha256sum <"$image" | cut -d ' ' -f 1)
    ok "... and the flat guest's hash" grep -q "\"initramfs.sha256\" : \"$hash\"" "$NOHZLAB_STATE"/runs/*/record.json
else
    skip "a boot in a box" "no installed kernel has kvm-amd"
fi
done_testing
