#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What holds for the whole tree: licences, which room may include what, format, and a README that works.
# Starts no guest.
B=${B:-build}
count=0

# Each test is a function that prints what is wrong, and nothing when all is well.
check() {
    count=$((count + 1))
    wrong=$($1)
    if [ -z "$wrong" ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        printf '%s\n' "$wrong" | sed 's/^/# /' >&2
    fi
}

skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

sources() {
    find Makefile .ci guest host images lab profiles results -type f \
        \( -name '*.[chS]' -o -name '*.mk' -o -name '*.sh' -o -name '*.t' -o -name '*.awk' -o -name '*.sql' \
        -o -name '*.py' -o -name '*.pl' -o -name Makefile -o -path '.ci/run' \)
}

no_spdx() {
    for file in $(sources); do
        head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' ||
            echo "$file: no \"SPDX-License-Identifier: GPL-2.0-or-later\" in its first three lines"
    done
}

# The three rooms that know nothing of each other, or of lab/.
foreign_includes() {
    for room in images host results; do
        grep -Hn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' $room/*.[ch] |
            grep -vE "\"($room/[^\"]*|guest/report\\.h)\""
    done
}

# Headers of libc and the kernel's for user space; its tests run on the host, so they are exempt.
LIBC='aio|alloca|arpa/inet|assert|byteswap|cpuid|ctype|dirent|elf|endian|err|errno|error|fcntl|features|fnmatch|ftw|getopt|glob|inttypes|libgen|limits|link|locale|malloc|math|mntent|net/if|netdb|netinet/in|poll|pthread|pwd|grp|sched|search|semaphore|setjmp|signal|spawn|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|syscall|syslog|termios|threads|time|ucontext|unistd|utime|wchar|wordexp|x86intrin|immintrin|((asm|asm-generic|linux|sys)/[a-z0-9_/-]+)'
guest_includes() {
    grep -Hn '^[[:space:]]*#[[:space:]]*include' guest/*.[ch] | grep -vE '^guest/(test|fuzz)_' |
        grep -vE "include[[:space:]]*(\"guest/[^\"]*\"|<($LIBC)\\.h>)"
}

long_lines() {
    find guest host images lab results -name '*.[ch]' -exec \
        awk 'length($0) > 100 && !seen[FILENAME]++ { print FILENAME ":" FNR ": " length($0) " columns, 100 are allowed" }' {} +
}

unformatted() {
    find guest host images lab results -name '*.[ch]' -exec clang-format --dry-run -Werror {} + 2>&1 |
        sed -n 's/: error: code should be clang-formatted.*/: clang-format would change this/p' | awk -F : '!seen[$1]++'
}

# The README's commands, one simple command a line: from its ```sh blocks, without prompts, comments, sudo,
# assignments and redirections.
readme_commands() {
    [ -f README.md ] || return 0
    awk '/^```/ { inside = !inside && $0 ~ /^```(sh|shell|bash|console)[ \t]*$/; next } inside' README.md |
        sed -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' \
            -e 's/^[[:space:]]*\$ //; s/^[[:space:]]*#.*//; s/[[:space:]]#.*//' |
        sed -e 's/&&\|||\||\|;/\n/g' |
        sed -E -e 's/^[[:space:]]+//; s/^sudo[[:space:]]+(-E[[:space:]]+)?//; s/^([A-Z_]+=[^[:space:]]*[[:space:]]+)+//' \
            -e 's/[[:space:]]*[0-9]?>.*//; /^[[:space:]]*$/d'
}

no_commands() {
    [ -f README.md ] || echo 'there is no README.md'
    readme_commands | grep -q '^make' || echo 'README.md shows no make command in a ```sh block'
    readme_commands | grep -q 'nohzlab' || echo 'README.md shows no nohzlab command in a ```sh block'
}

make_targets() {
    readme_commands | while read -r command arguments; do
        [ "$command" = make ] || continue
        env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u B make -n $arguments >/dev/null 2>"$tmp" ||
            echo "make $arguments: $(head -n 1 "$tmp")"
    done
}

subcommands() {
    [ -x "$B/nohzlab" ] || echo "$B/nohzlab is not built"
    readme_commands | while read -r command subcommand arguments; do
        case $command in
        nohzlab | */nohzlab) ;;
        *) continue ;;
        esac
        case $subcommand in
        '') echo "$command: without a subcommand" ;;
        -*) "$B/nohzlab" $subcommand >/dev/null 2>"$tmp" || echo "nohzlab $subcommand: $(head -n 1 "$tmp")" ;;
        *) "$B/nohzlab" "$subcommand" --help >/dev/null 2>"$tmp" || echo "nohzlab $subcommand --help: $(head -n 1 "$tmp")" ;;
        esac
    done
}

# Anything else it shows must be a program of this machine or a script of ours; the first steps are others' tools.
other_commands() {
    readme_commands | while read -r command arguments; do
        case $command in
        make | nohzlab | */nohzlab | cd | git | apt | apt-get) continue ;;
        esac
        command -v "$command" >/dev/null || echo "$command $arguments: no such command"
    done
}

readme_files() {
    readme_commands | tr ' =' '\n\n' | grep -E '^(\./)?(profiles|lab|host|images|guest|results)/' | while read -r file; do
        [ -e "$file" ] || echo "$file: no such file"
    done
}

tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
check no_spdx 'every source file names its licence'
check foreign_includes 'images/, host/ and results/ include nothing of other rooms but guest/report.h'
check guest_includes 'guest/ includes only guest/ and libc'
check long_lines 'no line is longer than 100 columns'
# Releases of clang-format differ in small things.
case $(clang-format --version 2>/dev/null) in
*'version 14.'*) check unformatted 'the code is as clang-format has it' ;;
'') skip 'the code is as clang-format has it' 'clang-format is not installed (make deps-check)' ;;
*) skip 'the code is as clang-format has it' 'clang-format is not version 14, which the tree is formatted with' ;;
esac
check no_commands 'README.md shows commands'
check make_targets "README.md's make targets exist"
check subcommands "README.md's nohzlab subcommands exist"
check other_commands "README.md's other commands exist"
check readme_files "files that README.md's commands name exist"
echo "1..$count"
