/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/irqbalance.h"

#include <stdio.h>
#include <string.h>

#include "host/cpumask.h"
#include "host/quote.h"

#define VERSION(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))
#define LIST_SINCE VERSION(1, 8, 0)
#define LAST_EMPTY_IS_UNSET VERSION(1, 9, 5)

void
host_irqbalance_clear(HostIrqbalance *b)
{
    g_clear_pointer(&b->banned, hwloc_bitmap_free);
    g_clear_pointer(&b->meaning, g_free);
}

/* 0: unknown. */
static int
version_number(const char *text)
{
    unsigned int major, minor, patch = 0;

    if (!text || sscanf(text, "%3u.%2u.%2u", &major, &minor, &patch) < 2)
        return 0;
    return (int)VERSION(major, minor, patch);
}

/* As irqbalance reads a list: what came before a mistake counts. */
static HostCpuset *
lenient_list(const char *text)
{
    HostCpuset *set = hwloc_bitmap_alloc();
    g_auto(GStrv) parts = g_strsplit(text, ",", 4096);

    for (char **part = parts; *part; part++) {
        g_autoptr(HostCpuset) cpus = host_cpulist_parse(*part, HOST_CPULIST_KERNEL, 0, NULL, NULL);
        if (!cpus || !*g_strstrip(*part))
            break;
        hwloc_bitmap_or(set, set, cpus);
    }
    return set;
}

static HostIrqbalance
bans(HostCpuset *set, const char *variable, const char *value, const char *remark)
{
    g_autofree char *list = host_cpulist_format(set);
    g_autofree char *shown = host_quote(value, 80);

    return (HostIrqbalance){.known = TRUE,
                            .banned = set,
                            .meaning = g_strdup_printf("%s=\"%s\" bans %s%s%s", variable, shown,
                                                       *list ? "CPUs " : "no CPU", list, remark)};
}

static HostIrqbalance
automatic(const char *why)
{
    return (HostIrqbalance){
        .known = TRUE,
        .automatic = TRUE,
        .banned = hwloc_bitmap_alloc(),
        .meaning = g_strdup_printf("%s: it bans the isolated and nohz_full CPUs by itself", why)};
}

static HostIrqbalance
depends(char *meaning)
{
    return (HostIrqbalance){.banned = hwloc_bitmap_alloc(), .meaning = meaning};
}

static HostIrqbalance
mask_meaning(const char *mask, int version)
{
    HostCpuset *set = host_cpumask_parse(mask);

    if (!set) {
        g_autofree char *shown = host_quote(mask, 80);
        return depends(g_strdup_printf("IRQBALANCE_BANNED_CPUS=\"%s\" is no hex mask", shown));
    }
    if (version && version <= LAST_EMPTY_IS_UNSET)
        return bans(set, "IRQBALANCE_BANNED_CPUS", mask,
                    version >= LIST_SINCE ? " (a hex mask; it is called discarded, but still used)"
                                          : " (a hex mask)");
    HostIrqbalance b = bans(set, "IRQBALANCE_BANNED_CPUS", mask,
                            " (a hex mask) up to irqbalance 1.9.5, and may be without effect in "
                            "newer ones: use IRQBALANCE_BANNED_CPULIST");
    b.known = FALSE;
    return b;
}

HostIrqbalance
host_irqbalance_meaning(const char *mask, const char *list, const char *version_text)
{
    int version = version_number(version_text);

    if (mask && *mask)
        return mask_meaning(mask, version);
    if (mask && version && version < LIST_SINCE)
        return bans(hwloc_bitmap_alloc(), "IRQBALANCE_BANNED_CPUS", mask, " before 1.8.0");
    if (list && version && version < LIST_SINCE)
        return automatic("IRQBALANCE_BANNED_CPULIST is not known before irqbalance 1.8.0");
    if (!list)
        return automatic("no CPU list is configured");
    if (*list)
        return bans(lenient_list(list), "IRQBALANCE_BANNED_CPULIST", list, "");
    if (!version)
        return depends(g_strdup("IRQBALANCE_BANNED_CPULIST is empty: up to irqbalance 1.9.5 it "
                                "then bans the isolated and nohz_full CPUs, in newer ones none"));
    if (version <= LAST_EMPTY_IS_UNSET)
        return automatic("IRQBALANCE_BANNED_CPULIST is empty, which up to 1.9.5 is as if unset");
    return bans(hwloc_bitmap_alloc(), "IRQBALANCE_BANNED_CPULIST", list, " after 1.9.5");
}
