/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/run_record.h"

#include <string.h>
#include <sys/utsname.h>

#include "lab/console.h"
#include "lab/judge.h"
#include "lab/machine.h"
#include "lab/platform.h"
#include "lab/profile_relevant.h"

static void
fill_environment(ResRecord *record, LabSession *session, const LabParams *params, unsigned int boot,
                 const LabImage *image)
{
    HostConn *conn = lab_session_conn(session);
    const char *program = lab_platform_qemu(params, session);
    gulong qemu = program && !g_str_equal(program, HOST_QEMU) ? host_qemu_version(program, NULL)
                                                              : host_conn_qemu_version(conn, NULL);
    g_autofree char *qemu_text = qemu ? host_version_text(qemu) : NULL;
    g_autofree char *libvirt_text = host_version_text(host_conn_libvirt_version(conn));
    g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, lab_machine_seed(params, boot));
    struct utsname host;

    lab_record_env(record, "kernel.release", image->kernel->release);
    lab_record_env(record, "kernel.path", image->kernel->path);
    lab_record_env(record, "kernel.sha256", image->kernel->sha256);
    lab_record_env(record, "initramfs.sha256", image->initramfs->sha256);
    lab_record_env(record, "qemu.version", qemu_text);
    /* Another emulator is another machine, whatever its version says. */
    if (program && !g_str_equal(program, HOST_QEMU))
        lab_record_env(record, "qemu.path", program);
    lab_record_env(record, "libvirt.version", libvirt_text);
    if (params->clock == LAB_CLOCK_ICOUNT)
        lab_record_env(record, "seed", seed);
    if (uname(&host) == 0) {
        lab_record_env(record, "host.kernel.release", host.release);
        /* Elsewhere the lab host is an emulated one, the same everywhere. */
        if (params->platform == LAB_PLATFORM_METAL)
            lab_record_env(record, "host.name", host.nodename);
    }
}

/* Which of its axis's values a cell has, from 0. From all cells, since those that are skipped leave
 * no record to count. */
static guint
axis_position(const LabProfile *profile, const LabSetting *axis)
{
    const GPtrArray *cells = lab_profile_cells(profile);
    g_autoptr(GHashTable) before = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint i = 0; i < cells->len; i++) {
        const LabCell *cell = cells->pdata[i];
        for (guint k = 0; k < cell->axes->len; k++) {
            const LabSetting *a = cell->axes->pdata[k];
            if (!g_str_equal(a->key, axis->key))
                continue;
            if (g_str_equal(a->value, axis->value))
                return g_hash_table_size(before);
            g_hash_table_add(before, a->value);
        }
    }
    return g_hash_table_size(before);
}

static void
fill_parameters(ResRecord *record, const LabProfile *profile, const LabCell *cell)
{
    const GPtrArray *expectations = lab_profile_expectations(profile);
    const GPtrArray *references = lab_profile_references(profile);
    const GPtrArray *relevant = lab_profile_relevant(profile);
    GHashTableIter iter;
    gpointer key, value;

    g_hash_table_iter_init(&iter, cell->settings);
    while (g_hash_table_iter_next(&iter, &key, &value))
        g_hash_table_insert(record->parameters, g_strdup(key), g_strdup(value));
    /* So that a record can be judged again without the profile, which may have changed since. */
    for (guint i = 0; i < expectations->len; i++) {
        const LabExpectation *e = expectations->pdata[i];
        g_hash_table_insert(record->parameters, g_strdup_printf("expect.%03u.%s", i, e->name),
                            g_strdup(e->text));
    }
    for (guint i = 0; i < references->len; i++) {
        const LabSetting *ref = references->pdata[i];
        g_hash_table_insert(record->parameters,
                            g_strdup_printf("reference.%03u.%s", i, ref->section),
                            g_strdup_printf("%s: %s", ref->key, ref->value));
    }
    for (guint i = 0; i < relevant->len; i++) {
        const LabSetting *s = relevant->pdata[i];
        g_hash_table_insert(record->parameters, g_strdup_printf("relevant.%s", s->key),
                            g_strdup(s->value));
    }
    for (guint i = 0; i < cell->axes->len; i++) {
        const LabSetting *axis = cell->axes->pdata[i];
        g_hash_table_insert(record->parameters, g_strdup_printf("axis.%s", axis->key),
                            g_strdup(axis->value));
        g_hash_table_insert(record->parameters, g_strdup_printf("axis-position.%s", axis->key),
                            g_strdup_printf("%u", axis_position(profile, axis)));
    }
}

ResRecord *
lab_run_record_new(LabSession *session, const LabProfile *profile, const LabCell *cell,
                   unsigned int boot, const char *set, const LabImage *image)
{
    ResRecord *r = res_record_new();
    r->id = res_store_new_id(lab_session_store(session));
    r->set = g_strdup(set);
    r->profile = g_strdup(lab_profile_name(profile));
    r->profile_sha256 = g_strdup(lab_profile_sha256(profile));
    r->summary = g_strdup(cell->params->summary);
    r->cell = g_strdup(cell->name);
    r->boot = boot;
    r->platform = g_strdup(lab_platform_name(cell->params->platform));
    r->clock = g_strdup(lab_clock_name(cell->params->clock));
    r->fidelity = lab_fidelity(cell->params->platform, cell->params->clock);
    if (cell->params->platform_why)
        g_ptr_array_add(r->notes, g_strdup(cell->params->platform_why));
    r->outcome = RES_OUTCOME_DONE; /* until something fails */
    r->detail = g_strdup("");
    r->message = g_strdup("");
    fill_environment(r, session, cell->params, boot, image);
    fill_parameters(r, profile, cell);
    return r;
}

static void
add_file(GHashTable *files, const char *name, GBytes *bytes)
{
    if (g_bytes_get_size(bytes))
        g_hash_table_insert(files, g_strdup(name), bytes);
    else
        g_bytes_unref(bytes);
}

static void
add_text(GHashTable *files, const char *name, const char *text)
{
    if (text)
        add_file(files, name, g_bytes_new(text, strlen(text)));
}

static void
add_head(GHashTable *files, const char *name, const char *path)
{
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_autoptr(GFileInputStream) in = g_file_read(file, NULL, NULL);
    GBytes *bytes =
        in ? g_input_stream_read_bytes(G_INPUT_STREAM(in), LAB_CONSOLE_HEAD_BYTES, NULL, NULL)
           : NULL;

    if (bytes)
        add_file(files, name, bytes);
}

static int
by_name(gconstpointer a, gconstpointer b)
{
    return g_strcmp0(*(const char *const *)a, *(const char *const *)b);
}

void
lab_run_record_evidence(ResRecord *record, GHashTable *files, const LabRunEvidence *e)
{
    GHashTableIter iter;
    gpointer name;

    add_file(files, "console.log", e->console);
    add_file(files, "report.txt", g_bytes_new(e->report->str, e->report->len));
    add_text(files, "job.txt", e->job);
    add_text(files, "domain.xml", e->xml);
    if (e->qemu_log_path)
        add_head(files, "qemu.log", e->qemu_log_path);

    g_hash_table_iter_init(&iter, files);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        g_ptr_array_add(record->evidence, g_strdup(name));
    g_ptr_array_sort(record->evidence, by_name);
}
