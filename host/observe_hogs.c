/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "host/observe_private.h"

typedef struct {
    int tid;
    unsigned int cpu;
    char comm[16];
    guint64 run_ns;
} Hog;

struct HostHogs {
    GArray *hogs; /* Hog */
    gboolean no_run_times;
};

/* The first number of /proc/TID/schedstat: time spent on a CPU, in ns (Documentation/scheduler/
 * sched-stats.rst). */
static gboolean
read_run_ns(int tid, guint64 *ns)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/schedstat", tid);
    g_autofree char *text = NULL;

    if (!g_file_get_contents(path, &text, NULL, NULL))
        return FALSE;
    char *end;
    *ns = g_ascii_strtoull(text, &end, 10);
    return end != text;
}

/* State and CPU of /proc/TID/stat: fields 3 and 39 (proc(5)); the name in field 2 may hold
 * anything, so counting starts behind its last parenthesis. */
static gboolean
read_stat(int tid, char *state, unsigned int *cpu, char comm[16])
{
    g_autofree char *path = g_strdup_printf("/proc/%d/stat", tid);
    g_autofree char *text = NULL;

    if (!g_file_get_contents(path, &text, NULL, NULL))
        return FALSE;
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open || close[1] != ' ')
        return FALSE;
    gsize len = MIN((gsize)(close - open - 1), 15);
    memcpy(comm, open + 1, len);
    comm[len] = '\0';
    *state = close[2];
    const char *at = close + 2;
    for (guint field = 3; field < 39; field++) {
        at = strchr(at, ' ');
        if (!at)
            return FALSE;
        at++;
    }
    *cpu = (unsigned int)g_ascii_strtoull(at, NULL, 10);
    return TRUE;
}

static void
look_at_thread(HostHogs *h, int tid, const HostCpuset *cpus, GHashTable *ours)
{
    Hog hog = {.tid = tid};
    char state;

    if (g_hash_table_contains(ours, GINT_TO_POINTER(tid)) ||
        !read_stat(tid, &state, &hog.cpu, hog.comm) || state != 'R' ||
        !hwloc_bitmap_isset(cpus, hog.cpu))
        return;
    if (read_run_ns(tid, &hog.run_ns))
        g_array_append_val(h->hogs, hog);
    else
        h->no_run_times = TRUE;
}

HostHogs *
host_hogs_new(const HostCpuset *cpus, GHashTable *ours)
{
    HostHogs *h = g_new0(HostHogs, 1);
    g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
    const char *name;

    h->hogs = g_array_new(FALSE, FALSE, sizeof(Hog));
    while (proc && (name = g_dir_read_name(proc))) {
        if (!g_ascii_isdigit(*name))
            continue;
        g_autofree char *path = g_strdup_printf("/proc/%s/task", name);
        g_autoptr(GDir) tasks = g_dir_open(path, 0, NULL);
        const char *tid;
        while (tasks && (tid = g_dir_read_name(tasks)))
            look_at_thread(h, (int)g_ascii_strtoll(tid, NULL, 10), cpus, ours);
    }
    return h;
}

int
host_hogs_find(const HostHogs *h, unsigned int cpu, char comm[16])
{
    if (!h || h->no_run_times)
        return -1;
    for (guint i = 0; i < h->hogs->len; i++) {
        const Hog *hog = &g_array_index(h->hogs, Hog, i);
        unsigned int now_cpu;
        guint64 now_ns;
        char state;
        if (hog->cpu == cpu && read_run_ns(hog->tid, &now_ns) && now_ns > hog->run_ns &&
            read_stat(hog->tid, &state, &now_cpu, comm) && now_cpu == cpu)
            return hog->tid;
    }
    return 0;
}

void
host_hogs_free(HostHogs *h)
{
    if (!h)
        return;
    g_array_unref(h->hogs);
    g_free(h);
}
