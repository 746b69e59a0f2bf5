#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Real guests, good and bad: every way a run can end is told apart, and none leaves a guest behind.
. lab/tap.sh

bad=$(realpath "$B/guest/misbehave")
guests() { pgrep -f 'guest=nohzlab-' || :; }

# profile [LINE...]: a small guest in wall time; lines of [guest] first, then of [workload w] after "--".
profile() {
    {
        printf '[main]\nsummary = test\nboots = 1\n[host]\nplatform = bare\nclock = wall\n[guest]\n'
        while [ $# -gt 0 ] && [ "$1" != -- ]; do
            printf '%s\n' "$1"
            shift
        done
        [ $# -gt 0 ] && shift
        printf '[workload w]\n'
        [ $# -gt 0 ] || printf 'type = command\ncommand = %s exit 0\n' "$bad"
        [ $# -eq 0 ] || printf '%s\n' "$@"
    } >"$state/p.ini"
}
misbehave() { profile -- "type = command" "command = $bad $*" "timeout = 20s"; }

# ends EXIT OUTCOME DETAIL [WORDS]: runs the profile; the record must say so, and no guest be left.
ends() {
    lab "$1" run "$state/p.ini" && "$B/nohzlab" list --json >"$state/list" &&
        awk '/"id"/ { exit } 1' "$state/list" >/dev/null &&
        outcome=$(sed -n 's/.*"outcome" : "\(.*\)",/\1/p' "$state/list" | head -n 1) &&
        detail=$(sed -n 's/.*"detail" : "\(.*\)",/\1/p' "$state/list" | head -n 1) &&
        echo "outcome $outcome, detail $detail" && [ "$outcome" = "$2" ] && [ "$detail" = "$3" ] &&
        { [ -z "${4:-}" ] || grep -q -e "$4" "$out" "$err"; } && [ -z "$(guests)" ]
}

profile
ok "a program that does nothing: done" ends 0 "done" "" "Measured"
ok "show: the last set" lab 0 show
ok "show --json: names the set" sh -c "'$B/nohzlab' show last --json | grep -q '\"outcome\" *: *\"done\"'"
ok "evidence: console, report, job, domain and QEMU's log are kept" sh -c "
    for f in console.log report.txt job.txt domain.xml qemu.log record.json; do
        ls '$NOHZLAB_STATE'/runs/*/\$f || exit 1; done"
ok "QEMU ran as its own user, in its sandbox" sh -c "grep -q -e '-sandbox on' '$NOHZLAB_STATE'/runs/*/qemu.log"

misbehave exit 3
ok "a workload that fails: guest" ends 1 guest status "status 3"
misbehave panic
ok "a kernel that panics under a workload: guest" ends 1 guest panic "sysrq triggered crash"
misbehave poweroff
ok "a guest that powers off in the middle: incomplete" ends 1 incomplete report
misbehave long-line
ok "a report line of 10 MiB from a workload: PID 1 drops it" ends 0 "done" ""
ok "... and says so" grep -q "nohzlab: " "$NOHZLAB_STATE"/runs/*/w-output.txt
misbehave garbage
ok "rubbish for a report: PID 1 drops it" ends 0 "done" ""
profile -- "type = command" "command = $bad hang" "timeout = 5s"
ok "a workload that hangs: guest" ends 1 guest timeout "raise"
misbehave flood-console
ok "a guest that floods its console: kept within bounds" sh -c "
    timeout 300 '$B/nohzlab' run '$state/p.ini' >'$out' 2>'$err'; test \$? -le 1 &&
    ls -t -d '$NOHZLAB_STATE'/runs/* | head -n 1 | xargs -I{} find {} -name console.log -size +600k | grep . && exit 1; exit 0"

profile "cmdline = rdinit=/nowhere/init"
ok "a kernel that panics while booting: boot" ends 1 boot panic "while booting"
profile "cmdline = rdinit=/programs$bad hang" "boot_timeout = 10s"
ok "a guest that never gets ready: boot, with its last line" ends 1 boot timeout "last line"
profile "cmdline = loglevel=0 rdinit=/programs$bad hang" "boot_timeout = 10s"
ok "a guest that says nothing: boot" ends 1 boot no-console "nothing came"

profile
ok "preconditions unmet: skipped" lab 77 run --set check.host.min_cpus=8000 "$state/p.ini"
ok "a kernel that is no kernel: cannot run" lab 2 run --set main.kernel=path:/bin/true "$state/p.ini"
ok "... and it says so" grep -q "/bin/true" "$err"
ok "a results folder that can't be: cannot run" lab 2 run --state /proc/nowhere "$state/p.ini"

profile "pin = 0" "emulatorpin = 0"
ok "pins: taken, and read back into the record" sh -c "
    timeout 300 '$B/nohzlab' run '$state/p.ini' >'$out' 2>'$err' &&
    '$B/nohzlab' show last --json | grep '\"host.thread' | tee '$state/threads' | grep -q 'CPU 0/TCG\" : \"0\"' &&
    ! grep -v ': \"0\"' '$state/threads'"
profile "vcpus = 2" "pin = 0,1"
sed -i 's/clock = wall/clock = icount/' "$state/p.ini"
ok "pins that can't be (icount runs all vCPUs in one thread): refused" lab 2 run "$state/p.ini"
ok "... and it says so" grep -q "in one thread" "$err"

# Interrupted while the guest boots.
interrupted() {
    profile "boot_timeout = 60s"
    "$B/nohzlab" run "$state/p.ini" >"$out" 2>"$err" &
    pid=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ -n "$(guests)" ] && break
        sleep 0.2
    done
    [ -n "$(guests)" ] || return 1
    kill "-$1" "$pid"
    code=0
    wait "$pid" || code=$?
    echo "exit code $code; left: $(guests)"
    [ "$code" -eq "$2" ]
}
ok "Ctrl-C: exit code 130" interrupted INT 130
ok "... and no guest left" test -z "$(guests)"
ok "SIGTERM: exit code 143" interrupted TERM 143
ok "... and no guest left" test -z "$(guests)"
# qemu_killed TIMES EXIT: QEMU dies under the lab, a second after it was first seen.
qemu_killed() {
    profile "boot_timeout = 60s"
    "$B/nohzlab" run "$state/p.ini" >"$out" 2>"$err" &
    pid=$!
    killed=
    for _ in $(seq 100); do
        [ "$(echo $killed | wc -w)" -eq "$1" ] && break
        for guest in $(guests); do
            case " $killed " in *" $guest "*) ;; *) sleep 1 && kill -KILL "$guest" && killed="$killed $guest" ;; esac
        done
        sleep 0.2
    done
    code=0
    wait "$pid" || code=$?
    echo "exit code $code; killed: $killed"
    [ "$(echo $killed | wc -w)" -eq "$1" ] && [ "$code" -eq "$2" ]
}
ok "a QEMU that dies: the same boot is tried again" qemu_killed 1 0
ok "... and it is told, with how it ended" grep -q "infra: qemu, tried again" "$out"
ok "... which was a signal" grep -q "QEMU ended by itself (signal 9, Killed)" "$out"
ok "one that dies each time: cannot run" qemu_killed 3 2
ok "kill -9" interrupted KILL 137
ok "... leaves the guest" test -n "$(guests)"
ok "the next start ends it" lab 0 doctor
ok "... says so" grep -q "ended guest nohzlab-" "$out"
sleep 0.5
ok "... and no guest is left" test -z "$(guests)"
done_testing
