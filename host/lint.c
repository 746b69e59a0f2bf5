/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/cmdline.h"

#include <string.h>

#include "host/housekeeping.h"
#include "host/quote.h"

/* COMMAND_LINE_SIZE of x86 (arch/x86/include/asm/setup.h); most other architectures have the same
 * or more. */
#define X86_MAX_BYTES 2048

/* The parameters that decide who runs where. A name close to one of these, but not one, is most
 * likely misspelt. */
static const char *const isolation_params[] = {
    "isolcpus", "nohz_full", "rcu_nocbs", "irqaffinity", "rcu_nocb_poll",
};

typedef struct {
    const GPtrArray *params;
    guint n; /* of them are the kernel's */
    unsigned int ncpus;
    HostHousekeeping housekeeping;
    gboolean isolcpus_accepted;
    GPtrArray *findings;
} Lint;

static const char *
isolation_param(const char *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(isolation_params); i++)
        if (host_param_name_equal(name, isolation_params[i]))
            return isolation_params[i];
    return NULL;
}

#define MAX_NAME 40

/* The name in lower case without `-` and `_`, which is where most misspellings are; at most
 * MAX_NAME bytes. */
static void
normalize(const char *name, char out[MAX_NAME + 1])
{
    gsize n = 0;
    for (; *name && n < MAX_NAME; name++)
        if (*name != '-' && *name != '_')
            out[n++] = g_ascii_tolower(*name);
    out[n] = '\0';
}

static gboolean
is_subsequence(const char *needle, const char *hay)
{
    for (; *needle && *hay; hay++)
        if (*needle == *hay)
            needle++;
    return !*needle;
}

/* Levenshtein distance of two short strings. */
static guint
edit_distance(const char *a, const char *b)
{
    guint row[MAX_NAME + 1];
    gsize len = strlen(b);
    for (gsize j = 0; j <= len; j++)
        row[j] = (guint)j;
    for (gsize i = 1; a[i - 1]; i++) {
        guint diagonal = row[0];
        row[0] = (guint)i;
        for (gsize j = 1; j <= len; j++) {
            guint above = row[j];
            guint change = diagonal + (a[i - 1] != b[j - 1]);
            row[j] = MIN(change, MIN(above, row[j - 1]) + 1);
            diagonal = above;
        }
    }
    return row[len];
}

static const char *
near_miss(const char *name)
{
    char got[MAX_NAME + 1];
    normalize(name, got);
    /* A `.` makes it some module's, whose names are its own affair. */
    if (strlen(got) < 5 || strlen(got) >= MAX_NAME || strchr(name, '.'))
        return NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(isolation_params); i++) {
        char want[MAX_NAME + 1];
        normalize(isolation_params[i], want);
        gboolean padded = strlen(got) <= strlen(want) + 5 && got[0] == want[0] &&
                          got[1] == want[1] && is_subsequence(want, got);
        if (padded || edit_distance(got, want) <= 2)
            return isolation_params[i];
    }
    return NULL;
}

static void
lint_names(Lint *l)
{
    for (guint i = 0; i < l->params->len; i++) {
        const HostParam *p = l->params->pdata[i];
        const char *known = isolation_param(p->name);
        g_autofree char *shown = host_quote(p->name, 60);
        if (i >= l->n && known) {
            host_finding_add(l->findings, 'W', shown,
                             "%s stands after `--`: it goes to init, the kernel does not read it",
                             shown);
            continue;
        }
        const char *near = known ? NULL : near_miss(p->name);
        if (near)
            host_finding_add(l->findings, 'W', shown,
                             "the kernel does not know %s and passes over it; did you mean %s?",
                             shown, near);
    }
}

static void
lint_isolcpus(Lint *l, const char *value)
{
    g_autoptr(HostIsolcpus) isol = host_isolcpus_parse(value, l->ncpus);
    g_autofree char *shown = host_quote(value, 80);
    for (guint i = 0; i < isol->warnings->len; i++)
        host_finding_add(l->findings, 'W', "isolcpus", "isolcpus=%s: %s", shown,
                         (const char *)isol->warnings->pdata[i]);
    if (!isol->cpus) {
        host_finding_add(l->findings, 'E', "isolcpus", "isolcpus%s%s isolates nothing: %s",
                         value ? "=" : "", shown, isol->refused);
        return;
    }
    l->isolcpus_accepted = TRUE;
    host_housekeeping_apply(&l->housekeeping, "isolcpus", isol->flags, isol->cpus, l->findings);
}

