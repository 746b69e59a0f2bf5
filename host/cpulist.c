/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/cpulist.h"

#include <stdlib.h>
#include <string.h>

#include "host/quote.h"

G_DEFINE_QUARK(host - cpulist - error - quark, host_cpulist_error)

#define MAX_WARNINGS 16

typedef struct {
    const char *text;
    const char *p;
    HostCpulistDialect dialect;
    gint64 last;         /* what `N` means; -1: unknown */
    unsigned int limit;  /* CPUs below it are in range */
    HostCpuset *set;     /* what has been named so far */
    GPtrArray *warnings; /* may be NULL */
    unsigned int n_warnings;
    HostCpulistError code; /* these three: set by fail() */
    const char *at;
    char *reason;
} Parser;

static const char *
dialect_name(HostCpulistDialect dialect)
{
    return dialect == HOST_CPULIST_KERNEL ? "kernel" : "tool";
}

G_GNUC_PRINTF(4, 5)
static gboolean
fail(Parser *ps, HostCpulistError code, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_free(ps->reason);
    ps->reason = g_strdup_vprintf(format, args);
    va_end(args);
    ps->code = code;
    ps->at = at;
    return FALSE;
}

G_GNUC_PRINTF(3, 4)
static void
warn(Parser *ps, const char *at, const char *format, ...)
{
    /* A hostile list could make one warning for every three bytes. */
    if (!ps->warnings || ps->n_warnings++ >= MAX_WARNINGS)
        return;
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *quoted = host_quote(ps->text, 80);
    g_ptr_array_add(ps->warnings,
                    g_strdup_printf("%s CPU list \"%s\": character %td: %s",
                                    dialect_name(ps->dialect), quoted, at - ps->text + 1, what));
}

static gboolean
ends_region(char c)
{
    return c == '\0' || c == ',' || g_ascii_isspace(c);
}

static gboolean
fail_no_number(Parser *ps)
{
    const char *p = ps->p;
    if (ps->dialect == HOST_CPULIST_KERNEL) {
        if (*p == '^' || *p == '!')
            return fail(ps, HOST_CPULIST_ERROR_MALFORMED, p, "the kernel has no exclusions");
        if (*p == 'n' || !g_ascii_strncasecmp(p, "last", 4))
            return fail(ps, HOST_CPULIST_ERROR_MALFORMED, p,
                        "expected a CPU number (the last CPU is written `N`)");
        return fail(ps, HOST_CPULIST_ERROR_MALFORMED, p, "expected a CPU number, `N` or `all`");
    }
    if (*p == 'N' || !g_ascii_strncasecmp(p, "all", 3))
        return fail(ps, HOST_CPULIST_ERROR_MALFORMED, p,
                    "only the kernel dialect has `N` and `all`");
    return fail(ps, HOST_CPULIST_ERROR_MALFORMED, p, "expected a CPU number");
}

static gboolean
need_last(Parser *ps)
{
    if (ps->last >= 0)
        return TRUE;
    return fail(ps, HOST_CPULIST_ERROR_RANGE, ps->p,
                "how many CPUs the machine has is unknown, so `N` and `all` have no value");
}

static gboolean
parse_number(Parser *ps, guint64 *number)
{
    const char *start = ps->p;
    if (*start == 'N' && ps->dialect == HOST_CPULIST_KERNEL) {
        if (!need_last(ps))
            return FALSE;
        *number = (guint64)ps->last;
        ps->p++;
        return TRUE;
    }
    if (!g_ascii_isdigit(*start))
        return fail_no_number(ps);
    *number = 0;
    for (; g_ascii_isdigit(*ps->p); ps->p++)
        if (*number <= G_MAXUINT32)
            *number = *number * 10 + (guint64)(*ps->p - '0');
    if (*number > G_MAXUINT32)
        return fail(ps, HOST_CPULIST_ERROR_OVERFLOW, start, "the number does not fit 32 bits");
    return TRUE;
}

typedef struct {
    guint64 first, end; /* both included */
    const char *first_at, *end_at;
    guint64 used, group; /* of each GROUP CPUs, the first USED */
} Region;

