#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# nohzlab history on runs written by hand: what is told, when, and what --accept does.
# Starts no guest.
. lab/tap.sh

# night N VALUE KERNEL [PROFILE]: a done run on day N from 2026-01-01 on.
night() {
    id=$(printf '20260101-%06d-0000' "$1")${4:+-x}
    mkdir -p "$state/state/runs/$id"
    echo report >"$state/state/runs/$id/report.txt"
    cat >"$state/state/runs/$id/record.json" <<END
{"boot": 0, "cell": "", "clock": "icount", "detail": "", "ended_us": 1, "environment": {
"qemu.version": "10.0.2", "kernel.release": "$3"}, "evidence": ["report.txt"],
"fidelity": "instructions", "id": "$id", "message": "", "metrics": [{"direction": "lower",
"evidence": "report.txt", "fidelity": "instructions", "max": $2, "min": $2, "name": "invalid.per_call",
"samples": 1, "unit": "insns", "value": $2}], "notes": [], "outcome": "done", "parameters": {"main.kernel": "default"},
"platform": "bare", "profile": "${4:-example}", "profile_sha256": "0", "schema": 1, "set": "$id",
"started_us": $((1767225600000000 + $1 * 86400000000)), "summary": "an example"}
END
}

says() {
    for word in "$@"; do
        grep -qF -e "$word" "$out" "$err" || { echo "not said: $word"; return 1; }
    done
}
silent() { ! grep -qF -e "$1" "$out"; }

none() { lab 2 history invalid.per_call && says 'metrics on record: none'; }
ok 'an empty store: says so' none
for n in $(seq 0 9); do night "$n" 546 6.1.0-1; done
few() { lab 0 history invalid.per_call && says '10 nights' 'cannot tell: 6 more nights'; }
ok 'too few nights: cannot tell, and how many more' few
for n in $(seq 10 19); do night "$n" 546 6.1.0-1; done
same() { lab 0 history invalid.per_call && says 'no change'; }
ok 'a constant figure: no change' same
for n in 20 21 22 23; do night "$n" 547 6.1.0-2; done
regressed() {
    lab 1 history invalid.per_call &&
        says 'worse   (new)  2026-01-21: 546.0 -> 547.0 insns (+0.183%)' \
            'suspect: kernel.release: 6.1.0-1 -> 6.1.0-2, that night' \
            "now: nohzlab bisect 'profiles/example.ini' --good 'boot:6.1.0-1' --bad 'boot:6.1.0-2' --metric 'invalid.per_call'"
}
# It may be known a night earlier than the fourth.
rm -r "$state/state/runs/$(printf '20260101-%06d-0000' 23)"
early() { regressed || { night 23 547 6.1.0-2 && regressed; }; }
ok 'a regression of one instruction: told with date, size, suspect and command' early
night 23 547 6.1.0-2
night 24 547 6.1.0-2
once() { lab 0 history invalid.per_call && says 'worse   (stands)  2026-01-21'; }
ok 'the night after it is no news: exit code 0' once
since() { lab 0 history invalid.per_call --since 2026-02-01 && silent worse; }
ok '--since leaves out what was before' since
why() { lab 2 history invalid.per_call --accept 2026-01-21 && says '--note'; }
ok '--accept wants to know why' why
accepted() {
    lab 0 history invalid.per_call --accept 2026-01-21 --note 'checked twice' &&
        lab 0 reindex && lab 0 history invalid.per_call && says 'worse   (accepted)' 'accepted: checked twice' &&
        silent 'now:'
}
ok 'accepted, and reindex keeps it' accepted
noted() {
    esc=$(printf '\033[31m')
    lab 0 history invalid.per_call --annotate 20260101-000005-0000 --note "${esc}red" &&
        says 'note     2026-01-06: ?[31mred' && silent "$esc"
}
ok 'a note on a run; it can not drive a terminal' noted
json() {
    lab 0 history invalid.per_call --json && perl -MJSON::PP -0777 -e '
        my $h = decode_json(<>)->[0]; my $c = $h->{changes}[0];
        exit !(@{$h->{nights}} == 25 && $c->{date} eq "2026-01-21" && $c->{shift} == 1 &&
               $c->{accepted} eq "checked twice" && @{$h->{notes}} == 1)' "$out"
}
ok '--json' json
for n in $(seq 25 34); do night "$n" 546 6.1.0-3; done
gone() { lab 0 history invalid.per_call && says 'better' 'the regression of 2026-01-21 is gone'; }
ok 'and that it is gone' gone
dates() {
    for day in 2026-02-30 2026-1-1 yesterday 1969-12-31 2026-01-01x ''; do
        lab 2 history invalid.per_call --since "$day" || return 1
    done
    lab 2 history invalid.per_call --accept ../../etc --note x
}
ok 'days that no calendar has, and paths, are refused' dates
night 100000 1 6.1.0-3
future() { lab 0 history invalid.per_call && says '1 run dated in the future'; }
ok 'a run of the future is left out, and said' future
night 1 700 "6.1.0-4'; touch x; '" "two"
other() { lab 0 history invalid.per_call -p two && says '1 night' && silent example; }
ok 'one profile only' other
unknown() { lab 2 history "no' such" && says 'metrics on record: invalid.per_call'; }
ok 'an unknown metric: says which there are' unknown
broken() {
    echo '{"format": 1}' >"$state/state/annotations.json"
    lab 2 history invalid.per_call && says annotations.json '"format" must be a text'
}
ok 'a broken annotations file is named' broken

# A store that has been filled for long: a table of it is of the newest.
many() {
    for n in $(seq 1000 1210); do night "$n" 546 a long; done
    lab 0 reindex
}
ok "two hundred more runs" many
ok "list shows the newest 200" sh -c "'$B/nohzlab' list long 2>'$err' | wc -l | grep -qx 201"
ok "... and says so" grep -q "newest 200 runs; --limit 0 shows all" "$err"
ok "list --limit 0 shows all" sh -c "'$B/nohzlab' list --limit 0 long | wc -l | grep -qx 212"
ok "list --limit -1: usage error" lab 2 list --limit -1
done_testing
