#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Result files of others: into the store, to be listed, shown and compared, and never taken for more than they are.
# Starts no guest.
. lab/tap.sh

f=results/fixtures
runs=$NOHZLAB_STATE/runs
# newest: the record of the last import, by its output; its spaces are not what is tested.
newest() { printf '%s/%s/record.json' "$runs" "$(sed -n '1s/ .*//p' "$out")"; }
has() { grep -qF -e "$1" "$2" || { echo "not in $2: $1"; return 1; }; }
record() {
    sed 's/" : /":/; s/\[ *\]/[]/' "$(newest)" >"$state/record"
    has "$1" "$state/record"
}
says() {
    for word in "$@"; do has "$word" "$err" || return 1; done
    ! LC_ALL=C grep -q '[[:cntrl:]]' "$err" || { echo "control characters in the message"; return 1; }
}
set_of() { sed -n 's/^set \([0-9a-z-]*\) .*/\1/p' "$out"; }

ok "cyclictest's JSON" lab 0 import $f/cyclictest/2.4/plain.json
ok "... whose machine nobody knows" record '"platform":"unknown"'
ok "... is of no use for a verdict" record '"fidelity":"functional"'
ok "... says so" has "never judged" "$out"
ok "... keeps what the file says of it" record '"kernel.release":"6.18.44-fc-v669"'
ok "... has the time it says" record '"started_us":1796082941000000'
ok "... and the original" cmp $f/cyclictest/2.4/plain.json "$(dirname "$(newest)")/original.json"
unknown=$(set_of)
ok "it is listed" sh -c "'$B/nohzlab' list | grep -q 'import .*tool=cyclictest'"
ok "it is shown" lab 0 show last
ok "... with its maximum" has "2677000" "$out"

ok "the same, declared" lab 0 import --platform metal --profile nightly --cell kernel=6.1 \
    --set environment.clocksource=tsc $f/cyclictest/2.4/plain.json
metal=$(set_of)
ok "... is time" record '"fidelity":"time"'
ok "... with a note of who says so" record 'declared at import, not in the file: clocksource=tsc'
ok "... and its names" record '"cell":"kernel=6.1"'
ok "never compared with one nobody knows" lab 2 compare "$unknown" "$metal"
ok "... says why" says "fidelity differs"
ok "another declared one" lab 0 import --platform metal $f/cyclictest/2.10/plain.json
other=$(set_of)
ok "... differs in what is known of it" lab 2 compare "$metal" "$other"
ok "... says in what" says "clocksource" "rt-tests.version"
ok "... is compared all the same" lab 1 compare --allow-different clocksource,rt-tests.version "$metal" "$other"
ok "... and one boot a side tells nothing" has "cannot tell" "$out"
ok "a contradiction" lab 2 import --set environment.kernel.release=6.1 $f/cyclictest/2.4/plain.json
ok "... says so" says "plain.json: declared is kernel.release=6.1, but the file itself says 6.18.44"

ok "text without its unit" lab 1 import --platform metal $f/cyclictest/2.4/text-quiet.txt
ok "... is incomplete" record '"outcome":"incomplete"'
ok "... with the way out" has "--command" "$out"
ok "... has no metric" record '"metrics":[]'
ok "text with its command line" lab 0 import --platform metal --command 'cyclictest -q' $f/cyclictest/2.4/text-quiet.txt
ok "... has its unit" record '"value":108000'
ok "a run that its threshold stopped" lab 1 import --platform metal $f/cyclictest/2.4/break.json
ok "... has no metric" record '"metrics":[]'
ok "the wrong command line" lab 2 import --command 'cyclictest -N' $f/cyclictest/2.4/plain.json
ok "oslat, rtla, rteval at once" lab 0 import --platform metal $f/oslat/two-cpus.txt $f/rtla/timerlat.txt \
    $f/rteval/summary.xml
ok "... each in a cell of its own" sh -c "'$B/nohzlab' show $(set_of) --all | grep -c 'oslat.max \|timerlat.thread.max \|cyclictest.max ' | grep -qx 3"
ok "a histogram" lab 0 import --platform metal $f/cyclictest/2.4/hist.json
ok "... is kept as one of ours, too" test -s "$(dirname "$(newest)")/cyclictest-hist.json"
ok "... and a quantile beyond it is censored" record '"censored":true'
ok "--json" lab 0 import --json $f/oslat/two-cpus.json
ok "... is JSON" has '"outcome" : "done"' "$out"

