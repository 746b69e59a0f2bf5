/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/housekeeping.h"

static const char *const type_names[HOST_ISOL_TYPES] = {"domain", "nohz", "managed_irq"};

void
host_finding_free(HostFinding *f)
{
    if (!f)
        return;
    g_free(f->param);
    g_free(f->message);
    g_free(f);
}

void
host_finding_add(GPtrArray *findings, char severity, const char *param, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    HostFinding *f = g_new0(HostFinding, 1);
    f->severity = severity;
    f->param = g_strdup(param);
    f->message = g_strdup_vprintf(format, args);
    va_end(args);
    g_ptr_array_add(findings, f);
}

void
host_housekeeping_init(HostHousekeeping *h, unsigned int ncpus)
{
    *h = (HostHousekeeping){.ncpus = ncpus};
    for (int i = 0; i < HOST_ISOL_TYPES; i++)
        h->cpus[i] = hwloc_bitmap_alloc();
}

void
host_housekeeping_clear(HostHousekeeping *h)
{
    for (int i = 0; i < HOST_ISOL_TYPES; i++)
        hwloc_bitmap_free(h->cpus[i]);
    *h = (HostHousekeeping){0};
}

static gboolean
is_everything(const HostHousekeeping *h, const HostCpuset *cpus)
{
    return h->ncpus && hwloc_bitmap_weight(cpus) >= (int)MIN(h->ncpus, HOST_CPULIST_MAX_CPU + 1);
}

/* The kernel needs one CPU for itself and takes the boot CPU out of a set that has all. */
static void
keep_boot_cpu(const HostHousekeeping *h, const char *param, HostCpuset *cpus, GPtrArray *findings)
{
    if (!is_everything(h, cpus))
        return;
    g_autofree char *asked = host_cpulist_format(cpus);
    hwloc_bitmap_clr(cpus, 0);
    g_autofree char *left = host_cpulist_format(cpus);
    host_finding_add(
        findings, 'E', param,
        "no housekeeping CPU is left: %s=%s takes all CPUs of the machine, so the kernel "
        "removes CPU 0 and %s%s%s; name the isolated CPUs without a housekeeping CPU",
        param, asked, *left ? "only " : "nothing", left,
        *left ? " is in force" : " is left in force");
}

/* Whether a type that is in force already was set with other CPUs: the kernel then ignores the new
 * parameter. */
static gboolean
conflicts(const HostHousekeeping *h, const char *param, HostIsolFlags flags, const HostCpuset *cpus,
          GPtrArray *findings)
{
    for (int i = 0; i < HOST_ISOL_TYPES; i++) {
        if (!(flags & h->flags & (1u << i)) || hwloc_bitmap_isequal(cpus, h->cpus[i]))
            continue;
        g_autofree char *asked = host_cpulist_format(cpus);
        g_autofree char *in_force = host_cpulist_format(h->cpus[i]);
        host_finding_add(
            findings, 'E', param,
            "the kernel ignores %s for CPUs %s, because %s isolation of %s came first and "
            "they differ (\"Housekeeping: nohz_full= must match isolcpus=\"); in force: %s",
            param, asked, type_names[i], in_force, in_force);
        return TRUE;
    }
    return FALSE;
}

/* Tick and domain isolation may name different CPUs since 5.18, but must leave one CPU in neither.
 */
static gboolean
check_together(const HostHousekeeping *h, const char *param, HostIsolFlags flags,
               const HostCpuset *cpus, GPtrArray *findings)
{
    const HostIsolFlags both = HOST_ISOL_DOMAIN | HOST_ISOL_NOHZ;
    if (!(flags & both) || !(h->flags & both))
        return TRUE;
    const HostCpuset *earlier =
        h->cpus[h->flags & HOST_ISOL_DOMAIN ? HOST_TYPE_DOMAIN : HOST_TYPE_NOHZ];
    if (hwloc_bitmap_isequal(cpus, earlier))
        return TRUE;

    g_autofree char *asked = host_cpulist_format(cpus);
    g_autofree char *in_force = host_cpulist_format(earlier);
    g_autoptr(HostCpuset) joint = hwloc_bitmap_dup(cpus);
    hwloc_bitmap_or(joint, joint, earlier);
    if (is_everything(h, joint)) {
        host_finding_add(
            findings, 'E', param,
            "%s for CPUs %s and the earlier isolation of %s leave no CPU in neither: new "
            "kernels ignore %s",
            param, asked, in_force, param);
        return FALSE;
    }
    host_finding_add(
        findings, 'W', param,
        "%s names CPUs %s, the earlier parameter %s: kernels before 5.18 ignore the later "
        "one when they differ",
        param, asked, in_force);
    return TRUE;
}

void
host_housekeeping_apply(HostHousekeeping *h, const char *param, HostIsolFlags flags,
                        const HostCpuset *asked, GPtrArray *findings)
{
    g_autoptr(HostCpuset) cpus = hwloc_bitmap_dup(asked);
    keep_boot_cpu(h, param, cpus, findings);
    if (hwloc_bitmap_iszero(cpus) || conflicts(h, param, flags, cpus, findings) ||
        !check_together(h, param, flags, cpus, findings))
        return;
    for (int i = 0; i < HOST_ISOL_TYPES; i++)
        if (flags & ~h->flags & (1u << i))
            hwloc_bitmap_copy(h->cpus[i], cpus);
    h->flags |= flags;
}

HostCpuset *
host_housekeeping_isolated(const HostHousekeeping *h)
{
    HostCpuset *all = hwloc_bitmap_alloc();
    for (int i = 0; i < HOST_ISOL_TYPES; i++)
        hwloc_bitmap_or(all, all, h->cpus[i]);
    return all;
}

char *
host_housekeeping_describe(const HostHousekeeping *h)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (int i = 0; i < HOST_ISOL_TYPES; i++) {
        if (hwloc_bitmap_iszero(h->cpus[i]))
            continue;
        g_autofree char *list = host_cpulist_format(h->cpus[i]);
        g_string_append_printf(text, "%s%s %s", text->len ? ", " : "", type_names[i], list);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}
