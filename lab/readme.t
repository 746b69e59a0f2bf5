#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every command of the README, run as it stands there, in its order; and the profiles do what they promise.
. lab/tap.sh

# The commands of the README's ```sh blocks, without their comments.
awk '/^```sh/ { inside = 1; next } /^```/ { inside = 0 } inside' README.md | sed 's/[[:space:]]*#.*//' >"$state/commands"

# A set id by profile, from the index.
set_of() { "$B/nohzlab" list --json "$1" | sed -n 's/.*"set" : "\(.*\)",/\1/p' | head -n 1; }

run_command() {
    line=$1
    case $line in
    *SET_A*)
        a=$(set_of syscall-overhead)
        line=$(printf '%s' "$line" | sed "s/SET_A/$a/; s/SET_B/$a/")
        ;;
    esac
    echo "$line"
    # The documented path is build/; the tests may stand elsewhere.
    line=$(printf '%s' "$line" | sed "s|^build/|$B/|")
    # shellcheck disable=SC2086 # words of a command line
    timeout 900 $line >"$out" 2>"$err" </dev/null
}

while IFS= read -r command; do
    [ -n "$command" ] || continue
    case $command in
    "make check"*) continue ;; # is what runs us
    # It is deps, the build, and a run that stands further down.
    "make run"*) ok "README: $command" make -n run ;;
    *) ok "README: $command" run_command "$command" ;;
    esac
    case $command in
    *"run profiles/syscall-overhead.ini"*) cp "$out" "$state/first" ;;
    esac
done <"$state/commands"
ok "the README has commands" test -s "$state/commands"

# The README's profile, too.
awk '/^```ini/ { inside = 1; next } /^```/ { inside = 0 } inside' README.md >"$state/readme.ini"
ok "README: its profile can be planned" lab 0 plan "$state/readme.ini"

ok "syscall-overhead: all expectations hold" grep -q '^Held: all 4 expectations, on 9 boots' "$state/first"
ok "syscall-overhead: published figures are labelled" grep -q 'other hardware and kernels' "$state/first"

# The same run again: the same medians within 0.1%, one boot of each cell being enough to see it.
again() {
    first=$(set_of syscall-overhead)
    lab 1 run --set main.boots=1 profiles/syscall-overhead.ini || return 1
    second=$(set_of syscall-overhead)
    "$B/nohzlab" show "$first" --json >"$state/a.json" && "$B/nohzlab" show "$second" --json >"$state/b.json" &&
        perl -MJSON::PP -e '
            my %a; local $/;
            for my $i (0, 1) {
                open my $f, "<", $ARGV[$i] or die;
                for my $s (@{decode_json(<$f>)->{summaries}}) {
                    next unless $s->{metric} =~ /per_call$/;
                    my $k = "$s->{metric} $s->{cell}";
                    if ($i == 0) { $a{$k} = $s->{median}; next }
                    my $off = abs($s->{median} / $a{$k} - 1);
                    print "$k: $a{$k} and $s->{median}\n"; $n++;
                    die "off by $off" if $off > 0.001;
                }
            }
            die "only $n" unless $n == 6;' "$state/a.json" "$state/b.json"
}
ok "syscall-overhead: the same run again gives the same medians within 0.1%" again
done_testing