sed 's/"tsc"/&/; s/>tsc</>hpet</' $f/rteval/summary.xml >"$state/hpet.xml"
ok "latencies under hpet" lab 1 import --platform metal "$state/hpet.xml"
ok "... are void" record '"outcome":"clock"'
sed 's/"max": 302/"max": 18446744057004122648/' $f/cyclictest/2.4/plain.json >"$state/wrapped.json"
ok "a latency that wrapped" lab 1 import --platform metal "$state/wrapped.json"
ok "... is the clock's fault, on that CPU" record 'thread 0 (CPU 0)'
ok "... and no record of a time" record '"metrics":[]'
sed 's/"release": "/&<b>\\u001b[31m/' $f/cyclictest/2.4/plain.json >"$state/escape.json"
ok "a terminal's codes in a name" lab 0 import "$state/escape.json"
ok "... do not get to the terminal" sh -c "! '$B/nohzlab' list | LC_ALL=C grep -q '[[:cntrl:]]\[31m'"
head -c 700 $f/cyclictest/2.4/hist.json >"$state/cut.json"
ok "a file that was cut" lab 1 import "$state/cut.json"
ok "... says where" has "inside the JSON object" "$out"

: >"$state/empty"
before=$(ls "$runs" | wc -l)
ok "an empty file" lab 2 import "$state/empty"
ok "... says so" says "$state/empty: empty"
ok "a program" lab 2 import "$(realpath "$B/nohzlab")"
ok "a folder" lab 2 import "$state"
ok "a device" lab 2 import /dev/zero
mkfifo "$state/fifo"
ok "a pipe nobody writes to" lab 2 import "$state/fifo"
ok "a text of something else" lab 2 import README.md
ok "nothing" lab 2 import "$state/none"
ok "one run twice" lab 2 import $f/rtla/osnoise-ns.txt $f/rtla/osnoise-ns.txt
ok "... says so" says "one run would count as two"
ok "a platform there is not" lab 2 import --platform moon $f/oslat/two-cpus.txt
ok "a clock alone" lab 2 import --clock icount $f/oslat/two-cpus.txt
ok "a setting of something else" lab 2 import --set guest.vcpus=4 $f/oslat/two-cpus.txt
ok "a name with codes in it" lab 2 import --profile "$(printf 'a\033[31m')" $f/oslat/two-cpus.txt
ok "only the one good run of these was stored" test "$(ls "$runs" | wc -l)" -eq $((before + 1))

# A record of another lab: itself, with its evidence, once.
id=$unknown
other=$state/other
mkdir -p "$other/runs"
cp -r "$runs/$id" "$other/lab-a"
ok "a record of another lab" lab 0 import --state "$other" "$other/lab-a/record.json"
ok "... is the same in both" cmp "$runs/$id/record.json" "$other/runs/$id/record.json"
ok "... with its evidence" cmp "$runs/$id/original.json" "$other/runs/$id/original.json"
ok "... and once more: nothing to do" lab 0 import --state "$other" "$other/lab-a/record.json"
sed -i 's/"summary":"[^"]*"/"summary":"another"/; s/"summary" : "[^"]*"/"summary" : "another"/' "$other/lab-a/record.json"
ok "one id, another content" lab 2 import --state "$other" "$other/lab-a/record.json"
ok "... says so" says "$id" "different content"
cp "$runs/$id/record.json" "$other/lab-a/record.json"
echo >>"$other/lab-a/original.json"
ok "one id, other evidence" lab 2 import --state "$other" "$other/lab-a/record.json"
rm "$other/lab-a/original.json"
ok "a record without its evidence" lab 2 import --state "$other/b" "$other/lab-a/record.json"
ok "... names it" says "original.json"
ln -s /etc/passwd "$other/lab-a/original.json"
ok "a link in its place" lab 2 import --state "$other/b" "$other/lab-a/record.json"
sed -i 's/"schema"\( *\): *1/"schema"\1:2/' "$other/lab-a/record.json"
ok "a record of a newer schema" lab 2 import --state "$other/b" "$other/lab-a/record.json"
ok "... says so" says "schema 2"
ok "nothing of these was stored" test -z "$(ls "$other/b/runs" 2>/dev/null)"

# Bounded memory: a file larger than what the process may have in all (about 60 MiB of it are its libraries).
if grep -q __asan_init "$B/nohzlab"; then
    skip "a file larger than memory" "address space can't be bounded under AddressSanitizer"
else
    { echo '+ cyclictest -m' && yes 'T: 0 (1) P:80 I:1000 C: 300000 Min:      2 Act:    3 Avg:    3 Max:      9' |
        head -c 150000000 | sed '$d'; } >"$state/large.txt"
    limited() { (ulimit -v 130000 && lab 0 import "$state/large.txt"); }
    ok "a file larger than memory" limited
    ok "... kept as a gzip'd copy" sh -c "zcat '$(dirname "$(newest)")/original.txt.gz' | cmp - '$state/large.txt'"
fi
done_testing
