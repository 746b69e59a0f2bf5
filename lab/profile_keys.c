/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of keys: the one list that parses, checks and documents them. */
#include <string.h>

#include "lab/profile_private.h"

#define PARTITION(section, member)                                                                 \
    {section,                                                                                      \
     "housekeeping",                                                                               \
     LAB_TYPE_CPULIST_KERNEL,                                                                      \
     "",                                                                                           \
     NULL,                                                                                         \
     "CPUs left to everything else; empty: all that are not isolated",                             \
     offsetof(LabParams, member.housekeeping)},                                                    \
        {section,                                                                                  \
         "isolated",                                                                               \
         LAB_TYPE_CPULIST_KERNEL,                                                                  \
         "",                                                                                       \
         NULL,                                                                                     \
         "CPUs to isolate, N is the last one; empty: no isolation",                                \
         offsetof(LabParams, member.isolated)},                                                    \
        {section,                                                                                  \
         "nohz_full",                                                                              \
         LAB_TYPE_BOOL,                                                                            \
         "yes",                                                                                    \
         NULL,                                                                                     \
         "put the isolated CPUs into nohz_full=",                                                  \
         offsetof(LabParams, member.nohz_full)},                                                   \
        {section,                                                                                  \
         "rcu_nocbs",                                                                              \
         LAB_TYPE_BOOL,                                                                            \
         "yes",                                                                                    \
         NULL,                                                                                     \
         "put the isolated CPUs into rcu_nocbs=",                                                  \
         offsetof(LabParams, member.rcu_nocbs)},                                                   \
        {section,                                                                                  \
         "isolcpus",                                                                               \
         LAB_TYPE_STRING,                                                                          \
         "domain,managed_irq",                                                                     \
         NULL,                                                                                     \
         "flags of isolcpus= for the isolated CPUs; none: no isolcpus=",                           \
         offsetof(LabParams, member.isolcpus)},                                                    \
    {                                                                                              \
        section, "cmdline", LAB_TYPE_CMDLINE, "", NULL, "further kernel parameters, as they are",  \
            offsetof(LabParams, member.cmdline)                                                    \
    }

#define MAIN(member) offsetof(LabParams, member)
#define WORK(member) offsetof(LabWorkload, member)

