/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values by type: numbers with their range, times and sizes with their unit. Nothing is guessed. */
#include <errno.h>
#include <string.h>

#include "lab/observe.h"
#include "lab/profile_private.h"

#define CPULIST_BYTES_MAX 1024
#define STRING_BYTES_MAX 1024
/* Of the 2048 bytes the kernel takes on x86 (COMMAND_LINE_SIZE), the rest is for our own
 * parameters. */
#define CMDLINE_BYTES_MAX 1536

static gboolean G_GNUC_PRINTF(2, 3) refuse(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, LAB_PROFILE_ERROR, LAB_PROFILE_ERROR_VALUE, message);
    return FALSE;
}

typedef struct {
    const char *name;
    guint64 factor;
} Unit;
static const Unit time_units[] = {{"us", 1},
                                  {"ms", 1000},
                                  {"s", 1000000},
                                  {"min", 60 * G_GUINT64_CONSTANT(1000000)},
                                  {"h", 3600 * G_GUINT64_CONSTANT(1000000)},
                                  {NULL, 0}};
static const Unit size_units[] = {{"M", 1}, {"MiB", 1}, {"G", 1024}, {"GiB", 1024}, {NULL, 0}};

typedef enum { READ_OK, READ_MALFORMED, READ_NO_UNIT, READ_TOO_LARGE } ReadStatus;

