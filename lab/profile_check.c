/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One cell: what its keys mean together, above all whether its partitions are possible. */
#include <string.h>

#include "host/cmdline.h"
#include "host/cpulist.h"
#include "lab/exit_cost.h"
#include "lab/profile_private.h"

typedef struct {
    LabProfile *profile;
    const LabCell *cell;
    GHashTable *in_force;
} Check;

/* A machine whose CPUs are isolated or pinned to. */
typedef struct {
    const char *section; /* of its partition: "host" or "guest" */
    const char *noun;    /* in messages */
    const char *size_key;
    unsigned int cpus; /* 0: known only when the profile runs */
} Machine;

static const LabSetting *
setting_of(const Check *c, const char *section, const char *key)
{
    g_autofree char *address = lab_address(section, key);
    return g_hash_table_lookup(c->in_force, address);
}

static char *
where_text(const Check *c, const char *section, const char *key)
{
    const LabSetting *s = setting_of(c, section, key);
    g_autofree char *address = lab_address(section, key);

    if (s)
        return lab_setting_where(s);
    const char *value = g_hash_table_lookup(c->cell->settings, address);
    return g_strdup_printf("%s: %s = %s (by default)", c->profile->name, address,
                           value ? value : "");
}

/* The cell is named where there are several: the same line may be right in another one. */
static gboolean G_GNUC_PRINTF(5, 6) refuse(const Check *c, GError **error, const char *section,
                                           const char *key, const char *format, ...)
{
    g_autofree char *where = where_text(c, section, key);
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, LAB_PROFILE_ERROR, LAB_PROFILE_ERROR_VALUE, "%s: %s%s%s%s", where, message,
                *c->cell->name ? " (in cell " : "", c->cell->name, *c->cell->name ? ")" : "");
    return FALSE;
}

static void G_GNUC_PRINTF(4, 5)
    warn(const Check *c, const char *section, const char *key, const char *format, ...)
{
    g_autofree char *where = where_text(c, section, key);
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    lab_warn(c->profile, "%s: %s", where, message);
}

/* "the guest has CPUs 0-3 (guest.vcpus = 4)" */
static char *
machine_text(const Machine *m)
{
    return m->cpus == 1 ? g_strdup_printf("the %s has CPU 0 alone (%s = 1)", m->noun, m->size_key)
                        : g_strdup_printf("the %s has CPUs 0-%u (%s = %u)", m->noun, m->cpus - 1,
                                          m->size_key, m->cpus);
}

/* `^` and `!` in a field that ends up on a kernel command line: what would have been right. */
static gboolean
refuse_exclusion(const Check *c, const Machine *m, const char *key, const char *text,
                 GError **error)
{
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(HostCpuset) set = host_cpulist_parse(text, HOST_CPULIST_TOOL, m->cpus, notes, NULL);
    const char *said = "the kernel's CPU lists have no exclusions (^ or !)";

    if (!set)
        return refuse(c, error, m->section, key, "%s", said);
    g_autofree char *list = host_cpulist_format(set);
    if (!*list)
        return refuse(
            c, error, m->section, key,
            "%s; an exclusion takes away only what was named before it, so nothing is left", said);
    return refuse(c, error, m->section, key, "%s: write %s%s%s", said, list,
                  notes->len > 0 ? "; " : "",
                  notes->len > 0 ? (char *)g_ptr_array_index(notes, 0) : "");
}

/* A list that is right but for another machine: what was asked for, what there is, what is left. */
static gboolean
refuse_range(const Check *c, const Machine *m, const char *section, const char *key,
             const char *text, HostCpulistDialect dialect, const GError *why, GError **error)
{
    g_autofree char *machine = machine_text(m);
    g_autoptr(HostCpuset) set = host_cpulist_parse(text, dialect, 0, NULL, NULL);

    if (!set) /* it holds N or all, which mean nothing without the machine */
        return refuse(c, error, section, key, "%s; %s", why->message, machine);
    g_autoptr(HostCpuset) left = hwloc_bitmap_dup(set);
    g_autoptr(HostCpuset) there = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(there, 0, (int)m->cpus - 1);
    hwloc_bitmap_and(left, left, there);
    g_autofree char *asked = host_cpulist_format(set);
    g_autofree char *remains = host_cpulist_format(left);
    return refuse(c, error, section, key, "asked for %s, %s, %s left", asked, machine,
                  *remains ? remains : "nothing");
}

