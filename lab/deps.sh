#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs what nohzlab needs on Debian 12 or 13; quick and silent when it is all there.
#
#   lab/deps.sh [run]    to build it and run guests
#   lab/deps.sh check    what its tests need on top: clang, its sanitizers, clang-format, and readers of reports
#
# Exit code 2: this machine is not one it can install on (the message says what is needed).
set -eu

# PACKAGE or PACKAGE>=VERSION. The QEMU floor is the first that boots SMP guests under icount, the
# libvirt floor the oldest whose embedded driver was tried; Debian 12 has both in its backports only.
PACKAGES='gcc make libc6-dev pkgconf perl
libglib2.0-dev libjson-glib-dev libvirt-dev>=11.3 libvirt-glib-1.0-dev libxml2-dev libhwloc-dev
libgsl-dev libsqlite3-dev libyajl-dev libarchive-dev libelf-dev libsmartcols-dev
libtracefs-dev libtraceevent-dev
qemu-system-x86>=1:8.1 libvirt-daemon-driver-qemu>=11.3 rt-tests kmod'
KERNEL=linux-image-cloud-amd64
# What reports are read with by their tests: a browser, and those who know a format.
READERS='chromium chromium-driver libxml2-utils python3-jsonschema python3-prometheus-client'
BACKPORTS=/etc/apt/sources.list.d/nohzlab-backports.sources

here=$(dirname "$0")
mode=${1:-run}
ID=unknown VERSION_ID='' VERSION_CODENAME='' PRETTY_NAME='this system'
[ ! -r /etc/os-release ] || . /etc/os-release

give_up() {
    printf 'deps: %s\n' "$@" >&2
    exit 2
}

have_kernel() {
    for file in /boot/vmlinuz-*; do
        [ ! -f "$file" ] || return 0
    done
    return 1
}

case $mode:$VERSION_ID in
run:*) ;;
check:12) PACKAGES="clang libclang-rt-14-dev clang-format $READERS" ;;
check:*) PACKAGES="clang libclang-rt-19-dev clang-format $READERS" ;;
*) give_up "usage: $0 [run|check]" ;;
esac

case $ID:$VERSION_ID in
debian:12 | debian:13) ;;
*)
    [ "$mode" = check ] || PACKAGES="$PACKAGES
(and npm, and a kernel in /boot, such as $KERNEL's)"
    give_up "can only install on Debian 12 and 13, not on $PRETTY_NAME. It needs, by their Debian names:" \
        "$PACKAGES" 'Once they are there, call make with NO_DEPS=1.'
    ;;
esac

# The PACKAGES that are missing or too old, each with its floor.
missing() {
    names=$(printf '%s\n' $PACKAGES | sed 's/>=.*//')
    installed=$(dpkg-query -W -f '${Package} ${db:Status-Status} ${Version}\n' $names 2>/dev/null || :)
    for wanted in $PACKAGES; do
        name=${wanted%%>=*}
        version=$(printf '%s\n' "$installed" | awk -v n="$name" '$1 == n && $2 == "installed" { print $3; exit }')
        if [ -z "$version" ]; then
            echo "$wanted"
        elif [ "$name" != "$wanted" ] && dpkg --compare-versions "$version" lt "${wanted#*>=}"; then
            echo "$wanted"
        fi
    done
    # Any kernel will do, so a machine that has one never gets a second: that would end up in its
    # boot menu, and the cloud kernel has no drivers for real hardware.
    [ "$mode" != run ] || have_kernel || echo $KERNEL
    # For the plots of reports; any will do, Node.js's own packages bring one.
    [ "$mode" != run ] || command -v npm >/dev/null || echo npm
}

lacking=$(missing)
[ -n "$lacking" ] || exit 0
list=$(echo $lacking)
[ "$(dpkg --print-architecture)" = amd64 ] ||
    give_up "can only install on amd64, not on $(dpkg --print-architecture). Needed: $list"
[ "$(id -u)" = 0 ] || give_up "missing: $list" 'Run "make deps'"$([ "$mode" = run ] || echo -check)"'" as root.'
case $lacking in
*$KERNEL*)
    [ ! -e /boot/grub/grub.cfg ] && [ ! -d /boot/efi/loader ] && [ ! -d /boot/loader ] ||
        give_up 'there is no /boot/vmlinuz-* for guests to boot, but a boot loader that would take up a new one.' \
            "Install a kernel yourself, such as $KERNEL, and look at the boot menu."
    ;;
esac

log=$(mktemp)
new_source=''
trap 'rm -f "$log" $new_source' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Nothing is removed, no configuration changed, no service (re)started, no question asked.
apt() {
    DEBIAN_FRONTEND=noninteractive SYSTEMD_OFFLINE=1 NEEDRESTART_SUSPEND=1 APT_LISTCHANGES_FRONTEND=none \
        apt-get -q -y --no-install-recommends --no-remove -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 \
        -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \
        "$@" >>"$log" 2>&1 </dev/null
}

failed() {
    cat "$log" >&2
    echo "deps: $*; apt's own words are above" >&2
    exit 1
}

# Another apt may hold the lock of the lists, for which apt does not wait.
update() {
    for pause in 2 10 30 0; do
        ! apt update || return 0
        sleep $pause
    done
    return 1
}

# Debian 12 has the newer QEMU and libvirt in its backports, on the mirror this machine already uses.
from=''
if [ "$VERSION_ID" = 12 ] && [ "${lacking#*>=}" != "$lacking" ]; then
    from=/$VERSION_CODENAME-backports
    set -- /dev/null
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
        [ ! -f "$file" ] || set -- "$@" "$file"
    done
    stanza=$(awk -v suite="$VERSION_CODENAME" -f "$here/backports.awk" "$@") ||
        give_up "no source of $VERSION_CODENAME main is in /etc/apt to take the mirror from: add $VERSION_CODENAME-backports yourself."
    if [ -n "$stanza" ]; then
        echo "deps: adding $VERSION_CODENAME-backports of this machine's mirror: $BACKPORTS"
        new_source=$BACKPORTS
        printf '%s\n' '# For the QEMU and libvirt that nohzlab needs ("make deps").' "$stanza" >"$BACKPORTS"
        chmod 644 "$BACKPORTS"
    fi
fi

echo "deps: installing $list (takes a minute or two)"
update || failed 'cannot update the package lists'

names=''
for wanted in $lacking; do
    case $wanted in
    # apt does not look for these in the release that was asked for, as it does for libvirt's.
    qemu-*) names="$names ${wanted%%>=*}$from qemu-system-common$from qemu-system-data$from seabios$from" ;;
    *'>='*) names="$names ${wanted%%>=*}$from" ;;
    *) names="$names $wanted" ;;
    esac
done
case $lacking in
*$KERNEL*)
    # A kernel package wants an initramfs generator, which no guest of ours uses: the smallest will do,
    # where there is none yet.
    dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n' | grep -q '^installed .*linux-initramfs-tool' ||
        names="$names tiny-initramfs"
    ;;
esac
apt install $names || failed "cannot install $list"
new_source=''

lacking=$(missing)
[ -z "$lacking" ] || failed "still missing after the installation: $(echo $lacking)"
