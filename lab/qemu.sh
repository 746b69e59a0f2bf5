#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds a QEMU under which boxes with clock icount don't stall, into FOLDER (see box-icount.md). About five minutes.
#
#   lab/qemu.sh FOLDER
#
# Debian's QEMU source with one line added: VMRUN delivers the interrupt that KVM injects, but leaves it noted as a pending
# exception, and when the vCPU's share of instructions ends before anything else clears that, it is delivered once more.
set -eu
[ $# -eq 1 ] || {
    echo "usage: $0 FOLDER" >&2
    exit 2
}
case $1 in /*) target=$1 ;; *) target=$PWD/$1 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
log=$work/log

give_up() {
    tail -n 20 "$log" >&2
    echo "qemu: $1" >&2
    exit 1
}
say() { echo "qemu: $1 ($(date +%T))"; }

. /etc/os-release
export DEBIAN_FRONTEND=noninteractive
say "what it is built with"
apt-get install -y -qq ninja-build python3-venv libseccomp-dev libglib2.0-dev zlib1g-dev dpkg-dev xz-utils >"$log" 2>&1 ||
    give_up "its build dependencies can't be installed"
[ "$VERSION_ID" != 12 ] || from="-t bookworm-backports"
# shellcheck disable=SC2086 # an option and its word
apt-get install -y -qq ${from:-} meson >"$log" 2>&1 || give_up "meson can't be installed"

# The mirror this machine uses, but its sources, and Debian 13's.
say "its source"
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Label: Debian' | head -n 1)
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
echo "deb-src ${mirror:-http://deb.debian.org/debian} trixie main" >"$work/sources.list"
apt() {
    apt-get -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root "$@"
}
apt update >"$log" 2>&1 || give_up "the mirror's list of sources can't be read"
(cd "$work" && apt source --download-only qemu) >"$log" 2>&1 || give_up "QEMU's source can't be fetched"
mkdir "$work/src"
tar -xf "$work"/qemu_*.orig.tar.xz -C "$work/src" --strip-components=1

cd "$work/src"
helper=target/i386/tcg/system/svm_helper.c
line='do_interrupt_x86_hardirq(env, vector, 1);'
[ "$(grep -c "$line" $helper)" = 1 ] || give_up "this source is not as expected: perhaps it needs no change any more"
sed -i "s/$line/&\n            cs->exception_index = -1; \/* delivered *\//" $helper
# What Debian's package leaves out, and tests that are not run.
sed -i '/^pycotap/d' pythondeps.toml
sed -i 's/^if unpack_edk2_blobs/if false/' pc-bios/meson.build

say "building"
mkdir b
cd b
PATH=/usr/sbin:/usr/bin:/sbin:/bin
../configure --python=/usr/bin/python3 --disable-download --target-list=x86_64-softmmu --without-default-features \
    --enable-tcg --enable-seccomp --enable-system --disable-docs --disable-install-blobs >"$log" 2>&1 ||
    give_up "configure failed"
nice ninja -j"$(nproc)" qemu-system-x86_64 >"$log" 2>&1 || give_up "the build failed"

rm -rf "$target.new"
mkdir -p "$target.new/bin" "$target.new/share/qemu"
strip -o "$target.new/bin/qemu-system-x86_64" qemu-system-x86_64
for rom in bios-256k.bin linuxboot_dma.bin kvmvapic.bin; do
    for folder in /usr/share/qemu /usr/share/seabios; do
        [ ! -e "$folder/$rom" ] || cp -L "$folder/$rom" "$target.new/share/qemu/"
    done
done
chmod -R a+rX "$target.new"
rm -rf "$target"
mv "$target.new" "$target"
say "$("$target/bin/qemu-system-x86_64" --version | head -n 1), in $target"