static gboolean
check_bounds(Parser *ps, const Region *r)
{
    if (r->first <= r->end)
        return TRUE;
    return fail(ps, HOST_CPULIST_ERROR_MALFORMED, r->end_at,
                "a descending range, %" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT "%s", r->first,
                r->end, *r->end_at == 'N' ? " (`N` is the last CPU of this machine)" : "");
}

static gboolean
check_range(Parser *ps, const Region *r)
{
    if (r->end < ps->limit)
        return TRUE;
    gboolean first_is_out = r->first >= ps->limit;
    return fail(ps, HOST_CPULIST_ERROR_RANGE, first_is_out ? r->first_at : r->end_at,
                "CPU %" G_GUINT64_FORMAT " is out of range", first_is_out ? r->first : r->end);
}

/* The region's CPUs, whose end is in range. */
static void
region_add(const Region *r, HostCpuset *set)
{
    if (!r->used)
        return;
    for (guint64 s = r->first; s <= r->end; s += r->group) {
        guint64 e = MIN(s + r->used - 1, r->end);
        hwloc_bitmap_set_range(set, (unsigned int)s, (int)e);
    }
}

/* The `:used/group` of a range. */
static gboolean
parse_pattern(Parser *ps, Region *r, const char **used_at, const char **group_at)
{
    if (*ps->p != ':')
        return fail(ps, HOST_CPULIST_ERROR_MALFORMED, ps->p, "expected `,` or `:used/group`");
    *used_at = ++ps->p;
    if (!parse_number(ps, &r->used))
        return FALSE;
    if (*ps->p != '/')
        return fail(ps, HOST_CPULIST_ERROR_MALFORMED, ps->p,
                    "expected `/` of `:used/group` (the kernel has no plain stride)");
    *group_at = ++ps->p;
    if (!parse_number(ps, &r->group))
        return FALSE;
    /* The kernel needs no separator here and takes what follows for the next region. */
    if (!ends_region(*ps->p))
        warn(ps, ps->p, "no comma before this");
    return TRUE;
}

/* One region as bitmap_parse_region() and bitmap_check_region() take it. */
static gboolean
kernel_region(Parser *ps)
{
    Region r = {.first_at = ps->p, .end_at = ps->p};
    gboolean may_have_pattern = TRUE;
    const char *used_at = NULL;
    const char *group_at = NULL;

    if (!g_ascii_strncasecmp(ps->p, "all", 3)) {
        if (!need_last(ps))
            return FALSE;
        r.end = (guint64)ps->last;
        ps->p += 3;
    } else {
        if (!parse_number(ps, &r.first))
            return FALSE;
        r.end = r.first;
        may_have_pattern = !ends_region(*ps->p);
        if (may_have_pattern) {
            if (*ps->p != '-')
                return fail(ps, HOST_CPULIST_ERROR_MALFORMED, ps->p, "expected `,` or `-`");
            r.end_at = ++ps->p;
            if (!parse_number(ps, &r.end))
                return FALSE;
        }
    }
    if (may_have_pattern && !ends_region(*ps->p)) {
        if (!parse_pattern(ps, &r, &used_at, &group_at))
            return FALSE;
    } else {
        r.used = r.group = r.end + 1;
    }

    if (!check_bounds(ps, &r))
        return FALSE;
    if (!r.group)
        return fail(ps, HOST_CPULIST_ERROR_MALFORMED, group_at, "groups of no CPU");
    if (r.used > r.group)
        return fail(ps, HOST_CPULIST_ERROR_MALFORMED, used_at,
                    "%" G_GUINT64_FORMAT " used out of groups of %" G_GUINT64_FORMAT, r.used,
                    r.group);
    if (!check_range(ps, &r))
        return FALSE;
    if (!r.used)
        warn(ps, used_at, "none used of each group, so this names no CPU");
    region_add(&r, ps->set);
    return TRUE;
}

static gboolean
kernel_list(Parser *ps)
{
    gboolean seen = FALSE;
    gboolean line_ended = FALSE;
    for (;;) {
        for (; *ps->p == ',' || g_ascii_isspace(*ps->p); ps->p++)
            line_ended = line_ended || (seen && *ps->p == '\n');
        if (!*ps->p)
            return TRUE;
        if (line_ended)
            return fail(ps, HOST_CPULIST_ERROR_MALFORMED, ps->p, "text after the end of the line");
        if (!kernel_region(ps))
            return FALSE;
        seen = TRUE;
    }
}

