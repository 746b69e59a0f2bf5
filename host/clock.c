/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the clocksource under a measurement is worth, and whether the kernel is a real-time one. */
#include "host/isolation.h"

#include <gio/gio.h>
#include <string.h>

#include "host/kmsg.h"
#include "host/quote.h"

/* Read without leaving the guest or the CPU, and steady. */
static const char *const good_clocks[] = {"tsc", "kvm-clock", "arch_sys_counter"};

/* What arch/x86/kernel/tsc.c, tsc_sync.c, kernel/time/clocksource.c and kernel/sched/clock.c say of
 * an unstable TSC. */
static gboolean
says_unstable(const char *line)
{
    static const char *const words[] = {
        "Marking TSC unstable",     "Marking clocksource 'tsc' as unstable",
        "Clocksource tsc unstable", "TSC found unstable",
        "turning off TSC clock",    "sched_clock: Marking unstable",
    };
    const char *text = host_kmsg_text(line);
    /* The command line is a message too, and may hold any words. */
    if (strstr(text, "ommand line"))
        return FALSE;
    for (gsize i = 0; i < G_N_ELEMENTS(words); i++)
        if (strstr(text, words[i]))
            return TRUE;
    return FALSE;
}

char *
host_clock_problem(const char *name, const GPtrArray *kmsg)
{
    static const char consequence[] = "latencies measured with it are void, and on a lab host "
                                      "nohz_full can't be relied on to stop the tick";
    g_autofree char *stripped = g_strstrip(g_strdup(name ? name : ""));
    g_autofree char *clock = host_quote(stripped, 40);
    for (guint i = 0; kmsg && i < kmsg->len; i++) {
        if (!says_unstable(kmsg->pdata[i]))
            continue;
        g_autofree char *said = host_quote(host_kmsg_text(kmsg->pdata[i]), 200);
        return g_strdup_printf("the TSC is unstable (the kernel says: '%s'; clocksource %s): %s",
                               g_strstrip(said), *clock ? clock : "unknown", consequence);
    }
    if (!*clock)
        return g_strdup("the clocksource is unknown, so nothing measured with it can be used");
    for (gsize i = 0; i < G_N_ELEMENTS(good_clocks); i++)
        if (!strcmp(clock, good_clocks[i]))
            return NULL;
    return g_strdup_printf("clocksource %s is not tsc or kvm-clock: %s", clock, consequence);
}

/* "PREEMPT_RT" as a word of its own; "PREEMPT RT" is how the patches before 5.x had it. */
static gboolean
version_says_rt(const char *uname_v)
{
    g_auto(GStrv) words = g_strsplit_set(uname_v, " \t\n", -1);
    for (guint i = 0; words[i]; i++)
        if (!strcmp(words[i], "PREEMPT_RT") ||
            (!strcmp(words[i], "PREEMPT") && !g_strcmp0(words[i + 1], "RT")))
            return TRUE;
    return FALSE;
}

gboolean
host_is_realtime(const char *sysfs_realtime, const char *uname_v, gboolean *rt, GError **error)
{
    g_autofree char *file = g_strstrip(g_strdup(sysfs_realtime ? sysfs_realtime : ""));
    g_autofree char *shown_file = host_quote(file, 40);
    g_autofree char *shown_version = host_quote(uname_v, 120);
    if (!uname_v || !*uname_v) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "whether this is a PREEMPT_RT kernel is unknown: there is no uname -v");
        return FALSE;
    }
    gboolean version_rt = version_says_rt(uname_v);
    if (sysfs_realtime) {
        if (strcmp(file, "0") && strcmp(file, "1")) {
            g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                        "/sys/kernel/realtime has \"%s\", expected 0 or 1", shown_file);
            return FALSE;
        }
        if (version_rt != (*file == '1')) {
            g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                        "whether this is a PREEMPT_RT kernel is contradictory: "
                        "/sys/kernel/realtime has %s, "
                        "uname -v has \"%s\"",
                        shown_file, shown_version);
            return FALSE;
        }
    }
    *rt = version_rt;
    return TRUE;
}