/*
 * KEY of SECTION as a list for machine M. Where M is not known yet, the kernel dialect is read for
 * the largest machine, so that `N` and `all` are something and the grammar is checked.
 */
static HostCpuset *
parse_list(const Check *c, const Machine *m, const char *section, const char *key, const char *text,
           HostCpulistDialect dialect, GError **error)
{
    unsigned int cpus = m->cpus;
    g_autoptr(GError) why = NULL;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);

    if (cpus == 0 && dialect == HOST_CPULIST_KERNEL)
        cpus = HOST_CPULIST_MAX_CPU + 1;
    HostCpuset *set = host_cpulist_parse(text, dialect, cpus, notes, &why);
    for (guint i = 0; i < notes->len; i++)
        warn(c, section, key, "%s", (char *)g_ptr_array_index(notes, i));
    if (set)
        return set;
    if (dialect == HOST_CPULIST_KERNEL && strpbrk(text, "^!"))
        refuse_exclusion(c, m, key, text, error);
    else if (m->cpus > 0 && g_error_matches(why, HOST_CPULIST_ERROR, HOST_CPULIST_ERROR_RANGE))
        refuse_range(c, m, section, key, text, dialect, why, error);
    else
        refuse(c, error, section, key, "%s", why->message);
    return NULL;
}

/* Somebody has to do the work of the rest: without a housekeeping CPU the kernel takes one by
 * itself. */
static gboolean
leaves_housekeeping(const Check *c, const Machine *m, const HostCpuset *isolated, const char *text,
                    GError **error)
{
    unsigned int cpus = m->cpus ? m->cpus : HOST_CPULIST_MAX_CPU + 1;

    if (hwloc_bitmap_weight(isolated) < (int)cpus)
        return TRUE;
    return refuse(
        c, error, m->section, "isolated",
        "isolated = %s leaves no housekeeping CPU: the kernel would take the boot CPU back "
        "by itself; leave at least one out%s",
        text, cpus > 1 ? " (1-N leaves CPU 0)" : ", on a machine of more than one");
}

static gboolean
check_housekeeping(const Check *c, const Machine *m, const LabPartition *part,
                   const HostCpuset *isolated, GError **error)
{
    if (!*part->housekeeping)
        return TRUE;
    g_autoptr(HostCpuset) housekeeping = parse_list(c, m, m->section, "housekeeping",
                                                    part->housekeeping, HOST_CPULIST_KERNEL, error);
    if (!housekeeping)
        return FALSE;
    g_autoptr(HostCpuset) both = hwloc_bitmap_alloc();
    hwloc_bitmap_and(both, housekeeping, isolated);
    if (!hwloc_bitmap_iszero(both)) {
        g_autofree char *overlap = host_cpulist_format(both);
        return refuse(c, error, m->section, "housekeeping",
                      "CPU %s is in isolated = %s too: a CPU is one or the other", overlap,
                      part->isolated);
    }
    if (m->cpus == 0 || hwloc_bitmap_iszero(isolated))
        return TRUE;
    g_autoptr(HostCpuset) neither = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(neither, 0, (int)m->cpus - 1);
    hwloc_bitmap_andnot(neither, neither, isolated);
    hwloc_bitmap_andnot(neither, neither, housekeeping);
    if (!hwloc_bitmap_iszero(neither)) {
        g_autofree char *rest = host_cpulist_format(neither);
        warn(c, m->section, "housekeeping", "CPU %s is neither housekeeping nor isolated", rest);
    }
    return TRUE;
}

/* Parameters that belong to keys: on a command line of their own the two could contradict each
 * other. */
