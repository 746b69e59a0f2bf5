#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# nohzlab compare and calibrate on runs written by hand: what they print, refuse and return.
# Starts no guest.
. lab/tap.sh

# run ID SET VARIANT PER_CALL QEMU: a done run with one metric.
run() {
    mkdir -p "$state/state/runs/$1"
    echo report >"$state/state/runs/$1/report.txt"
    cat >"$state/state/runs/$1/record.json" <<END
{"boot": 0, "cell": "variant=$3", "clock": "icount", "detail": "", "ended_us": 2, "environment": {
"qemu.version": "$5", "kernel.sha256": "1", "seed": "$1", "guest.cmdline": "v=$3"}, "evidence": ["report.txt"],
"fidelity": "instructions", "id": "$1", "message": "", "metrics": [{"direction": "lower",
"evidence": "report.txt", "fidelity": "instructions", "max": $4, "min": $4, "name": "invalid.per_call",
"samples": 1, "unit": "insns", "value": $4}], "notes": [], "outcome": "done", "parameters": {
"axis.variant": "$3", "axis-position.variant": "${6:-0}", "guest.isolated": "$3"},
"platform": "bare", "profile": "example", "profile_sha256": "0", "schema": 1, "set": "$2",
"started_us": 1, "summary": "an example"}
END
}

for i in 1 2 3 4; do
    run "20260101-000000-000$i" 20260101-000000-aaaa none 546 10.0.2
    run "20260101-000000-001$i" 20260101-000000-aaaa full 547 10.0.2 1
    run "20260102-000000-000$i" 20260102-000000-bbbb none 546 9.2.0
    run "20260103-000000-000$i" 20260103-000000-cccc none 546 10.0.2
done
A=20260101-000000-aaaa B2=20260102-000000-bbbb C=20260103-000000-cccc

says() {
    for word in "$@"; do
        grep -qF -e "$word" "$out" "$err" || { echo "not said: $word"; return 1; }
    done
}

one_instruction() {
    lab 1 compare "$A:variant=none" :variant=full && says 'worse        invalid.per_call' \
        '546.0 -> 547.0 insns' 'variant=none -> variant=full' 'further apart than twice' 'now: look at' \
        'profile key guest.isolated (varied): A "none"; B "full"' 'guest.cmdline (varied)'
}
ok 'one instruction of 546, between two cells of a set' one_instruction
positions() { lab 1 compare "$A:variant=0" "$A:variant=1" && says '546.0 -> 547.0'; }
ok 'cells by position' positions
better() { lab 0 compare "$A:variant=full" :variant=none && says better; }
ok 'the other way round it is better, exit code 0' better
refused() {
    lab 2 compare "$A:variant=none" $B2 && says 'qemu.version: A "10.0.2"; B "9.2.0"' "--allow-different 'qemu.version'" &&
        [ ! -s "$out" ]
}
ok 'another QEMU is refused, with the switch that allows it' refused
allowed() {
    lab 0 compare --allow-different 'libvirt.version,qemu.*' "$A:variant=none" $B2 &&
        says 'qemu.version (allowed to vary)' 'identical: all 4 and 4 boots'
}
ok 'and compared when allowed, the difference listed' allowed
few() { lab 1 compare 20260101-000000-0001 20260101-000000-0011 && says 'cannot tell' 'main.boots=4'; }
ok 'two single runs: cannot tell, and how many would do' few
json() {
    lab 1 compare --json "$A:variant=none" :variant=full && perl -MJSON::PP -0777 -e '
        my $r = decode_json(<STDIN>); my $c = $r->{comparisons}[0];
        exit !($c->{verdict} eq "worse" && $c->{shift}{value} == 1 && $c->{p} < 0.01 && $c->{by_repeatability}
            && $r->{false_discovery_rate} == 0.01 && $r->{seed} == 1 && $r->{differences}[0]{kind} eq "intended")' <"$out"
}
ok 'JSON holds estimate, interval, p and verdict' json
no_cell() { lab 2 compare "$A:variant=other" $C && says 'no run has variant=other' '`variant=none'; }
ok 'a cell there is not: named, with those there are' no_cell
no_selector() { lab 2 compare "$A:none" $C && says 'selects no cells'; }
ok 'a selector that is none' no_selector
no_set() { lab 2 compare :variant=none $C && says 'before the colon'; }
ok 'a selector without a set' no_set

ok 'calibrate: exit code 0' lab 0 calibrate
calibrated() {
    says invalid.per_call '8' && lab 0 calibrate --json --boots 5 && says '"boots_a_side" : 5' &&
        [ -s "$state/state/calibration.json" ]
}
ok 'calibrate pools boots of sets that are alike, and keeps what it found' calibrated
broken() {
    echo '{' >"$state/state/calibration.json"
    lab 2 compare "$A:variant=none" $C && says 'calibration.json' 'nohzlab calibrate'
}
ok 'a calibration that is broken is not passed over' broken
ok 'calibrate: an odd number of boots' lab 2 calibrate --boots 0
empty() { lab 1 calibrate --state "$state/none" && says 'No two boots'; }
ok 'calibrate of an empty store says so' empty
done_testing