static gboolean
all_digits(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

static ReadStatus
read_digits(const char *text, guint64 *number)
{
    if (!all_digits(text))
        return READ_MALFORMED;
    errno = 0;
    *number = g_ascii_strtoull(text, NULL, 10);
    return errno == ERANGE ? READ_TOO_LARGE : READ_OK;
}

/* Digits and one of UNITS, a blank between them allowed; a lone 0 needs no unit. */
static ReadStatus
read_with_unit(const char *text, const Unit *units, guint64 *number)
{
    gsize n = strspn(text, "0123456789");
    g_autofree char *figure = g_strndup(text, n);
    const char *unit = text + n + strspn(text + n, " ");
    ReadStatus status = read_digits(figure, number);

    if (status == READ_MALFORMED)
        return status;
    if (!*unit)
        return status == READ_OK && *number == 0 ? READ_OK : READ_NO_UNIT;
    for (const Unit *u = units; u->name; u++) {
        if (strcmp(u->name, unit) != 0)
            continue;
        if (status != READ_OK || *number > G_MAXUINT64 / u->factor)
            return READ_TOO_LARGE;
        *number *= u->factor;
        return READ_OK;
    }
    return READ_MALFORMED;
}

static ReadStatus
read_unsigned(LabType type, const char *text, guint64 *number)
{
    switch (type) {
    case LAB_TYPE_TIME_US:
    case LAB_TYPE_TIME_S:
        return read_with_unit(text, time_units, number);
    case LAB_TYPE_SIZE_MIB:
        return read_with_unit(text, size_units, number);
    default:
        return read_digits(text, number);
    }
}

static const char *
expected_form(LabType type)
{
    switch (type) {
    case LAB_TYPE_TIME_US:
    case LAB_TYPE_TIME_S:
        return "a whole number with us, ms, s, min or h";
    case LAB_TYPE_SIZE_MIB:
        return "a whole number with M or G";
    default:
        return "a whole number";
    }
}

/* The range of the table, in the base unit; the table is tested to be well-formed. */
static void
range_of(const LabKey *k, guint64 *low, guint64 *high)
{
    g_auto(GStrv) ends = g_strsplit(k->range, "..", 2);
    read_unsigned(k->type, ends[0], low);
    read_unsigned(k->type, ends[1], high);
}

static gboolean
parse_unsigned(const LabKey *k, const char *text, guint64 *number, GError **error)
{
    guint64 low = 0, high = 0;
    const char *unit = k->type == LAB_TYPE_TIME_US ? "us" : k->type == LAB_TYPE_TIME_S ? "s" : "M";

    range_of(k, &low, &high);
    switch (read_unsigned(k->type, text, number)) {
    case READ_MALFORMED:
        return refuse(error, "not %s; %s is allowed", expected_form(k->type), k->range);
    case READ_NO_UNIT:
        return refuse(error, "the unit is missing: write %s%s if that is meant; %s is allowed",
                      text, unit, k->range);
    case READ_TOO_LARGE:
        return refuse(error, "out of range: %s is allowed", k->range);
    case READ_OK:
        break;
    }
    if (*number < low || *number > high)
        return refuse(error, "out of range: %s is allowed", k->range);
    if (k->type == LAB_TYPE_TIME_S) {
        if (*number % 1000000 != 0)
            return refuse(error, "not a whole number of seconds; %s is allowed", k->range);
        *number /= 1000000;
    }
    return TRUE;
}

static gboolean
parse_signed(const LabKey *k, const char *text, int *number, GError **error)
{
    g_auto(GStrv) ends = g_strsplit(k->range, "..", 2);
    gint64 low = g_ascii_strtoll(ends[0], NULL, 10), high = g_ascii_strtoll(ends[1], NULL, 10);

    if (!all_digits(text[0] == '-' ? text + 1 : text))
        return refuse(error, "not a whole number; %s is allowed", k->range);
    gint64 n = g_ascii_strtoll(text, NULL, 10); /* saturates, which the range then refuses */
    if (n < low || n > high)
        return refuse(error, "out of range: %s is allowed", k->range);
    *number = (int)n;
    return TRUE;
}

static gboolean
parse_bool(const char *text, gboolean *value, GError **error)
{
    static const char *const yes[] = {"yes", "true", "on", "1"};
    static const char *const no[] = {"no", "false", "off", "0"};

    for (gsize i = 0; i < G_N_ELEMENTS(yes); i++) {
        *value = g_ascii_strcasecmp(text, yes[i]) == 0;
        if (*value || g_ascii_strcasecmp(text, no[i]) == 0)
            return TRUE;
    }
    return refuse(error, "neither yes nor no (true, false, on, off, 1, 0)");
}

static gboolean
parse_choice(const LabKey *k, const char *text, int *position, GError **error)
{
    g_auto(GStrv) choices = g_strsplit(k->range, "|", -1);
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    for (int i = 0; choices[i]; i++) {
        g_ptr_array_add(names, choices[i]);
        if (strcmp(choices[i], text) == 0) {
            *position = i;
            return TRUE;
        }
    }
    g_autofree char *hint = lab_near_hint(text, names);
    return refuse(error, "not one of %s%s", k->range, hint);
}

/* A word of RANGE before its ";", or some of those after it. */
static gboolean
check_observe(const LabKey *k, const char *text, GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    unsigned int mask = 0;

    if (lab_observe_mask(text, &mask))
        return TRUE;
    g_auto(GStrv) choices = g_strsplit(k->range, "|", -1);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (char **choice = choices; *choice; choice++)
        g_ptr_array_add(names, *choice);
    for (char **word = words; *word; word++) {
        if (g_strv_contains((const char *const *)choices, *word))
            continue;
        g_autofree char *hint = lab_near_hint(*word, names);
        return refuse(error, "\"%s\" is not one of %s%s", *word, k->range, hint);
    }
    return refuse(error, "auto, yes and no stand alone, and each observer once");
}

/* Flags of isolcpus=, without the list (kernel/sched/isolation.c, housekeeping_isolcpus_setup). */
static gboolean
check_isolcpus(const char *text, GError **error)
{
    static const char *const flags[] = {"domain", "managed_irq", "nohz"};
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    gboolean domain = FALSE;

    if (strcmp(text, "none") == 0)
        return TRUE;
    if (!*text)
        return refuse(error, "empty: write none for no isolcpus= at all");
    for (gsize i = 0; i < G_N_ELEMENTS(flags); i++)
        g_ptr_array_add(names, (gpointer)flags[i]);
    for (char **w = words; *w; w++) {
        gboolean known = FALSE;
        for (gsize i = 0; i < G_N_ELEMENTS(flags); i++)
            known = known || strcmp(*w, flags[i]) == 0;
        if (!known) {
            g_autofree char *hint = lab_near_hint(*w, names);
            return refuse(error,
                          "`%s' is no flag of isolcpus=: domain, managed_irq, nohz, or none for no "
                          "isolcpus= at all%s",
                          *w, hint);
        }
        domain = domain || strcmp(*w, "domain") == 0;
    }
    if (!domain)
        return refuse(error,
                      "the flag `domain' is missing: a flag replaces the kernel's default, so this "
                      "isolates no CPU from the scheduler; write domain,%s",
                      text);
    return TRUE;
}

static gboolean
check_not_empty(const char *text, GError **error)
{
    return *text ? TRUE : refuse(error, "empty");
}

static gboolean
check_clocksource(const char *text, GError **error)
{
    g_auto(GStrv) names = g_strsplit(text, "|", -1);

    for (char **n = names; *n; n++) {
        g_strstrip(*n);
        if (!**n || strspn(*n, "abcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(*n))
            return refuse(error, "not clock sources separated by | (tsc|kvm-clock)");
    }
    return *names ? TRUE : refuse(error, "empty");
}

static gboolean
check_version(const char *text, GError **error)
{
    if (!g_regex_match_simple("^[0-9]{1,4}(\\.[0-9]{1,4}){0,2}$", text, G_REGEX_DOLLAR_ENDONLY, 0))
        return refuse(error, "not a version: 8.1 or 8.1.2");
    return TRUE;
}

static gboolean
check_string(const LabKey *k, const char *text, GError **error)
{
    static const struct {
        const char *key;
        gboolean (*check)(const char *text, GError **error);
    } rules[] = {
        {"kernel", check_not_empty},
        {"isolcpus", check_isolcpus},
        {"host.clocksource", check_clocksource},
        {"guest.clocksource", check_clocksource},
        {"qemu.min_version", check_version},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rules); i++)
        if (strcmp(k->key, rules[i].key) == 0)
            return rules[i].check(text, error);
    return TRUE;
}

static gboolean
check_length(const char *text, gsize limit, GError **error)
{
    return strlen(text) <= limit ? TRUE
                                 : refuse(error, "longer than %" G_GSIZE_FORMAT " bytes", limit);
}

static gboolean
check_argv(const char *text, GError **error)
{
    g_autoptr(GError) inner = NULL;
    g_auto(GStrv) words = NULL;

    if (!g_shell_parse_argv(text, NULL, &words, &inner))
        return refuse(error, "%s", inner->message);
    if (!g_path_is_absolute(words[0]))
        return refuse(error, "`%s' is not an absolute path", words[0]);
    return TRUE;
}

/* As the guest takes it (guest/trace_line.h): no pattern, no command of set_ftrace_filter. */
static gboolean
check_function(const char *text, GError **error)
{
    if (!*text ||
        g_regex_match_simple("^[A-Za-z_][A-Za-z0-9_.]{0,63}$", text, G_REGEX_DOLLAR_ENDONLY, 0))
        return TRUE;
    return refuse(error, "`%s' is no function's name: letters, digits, _ and ., at most 64", text);
}

static gboolean
parse_text(const LabKey *k, const char *text, GError **error)
{
    int position;

    switch (k->type) {
    case LAB_TYPE_CHOICE:
        return parse_choice(k, text, &position, error);
    case LAB_TYPE_OBSERVE:
        return check_observe(k, text, error);
    case LAB_TYPE_FUNCTION:
        return check_function(text, error);
    case LAB_TYPE_CMDLINE:
        return check_length(text, CMDLINE_BYTES_MAX, error);
    case LAB_TYPE_STRING:
        return check_length(text, STRING_BYTES_MAX, error) && check_string(k, text, error);
    case LAB_TYPE_ARGV:
        return check_length(text, STRING_BYTES_MAX, error) && check_argv(text, error);
    default:
        return check_length(text, CPULIST_BYTES_MAX, error);
    }
}

static void
store(const LabKey *k, gpointer target, gconstpointer value, gsize size)
{
    if (target && k->offset != LAB_KEY_NO_FIELD)
        memcpy((char *)target + k->offset, value, size);
}

gboolean
lab_value_parse(const LabKey *k, const char *text, gpointer target, GError **error)
{
    guint64 number = 0;
    int integer = 0;
    gboolean yes = FALSE;

    switch (k->type) {
    case LAB_TYPE_UINT:
    case LAB_TYPE_TIME_US:
    case LAB_TYPE_TIME_S:
    case LAB_TYPE_SIZE_MIB:
        if (!parse_unsigned(k, text, &number, error))
            return FALSE;
        store(k, target, &number, sizeof number);
        return TRUE;
    case LAB_TYPE_INT:
        if (!parse_signed(k, text, &integer, error))
            return FALSE;
        store(k, target, &integer, sizeof integer);
        return TRUE;
    case LAB_TYPE_ENUM:
        if (!parse_choice(k, text, &integer, error))
            return FALSE;
        G_STATIC_ASSERT(sizeof(LabPlatform) == sizeof(int) && sizeof(LabClock) == sizeof(int));
        store(k, target, &integer, sizeof integer);
        return TRUE;
    case LAB_TYPE_BOOL:
        if (!parse_bool(text, &yes, error))
            return FALSE;
        store(k, target, &yes, sizeof yes);
        return TRUE;
    default:
        break;
    }
    if (!parse_text(k, text, error))
        return FALSE;
    if (target && k->offset != LAB_KEY_NO_FIELD) {
        char *copy = g_strdup(text);
        store(k, target, &copy, sizeof copy);
    }
    return TRUE;
}