/* The CPUs of a plain list parameter, or NULL with a finding, which ends in CONSEQUENCE. */
static HostCpuset *
parse_list(Lint *l, const char *param, const char *value, const char *consequence)
{
    if (!value) {
        host_finding_add(l->findings, 'E', param, "%s has no value%s", param, consequence);
        return NULL;
    }
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    HostCpuset *cpus = host_cpulist_parse(value, HOST_CPULIST_KERNEL, l->ncpus, warnings, &error);
    for (guint i = 0; i < warnings->len; i++)
        host_finding_add(l->findings, 'W', param, "%s=: %s", param,
                         (const char *)warnings->pdata[i]);
    if (!cpus)
        host_finding_add(l->findings, 'E', param, "%s=: %s%s", param, error->message, consequence);
    return cpus;
}

static void
lint_nohz_full(Lint *l, const char *value)
{
    g_autoptr(HostCpuset) cpus =
        parse_list(l, "nohz_full", value, "; the kernel drops nohz_full, no tick is stopped");
    if (!cpus)
        return;
    if (hwloc_bitmap_iszero(cpus)) {
        host_finding_add(l->findings, 'W', "nohz_full",
                         "nohz_full= names no CPU, so no tick is stopped");
        return;
    }
    host_housekeeping_apply(&l->housekeeping, "nohz_full", HOST_ISOL_NOHZ, cpus, l->findings);
}

/* isolcpus= and nohz_full= in the order they stand in, as the kernel takes them. */
static void
lint_housekeeping(Lint *l)
{
    for (guint i = 0; i < l->n; i++) {
        const HostParam *p = l->params->pdata[i];
        if (host_param_name_equal(p->name, "isolcpus"))
            lint_isolcpus(l, p->value);
        else if (host_param_name_equal(p->name, "nohz_full"))
            lint_nohz_full(l, p->value);
    }
}

static void
lint_missing_domain(Lint *l)
{
    const HostHousekeeping *h = &l->housekeeping;
    if (!l->isolcpus_accepted || (h->flags & HOST_ISOL_DOMAIN))
        return;
    g_autofree char *in_force = host_housekeeping_describe(h);
    if (h->flags & HOST_ISOL_MANAGED_IRQ)
        host_finding_add(
            l->findings, 'E', "isolcpus",
            "no scheduler domain isolation, only %s: a flag replaces the default, so the "
            "flag `domain` is missing (isolcpus=domain,managed_irq,...)",
            in_force);
    else if (h->flags & HOST_ISOL_NOHZ)
        host_finding_add(
            l->findings, 'W', "isolcpus",
            "no scheduler domain isolation, only %s: isolcpus=nohz is what nohz_full= is; "
            "add the flag `domain` for more",
            in_force);
}

/* tick_nohz_init() in kernel/time/tick-sched.c, unless the architecture can suspend on another CPU
 * (powerpc can). */
static void
lint_boot_cpu(Lint *l)
{
    HostCpuset *nohz = l->housekeeping.cpus[HOST_TYPE_NOHZ];
    if (hwloc_bitmap_isset(nohz, 0)) {
        g_autofree char *asked = host_cpulist_format(nohz);
        hwloc_bitmap_clr(nohz, 0);
        g_autofree char *left = host_cpulist_format(nohz);
        host_finding_add(
            l->findings, 'E', "nohz_full",
            "CPU 0 boots and keeps the time, so the kernel takes it out of nohz_full %s: "
            "%s%s is left in force; make CPU 0 a housekeeping CPU",
            asked, *left ? "only " : "nothing", left);
    }
    if (hwloc_bitmap_isset(l->housekeeping.cpus[HOST_TYPE_DOMAIN], 0))
        host_finding_add(
            l->findings, 'W', "isolcpus",
            "CPU 0 is isolated, yet it boots and gets work no other CPU can take: make it "
            "a housekeeping CPU");
}