static const LabKey keys[] = {
    {"main", "summary", LAB_TYPE_STRING, "", NULL, "one line on what the profile is for",
     MAIN(summary)},
    {"main", "include", LAB_TYPE_STRING, "", NULL,
     "profiles of the same folder, without .ini, separated by commas, that this one builds on",
     LAB_KEY_NO_FIELD},
    {"main", "kernel", LAB_TYPE_STRING, "default", NULL,
     "default, debian:SERIES, boot:RELEASE or path:FILE[,modules=DIR]", MAIN(kernel)},
    {"main", "boots", LAB_TYPE_UINT, "3", "1..1000", "fresh boots of each point of the matrix",
     MAIN(boots)},
    {"main", "jobs", LAB_TYPE_UINT, "0", "0..64",
     "runs side by side; 0: as many as the clock allows", MAIN(jobs)},

    {"host", "platform", LAB_TYPE_ENUM, "auto", "auto|metal|box|bare",
     "where the lab host is: this machine's KVM, an emulated one, or none at all", MAIN(platform)},
    {"host", "clock", LAB_TYPE_ENUM, "wall", "wall|icount",
     "wall clock, or virtual time that counts instructions (box and bare)", MAIN(clock)},
    {"host", "cpus", LAB_TYPE_UINT, "4", "1..255", "CPUs of the emulated lab host (box)",
     MAIN(host_cpus)},
    {"host", "tune", LAB_TYPE_BOOL, "no", NULL,
     "set what of the partition can be had at run time (nohzlab host apply) for each run, and put "
     "it "
     "back (metal and box)",
     MAIN(tune)},
    {"host", "observe", LAB_TYPE_OBSERVE, "auto",
     "auto|yes|no|exits|timers|foreign|interrupts|ticks|targets",
     "what watches the lab host while workloads run (metal and box); yes: all of them; auto: all "
     "where durations are not the figure, so in a box whose clock is the wall",
     MAIN(observe)},
    PARTITION("host", host),

    {"guest", "vcpus", LAB_TYPE_UINT, "1", "1..255", "CPUs of the guest", MAIN(vcpus)},
    {"guest", "memory", LAB_TYPE_SIZE_MIB, "256M", "64M..64G", "memory of the guest",
     MAIN(memory_mib)},
    {"guest", "pin", LAB_TYPE_CPULIST_TOOL, "", NULL,
     "one CPU of the lab host for each vCPU, in ascending order, OS numbers; empty: not pinned",
     MAIN(pin)},
    {"guest", "emulatorpin", LAB_TYPE_CPULIST_TOOL, "", NULL,
     "CPUs of the lab host for the emulator's other threads; empty: not pinned", MAIN(emulatorpin)},
    {"guest", "boot_timeout", LAB_TYPE_TIME_S, "60s", "1s..24h",
     "how long the guest may take to be ready", MAIN(boot_timeout_s)},
    {"guest", "seed", LAB_TYPE_UINT, "1", "0..4294967295",
     "of the emulator's randomness; boot n uses seed + n", MAIN(seed)},
    PARTITION("guest", guest),

    {"workload", "type", LAB_TYPE_CHOICE, NULL, "syscall-loop|cyclictest|exit-cost|command",
     "what runs; left out: the section's name", WORK(type)},
    {"workload", "cpu", LAB_TYPE_INT, "-1", "-1..254",
     "vCPU it is pinned to; -1: none (cyclictest: one thread on each)", WORK(cpu)},
    {"workload", "timeout", LAB_TYPE_TIME_S, "120s", "1s..24h", "how long it may take",
     WORK(timeout_s)},
    {"workload", "host_load", LAB_TYPE_CHOICE, "none", "none|housekeeping",
     "keep these CPUs of the lab host busy meanwhile (metal and box)", WORK(host_load)},
    {"workload", "observe", LAB_TYPE_BOOL, "yes", NULL,
     "watched by what host.observe says; no: measured alone", WORK(observe)},
    {"workload", "trace", LAB_TYPE_FUNCTION, "", NULL,
     "kernel function of the guest whose calls on the workload's CPU are timed meanwhile, by its "
     "function_graph tracer, whose own cost is taken off; empty: none",
     WORK(trace)},
    {"workload", "loop", LAB_TYPE_CHOICE, "invalid", "invalid|stat",
     "syscall-loop: the call: a number no kernel has, or stat(\".\")", WORK(loop)},
    {"workload", "calls", LAB_TYPE_UINT, "200", "1..1000000000", "syscall-loop: calls per batch",
     WORK(calls)},
    {"workload", "batches", LAB_TYPE_UINT, "400", "1..8000",
     "syscall-loop, exit-cost: measured batches (exit-cost: of each kind, 50 by default, at most "
     "1000)",
     WORK(batches)},
    {"workload", "warmup", LAB_TYPE_UINT, "2000", "0..10000",
     "syscall-loop: at most this many batches before the steady state", WORK(warmup)},
    {"workload", "hot_functions", LAB_TYPE_BOOL, "no", NULL,
     "syscall-loop: tell also which kernel functions a call's instructions are in (bare, icount)",
     WORK(hot_functions)},
    {"workload", "interval", LAB_TYPE_TIME_US, "1ms", "10us..10s",
     "cyclictest: time between wake-ups", WORK(interval_us)},
    {"workload", "loops", LAB_TYPE_UINT, "10000", "1..1000000000",
     "cyclictest: wake-ups per thread", WORK(loops)},
    {"workload", "priority", LAB_TYPE_UINT, "95", "1..99", "cyclictest: SCHED_FIFO priority",
     WORK(priority)},
    {"workload", "histogram", LAB_TYPE_TIME_US, "1ms", "0us..1s",
     "cyclictest: largest latency of the histogram, which p50 and p99 need; 0us: none",
     WORK(histogram_us)},
    {"workload", "kinds", LAB_TYPE_STRING, "all", NULL,
     "exit-cost: kinds of exit, separated by commas; all: each that this guest can cause",
     WORK(kinds)},
    {"workload", "functions", LAB_TYPE_BOOL, "no", NULL,
     "exit-cost: once measured, repeat each kind and tell where on the lab host it is spent",
     WORK(functions)},
    {"workload", "command", LAB_TYPE_ARGV, NULL, NULL,
     "command: absolute path of a program of this machine, carried into the guest, and its "
     "arguments, in shell quoting (no shell is run)",
     WORK(command)},

    {"check", "host.clocksource", LAB_TYPE_STRING, NULL, NULL,
     "clock source of the lab host, alternatives separated by |", LAB_KEY_NO_FIELD},
    {"check", "host.kvm", LAB_TYPE_BOOL, NULL, NULL,
     "whether this machine's KVM really runs a guest", LAB_KEY_NO_FIELD},
    {"check", "host.min_cpus", LAB_TYPE_UINT, NULL, "1..8192", "CPUs of this machine, at least",
     LAB_KEY_NO_FIELD},
    {"check", "qemu.min_version", LAB_TYPE_STRING, NULL, NULL, "QEMU of this version or newer",
     LAB_KEY_NO_FIELD},
    {"check", "guest.clocksource", LAB_TYPE_STRING, NULL, NULL,
     "clock source of the guest, alternatives separated by |", LAB_KEY_NO_FIELD},
};

