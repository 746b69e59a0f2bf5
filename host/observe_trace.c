/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/observe_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <tracefs.h>
#include <unistd.h>

#include "host/error.h"
#include "host/observe_hist.h"

struct HostTrace {
    struct tracefs_instance *instance;
    char *dir;
    int lock; /* its folder */
};

const char *
host_trace_dir(GError **error)
{
    static const char *found; /* the library makes a new copy at each call */

    tracefs_set_loglevel(TEP_LOG_NONE);
    if (found || (tracefs_tracing_dir_is_mounted(false, &found) == 1 && found))
        return found;
    g_set_error_literal(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                        "tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing");
    return NULL;
}

/* Locks the folder DIR: its descriptor, -1 when somebody else has it, or it is gone or another one
 * meanwhile. */
static int
lock_dir(const char *dir)
{
    struct stat locked, there;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &locked) == 0 && stat(dir, &there) == 0 &&
        locked.st_ino == there.st_ino && locked.st_dev == there.st_dev)
        return fd;
    close(fd);
    return -1;
}

/* Removes instance NAME if nobody owns it. */
static gboolean
reap_one(const char *instances, const char *name, void (*each)(const char *name))
{
    g_autofree char *dir = g_build_filename(instances, name, NULL);
    int lock = lock_dir(dir);

    if (lock < 0)
        return FALSE;
    if (each)
        each(name);
    gboolean gone = rmdir(dir) == 0;
    close(lock);
    return gone;
}

static struct tracefs_instance *
make_instance(const char *name, GError **error)
{
    struct tracefs_instance *instance = tracefs_instance_create(name);

    if (!instance)
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED, "trace instance %s: %s", name,
                    g_strerror(errno));
    return instance;
}

HostTrace *
host_trace_new(const char *name, GError **error)
{
    const char *top = host_trace_dir(error);
    if (!top)
        return NULL;
    g_autofree char *instances = g_build_filename(top, "instances", NULL);
    /* Between our mkdir and our lock, somebody who removes dead ones may hold the lock. */
    for (guint attempt = 0; attempt < 20; attempt++) {
        reap_one(instances, name, NULL);
        struct tracefs_instance *instance = make_instance(name, error);
        if (!instance)
            return NULL;
        gboolean is_new = tracefs_instance_is_new(instance);
        char *dir = tracefs_instance_get_dir(instance);
        int lock = is_new ? lock_dir(dir) : -1;
        if (lock >= 0) {
            HostTrace *t = g_new0(HostTrace, 1);
            t->instance = instance;
            t->dir = dir;
            t->lock = lock;
            if (host_trace_write(t, "tracing_on", "0", error))
                return t;
            host_trace_free(t);
            return NULL;
        }
        tracefs_put_tracing_file(dir);
        tracefs_instance_free(instance);
        g_usleep(5000);
    }
    g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                "trace instance %s is in use by another process", name);
    return NULL;
}

gboolean
host_trace_free(HostTrace *t)
{
    if (!t)
        return TRUE;
    host_trace_write(t, "tracing_on", "0", NULL);
    gboolean gone = FALSE;
    /* EBUSY while a reader of ours is being torn down. */
    for (guint attempt = 0; attempt < 10 && !gone; attempt++) {
        gone = rmdir(t->dir) == 0 || errno == ENOENT;
        if (!gone)
            g_usleep(5000);
    }
    tracefs_instance_free(t->instance);
    tracefs_put_tracing_file(t->dir);
    close(t->lock);
    g_free(t);
    return gone;
}

guint
host_trace_reap(const char *prefix, void (*each)(const char *name))
{
    const char *top = host_trace_dir(NULL);
    g_autofree char *instances = top ? g_build_filename(top, "instances", NULL) : NULL;
    g_autoptr(GDir) folder = instances ? g_dir_open(instances, 0, NULL) : NULL;
    const char *name;
    guint removed = 0;

    while (folder && (name = g_dir_read_name(folder)))
        if (g_str_has_prefix(name, prefix))
            removed += reap_one(instances, name, each);
    return removed;
}

