#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# nohzlab host plan as a whole: what it prints where, and how it ends.
# Starts no guest.
B=${B:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
count=0

# run WANTED_STATUS ARGUMENT...: leaves $tmp/out and $tmp/err.
run() {
    wanted=$1
    shift
    status=0
    "$B/nohzlab" host "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
    [ "$status" = "$wanted" ] || echo "# exit status $status, not $wanted: nohzlab host $*" >>"$tmp/why"
}

# has FILE TEXT
has() {
    grep -qF -- "$2" "$tmp/$1" || echo "# $1 has no \"$2\"" >>"$tmp/why"
}

empty() {
    [ ! -s "$tmp/$1" ] || echo "# $1 is not empty: $(head -n 1 "$tmp/$1")" >>"$tmp/why"
}

done_with() {
    count=$((count + 1))
    if [ -s "$tmp/why" ]; then
        echo "not ok $count - $1"
        cat "$tmp/why" >&2
    else
        echo "ok $count - $1"
    fi
    : >"$tmp/why"
}
: >"$tmp/why"

run 0 plan --topology 'core:4 pu:1' --housekeeping 0 --isolated 1-N --guest-vcpus 2
has out 'isolcpus=domain,managed_irq,1-3 nohz_full=1-3 rcu_nocbs=1-3 irqaffinity=0'
has out 'vCPU 1    CPU 2'
has out 'emulator and iothreads: CPU 0'
empty err
done_with 'a plan is printed'

run 0 plan --topology 'core:4 pu:1' --isolated 1-N --json
if command -v python3 >/dev/null; then
    python3 - "$tmp/out" <<'PY' >>"$tmp/why" 2>&1 || echo '# JSON differs' >>"$tmp/why"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["refused"] is False, d
assert d["machine"]["online"] == "0-3", d
assert d["plan"]["vcpupin"] == ["1", "2", "3"], d
assert d["plan"]["emulatorpin"] == "0", d
assert all(i["why"] for i in d["plan"]["items"]), d
PY
    done_with 'JSON holds the plan'
else
    count=$((count + 1))
    echo "ok $count - JSON holds the plan # SKIP python3 is not installed"
fi

run 2 plan --topology 'core:4 pu:1' --isolated 4-7
has err 'asked for 4-7, the machine has 0-3, nothing left'
empty out
done_with 'a plan for a bigger host is none'

run 2 plan --topology 'core:4 pu:2' --housekeeping 0 --isolated 1-N
has err 'error smt-split: CPU 1 is isolated, but shares its core with CPU 0'
has err 'Refused'
empty out
done_with 'a refused plan prints no plan'

for format in cmdline guest-cmdline libvirt tuned systemd; do
    run 2 plan --topology 'core:4 pu:1' --isolated 0-N --export $format
    has err 'error no-housekeeping'
    empty out
done
done_with 'a refused plan exports nothing'

run 2 plan --topology 'core:4 pu:1' --isolated 0-N --json
has out '"refused" : true'
has out '"plan" : null'
done_with 'JSON of a refused plan has the findings and no plan'

run 0 plan --topology 'core:4 pu:1' --isolated 1-N --export cmdline
[ "$(wc -l <"$tmp/out")" = 1 ] || echo '# not one line' >>"$tmp/why"
empty err
done_with 'an export is all there is on stdout'

run 2 plan --topology 'core:4 pu:1' --isolated 1-N --export grub
has err 'cmdline, guest-cmdline, libvirt, tuned or systemd'
run 2 plan --topology 'core:4 pu:1' --isolated 1-N --export cmdline --json
run 2 plan --topology 'core:4 pu:1' --root / --isolated 1
run 2 plan --topology 'nonsense' --isolated 1
run 2 plan --root "$tmp" --isolated 1
has err 'cpu/possible can'
run 2 plan --topology 'core:4 pu:1' --isolated 1 --fifo 100
run 2 plan --topology 'core:4 pu:1' --isolated 1 --guest-vcpus -1
run 2 plan --topology 'core:4 pu:1' --isolated 1 --tsc maybe
run 2 plan --topology 'core:4 pu:1'
has err 'say which CPUs'
run 2 plan --topology 'core:4 pu:1' --isolated 1 extra
run 2 nonsense
run 2
done_with 'wrong usage is refused'

run 0 plan --help
for option in housekeeping isolated guest-vcpus vcpupin emulatorpin export json root topology; do
    has out "--$option"
done
has out "the kernel's CPU numbers"
has out 'Exit codes:'
run 0 --help
has out 'plan'
done_with '--help tells'

echo "1..$count"
