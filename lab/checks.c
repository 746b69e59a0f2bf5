/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/checks.h"

#include <string.h>

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

gboolean
lab_check_one_of(const char *alternatives, const char *value)
{
    g_auto(GStrv) words = g_strsplit(alternatives, "|", -1);

    for (char **word = words; *word; word++) {
        if (g_ascii_strcasecmp(g_strstrip(*word), value) == 0)
            return TRUE;
    }
    return FALSE;
}

static char *
unmet_clocksource(const char *wanted)
{
    g_autofree char *have = NULL;

    if (!g_file_get_contents(CLOCKSOURCE, &have, NULL, NULL))
        return g_strdup_printf("host.clocksource = %s, but " CLOCKSOURCE " can't be read", wanted);
    g_strchomp(have);
    return lab_check_one_of(wanted, have)
               ? NULL
               : g_strdup_printf("host.clocksource is %s, the profile wants %s", have, wanted);
}

static char *
unmet_kvm(LabSession *session, gboolean wanted)
{
    const char *detail;
    gboolean have = lab_session_kvm(session, &detail) == HOST_KVM_RUNS;

    if (have == wanted)
        return NULL;
    return g_strdup_printf("host.kvm = %s, but %s", wanted ? "yes" : "no", detail);
}

static char *
unmet_qemu(const char *wanted, gulong have)
{
    g_auto(GStrv) parts = g_strsplit(wanted, ".", 3);
    gulong floor = 0;
    static const gulong weights[] = {1000000, 1000, 1};

    for (gsize i = 0; i < G_N_ELEMENTS(weights) && parts[i]; i++)
        floor += g_ascii_strtoull(parts[i], NULL, 10) * weights[i];
    if (have >= floor)
        return NULL;
    g_autofree char *text = host_version_text(have);
    return g_strdup_printf("qemu.min_version = %s, this is %s", wanted, text);
}

gboolean
lab_checks_met(const LabParams *params, LabSession *session, char **unmet, GError **error)
{
    *unmet = NULL;
    for (guint i = 0; i < params->checks->len && !*unmet; i++) {
        const LabSetting *c = params->checks->pdata[i];
        if (g_str_equal(c->key, "host.clocksource")) {
            *unmet = unmet_clocksource(c->value);
        } else if (g_str_equal(c->key, "host.kvm")) {
            *unmet = unmet_kvm(session, lab_check_one_of("yes|true|on|1", c->value));
        } else if (g_str_equal(c->key, "host.min_cpus")) {
            guint64 floor = g_ascii_strtoull(c->value, NULL, 10);
            if (g_get_num_processors() < floor)
                *unmet = g_strdup_printf("host.min_cpus = %s, this machine has %u", c->value,
                                         g_get_num_processors());
        } else if (g_str_equal(c->key, "qemu.min_version")) {
            gulong have = host_conn_qemu_version(lab_session_conn(session), error);
            if (have == 0)
                return FALSE;
            *unmet = unmet_qemu(c->value, have);
        }
    }
    return TRUE;
}