static gboolean
tool_field(Parser *ps)
{
    const char *start = ps->p;
    gboolean exclude = *ps->p == '^' || *ps->p == '!';
    if (exclude)
        ps->p++;

    Region r = {.first_at = ps->p, .end_at = ps->p, .used = 1, .group = 1};
    if (!parse_number(ps, &r.first))
        return FALSE;
    r.end = r.first;
    if (*ps->p == '-') {
        r.end_at = ++ps->p;
        if (!parse_number(ps, &r.end))
            return FALSE;
        if (*ps->p == ':') {
            const char *stride_at = ++ps->p;
            if (!parse_number(ps, &r.group))
                return FALSE;
            if (!r.group)
                return fail(ps, HOST_CPULIST_ERROR_MALFORMED, stride_at, "a stride of 0");
        } else {
            r.used = r.group = r.end + 1;
        }
    }
    if (!check_bounds(ps, &r) || !check_range(ps, &r))
        return FALSE;

    if (!exclude) {
        region_add(&r, ps->set);
        return TRUE;
    }
    g_autoptr(HostCpuset) out = hwloc_bitmap_alloc();
    region_add(&r, out);
    if (!hwloc_bitmap_intersects(ps->set, out))
        warn(ps, start,
             "this exclusion removes nothing: it applies only to what is named before it");
    hwloc_bitmap_andnot(ps->set, ps->set, out);
    return TRUE;
}

static void
skip_space(Parser *ps)
{
    while (g_ascii_isspace(*ps->p))
        ps->p++;
}

static gboolean
tool_list(Parser *ps)
{
    skip_space(ps);
    if (!*ps->p)
        return TRUE;
    for (;;) {
        if (!tool_field(ps))
            return FALSE;
        skip_space(ps);
        if (!*ps->p)
            return TRUE;
        if (*ps->p != ',')
            return fail(ps, HOST_CPULIST_ERROR_MALFORMED, ps->p, "expected `,`");
        ps->p++;
        skip_space(ps);
    }
}

/* Runs a parser over TEXT. The set is left in it, even on failure: with what came before the
 * failure. */
static gboolean
run(Parser *ps, const char *text, HostCpulistDialect dialect, gint64 last, unsigned int limit,
    GPtrArray *warnings)
{
    *ps = (Parser){.text = text, .p = text, .dialect = dialect, .last = last, .limit = limit};
    ps->warnings = warnings;
    ps->set = hwloc_bitmap_alloc();
    return dialect == HOST_CPULIST_KERNEL ? kernel_list(ps) : tool_list(ps);
}

static void
parser_clear(Parser *ps)
{
    hwloc_bitmap_free(ps->set);
    g_free(ps->reason);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Parser, parser_clear)

/* What to write instead of TEXT, which is malformed in its dialect: "" when there is nothing to
 * offer. */
static char *
suggest(const char *text, HostCpulistDialect dialect, gint64 last, unsigned int limit)
{
    g_auto(Parser) other = {0};
    HostCpulistDialect other_dialect =
        dialect == HOST_CPULIST_KERNEL ? HOST_CPULIST_TOOL : HOST_CPULIST_KERNEL;
    if (!run(&other, text, other_dialect, last, limit, NULL))
        return g_strdup("");
    if (hwloc_bitmap_iszero(other.set))
        return g_strdup_printf("; as a %s list it names no CPU", dialect_name(other_dialect));
    g_autofree char *list = host_cpulist_format(other.set);
    g_autofree char *quoted = host_quote(list, 200);
    return g_strdup_printf("; as a %s list it means \"%s\": write that",
                           dialect_name(other_dialect), quoted);
}

/* What a list that goes beyond the machine asks for, and what of it there is. */
static char *
describe_shortfall(const char *text, HostCpulistDialect dialect, gint64 last, unsigned int limit)
{
    g_auto(Parser) wide = {0};
    if (!run(&wide, text, dialect, last, HOST_CPULIST_MAX_CPU + 1, NULL)) {
        return last < 0
                   ? g_strdup_printf("; the last possible CPU number is %d", HOST_CPULIST_MAX_CPU)
                   : g_strdup_printf("; the machine has 0-%u", limit - 1);
    }
    g_autoptr(HostCpuset) have = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(have, 0, (int)limit - 1);
    g_autofree char *why = host_cpuset_shortfall(wide.set, have, "the machine");
    if (!why) /* an exclusion went beyond */
        return g_strdup_printf("; the machine has 0-%u", limit - 1);
    return g_strconcat(": ", why, NULL);
}

