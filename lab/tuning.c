/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/tuning.h"

#include "host/knobs.h"
#include "host/tune.h"
#include "lab/judge.h"

struct LabTuning {
    HostRoot *root;
    HostKnobs *knobs;
};

static void
tuning_free(LabTuning *t)
{
    g_clear_pointer(&t->knobs, host_knobs_close);
    g_clear_pointer(&t->root, host_root_close);
    g_free(t);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabTuning, tuning_free)

static HostWish *
wish_of(const LabParams *params, GError **error)
{
    g_autoptr(HostCpuset) isolated =
        host_cpulist_parse(params->host.isolated, HOST_CPULIST_TOOL, 0, NULL, error);
    g_autoptr(HostCpuset) housekeeping =
        isolated ? host_cpulist_parse(params->host.housekeeping, HOST_CPULIST_TOOL, 0, NULL, error)
                 : NULL;

    return housekeeping ? host_wish_from_sets(housekeeping, isolated) : NULL;
}

static gboolean
set_one(LabTuning *t, const HostTuneStep *step, ResRecord *record, GError **error)
{
    g_autoptr(GError) why = NULL;
    g_autofree char *key = g_strconcat("host.tuned.", step->path, NULL);
    gboolean changed = FALSE;

    if (host_knobs_set(t->knobs, step->path, step->new_value, &changed, &why)) {
        if (changed)
            lab_record_env(record, key, step->new_value);
        return TRUE;
    }
    if (step->may_fail && (g_error_matches(why, HOST_KNOB_ERROR, HOST_KNOB_ERROR_REFUSED) ||
                           g_error_matches(why, HOST_KNOB_ERROR, HOST_KNOB_ERROR_GONE))) {
        g_ptr_array_add(record->notes, g_strdup_printf("host.tune: left alone: %s", why->message));
        return TRUE;
    }
    g_propagate_prefixed_error(error, g_steal_pointer(&why), "host.tune: ");
    return FALSE;
}

LabTuning *
lab_tuning_apply(LabSession *session, const LabParams *params, ResRecord *record, GError **error)
{
    g_autoptr(LabTuning) t = g_new0(LabTuning, 1);
    g_autofree char *journal = lab_session_knobs_journal(session, error);
    g_autoptr(HostWish) wish = journal ? wish_of(params, error) : NULL;

    t->root = wish ? host_root_open(NULL, error) : NULL;
    g_autoptr(GPtrArray) steps = t->root ? host_tune_plan(t->root, wish, NULL, error) : NULL;
    t->knobs = steps ? host_knobs_open(t->root, journal, NULL, error) : NULL;
    if (!t->knobs)
        return NULL;
    for (guint i = 0; i < steps->len; i++) {
        if (!set_one(t, steps->pdata[i], record, error))
            return NULL;
    }
    return g_steal_pointer(&t);
}

void
lab_tuning_undo(LabTuning *t, ResRecord *record)
{
    g_autoptr(LabTuning) owned = t;
    g_autoptr(GPtrArray) lines =
        g_ptr_array_new_with_free_func((GDestroyNotify)host_restore_line_free);
    g_autoptr(GError) error = NULL;

    gboolean ok = host_knobs_restore(t->knobs, lines, &error);
    for (guint i = 0; i < lines->len; i++) {
        const HostRestoreLine *l = lines->pdata[i];
        if (l->state != HOST_RESTORE_DONE && l->state != HOST_RESTORE_ALREADY)
            g_ptr_array_add(record->notes, g_strdup_printf("host.tune: %s", l->message));
    }
    if (!ok && !lines->len)
        g_ptr_array_add(record->notes, g_strdup_printf("host.tune: not put back: %s (the next "
                                                       "nohzlab tries again)",
                                                       error->message));
}
