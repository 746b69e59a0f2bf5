#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What nohzlab itself costs: ratios and sizes to read, nothing that passes or fails.
#
#   B=BUILD lab/bench.sh
#
# The same guest twice: by `nohzlab run`, and by the QEMU command line that libvirt made for it, started by hand
# without libvirt, with files in place of its sockets.
set -euo pipefail

build=${B:-build}
pairs=${PAIRS:-5}
profile=profiles/trivial.ini
work=$(mktemp -d /tmp/nohzlab-bench.XXXXXX)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
state=$work/state

die() {
    printf 'bench: %s\n' "$*" >&2
    exit 1
}

nohzlab_run() {
    "$build/nohzlab" run --quiet --state "$state" "$profile" >"$work/run.log" 2>&1 || {
        cat "$work/run.log" >&2
        die "nohzlab run $profile failed"
    }
}

# Seconds that "$@" takes.
seconds() {
    local begin=$EPOCHREALTIME
    "$@"
    local end=$EPOCHREALTIME
    awk -v a="$begin" -v b="$end" 'BEGIN { printf "%.3f\n", b - a }'
}

# The middle one of the lines; of an even number, the lower of the two in the middle.
median() {
    sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# The value of an environment key in the warm-up's record.
environment() {
    perl -MJSON::PP -0777 -ne 'print decode_json($_)->{environment}{$ENV{KEY}} // ""' "$evidence/record.json"
}

file_by_sha256() {
    local file
    while read -r file; do
        if [ "$(sha256sum <"$file" | cut -d ' ' -f 1)" = "$1" ]; then
            echo "$file"
            return
        fi
    done < <(find "$state/cache" -type f)
    die "the cache $state/cache has no file of SHA-256 $1"
}

# From libvirt's log of the warm-up: QEMU's command line, one option a line, quoted for a shell. What only libvirt
# needs goes (its monitor, the stop at the start and at the end); sockets become files.
by_hand_script() {
    local kernel initrd quote="'\\{0,1\\}"
    kernel=$(KEY=kernel.path environment)
    initrd=$(file_by_sha256 "$(KEY=initramfs.sha256 environment)")
    # Nobody is there to meet the guest at its barriers.
    sed 's/^barriers .*/barriers none/' "$evidence/job.txt" >"$work/job"
    sed -n '/^\/[^ ]*qemu-system/,/[^\\]$/p' "$evidence/qemu.log" | sed \
        -e '/^-S \\$/d' -e '/^-no-shutdown /d' -e '/^-mon /d' -e '/id=charmonitor/d' -e '/"qom-type":"secret"/d' \
        -e "s|^-kernel .*|-kernel $kernel \\\\|" -e "s|^-initrd .*|-initrd $initrd \\\\|" \
        -e "s|^-fw_cfg .*|-fw_cfg name=opt/org.nohzlab/job,file=$work/job \\\\|" \
        -e "s|^-chardev ${quote}socket,id=charserial0,.*|-chardev file,id=charserial0,path=$work/console \\\\|" \
        -e "s|^-chardev ${quote}socket,id=charchannel0,.*|-chardev file,id=charchannel0,path=$work/report \\\\|" \
        >"$work/by-hand"
    grep -q '^-kernel' "$work/by-hand" || die "no QEMU command line in $evidence/qemu.log"
}

by_hand_run() {
    rm -f "$work/report"
    sh "$work/by-hand" >"$work/by-hand.log" 2>&1 </dev/null || {
        cat "$work/by-hand.log" >&2
        die 'QEMU, started by hand, failed'
    }
    tail -n 1 "$work/report" | grep -q '^end' || die "the guest started by hand sent no whole report: $(tail -n 3 "$work/console")"
}

# Largest resident size of the program itself, without the QEMU it starts, in KiB: the kernel's high-water mark, read
# until it is gone.
peak_kib() {
    perl -e '
        my $pid = fork // die "fork: $!";
        if (!$pid) { open(STDOUT, ">", "/dev/null"); exec @ARGV or die "$ARGV[0]: $!" }
        use POSIX ":sys_wait_h";
        my $peak = 0;
        while (waitpid($pid, WNOHANG) == 0) {
            if (open(my $f, "<", "/proc/$pid/status")) {
                my $text = do { local $/; <$f> } // "";
                $peak = $1 if $text =~ /^Name:\tnohzlab\n/ && $text =~ /^VmHWM:\s*(\d+)/m && $1 > $peak;
            }
            select(undef, undef, undef, 0.005);
        }
        exit 1 if $?;
        print "$peak\n"' "$build/nohzlab" run --quiet --state "$state" "$profile"
}

[ -x "$build/nohzlab" ] || die "$build/nohzlab is not built"
nohzlab_run # builds the image, and lets libvirt probe QEMU: once per machine, not per run
runs=("$state"/runs/*/)
evidence=${runs[0]%/}
by_hand_script
by_hand_run

for ((i = 0; i < pairs; i++)); do
    seconds nohzlab_run >>"$work/nohzlab.s"
    seconds by_hand_run >>"$work/by-hand.s"
done
ours=$(median "$work/nohzlab.s")
theirs=$(median "$work/by-hand.s")
ratio=$(awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "%.2f", a / b }')
printf 'whole run    nohzlab %s s, the same QEMU by hand %s s, ratio %s (medians of %d interleaved pairs)\n' \
    "$ours" "$theirs" "$ratio" "$pairs"
printf '             nohzlab: %s\n             by hand: %s\n' "$(paste -sd ' ' "$work/nohzlab.s")" \
    "$(paste -sd ' ' "$work/by-hand.s")"

peak=$(peak_kib) || die 'nohzlab run failed while its memory was watched'
awk -v k="$peak" 'BEGIN { printf "peak memory  nohzlab %.1f MiB resident (QEMU not counted)\n", k / 1024 }'

NOHZLAB_GUEST_DIR=$build/guest "$build/lab/bench_image" 5 >"$work/image.ms"
printf 'image        %s ms to build one in an empty cache (median of 5)\n' "$(median "$work/image.ms")"

"$build/results/bench_compare" 100 200 | awk '{ printf "compare      %s ms for two sets of 100 boots of 200 metrics\n", $1 }'

# Seconds and largest resident size in MiB of one command, without what it prints.
cost() {
    perl -MTime::HiRes=time -MPOSIX=:sys_wait_h -e '
        my $begin = time;
        my $pid = fork // die "fork: $!";
        if (!$pid) { open(STDOUT, ">", "/dev/null"); exec @ARGV or die "$ARGV[0]: $!" }
        my $peak = 0;
        while (waitpid($pid, WNOHANG) == 0) {
            if (open(my $f, "<", "/proc/$pid/status")) {
                my $text = do { local $/; <$f> } // "";
                $peak = $1 if $text =~ /^VmHWM:\s*(\d+)/m && $1 > $peak;
            }
            select(undef, undef, undef, 0.002);
        }
        my $end = time;
        die "$ARGV[0] $ARGV[1] failed\n" if $?;
        printf "%.2f s, %.0f MiB", $end - $begin, $peak / 1024' "$@"
}

# One set of 100 runs with 200 metrics each, in a store of STORE other runs.
reports=$work/reports
store=${STORE:-100000}
set=20261207-000000-0007
python3 lab/report_fixture.py "$reports" 100 200 "$store"
store_cost() {
    local what=$1 figures
    shift
    figures=$(cost "$build/nohzlab" "$@" --state "$reports") || die "nohzlab $* failed"
    printf '%-12s %s: %s, in a store of %d runs\n' "${what%% *}" "${what#* }" "$figures" "$((store + 100))"
}
store_cost 'reindex all' reindex
store_cost 'list newest 20' list --limit 20
store_cost 'list all' list --limit 0
store_cost 'history of one figure' history loop.per_call
for format in html json kcidb; do
    store_cost "report $format of 100 runs with 200 metrics" report "$set" --format "$format" -o "$work/report"
done