HostCpuset *
host_cpulist_parse(const char *text, HostCpulistDialect dialect, unsigned int ncpus,
                   GPtrArray *warnings, GError **error)
{
    const char *name = dialect_name(dialect);
    if (!text || strnlen(text, HOST_CPULIST_MAX_BYTES + 1) > HOST_CPULIST_MAX_BYTES) {
        g_set_error(error, HOST_CPULIST_ERROR, HOST_CPULIST_ERROR_MALFORMED, "%s CPU list: %s",
                    name,
                    text ? "longer than 65536 bytes, at character 65537" : "there is no text");
        return NULL;
    }
    unsigned int limit = ncpus ? MIN(ncpus, HOST_CPULIST_MAX_CPU + 1) : HOST_CPULIST_MAX_CPU + 1;
    gint64 last = ncpus ? (gint64)limit - 1 : -1;

    g_auto(Parser) ps = {0};
    if (run(&ps, text, dialect, last, limit, warnings))
        return g_steal_pointer(&ps.set);

    g_autofree char *more = NULL;
    if (ps.code == HOST_CPULIST_ERROR_MALFORMED)
        more = suggest(text, dialect, last, limit);
    else if (ps.code == HOST_CPULIST_ERROR_RANGE && g_ascii_isdigit(*ps.at))
        more = describe_shortfall(text, dialect, last, limit);
    g_autofree char *quoted = host_quote(text, 80);
    char one[2] = {*ps.at, '\0'};
    g_autofree char *at = *ps.at ? host_quote(one, 1) : g_strdup("end of text");
    g_set_error(error, HOST_CPULIST_ERROR, (int)ps.code,
                "%s CPU list \"%s\": character %td (%s): %s%s", name, quoted, ps.at - text + 1, at,
                ps.reason, more ? more : "");
    return NULL;
}

HostCpuset *
host_cpulist_from_status(const char *status, GError **error)
{
    static const char key[] = "Cpus_allowed_list:";
    for (const char *line = status; line;) {
        const char *eol = strchr(line, '\n');
        if (g_str_has_prefix(line, key)) {
            const char *value = line + strlen(key);
            g_autofree char *list = eol ? g_strndup(value, (gsize)(eol - value)) : g_strdup(value);
            if (*g_strstrip(list))
                return host_cpulist_parse(list, HOST_CPULIST_KERNEL, 0, NULL, error);
            g_set_error(error, HOST_CPULIST_ERROR, HOST_CPULIST_ERROR_MALFORMED,
                        "%s has no value, so the allowed CPUs are unknown", key);
            return NULL;
        }
        line = eol ? eol + 1 : NULL;
    }
    g_set_error(error, HOST_CPULIST_ERROR, HOST_CPULIST_ERROR_MALFORMED,
                "no line %s, so the allowed CPUs are unknown", key);
    return NULL;
}

char *
host_cpulist_format(const HostCpuset *set)
{
    char *list = NULL;
    if (!set || hwloc_bitmap_list_asprintf(&list, set) < 0)
        return g_strdup("");
    char *copy = g_strdup(list);
    free(list);
    return copy;
}

int
host_cpuset_last(const HostCpuset *set)
{
    return set ? hwloc_bitmap_last(set) : -1;
}

char *
host_cpuset_shortfall(const HostCpuset *asked, const HostCpuset *have, const char *whose)
{
    if (hwloc_bitmap_isincluded(asked, have))
        return NULL;
    g_autoptr(HostCpuset) left = hwloc_bitmap_dup(asked);
    hwloc_bitmap_and(left, left, have);
    g_autofree char *asked_list = host_cpulist_format(asked);
    g_autofree char *have_list = host_cpulist_format(have);
    g_autofree char *left_list = host_cpulist_format(left);
    if (hwloc_bitmap_iszero(left))
        return g_strdup_printf("asked for %s, %s has %s, nothing left", asked_list, whose,
                               *have_list ? have_list : "none");
    return g_strdup_printf("asked for %s, %s has %s, only %s left", asked_list, whose, have_list,
                           left_list);
}
