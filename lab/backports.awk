# SPDX-License-Identifier: GPL-2.0-or-later
# Reads apt's source files (deb822 *.sources and one-line *.list) and prints, as a deb822 stanza, the
# backports of SUITE on the mirror that SUITE's own main component comes from, with the same keys and
# options. Prints nothing when backports are configured already; exit code 1: no source of SUITE main.

function has_word(text, word) {
    gsub(/[ \t\n]+/, " ", text)
    return index(" " text " ", " " word " ") > 0
}

# One source, of either format; FIELDS: further deb822 lines.
function source(types, uris, suites, components, fields) {
    if (!has_word(types, "deb") || !has_word(components, "main") || uris ~ /^[ \t]*cdrom:/)
        return
    if (has_word(suites, suite "-backports"))
        have_backports = 1
    if (has_word(suites, suite) && result == "")
        result = "Types: deb\nURIs: " uris "\nSuites: " suite "-backports\nComponents: main" fields
}

function stanza_end(    i, name, fields) {
    fields = ""
    for (i = 1; i <= nfields; i++) {
        name = names[i]
        if (name !~ /^(types|uris|suites|components|enabled|x-.*)$/)
            fields = fields "\n" labels[i] ": " values[name]
    }
    if (nfields && tolower(values["enabled"]) !~ /^(no|false|without|off|disable|0)/)
        source(values["types"], values["uris"], values["suites"], values["components"], fields)
    nfields = 0
    split("", values)
}

function list_option(option,    eq, name, value) {
    eq = index(option, "=")
    name = substr(option, 1, eq - 1)
    sub(/[+-]$/, "", name)
    value = substr(option, eq + 1)
    if (name == "arch")
        name = "Architectures"
    else if (name == "lang")
        name = "Languages"
    else if (name == "target")
        name = "Targets"
    if (name != "signed-by")
        gsub(/,/, " ", value)
    return "\n" toupper(substr(name, 1, 1)) substr(name, 2) ": " value
}

function list_line(line,    options, fields, words, n, i, rest) {
    fields = ""
    sub(/#.*/, "", line)
    if (line !~ /^[ \t]*deb[ \t]/)
        return
    sub(/^[ \t]*deb[ \t]+/, "", line)
    if (line ~ /^\[/) {
        options = substr(line, 2, index(line, "]") - 2)
        line = substr(line, index(line, "]") + 1)
        n = split(options, words)
        for (i = 1; i <= n; i++)
            if (index(words[i], "="))
                fields = fields list_option(words[i])
    }
    n = split(line, words)
    rest = ""
    for (i = 3; i <= n; i++)
        rest = rest " " words[i]
    source("deb", words[1], words[2], rest, fields)
}

FNR == 1 { stanza_end() }
FILENAME ~ /\.list$/ { list_line($0); next }
/^#/ { next }
/^[ \t]*$/ { stanza_end(); next }
/^[ \t]/ {
    if (nfields)
        values[names[nfields]] = values[names[nfields]] "\n" $0
    next
}
{
    nfields++
    labels[nfields] = substr($0, 1, index($0, ":") - 1)
    names[nfields] = tolower(labels[nfields])
    value = substr($0, index($0, ":") + 1)
    sub(/^[ \t]+/, "", value)
    values[names[nfields]] = value
}
END {
    stanza_end()
    if (have_backports)
        exit 0
    if (result == "")
        exit 1
    print result
}
