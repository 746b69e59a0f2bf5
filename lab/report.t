#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# nohzlab report in the formats for programs, as those programs would read them.
# Starts no guest.
. lab/tap.sh

python=/usr/bin/python3
formats='html text json junit tap kcidb prometheus'
sets='0001 0002 0003 0004 0005 0006'
have() { $python -c "import $1" 2>/dev/null; }
report() { lab 0 report "$@"; }

if ! [ -x $python ]; then
    skip 'reports' 'there is no /usr/bin/python3 (make deps-check)'
    done_testing
    exit 0
fi
$python lab/report_fixture.py "$NOHZLAB_STATE"
ok "the fixture is records" lab 0 reindex
set_of() { echo "202612${1#00}-000000-$1"; }

# The arguments of each report: every set for itself, one against another, cells of a set against each other.
cases="$state/cases"
for s in $sets; do echo "$s $(set_of "$s")"; done >"$cases"
{
    echo "compared $(set_of 0002) $(set_of 0001)"
    echo "cells $(set_of 0001):variant=nohz_full :variant=none"
    echo "refused $(set_of 0003) $(set_of 0001)"
    echo "failed $(set_of 0004) $(set_of 0004)"
} >>"$cases"

# Terminal escapes, line and paragraph separators, bidirectional overrides, raw or as C1 characters.
no_controls() {
    ! LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xef\xbf[\xbe\xbf]' "$1"
}
utf8() { iconv -f utf-8 -t utf-8 "$1" >/dev/null; }
tap_parses() {
    # The TAP::Parser of Perl 5.36 knows versions up to 13; 14 adds nothing that stands here.
    sed '1s/14/13/' "$1" >"$state/tap13"
    perl -MTAP::Parser -e '
        open my $f, "<", $ARGV[0] or die; local $/;
        my $p = TAP::Parser->new({tap => <$f>}); $p->run;
        die join("\n", $p->parse_errors) if $p->parse_errors;
        print $p->tests_run, " points\n"; exit !($p->tests_run > 0 && $p->tests_run == $p->tests_planned);' "$state/tap13"
}

while read -r what subject against; do
    for format in $formats; do
        path=$state/$what.$format
        # shellcheck disable=SC2086 # there may be none
        ok "$what: $format" report "$subject" $against --format $format -o "$path"
        ok "$what: $format is UTF-8" utf8 "$path"
        # The style and scripts are ours.
        [ $format = html ] || ok "$what: $format drives no terminal" no_controls "$path"
    done
    ok "$what: TAP parses" tap_parses "$state/$what.tap"
done <"$cases"

if command -v xmllint >/dev/null; then
    ok "JUnit is as its schema" xmllint --noout --nonet --schema results/fixtures/junit.xsd "$state"/*.junit
else
    skip "JUnit is as its schema" 'there is no xmllint (make deps-check)'
fi
if have jsonschema; then
    ok "JSON is as its schema" $python lab/report_check.py json results/report.schema.json "$state"/*.json
    ok "KCIDB is as its schema" $python lab/report_check.py kcidb results/fixtures/kcidb.schema.json "$state"/*.kcidb
else
    skip "JSON and KCIDB are as their schemas" 'there is no python3-jsonschema (make deps-check)'
fi
if have prometheus_client; then
    ok "Prometheus can read it" $python lab/report_check.py prometheus "$state"/*.prometheus
else
    skip "Prometheus can read it" 'there is no python3-prometheus-client (make deps-check)'
fi
# Not installed by make deps-check: Debian's package starts a server.
for path in "$state"/*.prometheus; do
    ! command -v promtool >/dev/null || ok "promtool: ${path##*/}" sh -c "promtool check metrics <'$path'"
done