static gboolean
check_cmdline(const Check *c, const Machine *m, const char *text, GError **error)
{
    static const struct {
        const char *name, *key;
    } owned[] = {
        {"isolcpus", "`isolated' and `isolcpus'"},
        {"nohz_full", "`isolated' and `nohz_full'"},
        {"rcu_nocbs", "`isolated' and `rcu_nocbs'"},
        {"irqaffinity", "`housekeeping'"},
    };
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) params = host_cmdline_split(text, notes);

    for (guint i = 0; i < params->len; i++) {
        const HostParam *param = g_ptr_array_index(params, i);
        if (strcmp(param->name, "--") == 0)
            return refuse(c, error, m->section, "cmdline",
                          "`--' ends the kernel's parameters: what the lab adds would go to init");
        for (gsize j = 0; j < G_N_ELEMENTS(owned); j++)
            if (host_param_name_equal(param->name, owned[j].name))
                return refuse(c, error, m->section, "cmdline",
                              "%s= is the lab's own: use the keys %s", param->name, owned[j].key);
    }
    for (guint i = 0; i < notes->len; i++)
        warn(c, m->section, "cmdline", "%s", (char *)g_ptr_array_index(notes, i));
    g_autoptr(GPtrArray) findings =
        host_cmdline_lint(text, m->cpus ? m->cpus : HOST_CPULIST_MAX_CPU + 1);
    for (guint i = 0; i < findings->len; i++) {
        const HostFinding *f = g_ptr_array_index(findings, i);
        if (f->severity == 'E')
            return refuse(c, error, m->section, "cmdline", "%s", f->message);
        warn(c, m->section, "cmdline", "%s", f->message);
    }
    return TRUE;
}

/* Parses the isolated set for the caller, who needs it for the pins. */
static HostCpuset *
check_partition(const Check *c, const Machine *m, const LabPartition *part, GError **error)
{
    g_autoptr(HostCpuset) isolated =
        parse_list(c, m, m->section, "isolated", part->isolated, HOST_CPULIST_KERNEL, error);

    if (!isolated || !leaves_housekeeping(c, m, isolated, part->isolated, error) ||
        !check_housekeeping(c, m, part, isolated, error) ||
        !check_cmdline(c, m, part->cmdline, error))
        return NULL;
    if (!hwloc_bitmap_iszero(isolated) && !part->nohz_full && !part->rcu_nocbs &&
        strcmp(part->isolcpus, "none") == 0)
        warn(c, m->section, "isolated",
             "nohz_full, rcu_nocbs and isolcpus are all off: these CPUs are not isolated");
    return g_steal_pointer(&isolated);
}

/* vCPUs take the CPUs of `pin' in ascending order; a list written otherwise asks for something
 * else. */
static gboolean
ascending(const char *text)
{
    g_auto(GStrv) fields = g_strsplit(text, ",", -1);
    int last = -1;

    for (char **f = fields; *f; f++) {
        g_autoptr(HostCpuset) set = host_cpulist_parse(*f, HOST_CPULIST_TOOL, 0, NULL, NULL);
        if (!set || hwloc_bitmap_iszero(set)) /* an exclusion */
            continue;
        if (hwloc_bitmap_first(set) <= last)
            return FALSE;
        last = hwloc_bitmap_last(set);
    }
    return TRUE;
}

static gboolean
check_pin(const Check *c, const Machine *host, const LabParams *params, const HostCpuset *isolated,
          GError **error)
{
    if (!*params->pin)
        return TRUE;
    g_autoptr(HostCpuset) pin =
        parse_list(c, host, "guest", "pin", params->pin, HOST_CPULIST_TOOL, error);
    if (!pin)
        return FALSE;
    int cpus = hwloc_bitmap_weight(pin);
    if (cpus < 0 || (guint64)cpus != params->vcpus)
        return refuse(c, error, "guest", "pin",
                      "%d CPU%s for %" G_GUINT64_FORMAT " vCPU%s: one for each, since vCPUs that "
                      "float over isolated CPUs all end up on the first",
                      cpus, cpus == 1 ? "" : "s", params->vcpus, params->vcpus == 1 ? "" : "s");
    if (!ascending(params->pin)) {
        g_autofree char *list = host_cpulist_format(pin);
        return refuse(c, error, "guest", "pin",
                      "vCPUs take these CPUs in ascending order, vCPU 0 the lowest: write %s",
                      list);
    }
    g_autoptr(HostCpuset) outside = hwloc_bitmap_alloc();
    hwloc_bitmap_andnot(outside, pin, isolated);
    if (!hwloc_bitmap_iszero(isolated) && !hwloc_bitmap_iszero(outside)) {
        g_autofree char *list = host_cpulist_format(outside);
        warn(c, "guest", "pin", "CPU %s is not in host.isolated = %s", list, params->host.isolated);
    }
    return TRUE;
}

