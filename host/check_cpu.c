/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processors themselves: clock, idle states, frequency, microcode, mitigations. */
#include <string.h>

#include "host/check_private.h"
#include "host/quote.h"

/* Wake-up latency from which an idle state is seen in cyclictest's figures. */
#define DEEP_US 10
#define MAX_NAMED 4
#define CPUS "sys/devices/system/cpu/"

void
host_check_clock(HostChecker *c)
{
    g_autofree char *name =
        host_root_line(c->root, "sys/devices/system/clocksource/clocksource0/current_clocksource");

    if (!name) {
        host_check_say(c, HOST_GRADE_CANNOT, NULL, "the current clocksource can't be read");
        return;
    }
    g_autofree char *problem = host_clock_problem(name, c->kmsg);
    g_autofree char *shown = host_quote(name, 40);
    if (problem)
        host_check_say(c, HOST_GRADE_FAIL,
                       g_strdup("dmesg | grep -iE 'tsc|clocksource' tells the cause; update the "
                                "firmware, and boot without clocksource= and notsc"),
                       "%s", problem);
    else
        host_check_say(c, HOST_GRADE_PASS, NULL, "clocksource %s%s", shown,
                       c->kmsg_from_boot ? ", and the kernel has not called the TSC unstable"
                                         : " (the boot's messages are gone, so what they said of "
                                           "the TSC is unknown)");
}

/* Enabled idle states of CPU that take DEEP_US or more to leave; the name of one, or NULL. */
static char *
deep_state(const HostRoot *root, unsigned int cpu)
{
    g_autofree char *folder = g_strdup_printf(CPUS "cpu%u/cpuidle", cpu);
    g_autoptr(GPtrArray) states = host_root_list(root, folder);
    char *found = NULL;

    for (guint i = 0; states && i < states->len; i++) {
        const char *state = states->pdata[i];
        g_autofree char *latency = host_root_linef(root, "%s/%s/latency", folder, state);
        g_autofree char *disabled = host_root_linef(root, "%s/%s/disable", folder, state);
        g_autofree char *name = host_root_linef(root, "%s/%s/name", folder, state);
        guint64 us = latency ? g_ascii_strtoull(latency, NULL, 10) : 0;
        if (us < DEEP_US || (disabled && strcmp(disabled, "0")))
            continue;
        g_free(found);
        found = g_strdup_printf("%s, %" G_GUINT64_FORMAT " us", name ? name : state, us);
    }
    return found;
}

void
host_check_cpuidle(HostChecker *c)
{
    g_autofree char *driver = host_root_line(c->root, CPUS "cpuidle/current_driver");
    g_autofree char *governor = host_root_line(c->root, CPUS "cpuidle/current_governor_ro");
    g_autofree char *example = NULL;
    g_autoptr(HostCpuset) deep = hwloc_bitmap_alloc();

    if (!driver) {
        host_check_say(c, HOST_GRADE_CANNOT, NULL, CPUS "cpuidle can't be read");
        return;
    }
    unsigned int cpu;
    hwloc_bitmap_foreach_begin(cpu, c->isolated)
    {
        char *state = deep_state(c->root, cpu);
        if (state) {
            hwloc_bitmap_set(deep, cpu);
            g_free(example);
            example = state;
        }
    }
    hwloc_bitmap_foreach_end();
    g_autofree char *list = host_cpulist_format(deep);
    g_autofree char *shown_driver = host_quote(driver, 40);
    g_autofree char *shown_governor = host_quote(governor ? governor : "unknown", 40);
    if (*list)
        host_check_say(c, HOST_GRADE_WARN,
                       g_strdup_printf("cpupower -c %s idle-set -D %d", list, DEEP_US - 1),
                       "isolated CPU %s may sleep deeply (%s to wake up; driver %s, governor %s)",
                       list, example, shown_driver, shown_governor);
    else
        host_check_say(c, HOST_GRADE_PASS, NULL,
                       "no isolated CPU has an enabled idle state of %d us or more (driver %s, "
                       "governor %s)",
                       DEEP_US, shown_driver, shown_governor);
}

/* "0 1 2" */
static HostCpuset *
spaced_list(const char *text)
{
    g_autofree char *commas = g_strdelimit(g_strdup(text ? text : ""), " ", ',');

    return host_cpulist_parse(commas, HOST_CPULIST_KERNEL, 0, NULL, NULL);
}