# What they say.
ok "compared: worse in each format" sh -c "
    grep -q '<failure .*type=\"worse\"' '$state/compared.junit' && grep -q 'verdict: \"worse\"' '$state/compared.tap' &&
    grep -q '^nohzlab_comparison{.*metric=\"loop.per_call\".*verdict=\"worse\"} 1' '$state/compared.prometheus' &&
    grep -q '\"verdict\" : \"worse\"' '$state/compared.json' && grep -q 'Worse: against' '$state/compared.html'"
ok "refused: says why, and is an error" sh -c "
    grep -q 'Not compared' '$state/refused.text' && grep -q '<error message=\"fidelity differs' '$state/refused.junit' &&
    grep -q 'Not compared' '$state/refused.html'"
ok "failures: each as what it is" sh -c "
    [ \$(grep -c '<failure ' '$state/0004.junit') = 2 ] && [ \$(grep -c '<skipped ' '$state/0004.junit') = 1 ] &&
    [ \$(grep -c '<error ' '$state/0004.junit') = 1 ]"
ok "functional figures are not exported" sh -c "! grep -q 'cyclictest.max' '$state/0003.prometheus' '$state/0003.kcidb'"
ok "a lower bound is said to be one" sh -c "
    grep -q 'metric=\"w.beyond\".*bound=\"lower\"' '$state/0005.prometheus' && grep -q '≥' '$state/0005.html'"
ok "hostile: no tag of the record's in the page" sh -c "! grep -q '<script>alert\|<img/src\|</style>[^<]*&lt;' '$state/0005.html'"

# Output.
ok "text is the default, on stdout" sh -c "'$B/nohzlab' report $(set_of 0006) | grep -q 'loop.per_call'"
ok "-o into a folder that is not there" lab 2 report "$(set_of 0006)" -o "$state/none/r.html"
ok "... says so" grep -q "$state/none" "$err"
ok "-o a folder" lab 2 report "$(set_of 0006)" -o "$state"
ln -s target "$state/link"
echo old >"$state/target"
ok "-o a link writes what it points to" report "$(set_of 0006)" -o "$state/link"
ok "... and stays a link" sh -c "[ -L '$state/link' ] && grep -q loop.per_call '$state/target'"
ok "-o a device writes into it" report "$(set_of 0006)" -o /dev/null
ok "... and leaves it one" test -c /dev/null
ok "a full device" lab 2 report "$(set_of 0006)" -o /dev/full
ok "stdout is full" sh -c "'$B/nohzlab' report $(set_of 0006) >/dev/full; [ \$? = 2 ]"
mkdir "$state/small"
if mount -t tmpfs -o size=64k none "$state/small" 2>/dev/null; then
    echo old >"$state/small/r.html"
    ok "a full disk" lab 2 report "$(set_of 0001)" --format html -o "$state/small/r.html"
    ok "... leaves the old report, and nothing else" sh -c "[ \"\$(ls -A '$state/small')\" = r.html ] && grep -qx old '$state/small/r.html'"
    umount "$state/small"
else
    skip 'a full disk' 'cannot mount a tmpfs here'
fi

ok "an unknown format" lab 2 report "$(set_of 0006)" --format pdf
ok "... is told which there are" grep -q 'html, text, json, junit, tap, kcidb, prometheus' "$err"
ok "a set that is not there" lab 2 report 20000101-000000-0000
ok "a baseline that is not there" lab 2 report "$(set_of 0006)" 20000101-000000-0000
ok "cells that are not there" lab 2 report "$(set_of 0001):variant=other"
ok "an origin that KCIDB does not take" lab 2 report "$(set_of 0006)" --format kcidb --origin 'My Lab'
ok "an origin" sh -c "'$B/nohzlab' report $(set_of 0006) --format kcidb --origin my_lab | grep -q '\"my_lab:'"
ok "evidence that is gone is said" sh -c "
    rm '$NOHZLAB_STATE/runs/20261201-000000-0001/latency-hist.json' &&
    '$B/nohzlab' report $(set_of 0001) --format html -o '$state/gone.html' && grep -q 'latency-hist.json' '$state/gone.html'"
done_testing
