# SPDX-License-Identifier: GPL-2.0-or-later
# For shell tests, to be sourced: TAP lines and a state folder of their own.
B=${B:-build}
count=0
state=$(mktemp -d)
export NOHZLAB_STATE="$state/state"
out=$state/out
err=$state/err

cleanup() {
    rm -rf "$state"
}
trap cleanup EXIT

# ok NAME COMMAND...: the command must succeed.
ok() {
    name=$1
    shift
    count=$((count + 1))
    if "$@" >"$state/ok.log" 2>&1; then
        echo "ok $count - $name"
    else
        # The last line that was said goes beside the name: often it is all that a log keeps.
        said=$(cat "$state/ok.log" "$out" "$err" 2>/dev/null | grep -E '^(Not held|exit code|nohzlab: |error|infra|die)' | tail -n 1)
        echo "not ok $count - $name${said:+: $said}"
        sed 's/^/# /' "$state/ok.log" >&2
        for file in "$out" "$err"; do
            [ -f "$file" ] && sed "s|^|# ${file##*/}: |" "$file" | head -n 40 >&2
        done
    fi
}

skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# lab EXIT ARGUMENTS...: runs nohzlab, wants that exit code; its output is in $out and $err.
lab() {
    want=$1
    shift
    code=0
    timeout 300 "$B/nohzlab" "$@" >"$out" 2>"$err" </dev/null || code=$?
    [ "$code" -eq "$want" ] || {
        echo "exit code $code, not $want: nohzlab $*"
        return 1
    }
}

done_testing() {
    echo "1..$count"
}