static void
lint_irqaffinity(Lint *l)
{
    g_autoptr(GPtrArray) values = host_cmdline_values(l->params, "irqaffinity");
    if (!values->len)
        return;
    g_autoptr(HostCpuset) cpus = parse_list(l, "irqaffinity", values->pdata[values->len - 1],
                                            "; only the boot CPU is certain");
    if (!cpus)
        return;
    g_autofree char *asked = host_cpulist_format(cpus);
    g_autoptr(HostCpuset) overlap = host_housekeeping_isolated(&l->housekeeping);
    hwloc_bitmap_and(overlap, overlap, cpus);
    if (hwloc_bitmap_iszero(overlap))
        return;
    g_autofree char *list = host_cpulist_format(overlap);
    host_finding_add(l->findings, 'E', "irqaffinity",
                     "irqaffinity=%s covers the isolated CPUs %s: interrupts land there", asked,
                     list);
}

static void
lint_rcu_nocbs(Lint *l)
{
    g_autoptr(GPtrArray) values = host_cmdline_values(l->params, "rcu_nocbs");
    if (!values->len || !values->pdata[values->len - 1])
        return; /* without a value: offloading made ready, for no CPU yet (5.18 and newer) */
    g_autoptr(HostCpuset) cpus = parse_list(l, "rcu_nocbs", values->pdata[values->len - 1],
                                            "; the kernel then offloads all CPUs");
}

/* The values of a parameter that was given more than once: "2-3", "4-5". */
static char *
list_values(const GPtrArray *values)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < values->len && i < 8; i++) {
        g_autofree char *shown = host_quote(values->pdata[i], 40);
        g_string_append_printf(text, "%s\"%s\"", i ? ", " : "", shown);
    }
    if (values->len > 8)
        g_string_append(text, ", ...");
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Only these: repetition is how others work (hugepagesz= with hugepages=, console=). */
static void
lint_repeated(Lint *l)
{
    for (gsize i = 0; i < G_N_ELEMENTS(isolation_params); i++) {
        const char *name = isolation_params[i];
        g_autoptr(GPtrArray) values = host_cmdline_values(l->params, name);
        if (values->len < 2)
            continue;
        g_autofree char *list = list_values(values);
        gboolean adds_up = !strcmp(name, "isolcpus") || !strcmp(name, "nohz_full");
        g_autofree char *in_force = host_housekeeping_describe(&l->housekeeping);
        if (adds_up)
            host_finding_add(l->findings, 'W', name,
                             "%s is there %u times, %s; the kernel makes of it: %s", name,
                             values->len, list, *in_force ? in_force : "nothing");
        else
            host_finding_add(l->findings, 'W', name,
                             "%s is there %u times, %s; the last one counts", name, values->len,
                             list);
    }
}

GPtrArray *
host_cmdline_lint(const char *text, unsigned int ncpus)
{
    GPtrArray *findings = g_ptr_array_new_with_free_func((GDestroyNotify)host_finding_free);
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) params = host_cmdline_split(text, warnings);
    for (guint i = 0; i < warnings->len; i++)
        host_finding_add(findings, 'W', "", "%s", (const char *)warnings->pdata[i]);
    gsize length = text ? strlen(text) : 0;
    if (length >= X86_MAX_BYTES)
        host_finding_add(findings, 'W', "",
                         "the command line has %" G_GSIZE_FORMAT " bytes: x86 cuts it after %d",
                         length, X86_MAX_BYTES - 1);

    Lint l = {.params = params,
              .n = host_cmdline_kernel_count(params),
              .ncpus = ncpus,
              .findings = findings};
    host_housekeeping_init(&l.housekeeping, ncpus);
    lint_names(&l);
    lint_housekeeping(&l);
    lint_missing_domain(&l);
    lint_boot_cpu(&l);
    lint_irqaffinity(&l);
    lint_rcu_nocbs(&l);
    lint_repeated(&l);
    host_housekeeping_clear(&l.housekeeping);
    return findings;
}
