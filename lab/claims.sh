#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernels that the profiles of the mailing lists' claims compare: Linux 6.1, and with patches of profiles/patches/ on
# top. And the profiles run on them.
#
#   lab/claims.sh build [NAME...]   build them (all, or those), those that are there already are left
#   lab/claims.sh run               run the profiles and the bisection of the series
#
# LINUX_SOURCE: the archive of Debian's linux-source-6.1. B: the build folder; kernels go into build-claims.
set -eu
B=${B:-build}
out=build-claims
archive=${LINUX_SOURCE:-/usr/src/linux-source-6.1.tar.xz}
patches=$(realpath profiles/patches)
config=profiles/claims.config

# In this order a series: the bisection finds the seventh.
series="bisect-demo/1-init-message timer-target-search bisect-demo/2-rootfs-message bisect-demo/3-clocksource-message
    acct-integrals-divisions bisect-demo/4-serial-message vtime-every-entry bisect-demo/5-devtmpfs-message
    bisect-demo/6-power-down-message"

# Patches of a kernel; an unknown name is an error.
patches_of() {
    case $1 in
    6.1) ;;
    timer-target-search) echo timer-target-search ;;
    divisions) echo acct-integrals-divisions ;;
    jiffies) echo vtime-every-entry ;;
    jiffies-flag) echo vtime-every-entry acct-integrals-irq-save ;;
    jiffies-divisions) echo vtime-every-entry acct-integrals-divisions ;;
    as-4.4) echo vtime-every-entry acct-integrals-divisions acct-integrals-irq-save ;;
    series-[1-9]) echo $series | cut -d ' ' -f "1-${1#series-}" ;;
    *) echo "claims.sh: no kernel is called $1" >&2 && return 1 ;;
    esac
}
all="6.1 timer-target-search divisions jiffies jiffies-flag jiffies-divisions as-4.4
    series-1 series-2 series-3 series-4 series-5 series-6 series-7 series-8 series-9"

unpack() {
    for program in make gcc flex bison bc patch xz; do
        command -v $program >/dev/null || {
            echo "claims.sh: there is no $program: apt-get install make gcc flex bison bc patch xz-utils libelf-dev" >&2
            exit 2
        }
    done
    [ -f "$out/linux/.whole" ] && return
    [ -f "$archive" ] || {
        echo "claims.sh: there is no $archive: apt-get install linux-source-6.1, or set LINUX_SOURCE" >&2
        exit 2
    }
    echo "unpacking $archive"
    rm -rf "$out/linux"
    mkdir -p "$out/linux"
    tar -C "$out/linux" --strip-components=1 -xf "$archive"
    : >"$out/linux/.whole"
}

# What make says goes into a log; where it fails, the first error is shown.
kernel_make() {
    make -C "$out/linux" O="$(realpath "$out/obj")" KBUILD_BUILD_TIMESTAMP=@0 KBUILD_BUILD_USER=nohzlab \
        KBUILD_BUILD_HOST=nohzlab "$@" >"$out/log" 2>&1 || {
        grep -m 1 -E 'error:|Error ' "$out/log" >&2 || tail -n 3 "$out/log" >&2
        echo "claims.sh: the build failed; all of it is in $out/log" >&2
        exit 1
    }
}

configure() {
    [ "$out/obj/.config" -nt $config ] && return
    mkdir -p "$out/obj"
    kernel_make tinyconfig
    cat $config >>"$out/obj/.config"
    kernel_make olddefconfig
    for wanted in NO_HZ_FULL VIRT_CPU_ACCOUNTING_GEN RCU_NOCB_CPU TASK_XACCT FUNCTION_GRAPH_TRACER VIRTIO_CONSOLE FW_CFG_SYSFS; do
        grep -q "^CONFIG_$wanted=y" "$out/obj/.config" || {
            echo "claims.sh: CONFIG_$wanted did not come through" >&2
            rm "$out/obj/.config"
            exit 1
        }
    done
}

# The tree's own files come back from copies, whatever ended an earlier build.
restore() {
    [ -d "$out/before" ] || return 0
    (cd "$out/before" && find . -type f) | while read -r file; do cp "$out/before/$file" "$out/linux/$file"; done
    rm -rf "$out/before"
}
apply() {
    for patch in "$@"; do
        for file in $(sed -n 's|^+++ b/||p' "$patches/$patch.patch"); do
            mkdir -p "$out/before/$(dirname "$file")"
            [ -f "$out/before/$file" ] || cp "$out/linux/$file" "$out/before/$file"
        done
        patch -s -d "$out/linux" -p1 <"$patches/$patch.patch" || {
            echo "claims.sh: $patch does not apply" >&2
            exit 1
        }
    done
}

up_to_date() {
    [ -f "$out/$1" ] && [ "$out/$1" -nt $config ] || return 1
    for patch in $(patches_of "$1"); do
        [ "$out/$1" -nt "$patches/$patch.patch" ] || return 1
    done
}

build_one() {
    up_to_date "$1" && return
    restore
    apply $(patches_of "$1")
    began=$(date +%s)
    kernel_make -j"$(nproc)" bzImage
    cp "$out/obj/arch/x86/boot/bzImage" "$out/$1.new"
    mv "$out/$1.new" "$out/$1"
    restore
    echo "kernel $1: $(($(date +%s) - began)) s"
}

build() {
    mkdir -p "$out"
    exec 9>"$out/lock"
    flock 9
    for name in ${*:-$all}; do patches_of "$name" >/dev/null; done
    unpack
    configure
    for name in ${*:-$all}; do build_one "$name"; done
    exec 9>&-
}

run() {
    wrong=0
    for profile in wanpeng-timer-target riel-syscall kernel-history; do
        "$B/nohzlab" run profiles/$profile.ini || wrong=1
    done
    for name in 6.1 series-1 series-2 series-3 series-4 series-5 series-6 series-7 series-8 series-9; do
        echo "path:$out/$name,modules=$out/obj"
    done >"$out/series"
    "$B/nohzlab" bisect profiles/riel-syscall.ini --series "$out/series" --again --set matrix.variant=nohz_full \
        --metric invalid.per_call | tee "$out/bisect"
    grep -q 'First bad: step 7, .*series-7' "$out/bisect" || wrong=1
    return $wrong
}

case ${1:-} in
build)
    shift
    build "$@"
    ;;
run) run ;;
*)
    echo 'usage: lab/claims.sh build [NAME...] | run' >&2
    exit 2
    ;;
esac
