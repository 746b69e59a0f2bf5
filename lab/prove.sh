#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs test programs and shell tests under prove, then lists what was skipped, and why.
#
#   B=BUILD lab/prove.sh TEST...
set -eu
export B="${B:-build}"

# prove calls us back for each test: the TAP goes into a file first, from which skips are read.
if [ "${1:-}" = --one ]; then
    test=$2
    log=$B/tap/$(printf '%s' "${test#"$B"/}" | sed 's|^/*||; s|/|.|g').tap
    status=0
    case $test in
    *.t) "$test" >"$log" || status=$? ;;
    *) "$test" --tap >"$log" || status=$? ;;
    esac
    # GLib bails out at a failed assertion: the end of that program, not of all tests.
    sed 's/^Bail out!/# &/' "$log"
    # prove tells which test failed, but not the words beside it; they are told again at the end.
    grep -E '^(not ok|Bail out!)' "$log" | sed "s|^|# $test: |" | tee -a "$B/tap/failed" >&2 || :
    exit $status
fi

[ $# -gt 0 ] || {
    echo "$0: no tests given" >&2
    exit 2
}
rm -rf "$B/tap"
mkdir -p "$B/tap"
status=0
prove --timer --exec "$0 --one" "$@" || status=$?

skips=$(
    for log in "$B"/tap/*.tap; do
        sed -nE 's/^(ok [0-9]+|1\.\.0)[ -]*(.*# *[Ss][Kk][Ii][Pp].*)/\2/p' "$log" | sed "s|^|  $(basename "$log" .tap): |"
    done
)
if [ -n "$skips" ]; then
    printf 'Skipped:\n%s\n' "$skips"
else
    echo 'Nothing was skipped.'
fi
[ ! -s "$B/tap/failed" ] || sed 's/^# /Failed: /' "$B/tap/failed"
exit $status
