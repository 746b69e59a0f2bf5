#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The HTML report in a real browser: light, dark, on paper, narrow, and without JavaScript.
# SHOTS=FOLDER gets screenshots, to be looked at.
. lab/tap.sh

python=/usr/bin/python3
axe_sha512=1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5

# On CI it must run: there a page nobody looked at would pass for one that is right.
cannot() {
    if [ "${CI:-}" = true ]; then
        ok "the page in a browser ($1)" false
    else
        skip 'the page in a browser' "$1"
    fi
    done_testing
    exit 0
}
for program in $python chromedriver chromium npm; do
    command -v $program >/dev/null || cannot "there is no $program (make deps-check)"
done
axe=$B/axe-4.14.1
[ -s "$axe/axe.min.js" ] || results/npm.sh axe-core 4.14.1 $axe_sha512 "$axe" axe.min.js 2>"$err" || cannot "$(tail -n 1 "$err")"

$python lab/report_fixture.py "$NOHZLAB_STATE"
"$B/nohzlab" reindex >/dev/null
set_of() { echo "202612${1#00}-000000-$1"; }
page() {
    what=$1
    shift
    ok "page: $what" lab 0 report --format html -o "$state/$what.html" "$@"
}
page compared "$(set_of 0002)" "$(set_of 0001)"
page host "$(set_of 0003)"
page failures "$(set_of 0004)"
page hostile "$(set_of 0005)"

code=0
$python lab/report_browser.py "$axe/axe.min.js" "${SHOTS:-}" "$state"/*.html >"$out" 2>"$err" || code=$?
[ $code -ne 77 ] || cannot "$(tail -n 1 "$out")"
sed -n 's/^# /# /p' "$out"
ok "nothing is wrong with them" sh -c "grep -v '^#' '$out' '$err' && exit 1; exit $code"
ok "each was looked at" sh -c "[ \$(grep -c '^# .*html: ' '$out') = 4 ]"
done_testing