struct tep_handle *
host_trace_events_new(GError **error)
{
    struct tep_handle *tep = tep_alloc();
    gsize len = 0;
    g_autofree char *page = host_trace_read(NULL, "events/header_page", 65536, &len, error);

    if (tep) {
        tep_set_long_size(tep, sizeof(long));
        tep_set_page_size(tep, getpagesize());
        tep_set_file_bigendian(tep, G_BYTE_ORDER == G_BIG_ENDIAN);
        tep_set_local_bigendian(tep, G_BYTE_ORDER == G_BIG_ENDIAN);
    }
    if (tep && page && tep_parse_header_page(tep, page, len, sizeof(long)) == 0)
        return tep;
    if (page)
        g_set_error_literal(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                            "events/header_page of tracefs is not understood");
    if (tep)
        tep_free(tep);
    return NULL;
}

struct tep_event *
host_trace_event(struct tep_handle *tep, const char *system, const char *name, GError **error)
{
    struct tep_event *event = tep_find_event_by_name(tep, system, name);
    g_autofree char *path = g_strdup_printf("events/%s/%s/format", system, name);
    g_autofree char *format = NULL;

    if (event)
        return event;
    format = host_trace_read(NULL, path, 1024 * 1024, NULL, NULL);
    /* Nothing is ever printed by it, and the library does not free all it makes of long ones. */
    char *print = format ? strstr(format, "\nprint fmt:") : NULL;
    if (print) {
        g_autofree char *fields = g_strndup(format, (gsize)(print - format));
        g_autofree char *text = g_strconcat(fields, "\nprint fmt: \"\"\n", NULL);
        if (tep_parse_event(tep, text, strlen(text), system) == 0)
            event = tep_find_event_by_name(tep, system, name);
    }
    if (!event)
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED, "this kernel has no event %s:%s%s",
                    system, name, format ? " of a format that is understood" : "");
    return event;
}

struct tracefs_instance *
host_trace_instance(HostTrace *t)
{
    return t->instance;
}

static char *
path_of(HostTrace *t, const char *path)
{
    const char *dir = t ? t->dir : host_trace_dir(NULL);

    return g_build_filename(dir ? dir : "/nonexistent", path, NULL);
}

gboolean
host_trace_exists(HostTrace *t, const char *path)
{
    g_autofree char *file = path_of(t, path);

    return g_file_test(file, G_FILE_TEST_EXISTS);
}

static gboolean
write_file(HostTrace *t, const char *path, int flags, const char *text, GError **error)
{
    g_autofree char *file = path_of(t, path);
    int fd = open(file, O_WRONLY | O_CLOEXEC | flags);
    gsize len = strlen(text);
    ssize_t n = fd < 0 ? -1 : len ? write(fd, text, len) : 0;
    int why = n < 0 ? errno : EIO;

    if (fd >= 0)
        close(fd);
    if (n == (ssize_t)len)
        return TRUE;
    char *words = t && why == EINVAL ? tracefs_error_last(t->instance) : NULL;
    if (words)
        g_strdelimit(g_strstrip(words), "\n", ' ');
    g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "%s: \"%s\": %s%s%s", file, text, g_strerror(why),
                words && *words ? ": " : "", words ? words : "");
    free(words);
    return FALSE;
}

gboolean
host_trace_write(HostTrace *t, const char *path, const char *text, GError **error)
{
    return write_file(t, path, 0, text, error);
}

gboolean
host_trace_truncate(HostTrace *t, const char *path, GError **error)
{
    return write_file(t, path, O_TRUNC, "", error);
}

