/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which cpuset controller this machine has, found from its mounts (proc_pid_mountinfo(5)), and
 * partitions made with it (Documentation/admin-guide/cgroup-v2.rst, cpuset.cpus.partition). Only
 * read, and only below what is mounted.
 */
#include <string.h>

#include "host/check_private.h"
#include "host/quote.h"

#define MAX_DEPTH 8
#define MAX_GROUPS 4096
#define MAX_INVALID_SAID 8

typedef struct {
    char *v1_cpuset; /* mount points without the leading slash, or NULL */
    char *v2;
    gboolean v1_other; /* other v1 controllers */
    gboolean v2_has_cpuset;
} Layout;

static void
layout_clear(Layout *l)
{
    g_free(l->v1_cpuset);
    g_free(l->v2);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Layout, layout_clear)

static gboolean
has_word(const char *text, const char *separators, const char *word)
{
    g_auto(GStrv) words = g_strsplit_set(text, separators, -1);

    return g_strv_contains((const char *const *)words, word);
}

/* "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw" */
static void
parse_mount(Layout *l, const char *line)
{
    const char *dash = strstr(line, " - ");
    g_auto(GStrv) fields = g_strsplit(line, " ", 6);
    g_auto(GStrv) behind = g_strsplit(dash ? dash + 3 : "", " ", 3);

    if (g_strv_length(fields) < 5 || g_strv_length(behind) < 3)
        return;
    g_autofree char *point = g_strcompress(fields[4]); /* a space is \040 */
    const char *relative = point + strspn(point, "/");
    if (!strcmp(behind[0], "cgroup2") && !l->v2) {
        l->v2 = g_strdup(relative);
    } else if (!strcmp(behind[0], "cgroup")) {
        gboolean cpuset = has_word(g_strchomp(behind[2]), ",", "cpuset");
        l->v1_other |= !cpuset;
        if (cpuset && !l->v1_cpuset)
            l->v1_cpuset = g_strdup(relative);
    }
}

static gboolean
read_layout(const HostRoot *root, Layout *l)
{
    g_autofree char *text = host_root_read(root, "proc/self/mountinfo", NULL, NULL);
    if (!text)
        return FALSE;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        parse_mount(l, *line);
    if (l->v2) {
        g_autofree char *controllers = host_root_linef(root, "%s/cgroup.controllers", l->v2);
        l->v2_has_cpuset = controllers && has_word(controllers, " ", "cpuset");
    }
    return TRUE;
}

typedef struct {
    const HostRoot *root;
    HostCpuset *isolated;
    GPtrArray *invalid; /* char *: "GROUP: isolated invalid (reason)"; may be NULL */
    guint groups;
} Walk;

static void
look_at_group(Walk *w, const char *group)
{
    g_autofree char *state = host_root_linef(w->root, "%s/cpuset.cpus.partition", group);

    if (!state)
        return; /* the root group has none */
    if (!strcmp(state, "isolated")) {
        g_autofree char *path = g_strdup_printf("%s/cpuset.cpus.effective", group);
        g_autoptr(HostCpuset) cpus = host_root_cpulist(w->root, path);
        if (cpus)
            hwloc_bitmap_or(w->isolated, w->isolated, cpus);
    } else if (w->invalid && strstr(state, "invalid")) {
        g_ptr_array_add(w->invalid,
                        g_strdup_printf("/%s: cpuset.cpus.partition is \"%s\"", group, state));
    }
}

static void
walk(Walk *w, const char *group, guint depth)
{
    g_autoptr(GPtrArray) names = host_root_list(w->root, group);

    if (!names || ++w->groups > MAX_GROUPS)
        return;
    look_at_group(w, group);
    for (guint i = 0; depth < MAX_DEPTH && i < names->len; i++) {
        const char *name = names->pdata[i];
        /* Files of a group have a dot behind their controller's name; opening one as a folder
         * fails, too. */
        if (g_str_has_prefix(name, "cgroup.") || g_str_has_prefix(name, "cpuset.") ||
            g_str_has_prefix(name, "memory.") || g_str_has_prefix(name, "cpu.") ||
            g_str_has_prefix(name, "io.") || g_str_has_prefix(name, "pids."))
            continue;
        g_autofree char *below = g_build_filename(group, name, NULL);
        walk(w, below, depth + 1);
    }
}

HostCpuset *
host_cgroup_isolated(const HostRoot *root)
{
    g_auto(Layout) l = {0};
    Walk w = {.root = root, .isolated = hwloc_bitmap_alloc()};

    if (read_layout(root, &l) && l.v2_has_cpuset)
        walk(&w, l.v2, 0);
    return w.isolated;
}

static void
say_v2(HostChecker *c, const Layout *l)
{
    g_autoptr(GPtrArray) invalid = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(HostCpuset) isolated = hwloc_bitmap_alloc();
    Walk w = {.root = c->root, .isolated = isolated, .invalid = invalid};

    walk(&w, l->v2, 0);
    for (guint i = 0; i < invalid->len && i < MAX_INVALID_SAID; i++)
        host_check_say(c, HOST_GRADE_FAIL,
                       g_strdup("remove what the reason names, then write the partition's type "
                                "again: echo isolated > .../cpuset.cpus.partition"),
                       "%s: the partition is not in force", (char *)invalid->pdata[i]);
    g_autofree char *list = host_cpulist_format(isolated);
    if (w.groups > MAX_GROUPS)
        host_check_say(c, HOST_GRADE_CANNOT, NULL,
                       "more than %u control groups: not all were looked at", MAX_GROUPS);
    if (!invalid->len)
        host_check_say(c, HOST_GRADE_PASS, NULL, "cpuset v2 at /%s%s; %s%s", l->v2,
                       l->v1_other ? " (a hybrid layout: other controllers are v1)" : "",
                       *list ? "isolated partitions hold CPUs " : "no isolated partition", list);
}

void
host_check_cgroup(HostChecker *c)
{
    g_auto(Layout) l = {0};

    if (!read_layout(c->root, &l))
        host_check_say(c, HOST_GRADE_CANNOT, NULL, "proc/self/mountinfo can't be read");
    else if (l.v1_cpuset)
        host_check_say(c, HOST_GRADE_PASS, NULL, "cpuset v1 at /%s%s", l.v1_cpuset,
                       l.v2 ? " (a hybrid layout: v2 is mounted, too, without cpuset)" : "");
    else if (l.v2_has_cpuset)
        say_v2(c, &l);
    else if (l.v2)
        host_check_say(c, HOST_GRADE_CANNOT,
                       g_strdup("boot without cgroup_disable=cpuset, with a kernel that has "
                                "CONFIG_CPUSETS"),
                       "cgroup v2 is mounted at /%s, but cpuset is not among its controllers",
                       l.v2);
    else if (l.v1_other)
        host_check_say(c, HOST_GRADE_CANNOT, NULL, "cgroup v1 is mounted, but not its cpuset");
    else
        host_check_say(c, HOST_GRADE_CANNOT, NULL, "no cgroups are mounted");
}
