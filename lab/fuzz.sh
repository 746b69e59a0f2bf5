#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs fuzz targets, two at a time, each from its seeds (ROOM/fuzz_NAME.seeds) and what earlier runs found.
#
#   lab/fuzz.sh SECONDS BUILD BUILD/ROOM/fuzz_NAME...
#
# Inputs that crash stay beside the target, as fuzz_NAME.crash-HASH (also .leak-, .timeout-, .oom-).
set -eu

one() {
    seconds=$1 build=$2 target=$3
    name=${target#"$build"/}
    corpus=$target.corpus
    mkdir -p "$corpus"
    set -- "$corpus"
    [ ! -d "$name.seeds" ] || set -- "$@" "$name.seeds"
    if "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=512 -print_final_stats=1 -verbosity=1 \
        -artifact_prefix="$target." "$@" >"$target.log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$target.log")
        printf '  %-24s ok, %s inputs in %s s\n' "$name" "${runs:-?}" "$seconds"
        return 0
    fi
    tail -n 60 "$target.log" | sed "s|^|$name: |" >&2
    printf '  %-24s FAILED: the input is in %s.*, all of its output in %s.log\n' "$name" "$target" "$target"
    return 1
}

if [ "${1:-}" = --one ]; then
    shift
    one "$@"
    exit
fi

[ $# -gt 2 ] || {
    echo "$0: no fuzz targets" >&2
    exit 2
}
seconds=$1 build=$2
shift 2
# Each target keeps one CPU busy, and may take 512 MiB.
printf '%s\n' "$@" | xargs -P 2 -I '{}' "$0" --one "$seconds" "$build" '{}'
