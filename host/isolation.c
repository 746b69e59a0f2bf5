/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/isolation.h"

#include <stdio.h>
#include <string.h>

#include "host/cmdline.h"
#include "host/kmsg.h"
#include "host/quote.h"

#define MAX_QUOTED_MESSAGES 3
#define MAX_FINDINGS 2

typedef enum { NOHZ_FULL, ISOLCPUS, RCU_NOCBS } Parameter;
static const char *const parameter_names[] = {"nohz_full", "isolcpus", "rcu_nocbs"};

void
host_effective_clear(HostEffective *e)
{
    hwloc_bitmap_free(e->cpus);
    e->cpus = NULL;
}

void
host_isolation_check_free(HostIsolationCheck *c)
{
    if (!c)
        return;
    g_free(c->requested);
    g_free(c->effective);
    g_free(c->message);
    g_free(c);
}

/* A list as the kernel prints it. Not checked against the number of CPUs: it prints nohz_full as it
 * was asked for, which may go beyond. */
static HostEffective
effective_of_list(const char *text)
{
    HostEffective e = {.state = HOST_STATE_UNKNOWN};
    g_autofree char *list = g_strstrip(g_strdup(text));
    if (!*list || !strcmp(list, "(null)")) {
        e.state = HOST_STATE_OFF;
    } else {
        e.cpus = host_cpulist_parse(list, HOST_CPULIST_KERNEL, 0, NULL, NULL);
        if (e.cpus)
            e.state = hwloc_bitmap_iszero(e.cpus) ? HOST_STATE_OFF : HOST_STATE_ON;
    }
    if (!e.cpus)
        e.cpus = hwloc_bitmap_alloc();
    return e;
}

static HostEffective
effective_of_file(const char *contents)
{
    if (contents)
        return effective_of_list(contents);
    return (HostEffective){.state = HOST_STATE_NOT_BUILT, .cpus = hwloc_bitmap_alloc()};
}

HostEffective
host_nohz_full_effective(const HostKernelView *v)
{
    return effective_of_file(v->sysfs_nohz_full);
}

HostEffective
host_isolated_effective(const HostKernelView *v)
{
    return effective_of_file(v->sysfs_isolated);
}

/* The message without "rcu:", which only some kernels and some messages have before it. */
static const char *
rcu_text(const char *line)
{
    const char *text = host_kmsg_text(line);
    if (g_str_has_prefix(text, "rcu:"))
        text += strlen("rcu:");
    return text + strspn(text, " \t");
}

/* rcu_init_nohz() in kernel/rcu/tree_nocb.h (tree_plugin.h before 5.14). Without its full stop the
 * line was cut. */
static HostEffective
effective_of_offload(const char *list)
{
    g_autofree char *text = g_strstrip(g_strdup(list));
    gsize len = strlen(text);
    if (len < 2 || text[len - 1] != '.')
        return (HostEffective){.state = HOST_STATE_UNKNOWN, .cpus = hwloc_bitmap_alloc()};
    text[len - 1] = '\0';
    return effective_of_list(strcmp(text, "(none)") ? text : "");
}

/* Whether the kernel lists the parameter as unknown, and it really is on the command line, where
 * that is known. */
static gboolean
kernel_does_not_know(const HostKernelView *v, Parameter parameter)
{
    const char *name = parameter_names[parameter];
    if (!v->kmsg)
        return FALSE;
    if (v->cmdline) {
        g_autoptr(GPtrArray) params = host_cmdline_split(v->cmdline, NULL);
        g_autoptr(GPtrArray) values = host_cmdline_values(params, name);
        if (!values->len)
            return FALSE;
    }
    for (guint i = 0; i < v->kmsg->len; i++)
        if (host_kmsg_is_unknown_param(v->kmsg->pdata[i], name))
            return TRUE;
    return FALSE;
}

HostEffective
host_rcu_nocbs_effective(const HostKernelView *v)
{
    static const char prefix[] = "Offload RCU callbacks from CPUs:";
    HostEffective found = {0};
    for (guint i = 0; v->kmsg && i < v->kmsg->len; i++) {
        const char *text = rcu_text(v->kmsg->pdata[i]);
        if (!g_str_has_prefix(text, prefix))
            continue;
        HostEffective e = effective_of_offload(text + strlen(prefix));
        if (!found.cpus) {
            found = e;
            continue;
        }
        /* The kernel says it once. Two different ones: nothing is known. */
        if (e.state != found.state || !hwloc_bitmap_isequal(e.cpus, found.cpus)) {
            hwloc_bitmap_zero(found.cpus);
            found.state = HOST_STATE_UNKNOWN;
        }
        host_effective_clear(&e);
    }
    if (found.cpus)
        return found;
    found.state = kernel_does_not_know(v, RCU_NOCBS) ? HOST_STATE_NOT_BUILT : HOST_STATE_UNKNOWN;
    found.cpus = hwloc_bitmap_alloc();
    return found;
}