static gboolean
check_emulatorpin(const Check *c, const Machine *host, const LabParams *params,
                  const HostCpuset *isolated, GError **error)
{
    if (!*params->emulatorpin)
        return TRUE;
    g_autoptr(HostCpuset) pin =
        parse_list(c, host, "guest", "emulatorpin", params->emulatorpin, HOST_CPULIST_TOOL, error);
    if (!pin)
        return FALSE;
    if (hwloc_bitmap_iszero(pin))
        return refuse(c, error, "guest", "emulatorpin", "no CPU is left in this list");
    g_autoptr(HostCpuset) both = hwloc_bitmap_alloc();
    hwloc_bitmap_and(both, pin, isolated);
    if (!hwloc_bitmap_iszero(both)) {
        g_autofree char *list = host_cpulist_format(both);
        warn(c, "guest", "emulatorpin", "CPU %s is in host.isolated = %s: the emulator disturbs it",
             list, params->host.isolated);
    }
    return TRUE;
}

/* What a flat guest can't do. */
static gboolean
check_flat(const Check *c, const LabParams *params, GError **error)
{
    g_autofree char *section = NULL;
    const char *key;
    g_autofree char *problem = lab_exit_cost_problem(params, &section, &key);

    return !problem || refuse(c, error, section, key, "%s", problem);
}

/* Counted by the emulator, and only in one thread. */
static gboolean
check_hot(const Check *c, const LabParams *params, const LabWorkload *w, GError **error)
{
    if (!w->hot_functions ||
        (params->platform == LAB_PLATFORM_BARE && params->clock == LAB_CLOCK_ICOUNT))
        return TRUE;
    g_autofree char *section = g_strconcat("workload ", w->name, NULL);
    return refuse(c, error, section, "hot_functions",
                  "needs host.platform = bare and host.clock = icount");
}

static gboolean
check_workloads(const Check *c, const LabParams *params, const Machine *guest, GError **error)
{
    for (guint i = 0; i < params->workloads->len; i++) {
        const LabWorkload *w = g_ptr_array_index(params->workloads, i);
        if (!check_hot(c, params, w, error))
            return FALSE;
        if (w->cpu < (int)params->vcpus)
            continue;
        g_autofree char *machine = machine_text(guest);
        g_autofree char *section = g_strconcat("workload ", w->name, NULL);
        return refuse(c, error, section, "cpu", "no such CPU: %s", machine);
    }
    if (params->workloads->len == 0)
        lab_warn(c->profile, "%s: no [workload NAME]: the guest boots and nothing is measured",
                 c->profile->name);
    return TRUE;
}

/* Keys that the platform has no use for. */
static void
warn_without_effect(const Check *c, const LabParams *params)
{
    static const char *const host_keys[] = {"housekeeping", "isolated", "nohz_full",
                                            "rcu_nocbs",    "isolcpus", "cmdline"};

    if (params->platform != LAB_PLATFORM_BARE)
        return;
    if (setting_of(c, "host", "cpus"))
        warn(c, "host", "cpus", "without effect: platform = bare has no lab host");
    for (gsize i = 0; i < G_N_ELEMENTS(host_keys); i++)
        if (setting_of(c, "host", host_keys[i]))
            warn(c, "host", host_keys[i], "without effect: platform = bare has no lab host");
}

gboolean
lab_cell_check(LabProfile *p, const LabCell *cell, GHashTable *in_force, GError **error)
{
    const Check c = {p, cell, in_force};
    const LabParams *params = cell->params;
    gboolean box = params->platform == LAB_PLATFORM_BOX;
    const Machine host = {"host", "box", "host.cpus", box ? (unsigned int)params->host_cpus : 0};
    const Machine guest = {"guest", "guest", "guest.vcpus", (unsigned int)params->vcpus};

    if (params->platform == LAB_PLATFORM_METAL && params->clock == LAB_CLOCK_ICOUNT)
        return refuse(&c, error, "host", "clock",
                      "real KVM has no instruction clock: platform = metal goes with clock = wall");
    g_autoptr(HostCpuset) guest_isolated = check_partition(&c, &guest, &params->guest, error);
    if (!guest_isolated)
        return FALSE;
    g_autoptr(HostCpuset) host_isolated = check_partition(&c, &host, &params->host, error);
    if (!host_isolated || !check_pin(&c, &host, params, host_isolated, error) ||
        !check_emulatorpin(&c, &host, params, host_isolated, error) ||
        !check_workloads(&c, params, &guest, error) || !check_flat(&c, params, error))
        return FALSE;
    warn_without_effect(&c, params);
    return TRUE;
}