/* Keys of [workload] that only one type has; the others belong to all. */
static const struct {
    const char *type;
    const char *const keys[6];
} workload_types[] = {
    {"syscall-loop", {"loop", "calls", "batches", "warmup", "hot_functions", NULL}},
    {"cyclictest", {"interval", "loops", "priority", "histogram", NULL}},
    {"exit-cost", {"kinds", "batches", "functions", NULL}},
    {"command", {"command", NULL}},
};
static const char *const common_workload_keys[] = {"type",    "cpu",   "timeout", "host_load",
                                                   "observe", "trace", NULL};

const LabKey *
lab_profile_keys(gsize *n)
{
    *n = G_N_ELEMENTS(keys);
    return keys;
}

const char *
lab_workload_name(const char *section)
{
    return g_str_has_prefix(section, "workload ") ? section + strlen("workload ") : NULL;
}

char *
lab_address(const char *section, const char *key)
{
    return g_strconcat(section, ".", key, NULL);
}

const LabKey *
lab_key_find(const char *section, const char *key)
{
    const char *wanted = lab_workload_name(section) ? "workload" : section;

    for (gsize i = 0; i < G_N_ELEMENTS(keys); i++)
        if (strcmp(keys[i].section, wanted) == 0 && strcmp(keys[i].key, key) == 0)
            return &keys[i];
    return NULL;
}

gboolean
lab_workload_type_known(const char *type)
{
    for (gsize i = 0; i < G_N_ELEMENTS(workload_types); i++)
        if (strcmp(workload_types[i].type, type) == 0)
            return TRUE;
    return FALSE;
}

gboolean
lab_workload_type_has(const char *type, const char *key)
{
    if (g_strv_contains(common_workload_keys, key))
        return TRUE;
    for (gsize i = 0; i < G_N_ELEMENTS(workload_types); i++)
        if (strcmp(workload_types[i].type, type) == 0)
            return g_strv_contains(workload_types[i].keys, key);
    return FALSE;
}

char *
lab_workload_type_keys(const char *type)
{
    g_autofree char *common = g_strjoinv(", ", (char **)common_workload_keys);

    for (gsize i = 0; i < G_N_ELEMENTS(workload_types); i++) {
        if (strcmp(workload_types[i].type, type) != 0)
            continue;
        g_autofree char *own = g_strjoinv(", ", (char **)workload_types[i].keys);
        return g_strconcat(common, ", ", own, NULL);
    }
    return g_steal_pointer(&common);
}