void
host_check_governor(HostChecker *c)
{
    g_autoptr(GPtrArray) policies = host_root_list(c->root, CPUS "cpufreq");
    g_autoptr(HostCpuset) slow = hwloc_bitmap_alloc();
    guint seen = 0;

    for (guint i = 0; policies && i < policies->len; i++) {
        const char *policy = policies->pdata[i];
        g_autofree char *governor =
            host_root_linef(c->root, CPUS "cpufreq/%s/scaling_governor", policy);
        g_autofree char *text = host_root_linef(c->root, CPUS "cpufreq/%s/affected_cpus", policy);
        g_autoptr(HostCpuset) cpus = spaced_list(text);
        if (!governor || !cpus)
            continue;
        seen++;
        hwloc_bitmap_and(cpus, cpus, c->isolated);
        if (strcmp(governor, "performance"))
            hwloc_bitmap_or(slow, slow, cpus);
    }
    g_autofree char *list = host_cpulist_format(slow);
    if (!seen)
        host_check_say(c, HOST_GRADE_CANNOT, NULL,
                       "no frequency driver: firmware or a hypervisor sets the frequency");
    else if (*list)
        host_check_say(c, HOST_GRADE_WARN,
                       g_strdup_printf("nohzlab host apply, or: cpupower -c %s frequency-set -g "
                                       "performance",
                                       list),
                       "the frequency governor of isolated CPU %s is not performance", list);
    else
        host_check_say(c, HOST_GRADE_PASS, NULL,
                       "the frequency governor of all isolated CPUs is performance");
}

/* "microcode	: 0xb000040", once a CPU. */
void
host_check_microcode(HostChecker *c)
{
    g_autofree char *text = host_root_read(c->root, "proc/cpuinfo", NULL, NULL);
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
    g_autoptr(GPtrArray) versions = g_ptr_array_new_with_free_func(g_free);

    for (char **line = lines; *line; line++) {
        const char *colon = g_str_has_prefix(*line, "microcode") ? strchr(*line, ':') : NULL;
        g_autofree char *version = colon ? g_strstrip(host_quote(colon + 1, 40)) : NULL;
        if (version && versions->len < MAX_NAMED &&
            !g_ptr_array_find_with_equal_func(versions, version, g_str_equal, NULL))
            g_ptr_array_add(versions, g_steal_pointer(&version));
    }
    g_ptr_array_add(versions, NULL);
    g_autofree char *all = g_strjoinv(", ", (char **)versions->pdata);
    if (versions->len == 1)
        host_check_say(c, HOST_GRADE_CANNOT, NULL, "proc/cpuinfo names no microcode version");
    else if (versions->len > 2)
        host_check_say(c, HOST_GRADE_WARN, g_strdup("update the firmware, and reboot"),
                       "the CPUs have different microcode versions: %s", all);
    else
        host_check_say(c, HOST_GRADE_PASS, NULL, "version %s on all CPUs", all);
}

void
host_check_mitigations(HostChecker *c)
{
    g_autoptr(GPtrArray) names = host_root_list(c->root, CPUS "vulnerabilities");
    g_autoptr(GString) vulnerable = g_string_new(NULL);
    guint mitigated = 0, unread = 0;

    if (!names) {
        host_check_say(c, HOST_GRADE_CANNOT, NULL, CPUS "vulnerabilities can't be read");
        return;
    }
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        g_autofree char *state = host_root_linef(c->root, CPUS "vulnerabilities/%s", name);
        unread += !state;
        mitigated += state && strstr(state, "Mitigation") != NULL;
        if (state && strstr(state, "Vulnerable"))
            g_string_append_printf(vulnerable, "%s%s", vulnerable->len ? ", " : "", name);
    }
    if (unread)
        host_check_say(c, HOST_GRADE_CANNOT, NULL, "%u of %u vulnerabilities can't be read", unread,
                       names->len);
    if (vulnerable->len)
        host_check_say(c, HOST_GRADE_WARN,
                       g_strdup("update microcode and kernel; with mitigations=off it is meant so"),
                       "vulnerable: %s; %u mitigated, which costs time at every entry to the "
                       "kernel: compare figures of equal mitigations only",
                       vulnerable->str, mitigated);
    else if (!unread)
        host_check_say(c, HOST_GRADE_PASS, NULL,
                       "%u of %u vulnerabilities mitigated, none open: compare figures of equal "
                       "mitigations only",
                       mitigated, names->len);
}