/* Whether LINE is one of the kernel's remarks on the parameter. */
static gboolean
is_about(const char *line, Parameter parameter)
{
    static const struct {
        const char *prefix;
        guint parameters; /* bits of Parameter */
    } remarks[] = {
        {"Housekeeping:", 1u << NOHZ_FULL | 1u << ISOLCPUS},
        {"housekeeping:", 1u << NOHZ_FULL | 1u << ISOLCPUS},
        {"isolcpus:", 1u << ISOLCPUS},
        {"NO_HZ: Clearing", 1u << NOHZ_FULL},
        {"NO_HZ: Can't", 1u << NOHZ_FULL},
        {"rcu_nocbs=", 1u << RCU_NOCBS},
        {"rcu_nocb_mask", 1u << RCU_NOCBS},
        {"Note: kernel parameter 'rcu_nocbs='", 1u << RCU_NOCBS},
    };
    const char *text = rcu_text(line);
    for (gsize i = 0; i < G_N_ELEMENTS(remarks); i++)
        if ((remarks[i].parameters & (1u << parameter)) &&
            g_str_has_prefix(text, remarks[i].prefix))
            return TRUE;
    return host_kmsg_is_unknown_param(line, parameter_names[parameter]);
}

static void
append_kernel_words(GString *message, const HostKernelView *v, Parameter parameter)
{
    guint quoted = 0;
    for (guint i = 0; v->kmsg && i < v->kmsg->len && quoted < MAX_QUOTED_MESSAGES; i++) {
        const char *line = v->kmsg->pdata[i];
        if (!is_about(line, parameter))
            continue;
        g_autofree char *text = host_quote(rcu_text(line), 400);
        g_string_append_printf(message, "%s'%s'",
                               quoted ? ", " : "; the kernel says: ", g_strstrip(text));
        quoted++;
    }
}

/* What of the command line explains a parameter that isn't as asked. */
static void
append_cmdline_reasons(GString *message, const HostKernelView *v, Parameter parameter)
{
    if (!v->cmdline)
        return;
    const char *name = parameter_names[parameter];
    g_autofree char *misspelt = g_strdup_printf("did you mean %s?", name);
    g_autoptr(GPtrArray) findings = host_cmdline_lint(v->cmdline, v->ncpus);
    guint said = 0;
    for (guint i = 0; i < findings->len && said < MAX_FINDINGS; i++) {
        const HostFinding *f = findings->pdata[i];
        if (strcmp(f->param, name) && !strstr(f->message, misspelt))
            continue;
        g_string_append_printf(message, "; %s", f->message);
        said++;
    }
    g_autoptr(GPtrArray) params = host_cmdline_split(v->cmdline, NULL);
    g_autoptr(GPtrArray) values = host_cmdline_values(params, name);
    if (!said && !values->len)
        g_string_append_printf(message, "; %s= is not on the kernel command line", name);
}

/* The boot CPU when the kernel says it took it out of the parameter, otherwise -1. */
static int
removed_cpu(const HostKernelView *v, Parameter parameter)
{
    for (guint i = 0; v->kmsg && i < v->kmsg->len; i++) {
        const char *text = host_kmsg_text(v->kmsg->pdata[i]);
        unsigned int cpu;
        gboolean says_so =
            sscanf(text, "Housekeeping: must include one present CPU, using boot CPU:%5u", &cpu) ==
                1 ||
            (parameter == NOHZ_FULL &&
             sscanf(text, "NO_HZ: Clearing %5u from nohz_full range", &cpu) == 1);
        if (says_so && parameter != RCU_NOCBS && cpu <= HOST_CPULIST_MAX_CPU)
            return (int)cpu;
    }
    return -1;
}

typedef struct {
    const HostKernelView *v;
    Parameter parameter;
    const HostCpuset *want;     /* never NULL */
    const HostCpuset *implied;  /* may be in force too */
    const HostEffective *found; /* what is in force */
} Question;

static const char *
source_name(Parameter parameter)
{
    static const char *const sources[] = {
        "/sys/devices/system/cpu/nohz_full",
        "/sys/devices/system/cpu/isolated",
        "the kernel's message \"Offload RCU callbacks from CPUs\"",
    };
    return sources[parameter];
}

/* What a set in force that is not the wanted one lacks and has too much. */
static void
append_difference(GString *message, const Question *q)
{
    g_autoptr(HostCpuset) missing = hwloc_bitmap_dup(q->want);
    hwloc_bitmap_andnot(missing, missing, q->found->cpus);
    g_autoptr(HostCpuset) extra = hwloc_bitmap_dup(q->found->cpus);
    hwloc_bitmap_andnot(extra, extra, q->want);
    hwloc_bitmap_andnot(extra, extra, q->implied);
    g_autofree char *missing_list = host_cpulist_format(missing);
    g_autofree char *extra_list = host_cpulist_format(extra);
    int removed = removed_cpu(q->v, q->parameter);
    if (removed >= 0 && hwloc_bitmap_isset(missing, (unsigned int)removed)) {
        g_string_append_printf(message, "; CPU %d was removed by the kernel%s", removed,
                               q->found->state == HOST_STATE_OFF ? ", nothing is left in force"
                                                                 : "");
        hwloc_bitmap_clr(missing, (unsigned int)removed);
        g_free(missing_list);
        missing_list = host_cpulist_format(missing);
    }
    if (*missing_list)
        g_string_append_printf(message, "; missing %s", missing_list);
    if (*extra_list)
        g_string_append_printf(message, "; not asked for %s", extra_list);
}

