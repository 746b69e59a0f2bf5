#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the profiles of the mailing lists' claims stand on, in one boot: a traced kernel function, hot functions, and a
# kernel that can't be had beside one that can. The profiles themselves need kernels that are built: make check-claims.
. lab/tap.sh

cat >"$state/p.ini" <<EOF
[main]
summary = test
boots = 1
[matrix]
kernel = path:/nowhere/vmlinuz | default
[host]
platform = bare
clock = icount
[guest]
vcpus = 2
isolated = 1
isolcpus = none
cmdline = mitigations=off
boot_timeout = 300s
[workload invalid]
type = syscall-loop
cpu = 1
hot_functions = yes
[workload cyclictest]
cpu = 1
loops = 100
trace = get_nohz_timer_target
[expect]
# The tracer's own cost is off it: a look at one idle housekeeping CPU.
short = cyclictest.get_nohz_timer_target(kernel=1) in 50..600
tracer = cyclictest.tracer(kernel=1) >= 100
counted = invalid.in.user(kernel=1) in 5..20
EOF
ok "a kernel that can't be had is left out, the other runs" lab 0 run "$state/p.ini"
ok "... and it is told at once" grep -q 'skipped kernel=path:/nowhere/vmlinuz: .*nowhere' "$err"
ok "... and kept" grep -q 'note: a kernel was left out: .*/nowhere/vmlinuz' "$out"
ok "hot functions are shown" grep -q '^hot functions of invalid, kernel=default' "$out"
table=$(echo "$NOHZLAB_STATE"/runs/*/invalid-hot-functions.txt)
per_call=$("$B/nohzlab" show --all | awk '$1 == "invalid.per_call" { print $4 }')
ok "all functions together make the call: $per_call instructions" \
    awk -v want="$per_call" '/in all$/ { have = $2 } END { print have; exit !(have >= want && have < want * 1.02) }' "$table"
ok "the symbols are not kept" sh -c "! ls '$NOHZLAB_STATE'/runs/*/*kallsyms*"
ok "bisect: kernels that lead no series: refused" lab 2 bisect "$state/p.ini" --good debian:6.1 --bad debian:6.12
ok "... with what would be right" grep -q 'leads no series' "$err"
ok "bisect: no kernels: refused" lab 2 bisect "$state/p.ini"
ok "bisect: one boot of an end is too few" lab 2 bisect "$state/p.ini" --good a --bad a+b --boots 1
ok "bisect: an end that can't be had: said, and no figure" sh -c "
    '$B/nohzlab' bisect '$state/p.ini' --good path:/nowhere/a --bad path:/nowhere/a+b --quiet; test \$? = 1"
done_testing