/* Where else KEY is at home, or NULL. */
static const char *
other_section(const char *section, const char *key)
{
    for (gsize i = 0; i < G_N_ELEMENTS(keys); i++)
        if (strcmp(keys[i].key, key) == 0 && strcmp(keys[i].section, section) != 0)
            return strcmp(keys[i].section, "workload") == 0 ? "workload NAME" : keys[i].section;
    return NULL;
}

static char *
unknown_key_message(const char *section, const char *key)
{
    const char *plain = lab_workload_name(section) ? "workload" : section;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autofree char *shown = lab_shorten(key);

    for (gsize i = 0; i < G_N_ELEMENTS(keys); i++)
        if (strcmp(keys[i].section, plain) == 0)
            g_ptr_array_add(names, (gpointer)keys[i].key);
    g_autofree char *hint = lab_near_hint(key, names);
    const char *other = other_section(plain, key);
    if (!*hint && other)
        return g_strdup_printf("`%s' is a key of [%s], not of [%s]", shown, other, section);
    return g_strdup_printf("[%s] has no key `%s'%s", section, shown, hint);
}

void
lab_error_unknown_key(GError **error, const LabSetting *s)
{
    g_autofree char *message = unknown_key_message(s->section, s->key);
    lab_error_setting(error, LAB_PROFILE_ERROR_KEY, s, "%s", message);
}

/* "section.key"; sections of workloads are written with a space or a dot. A name without a dot is
 * of [main]. */
static void
address_split(const char *text, char **section, char **key)
{
    gsize word = strlen("workload");
    gboolean workload =
        g_str_has_prefix(text, "workload") && (text[word] == ' ' || text[word] == '.');
    const char *rest = workload ? text + word + 1 + strspn(text + word + 1, " ") : text;
    const char *dot = strchr(rest, '.');

    if (!dot) {
        *section = g_strdup(workload ? "workload" : "main");
        *key = g_strdup(rest);
        return;
    }
    g_autofree char *first = g_strndup(rest, dot - rest);
    *section = workload ? g_strconcat("workload ", first, NULL) : g_steal_pointer(&first);
    *key = g_strdup(dot + 1);
}

static gboolean
workload_exists(const LabLayer *l, const char *section, const LabSetting *where, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    if (lab_layer_section(l, section))
        return TRUE;
    for (guint i = 0; i < l->sections->len; i++) {
        const LabSection *s = g_ptr_array_index(l->sections, i);
        if (lab_workload_name(s->name))
            g_ptr_array_add(names, s->name);
    }
    g_autofree char *hint = lab_near_hint(section, names);
    g_autofree char *shown = lab_shorten(section);
    lab_error_setting(error, LAB_PROFILE_ERROR_KEY, where, "there is no section [%s]%s", shown,
                      hint);
    return FALSE;
}

const LabKey *
lab_address_resolve(const LabLayer *l, const char *text, const LabSetting *where, char **section,
                    char **key, GError **error)
{
    static const char *const sections[] = {"main", "host", "guest", "check"};
    g_autofree char *s = NULL, *k = NULL;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    gboolean known = FALSE;

    address_split(text, &s, &k);
    for (gsize i = 0; i < G_N_ELEMENTS(sections); i++) {
        g_ptr_array_add(names, (gpointer)sections[i]);
        known = known || strcmp(s, sections[i]) == 0;
    }
    if (lab_workload_name(s)) {
        if (!workload_exists(l, s, where, error))
            return NULL;
    } else if (!known) {
        g_autofree char *hint = lab_near_hint(s, names);
        g_autofree char *shown = lab_shorten(text);
        lab_error_setting(error, LAB_PROFILE_ERROR_KEY, where,
                          "`%s' names no key: main.KEY, host.KEY, guest.KEY, workload NAME.KEY or "
                          "check.KEY%s",
                          shown, hint);
        return NULL;
    }
    const LabKey *found = lab_key_find(s, k);
    if (!found) {
        g_autofree char *message = unknown_key_message(s, k);
        lab_error_setting(error, LAB_PROFILE_ERROR_KEY, where, "%s", message);
        return NULL;
    }
    *section = g_steal_pointer(&s);
    *key = g_steal_pointer(&k);
    return found;
}
