#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Fetches a package from npm, checks that it is the one that was looked at, and unpacks files of it.
#
#   results/npm.sh NAME VERSION SHA512 FOLDER FILE...
#
# SHA512 is hexadecimal, of the package's archive. ARCHIVE=FILE takes that instead of asking npm, for builds without a
# network. What npm fetched once it keeps (~/.npm), so this needs no network the second time.
set -eu

name=$1 version=$2 sha512=$3 folder=$4
shift 4

die() {
    printf '%s\n' "$@" >&2
    exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

if [ -n "${ARCHIVE:-}" ]; then
    cp "$ARCHIVE" "$work/archive.tgz" || die "$name: cannot read $ARCHIVE"
else
    command -v npm >/dev/null || die "$name $version comes from npm, which is not installed: run \"make deps\" as root"
    (cd "$work" && npm pack --prefer-offline --fetch-retries=2 --fetch-timeout=60000 --no-update-notifier --loglevel=error \
        "$name@$version" </dev/null 2>"$work/log" >"$work/out") ||
        { cat "$work/log" >&2
        die "$name: npm cannot fetch $name@$version (its own words, if any, are above)." \
            "Without a network: fetch that package's archive elsewhere and name it, as in" \
            "  make $(printf '%s' "$name" | tr 'a-z-' 'A-Z_')=/path/to/$name-$version.tgz"; }
    mv "$work/$name-$version.tgz" "$work/archive.tgz"
fi
echo "$sha512  $work/archive.tgz" | sha512sum --check --status ||
    die "$name: the archive is not the $name $version that was looked at (its SHA-512 differs): not used"
tar -xzf "$work/archive.tgz" -C "$work"
mkdir -p "$folder"
for file in "$@"; do
    cp "$work/package/$file" "$folder/.$$"
    mv "$folder/.$$" "$folder/${file##*/}"
done
