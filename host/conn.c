/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/conn.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <libvirt-glib/libvirt-glib.h>
#include <libvirt/virterror.h>
#include <stdio.h>
#include <unistd.h>

#include "host/error.h"

struct HostConn {
    virConnectPtr virt;
    char *uri;
    gboolean embedded;
    gulong qemu_version;
    int callback_id;
    GHashTable *watches; /* char * name -> Watch * */
};

typedef struct {
    HostConnStopped stopped;
    gpointer data;
} Watch;

/* No virtlogd here, so QEMU's output goes to a file. Files keep their owners: libvirt would
 * otherwise give /boot/vmlinuz to QEMU's user, and leave it there after a kill -9. The rest stays
 * as libvirt has it: QEMU runs as its own user, in the seccomp sandbox. */
#define EMBED_QEMU_CONF                                                                            \
    "stdio_handler = \"file\"\n"                                                                   \
    "dynamic_ownership = 0\n"

static gboolean
make_dir(const char *path, int mode, GError **error)
{
    if (g_mkdir_with_parents(path, mode) == 0)
        return TRUE;
    g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "can't create %s: %s", path, g_strerror(errno));
    return FALSE;
}

/* RUN_DIR/libvirt as libvirt wants to find it; its cache is a link, so that it outlives this run.
 */
static char *
embed_root_create(const char *run_dir, const char *cache_dir, GError **error)
{
    g_autofree char *root = g_build_filename(run_dir, "libvirt", NULL);
    g_autofree char *etc = g_build_filename(root, "etc", NULL);
    g_autofree char *conf = g_build_filename(etc, "qemu.conf", NULL);
    g_autofree char *link = g_build_filename(root, "cache", NULL);

    if (!make_dir(etc, 0755, error) || !make_dir(cache_dir, 0755, error) ||
        !g_file_set_contents(conf, EMBED_QEMU_CONF, -1, error))
        return NULL;
    if (symlink(cache_dir, link) != 0 && errno != EEXIST) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "can't link %s: %s", link, g_strerror(errno));
        return NULL;
    }
    return g_steal_pointer(&root);
}

/* libvirt prints errors on stderr unless told otherwise; ours travel as GErrors. */
static void
ignore_error(void *data G_GNUC_UNUSED, virErrorPtr error G_GNUC_UNUSED)
{
}

/* Once per process, before the first call: libvirt reads its environment then. */
static void
libvirt_set_up(const char *run_dir)
{
    static gsize done = 0;

    if (!g_once_init_enter(&done))
        return;
    /* The driver inside us would log its errors, most of them of no consequence, to our stderr. */
    g_autofree char *output = g_strdup_printf("3:file:%s/libvirt.log", run_dir);
    g_setenv("LIBVIRT_LOG_OUTPUTS", output, FALSE);
    gvir_event_register();
    virSetErrorFunc(NULL, ignore_error);
    g_once_init_leave(&done, 1);
}

static void
on_lifecycle(virConnectPtr virt G_GNUC_UNUSED, virDomainPtr domain, int event, int detail,
             void *opaque)
{
    HostConn *c = opaque;
    const Watch *w = g_hash_table_lookup(c->watches, virDomainGetName(domain));

    if (w && event == VIR_DOMAIN_EVENT_STOPPED)
        w->stopped(detail, w->data);
}

void
host_conn_watch(HostConn *c, const char *name, HostConnStopped stopped, gpointer data)
{
    Watch *w = g_new0(Watch, 1);

    w->stopped = stopped;
    w->data = data;
    g_hash_table_insert(c->watches, g_strdup(name), w);
}

void
host_conn_unwatch(HostConn *c, const char *name)
{
    g_hash_table_remove(c->watches, name);
}

HostConn *
host_conn_open(const char *uri, const char *run_dir, const char *cache_dir, GError **error)
{
    libvirt_set_up(run_dir);
    g_autofree char *target = NULL;
    if (uri) {
        target = g_strdup(uri);
    } else {
        g_autofree char *root = embed_root_create(run_dir, cache_dir, error);
        if (!root)
            return NULL;
        target = g_strdup_printf("qemu:///embed?root=%s", root);
    }

    virConnectPtr virt = virConnectOpen(target);
    if (!virt) {
        g_autofree char *what = g_strdup_printf("can't open %s", target);
        host_error_set_libvirt(error, what);
        return NULL;
    }
    HostConn *c = g_new0(HostConn, 1);
    c->virt = virt;
    c->watches = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    /* One registration for all domains: libvirt refuses a second one of the same function. */
    c->callback_id =
        virConnectDomainEventRegisterAny(virt, NULL, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
                                         VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle), c, NULL);
    c->embedded = uri == NULL;
    c->uri = g_steal_pointer(&target);
    if (c->callback_id < 0) {
        /* Without it no guest's end would ever be heard of. */
        host_error_set_libvirt(error, "can't ask libvirt for its domains' events");
        host_conn_close(c);
        return NULL;
    }
    return c;
}

void
host_conn_close(HostConn *c)
{
    if (!c)
        return;
    if (c->callback_id >= 0)
        virConnectDomainEventDeregisterAny(c->virt, c->callback_id);
    virConnectClose(c->virt);
    g_hash_table_unref(c->watches);
    g_free(c->uri);
    g_free(c);
}

virConnectPtr
host_conn_virt(HostConn *c)
{
    return c->virt;
}

gboolean
host_conn_embedded(const HostConn *c)
{
    return c->embedded;
}

const char *
host_conn_uri(const HostConn *c)
{
    return c->uri;
}

gulong
host_conn_libvirt_version(HostConn *c G_GNUC_UNUSED)
{
    unsigned long version = 0;
    return virGetVersion(&version, NULL, NULL) == 0 ? version : 0;
}

/* "QEMU emulator version 10.0.2 (Debian ...)" */
gulong
host_qemu_version(const char *path, GError **error)
{
    const char *const argv[] = {path, "--version", NULL};
    g_autofree char *out = NULL;
    unsigned int major, minor, release;
    int status;

    if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out, NULL,
                      &status, error))
        return 0;
    if (sscanf(out, "QEMU emulator version %3u.%3u.%3u", &major, &minor, &release) == 3)
        return major * 1000000UL + minor * 1000UL + release;
    g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                "%s is no QEMU: it does not tell its version", path);
    return 0;
}

gulong
host_conn_qemu_version(HostConn *c, GError **error)
{
    unsigned long version = 0;

    if (c->qemu_version == 0) {
        if (virConnectGetVersion(c->virt, &version) != 0 || version == 0) {
            host_error_set_libvirt(error, "can't learn QEMU's version");
            return 0;
        }
        c->qemu_version = version;
    }
    return c->qemu_version;
}

char *
host_version_text(gulong version)
{
    return g_strdup_printf("%lu.%lu.%lu", version / 1000000, version / 1000 % 1000, version % 1000);
}