char *
host_trace_read(HostTrace *t, const char *path, gsize max, gsize *len, GError **error)
{
    g_autofree char *file = path_of(t, path);
    g_autoptr(GString) text = g_string_new(NULL);
    char buffer[16384];
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : 1;

    while (n > 0 && text->len <= max) {
        n = read(fd, buffer, sizeof(buffer));
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            g_string_append_len(text, buffer, n);
    }
    int why = errno;
    if (fd >= 0)
        close(fd);
    if (n < 0 || text->len > max) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "%s: %s", file,
                    n < 0 ? g_strerror(why) : "larger than it can be");
        return NULL;
    }
    if (len)
        *len = text->len;
    return g_string_free(g_steal_pointer(&text), FALSE);
}

gboolean
host_trace_buffers(HostTrace *t, const HostCpuset *cpus, unsigned int kib, GError **error)
{
    g_autofree char *size = g_strdup_printf("%u", kib);
    int cpu;

    if (!host_trace_write(t, "trace_clock", "mono", error) ||
        !host_trace_write(t, "trace_options", "nooverwrite", error))
        return FALSE;
    hwloc_bitmap_foreach_begin(cpu, cpus) g_autofree char *path =
        g_strdup_printf("per_cpu/cpu%d/buffer_size_kb", cpu);
    if (!host_trace_write(t, path, size, error))
        return FALSE;
    hwloc_bitmap_foreach_end();
    return TRUE;
}

gboolean
host_trace_lost(HostTrace *t, unsigned int cpu, guint64 *entries, guint64 *lost, GError **error)
{
    g_autofree char *path = g_strdup_printf("per_cpu/cpu%u/stats", cpu);
    g_autofree char *text = host_trace_read(t, path, 4096, NULL, error);

    return text && host_trace_stats_parse(text, entries, lost, error);
}

guint64
host_trace_lost_in_all(HostTrace *t)
{
    guint64 entries, lost, all = 0;

    for (unsigned int cpu = 0; cpu <= HOST_CPULIST_MAX_CPU; cpu++) {
        g_autofree char *folder = g_strdup_printf("per_cpu/cpu%u", cpu);
        if (host_trace_exists(t, folder) && host_trace_lost(t, cpu, &entries, &lost, NULL))
            all += lost;
    }
    return all;
}

gboolean
host_trace_first_line_is(HostTrace *t, const char *path, const char *wanted)
{
    g_autofree char *text = host_trace_read(t, path, 1024 * 1024, NULL, NULL);

    if (!text)
        return FALSE;
    text[strcspn(text, "\n")] = '\0';
    return g_str_equal(g_strstrip(text), wanted);
}

gboolean
host_trace_has_function_graph(GError **error)
{
    const char *dir = host_trace_dir(error);

    if (!dir)
        return FALSE;
    if (tracefs_tracer_available(dir, "function_graph"))
        return TRUE;
    g_set_error_literal(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                        "this kernel has no function_graph tracer (CONFIG_FUNCTION_GRAPH_TRACER)");
    return FALSE;
}

static gboolean
top_level_buffers_empty(void)
{
    guint64 entries, lost;

    for (unsigned int cpu = 0; cpu <= HOST_CPULIST_MAX_CPU; cpu++) {
        g_autofree char *folder = g_strdup_printf("per_cpu/cpu%u", cpu);
        if (host_trace_exists(NULL, folder) &&
            (!host_trace_lost(NULL, cpu, &entries, &lost, NULL) || entries))
            return FALSE;
    }
    return TRUE;
}

gboolean
host_trace_top_level_unused(GError **error)
{
    if (host_trace_first_line_is(NULL, "current_tracer", "nop") &&
        host_trace_first_line_is(NULL, "set_event", "") &&
        host_trace_first_line_is(NULL, "set_ftrace_filter", "#### all functions enabled ####") &&
        host_trace_first_line_is(NULL, "tracing_on", "1") && top_level_buffers_empty())
        return TRUE;
    g_set_error_literal(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                        "before Linux 6.11 function_graph works at the top level of tracefs only, "
                        "which somebody else uses (tracer, events, filter or buffers)");
    return FALSE;
}