static char *
explain(const Question *q, const char *requested, const char *effective)
{
    const char *name = parameter_names[q->parameter];
    g_autoptr(GString) message = g_string_new(NULL);
    g_string_append_printf(message, "%s: asked for %s, ", name, requested);
    switch (q->found->state) {
    case HOST_STATE_UNKNOWN:
        g_string_append_printf(
            message, "whether it is in force is unknown: %s is missing or can't be understood",
            source_name(q->parameter));
        break;
    case HOST_STATE_NOT_BUILT:
        g_string_append(message, "not in force: this kernel does not have it");
        break;
    case HOST_STATE_OFF:
        g_string_append(message, "nothing is in force");
        append_difference(message, q);
        break;
    case HOST_STATE_ON:
        g_string_append_printf(message, "in force %s", effective);
        append_difference(message, q);
        break;
    }
    append_cmdline_reasons(message, q->v, q->parameter);
    append_kernel_words(message, q->v, q->parameter);
    return g_string_free(g_steal_pointer(&message), FALSE);
}

/*
 * Whether nothing can have asked for rcu_nocbs, so that no message is no riddle: the kernel writes
 * it whenever it offloads a CPU, so messages without it, or a command line without the parameter,
 * will do.
 */
static gboolean
silence_means_off(const Question *q)
{
    if (q->parameter != RCU_NOCBS)
        return FALSE;
    for (guint i = 0; q->v->kmsg && i < q->v->kmsg->len; i++)
        if (strstr(q->v->kmsg->pdata[i], "Offload RCU callbacks"))
            return FALSE;
    if (q->v->kmsg)
        return TRUE;
    if (!q->v->cmdline)
        return FALSE;
    g_autoptr(GPtrArray) params = host_cmdline_split(q->v->cmdline, NULL);
    g_autoptr(GPtrArray) values = host_cmdline_values(params, "rcu_nocbs");
    return !values->len;
}

static gboolean
is_as_wanted(const Question *q)
{
    if (hwloc_bitmap_iszero(q->want) && q->found->state != HOST_STATE_ON)
        return q->found->state != HOST_STATE_UNKNOWN || silence_means_off(q);
    g_autoptr(HostCpuset) allowed = hwloc_bitmap_dup(q->want);
    hwloc_bitmap_or(allowed, allowed, q->implied);
    return q->found->state == HOST_STATE_ON && hwloc_bitmap_isincluded(q->want, q->found->cpus) &&
           hwloc_bitmap_isincluded(q->found->cpus, allowed);
}

static HostIsolationCheck *
answer(const Question *q)
{
    static const char *const state_names[] = {
        [HOST_STATE_UNKNOWN] = "unknown",
        [HOST_STATE_NOT_BUILT] = "not built in",
        [HOST_STATE_OFF] = "none",
    };
    HostIsolationCheck *c = g_new0(HostIsolationCheck, 1);
    c->parameter = parameter_names[q->parameter];
    c->requested = hwloc_bitmap_iszero(q->want) ? g_strdup("none") : host_cpulist_format(q->want);
    c->effective = q->found->state == HOST_STATE_ON ? host_cpulist_format(q->found->cpus)
                                                    : g_strdup(state_names[q->found->state]);
    c->ok = is_as_wanted(q);
    if (!c->ok)
        c->message = explain(q, c->requested, c->effective);
    return c;
}

GPtrArray *
host_isolation_compare(const HostKernelView *v, const HostCpuset *want_nohz_full,
                       const HostCpuset *want_isolated, const HostCpuset *want_rcu_nocbs)
{
    g_autoptr(HostCpuset) none = hwloc_bitmap_alloc();
    g_auto(HostEffective) nohz_full = host_nohz_full_effective(v);
    g_auto(HostEffective) isolated = host_isolated_effective(v);
    g_auto(HostEffective) rcu_nocbs = host_rcu_nocbs_effective(v);
    const Question questions[] = {
        {v, NOHZ_FULL, want_nohz_full ? want_nohz_full : none, none, &nohz_full},
        {v, ISOLCPUS, want_isolated ? want_isolated : none, none, &isolated},
        {v, RCU_NOCBS, want_rcu_nocbs ? want_rcu_nocbs : none, nohz_full.cpus, &rcu_nocbs},
    };
    GPtrArray *checks = g_ptr_array_new_with_free_func((GDestroyNotify)host_isolation_check_free);
    for (gsize i = 0; i < G_N_ELEMENTS(questions); i++)
        g_ptr_array_add(checks, answer(&questions[i]));
    return checks;
}
