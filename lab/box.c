/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/box.h"

#include <string.h>

#include "guest/report.h"
#include "host/error.h"

#define WORKLOAD "box"
#define PROFILE "/run/nohzlab-box/profile.ini"
#define BUNDLE "/run/nohzlab-box/bundle.json"
/* What the box needs beside its guest: itself, its files (they stay in memory, at most half of it),
 * libvirt and QEMU. */
#define MEMORY_MIB 1280
/* Emulated in emulation everything takes longer: the inner run's own bounds on its own clock, and
 * what this machine's clock allows for starting and ending it. */
#define INNER_BOOT_FACTOR 3
#define OVERHEAD_S 180
#define BOOT_MIN_S 120
/* The text of one `put` line: three characters for each byte at most, and the line's head. */
#define PUT_BYTES ((BM_LINE_MAX - 256) / 3)
/* Emulated TSCs are this machine's, the same on all CPUs, but their feature flags don't promise it;
 * without it every look at the clock leaves for the emulator (HPET). */
#define TSC_CMDLINE "tsc=reliable"
#define WALL_CMDLINE TSC_CMDLINE " no_timer_check cpu_init_udelay=0"

struct LabBox {
    LabParams params;
    LabWorkload workload;
    LabMachine *machine;
    char *cmdline, *profile;
};

/* --- the profile of the inner run --- */

static void
profile_line(GString *text, const char *key, const char *value)
{
    g_string_append_printf(text, "%s = %s\n", key, value);
}

static const char *
setting(const LabCell *cell, const char *section, const char *key)
{
    g_autofree char *name = g_strdup_printf("%s.%s", section, key);
    return g_hash_table_lookup(cell->settings, name);
}

static int
by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

/* All settings of SECTION but those of WITHOUT. */
static void
profile_section(GString *text, const LabCell *cell, const char *section, const char *const *without)
{
    g_autofree char *prefix = g_strconcat(section, ".", NULL);
    GList *keys = g_list_sort(g_hash_table_get_keys(cell->settings), by_text);

    for (GList *l = keys; l; l = l->next) {
        const char *name = l->data;
        if (!g_str_has_prefix(name, prefix) || strchr(name + strlen(prefix), '.') ||
            g_strv_contains(without, name + strlen(prefix)))
            continue;
        profile_line(text, name + strlen(prefix), g_hash_table_lookup(cell->settings, name));
    }
    g_list_free(keys);
}

static char *
make_profile(const LabCell *cell, const LabImage *image)
{
    static const char *const host_own[] = {"platform", "clock", "cpus", "observe", NULL};
    static const char *const guest_own[] = {"cmdline", "boot_timeout", NULL};
    static const char *const none[] = {NULL};
    GString *text = g_string_new("[main]\n");
    const LabParams *p = cell->params;
    g_autofree char *kernel = lab_box_inner_kernel(image->kernel);
    g_autofree char *timeout = g_strdup_printf("%" G_GUINT64_FORMAT "s",
                                               MIN(p->boot_timeout_s * INNER_BOOT_FACTOR, 86400));
    g_autofree char *cmdline = g_strdup_printf("%s %s", TSC_CMDLINE, p->guest.cmdline);

    profile_line(text, "kernel", kernel);
    profile_line(text, "boots", "1");
    g_string_append(text, "[host]\n");
    profile_line(text, "platform", "metal");
    profile_line(text, "clock", "wall");
    /* Durations are no figures where the clock is the wall; what watches costs instructions. */
    gboolean automatic = g_str_equal(p->observe, "auto");
    profile_line(text, "observe",
                 !automatic                   ? p->observe
                 : p->clock == LAB_CLOCK_WALL ? "yes"
                                              : "no");
    profile_section(text, cell, "host", host_own);
    g_string_append(text, "[guest]\n");
    profile_line(text, "boot_timeout", timeout);
    profile_line(text, "cmdline", g_strchomp(cmdline));
    profile_section(text, cell, "guest", guest_own);
    for (guint i = 0; i < p->workloads->len; i++) {
        const LabWorkload *w = p->workloads->pdata[i];
        g_autofree char *section = g_strconcat("workload ", w->name, NULL);
        g_string_append_printf(text, "[%s]\n", section);
        if (!setting(cell, section, "type"))
            profile_line(text, "type", w->type);
        profile_section(text, cell, section, none);
    }
    if (p->checks->len)
        g_string_append(text, "[check]\n");
    for (guint i = 0; i < p->checks->len; i++) {
        const LabSetting *c = p->checks->pdata[i];
        profile_line(text, c->key, c->value);
    }
    return g_string_free(text, FALSE);
}

/* --- the box as a machine --- */

