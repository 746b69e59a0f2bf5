/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/record_fields.h"

#include <math.h>
#include <stdarg.h>

const ResRecordField res_record_fields[] = {
    {"boot", FIELD_UINT, offsetof(ResRecord, boot)},
    {"cell", FIELD_TEXT, offsetof(ResRecord, cell)},
    {"clock", FIELD_TEXT, offsetof(ResRecord, clock)},
    {"detail", FIELD_TEXT, offsetof(ResRecord, detail)},
    {"ended_us", FIELD_TIME_US, offsetof(ResRecord, ended_us)},
    {"environment", FIELD_MAP, offsetof(ResRecord, environment)},
    {"evidence", FIELD_LIST, offsetof(ResRecord, evidence)},
    {"fidelity", FIELD_FIDELITY, offsetof(ResRecord, fidelity)},
    {"id", FIELD_TEXT, offsetof(ResRecord, id)},
    {"message", FIELD_TEXT, offsetof(ResRecord, message)},
    {"metrics", FIELD_METRICS, offsetof(ResRecord, metrics)},
    {"notes", FIELD_LIST, offsetof(ResRecord, notes)},
    {"outcome", FIELD_OUTCOME, offsetof(ResRecord, outcome)},
    {"parameters", FIELD_MAP, offsetof(ResRecord, parameters)},
    {"platform", FIELD_TEXT, offsetof(ResRecord, platform)},
    {"profile", FIELD_TEXT, offsetof(ResRecord, profile)},
    {"profile_sha256", FIELD_TEXT, offsetof(ResRecord, profile_sha256)},
    {"schema", FIELD_SCHEMA, 0},
    {"set", FIELD_TEXT, offsetof(ResRecord, set)},
    {"started_us", FIELD_TIME_US, offsetof(ResRecord, started_us)},
    {"summary", FIELD_TEXT, offsetof(ResRecord, summary)},
    {NULL, FIELD_TEXT, 0},
};

gboolean
res_record_fail(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "record: %s", what);
    return FALSE;
}

static gboolean
word_in(const char *word, const char *const *words)
{
    return word != NULL && g_strv_contains(words, word);
}

static gboolean
check_metric(const ResRecord *r, guint i, GHashTable *evidence, GHashTable *seen, GError **error)
{
    const ResMetric *m = g_ptr_array_index(r->metrics, i);
    if (m->name == NULL || m->name[0] == '\0') {
        return res_record_fail(error, "metrics[%u].name is empty", i);
    }
    for (const char *c = m->name; *c != '\0'; c++) {
        if (!g_ascii_isgraph(*c)) {
            return res_record_fail(error,
                                   "metrics[%u].name has the byte 0x%02x; printable ASCII without "
                                   "spaces is right",
                                   i, (unsigned char)*c);
        }
    }
    if (!g_hash_table_add(seen, m->name)) {
        return res_record_fail(error, "metric \"%s\" is there twice", m->name);
    }
    if (m->unit == NULL || m->unit[0] == '\0') {
        return res_record_fail(error, "metric \"%s\" has no unit; \"1\" is a bare number's",
                               m->name);
    }
    if (!isfinite(m->value) || !isfinite(m->min) || !isfinite(m->max)) {
        return res_record_fail(error, "metric \"%s\": value, min and max must be finite numbers",
                               m->name);
    }
    if (m->min > m->max) {
        return res_record_fail(error, "metric \"%s\": min is above max", m->name);
    }
    if (m->censored && m->value > m->max) {
        return res_record_fail(error, "metric \"%s\": a lower bound above max", m->name);
    }
    if (m->samples > RES_WHOLE_MAX) {
        return res_record_fail(error, "metric \"%s\": samples is out of range", m->name);
    }
    if (m->evidence == NULL || !g_hash_table_contains(evidence, m->evidence)) {
        return res_record_fail(error,
                               "metric \"%s\": its evidence \"%s\" is not in the list of evidence",
                               m->name, m->evidence != NULL ? m->evidence : "");
    }
    return TRUE;
}

gboolean
res_record_check(const ResRecord *r, GError **error)
{
    static const char *const platforms[] = {"metal", "box", "bare", "unknown", NULL};
    static const char *const clocks[] = {"wall", "icount", "unknown", NULL};
    gboolean done = r->outcome == RES_OUTCOME_DONE;
    /* A run that failed early may not have got as far as a platform. */
    gboolean platform_open = !done && (r->platform == NULL || r->platform[0] == '\0');
    gboolean clock_open = !done && (r->clock == NULL || r->clock[0] == '\0');

    if (!res_id_valid(r->id)) {
        return res_record_fail(error, "id \"%s\" is not [0-9a-z-]+", r->id != NULL ? r->id : "");
    }
    if (!res_id_valid(r->set)) {
        return res_record_fail(error, "set \"%s\" is not [0-9a-z-]+", r->set != NULL ? r->set : "");
    }
    if (!platform_open && !word_in(r->platform, platforms)) {
        return res_record_fail(error, "platform \"%s\" is not metal, box, bare or unknown",
                               r->platform != NULL ? r->platform : "");
    }
    if (!clock_open && !word_in(r->clock, clocks)) {
        return res_record_fail(error, "clock \"%s\" is not wall, icount or unknown",
                               r->clock != NULL ? r->clock : "");
    }
    /* so that a figure from nobody knows where is never compared with one of a machine we know */
    if ((g_strcmp0(r->platform, "unknown") == 0 || g_strcmp0(r->clock, "unknown") == 0) &&
        r->fidelity != RES_FIDELITY_FUNCTIONAL) {
        return res_record_fail(error, "with an unknown platform or clock the fidelity must be "
                                      "functional");
    }
    if (ABS(r->started_us) > RES_WHOLE_MAX || ABS(r->ended_us) > RES_WHOLE_MAX) {
        return res_record_fail(error, "started_us or ended_us is out of range");
    }
    if (!done && r->metrics->len > 0) {
        return res_record_fail(error, "outcome \"%s\" must not carry metrics",
                               res_outcome_name(r->outcome));
    }
    g_autoptr(GHashTable) evidence = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < r->evidence->len; i++) {
        char *name = g_ptr_array_index(r->evidence, i);
        if (!res_evidence_name_valid(name)) {
            return res_record_fail(error,
                                   "evidence \"%s\" is not a plain file name ([A-Za-z0-9._-]+, no "
                                   "leading dot, not record.json)",
                                   name);
        }
        if (!g_hash_table_add(evidence, name)) {
            return res_record_fail(error, "evidence \"%s\" is there twice", name);
        }
    }
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < r->metrics->len; i++) {
        if (!check_metric(r, i, evidence, seen, error)) {
            return FALSE;
        }
    }
    return TRUE;
}
