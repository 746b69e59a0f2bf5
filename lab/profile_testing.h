/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What the tests of profiles share: profiles from text, and refusals with the message they must
 * give. */
#include <string.h>

#include "lab/profile.h"

#define SYNTAX LAB_PROFILE_ERROR_SYNTAX
#define KEY LAB_PROFILE_ERROR_KEY
#define VALUE LAB_PROFILE_ERROR_VALUE

static inline LabProfile *
parse(const char *text, const char *const *settings, GError **error)
{
    return lab_profile_parse(text, -1, "p.ini", NULL, settings, error);
}

static inline LabProfile *
parse_ok(const char *text, const char *const *settings)
{
    g_autoptr(GError) error = NULL;
    LabProfile *p = parse(text, settings, &error);
    g_assert_no_error(error);
    return p;
}

static inline const LabCell *
cell(const LabProfile *p, guint i)
{
    g_assert_cmpuint(i, <, lab_profile_cells(p)->len);
    return g_ptr_array_index(lab_profile_cells(p), i);
}

static inline gboolean
warned(const LabProfile *p, const char *part)
{
    for (guint i = 0; i < lab_profile_warnings(p)->len; i++)
        if (strstr(g_ptr_array_index(lab_profile_warnings(p), i), part))
            return TRUE;
    return FALSE;
}

typedef struct {
    const char *text, *message; /* MESSAGE: a part of the error, in which `*` stands for anything */
    int code;
} Refusal;

static inline void
check_refused(const Refusal *cases, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LabProfile) p = parse(cases[i].text, NULL, &error);
        g_assert_null(p);
        g_test_message("%s", error->message);
        g_autofree char *pattern = g_strdup_printf("*%s*", cases[i].message);
        g_assert_true(g_pattern_match_simple(pattern, error->message));
        g_assert_error(error, LAB_PROFILE_ERROR, cases[i].code);
    }
}