static void
job_word(GString *job, const char *bytes, gsize len)
{
    g_string_append_c(job, ' ');
    if (len == 0)
        g_string_append_c(job, '%');
    for (gsize i = 0; i < len; i++) {
        if (bytes[i] > ' ' && bytes[i] < 0x7f && bytes[i] != '%')
            g_string_append_c(job, bytes[i]);
        else
            g_string_append_printf(job, "%%%02X", (guint8)bytes[i]);
    }
}

static void
job_argument(GString *job, const char *word)
{
    g_string_append(job, "argv");
    job_word(job, word, strlen(word));
    g_string_append_c(job, '\n');
}

static char *
make_job(const LabBox *b, GError **error)
{
    LabBoxStamp stamps[LAB_BOX_STAMPS];
    g_autofree char *name = lab_box_capabilities_name();
    static const char *const argv[] = {LAB_BOX_NOHZLAB, "run",  "--state", LAB_BOX_STATE,
                                       "--export",      BUNDLE, PROFILE};

    if (!lab_box_stamps(stamps, error))
        return NULL;
    GString *job = g_string_new(NULL);
    g_string_append_printf(job, BM_JOB_MAGIC " %d\nbarriers %s\nlab-host\n", BM_FORMAT_VERSION,
                           lab_machine_barriers(&b->params));
    for (gsize i = 0; i < LAB_BOX_STAMPS; i++)
        g_string_append_printf(job, "stamp %s %" G_GUINT64_FORMAT "\n", stamps[i].path,
                               stamps[i].time_s);
    for (gsize done = 0, all = strlen(b->profile); done < all; done += PUT_BYTES) {
        g_string_append(job, "put " PROFILE);
        job_word(job, b->profile + done, MIN(all - done, PUT_BYTES));
        g_string_append_c(job, '\n');
    }
    g_string_append_printf(job, "workload " WORKLOAD " %" G_GUINT64_FORMAT "\n",
                           b->workload.timeout_s);
    if (g_getenv(LAB_BOX_WRAPPER_ENV))
        job_argument(job, LAB_BOX_WRAPPER);
    for (gsize i = 0; i < G_N_ELEMENTS(argv); i++)
        job_argument(job, argv[i]);
    g_string_append_printf(
        job, "collect " BUNDLE "\ncollect " LAB_BOX_CAPABILITIES "/%s\nend\ndone\n", name);
    return g_string_free(job, FALSE);
}

static guint64
inner_seconds(const LabParams *p)
{
    guint64 s = OVERHEAD_S + p->boot_timeout_s * INNER_BOOT_FACTOR;

    for (guint i = 0; i < p->workloads->len; i++)
        s += ((const LabWorkload *)p->workloads->pdata[i])->timeout_s + p->boot_timeout_s;
    return MIN(s, BM_TIMEOUT_MAX_S);
}

LabBox *
lab_box_new(const LabCell *cell, const LabImage *image, GError **error)
{
    g_autoptr(LabBox) b = g_new0(LabBox, 1);
    const LabParams *p = cell->params;

    b->cmdline =
        g_strdup_printf("%s %s", p->clock == LAB_CLOCK_WALL ? WALL_CMDLINE : "", p->host.cmdline);
    g_strstrip(b->cmdline);
    b->params = *p; /* all it points to stays the cell's */
    b->params.guest = p->host;
    b->params.guest.cmdline = b->cmdline;
    b->params.vcpus = p->host_cpus;
    b->params.memory_mib = p->memory_mib + MEMORY_MIB;
    b->params.pin = (char *)"";
    b->params.emulatorpin = (char *)"";
    b->params.boot_timeout_s = MAX(p->boot_timeout_s, BOOT_MIN_S);
    b->params.workloads = g_ptr_array_new();
    b->params.checks = g_ptr_array_new();
    b->profile = make_profile(cell, image);
    b->machine = lab_machine_new(&b->params, error);
    if (!b->machine)
        return NULL;
    b->workload.name = (char *)WORKLOAD;
    b->workload.type = (char *)"command";
    b->workload.cpu = -1;
    b->workload.timeout_s = inner_seconds(p);
    g_ptr_array_add(b->params.workloads, &b->workload);
    g_free(b->machine->job);
    b->machine->job = make_job(b, error);
    return b->machine->job ? g_steal_pointer(&b) : NULL;
}

void
lab_box_free(LabBox *b)
{
    if (!b)
        return;
    g_clear_pointer(&b->params.workloads, g_ptr_array_unref);
    g_clear_pointer(&b->params.checks, g_ptr_array_unref);
    g_clear_pointer(&b->machine, lab_machine_free);
    g_free(b->cmdline);
    g_free(b->profile);
    g_free(b);
}

const LabParams *
lab_box_params(const LabBox *b)
{
    return &b->params;
}

const LabMachine *
lab_box_machine(const LabBox *b)
{
    return b->machine;
}

void
lab_box_domain(const LabBox *b G_GNUC_UNUSED, HostDomainSpec *spec)
{
    spec->svm = TRUE;
}

const char *
lab_box_profile(const LabBox *b)
{
    return b->profile;
}
