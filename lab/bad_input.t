#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Input that can't be right: exit code 2, one message that says where and what, nothing on stdout, no record.
# Starts no guest.
. lab/tap.sh

p=$state/p.ini

# profile LINE...: a profile that is right but for these lines of [guest].
profile() {
    printf '[main]\nsummary = test\n[host]\nplatform = bare\nclock = wall\n[guest]\nvcpus = 4\n' >"$p"
    for line in "$@"; do printf '%s\n' "$line" >>"$p"; done
    printf '[workload w]\ntype = syscall-loop\ncpu = 1\n' >>"$p"
}

# says WORD... : all of them are in the message, which is short, and fit for a terminal.
says() {
    [ ! -s "$out" ] || { echo "something is on stdout"; return 1; }
    [ "$(wc -c <"$err")" -lt 2000 ] || { echo "the message is too long"; return 1; }
    ! LC_ALL=C grep -q '[[:cntrl:]]' "$err" || { echo "control characters in the message"; return 1; }
    for word in "$@"; do
        grep -qF -e "$word" "$err" || { echo "not said: $word"; return 1; }
    done
}

# refused WORD...: neither planned nor run, and both say the same.
refused() {
    lab 2 plan "$p" && says "nohzlab plan: " "$@" && lab 2 run "$p" && says "nohzlab run: " "$@"
}
# refused_file FILE WORD...
refused_file() {
    file=$1
    shift
    lab 2 plan "$file" && says "$file" "$@" && lab 2 run "$file" && says "$file" "$@"
}

profile
ok "the profile these tests spoil is right" lab 0 plan "$p"

ok "a folder" refused_file "$state" "a folder"
ok "nothing there" refused_file "$state/none.ini" "no such profile"
ok "a program" refused_file "$(realpath "$B/nohzlab")" "1048576 bytes"
head -c 5000 "$(realpath "$B/nohzlab")" >"$state/binary.ini"
ok "bytes of a program" refused_file "$state/binary.ini" ":1" "NUL byte"
head -c 10485760 /dev/zero | tr '\0' '#' >"$state/large.ini"
ok "10 MiB" refused_file "$state/large.ini" "1048576 bytes"
ok "a device without end" refused_file /dev/zero
mkfifo "$state/fifo.ini"
ok "a pipe nobody writes to" refused_file "$state/fifo.ini"
printf '[main]\nsummary = caf\351\n' >"$state/latin1.ini"
ok "bytes that are not UTF-8" refused_file "$state/latin1.ini" ":2" "UTF-8"
: >"$state/empty.ini"
ok "an empty file is a profile that measures nothing" lab 0 plan "$state/empty.ini"

printf '[main]\nsummary = x\ninclude = not-there\n' >"$p"
ok "an include that is missing" refused "$p:3" "include" "not-there.ini"
printf '[main]\nsummary = x\ninclude = ../../etc/passwd\n' >"$p"
ok "an include outside of the folder" refused "$p:3" "include"
printf '[main]\nsummary = x\ninclude = p\n' >"$p"
ok "an include of itself" refused "$p:3" "include" "p.ini"
printf '[main\nsummary = x\n' >"$p"
ok "a section left open" refused "$p:1"

profile "memory = NaN"
ok "memory = NaN" refused "$p:8" "[guest] memory = NaN"
profile "memory = -1M"
ok "memory = -1M" refused "$p:8" "[guest] memory = -1M"
profile "memory = 99999999999999999999G"
ok "memory beyond any number" refused "$p:8" "[guest] memory"
profile "boot_timeout = inf"
ok "boot_timeout = inf" refused "$p:8" "[guest] boot_timeout = inf"
profile "isolated = 0-N"
ok "isolated = 0-N" refused "$p:8" "[guest] isolated = 0-N" "no housekeeping CPU" "1-N"
profile "isolated = 1-4"
ok "isolated = 1-4 of four" refused "$p:8" "[guest] isolated = 1-4" "asked for 1-4" "CPUs 0-3" "1-3 left"
profile "isolated = 1-3,^2"
ok "isolated = 1-3,^2" refused "$p:8" "[guest] isolated" "exclusions" "write 1,3"
profile "isolatde = 1-3"
ok "a misspelt key" refused "$p:8" "isolatde" "did you mean" "isolated"
profile
sed -i 's/^vcpus = 4/vcpus = 0/' "$p"
ok "vcpus = 0" refused "$p:7" "[guest] vcpus = 0" "1..255"
sed -i 's/^vcpus = 0/vcpus = 1/' "$p"
ok "a workload on a vCPU that is not there" refused "$p:10" "[workload w] cpu = 1" "CPU 0 alone"

profile
printf '[expect]\nquick = w.per_call <=\n' >>"$p"
ok "half an expectation" refused "$p:12:" "[expect]" "expected a number"
profile
ok "a setting without a value" lab 2 plan --set guest.vcpus "$p"
ok "... says so" says "guest.vcpus"
ok "a setting of an unknown key" lab 2 plan --set "guest.nonsense=1" "$p"
ok "... says so" says "guest.nonsense"
ok "a setting with an escape code" lab 2 plan --set "guest.vcpus=$(printf '\033[31m')" "$p"
ok "... says so without it" says "not one line of UTF-8"

# CPUs that a lab host does not have; it is not started.
pinned() {
    lab 2 run --set "host.platform=$1" --set "guest.$2=$3" profiles/lab-host.ini && says "guest.$2" "$3" "$4"
}
ok "a vCPU pinned to a CPU the box lacks" pinned box pin 7 "the box has CPUs 0-3"
ok "an emulator pinned to one" pinned box emulatorpin 0,4-5 "0 left"

# kernel WORD VALUE: refused with that word, and the kernel named.
kernel() {
    lab 2 plan --set "main.kernel=$2" "$p" && says "kernel" "$1"
}
printf 'not a kernel\n' >"$state/text"
head -c 65536 /dev/zero >"$state/zeros"
ok "a kernel that is text" kernel "$state/text" "path:$state/text"
ok "a kernel of zeros" kernel "$state/zeros" "path:$state/zeros"
ok "a kernel that is a program" kernel "nohzlab" "path:$(realpath "$B/nohzlab")"
ok "a kernel that is a folder" kernel "$state" "path:$state"
ok "a kernel that is not there" kernel "$state/none" "path:$state/none"
ok "a kernel that is not installed" kernel "boot:0.0.1-none" "boot:0.0.1-none"
ok "a kernel in no known form" kernel "default, debian:" "/boot/vmlinuz"

printf 'x\n' >"$state/file"
# no_results FOLDER: no command works with it, and none makes it.
no_results() {
    for command in "run $p" "list" "show"; do
        # shellcheck disable=SC2086 # a command and its arguments
        lab 2 $command --state "$1" && says "$1" "results folder" || return 1
    done
}
ok "results in a file" no_results "$state/file"
ok "results below a file" no_results "$state/file/x"
ok "results where nobody can write" no_results /proc/nohzlab
ok "... and the file is as it was" grep -qx x "$state/file"

ok "no record, and no other trace" test ! -e "$NOHZLAB_STATE/runs"
# Only with a session of its own it is known which lab host it will be.
ok "a vCPU pinned to a CPU that whatever lab host lacks" pinned auto pin 4000 "there is no CPU 4000"
done_testing
