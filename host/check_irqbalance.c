/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * irqbalance, which moves interrupts while we measure: the environment of the running one where it
 * can be read, its configuration otherwise. What it really did shows in the interrupts' affinity.
 */
#include <string.h>

#include "host/check_private.h"
#include "host/irqbalance.h"

#define MASK "IRQBALANCE_BANNED_CPUS"
#define LIST "IRQBALANCE_BANNED_CPULIST"

typedef struct {
    char *mask, *list;
    const char *source;
} Settings;

static void
settings_clear(Settings *s)
{
    g_free(s->mask);
    g_free(s->list);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Settings, settings_clear)

/* NAME=VALUE; the last one counts. VALUE may stand in quotes (systemd's EnvironmentFile=). */
static void
take_setting(Settings *s, const char *line)
{
    const char *equals = strchr(line, '=');
    if (!equals)
        return;
    g_autofree char *name = g_strstrip(g_strndup(line, (gsize)(equals - line)));
    char **slot = !strcmp(name, MASK) ? &s->mask : !strcmp(name, LIST) ? &s->list : NULL;
    if (!slot)
        return;
    g_autofree char *value = g_strstrip(g_strdup(equals + 1));
    gsize len = strlen(value);
    gboolean quoted = len >= 2 && (*value == '"' || *value == '\'') && value[len - 1] == *value;
    g_free(*slot);
    *slot = quoted ? g_strndup(value + 1, len - 2) : g_strdup(value);
}

/* The number of the process called irqbalance, or NULL. */
static char *
find_process(const HostRoot *root)
{
    g_autoptr(GPtrArray) names = host_root_list(root, "proc");

    for (guint i = 0; names && i < names->len; i++) {
        const char *pid = names->pdata[i];
        if (!g_ascii_isdigit(*pid))
            break; /* numbers come first */
        g_autofree char *comm = host_root_linef(root, "proc/%s/comm", pid);
        if (comm && !strcmp(comm, "irqbalance"))
            return g_strdup(pid);
    }
    return NULL;
}

static gboolean
read_environment(const HostRoot *root, const char *pid, Settings *s)
{
    g_autofree char *path = g_strdup_printf("proc/%s/environ", pid);
    gsize len = 0;
    g_autofree char *text = host_root_read(root, path, &len, NULL);

    if (!text)
        return FALSE;
    for (gsize i = 0; i < len; i += strlen(text + i) + 1)
        take_setting(s, text + i);
    s->source = "its environment";
    return TRUE;
}

static void
read_configuration(const HostRoot *root, Settings *s)
{
    static const char *const files[] = {"etc/default/irqbalance", "etc/sysconfig/irqbalance"};

    for (gsize i = 0; i < G_N_ELEMENTS(files) && !s->source; i++) {
        g_autofree char *text = host_root_read(root, files[i], NULL, NULL);
        if (!text)
            continue;
        s->source = files[i];
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++)
            if (*g_strchug(*line) != '#')
                take_setting(s, *line);
    }
}

/* The installed package's upstream version ("1.9.2-1" -> "1.9.2"), from dpkg's status. */
static char *
installed_version(const HostRoot *root)
{
    g_autofree char *text = host_root_read(root, "var/lib/dpkg/status", NULL, NULL);
    const char *at = text ? strstr(text, "Package: irqbalance\n") : NULL;

    if (!at || (at != text && at[-1] != '\n'))
        return NULL;
    const char *end = strstr(at, "\n\n");
    const char *version = strstr(at, "\nVersion: ");
    if (!version || (end && version > end))
        return NULL;
    version += strlen("\nVersion: ");
    /* An epoch ("1:") is Debian's own. */
    gsize epoch = strspn(version, "0123456789");
    if (epoch && version[epoch] == ':')
        version += epoch + 1;
    return g_strndup(version, strspn(version, "0123456789."));
}

/* Isolated CPUs that irqbalance may use, as a list; NULL when it is not known. */
static char *
unprotected(const HostChecker *c, const HostIrqbalance *b)
{
    g_autoptr(HostCpuset) banned = hwloc_bitmap_dup(b->banned);
    g_autoptr(HostCpuset) left = hwloc_bitmap_dup(c->isolated);

    if (!b->known)
        return NULL;
    if (b->automatic) {
        g_autoptr(HostCpuset) isolated =
            host_root_cpulist(c->root, "sys/devices/system/cpu/isolated");
        g_autoptr(HostCpuset) nohz = host_root_cpulist(c->root, "sys/devices/system/cpu/nohz_full");
        if (isolated)
            hwloc_bitmap_or(banned, banned, isolated);
        if (nohz)
            hwloc_bitmap_or(banned, banned, nohz);
    }
    hwloc_bitmap_andnot(left, left, banned);
    return host_cpulist_format(left);
}

void
host_check_irqbalance(HostChecker *c)
{
    g_autofree char *pid = find_process(c->root);
    g_autofree char *version = installed_version(c->root);
    g_auto(Settings) s = {0};

    if (!pid || !read_environment(c->root, pid, &s))
        read_configuration(c->root, &s);
    if (!pid && !s.source) {
        host_check_say(c, HOST_GRADE_PASS, NULL, "not running, and not configured");
        return;
    }
    g_auto(HostIrqbalance) b = host_irqbalance_meaning(s.mask, s.list, version);
    g_autofree char *left = unprotected(c, &b);
    g_autofree char *fix =
        g_strdup_printf("set %s=%s in /etc/default/irqbalance and restart it, or "
                        "stop it while measuring: systemctl stop irqbalance",
                        LIST, c->isolated_list);
    const char *from = s.source ? s.source : "no configuration";
    const char *shown_version = version ? version : "of unknown version";
    if (!pid)
        host_check_say(c, left && !*left ? HOST_GRADE_PASS : HOST_GRADE_WARN,
                       left && !*left ? NULL : g_steal_pointer(&fix),
                       "%s is not running; if it were: %s (irqbalance %s, %s)", "irqbalance",
                       b.meaning, shown_version, from);
    else if (!left)
        host_check_say(c, HOST_GRADE_CANNOT, g_steal_pointer(&fix),
                       "running, and what it may do can't be told: %s (irqbalance %s, %s); the "
                       "check irq tells where interrupts are now",
                       b.meaning, shown_version, from);
    else if (*left)
        host_check_say(
            c, HOST_GRADE_FAIL, g_steal_pointer(&fix),
            "running, and may move interrupts to isolated CPU %s: %s (irqbalance %s, %s)", left,
            b.meaning, shown_version, from);
    else
        host_check_say(c, HOST_GRADE_PASS, NULL,
                       "running, and keeps off the isolated CPUs: %s "
                       "(irqbalance %s, %s)",
                       b.meaning, shown_version, from);
}
