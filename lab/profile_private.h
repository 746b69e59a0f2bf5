/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * What the files of the profile reader share. The way of a profile: profile_ini.c reads one file
 * into a LabLayer, profile.c lays files and --set over each other, profile_keys.c and
 * profile_value.c know keys and types, profile_axes.c reads axes and variants, profile_matrix.c
 * expands them into cells, profile_params.c fills one cell's parameters, profile_check.c checks
 * them together, profile_expect.c checks the expectations.
 */
#include <glib.h>

#include "lab/profile.h"

#define LAB_PROFILE_BYTES_MAX (1024 * 1024) /* of one file */
#define LAB_PROFILE_VALUE_MAX 4096          /* bytes of one line's value */
#define LAB_PROFILE_FILES_MAX 64 /* read for one profile, includes counted as often as read */
#define LAB_SET_FILE "--set"     /* LabSetting.file of what the command line set */

typedef struct {
    char *name, *file;
    int line;
} LabSection;

/* An [expect] line before the matrix is known; starts like the public one. */
typedef struct {
    LabExpectation public;
    gboolean named;
    int column; /* where the expression starts in its line, 1-based, in characters */
} LabExpectLine;

/* The content of one file, or of several laid over each other. */
typedef struct {
    GPtrArray *sections; /* LabSection *, each name once */
    GPtrArray *settings; /* LabSetting *, each section and key once */
    GPtrArray *expects;  /* LabExpectLine * */
} LabLayer;

typedef struct {
    char *name;        /* "kernel", "section.key", "workload NAME.key", "variant" */
    const LabKey *key; /* NULL for "variant" */
    const LabSetting *source;
    GPtrArray
        *values; /* LabSetting *: section and key are what the value is for ("matrix"."variant") */
    gboolean from_set; /* the command line replaced or added it */
} LabAxis;

struct LabProfile {
    char *name;
    LabLayer *layer;
    GPtrArray *axes;      /* LabAxis * */
    GHashTable *variants; /* char * name -> GPtrArray * of LabSetting *, section and key resolved */
    GPtrArray *cells;     /* LabCell * */
    GPtrArray *expectations, *references, *relevant, *warnings;
    GHashTable *warned; /* borrowed from WARNINGS: each is given once */
    char *sha256;
};

/* profile_layer.c */
LabLayer *lab_layer_new(void);
void lab_layer_free(LabLayer *l);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabLayer, lab_layer_free)
LabSetting *lab_setting_new(const char *section, const char *key, const char *value,
                            const char *file, int line);
void lab_setting_free(LabSetting *s);
const LabSection *lab_layer_section(const LabLayer *l, const char *name);
/* Lays OVER on top of BASE, which takes what it needs; a section, key or named expectation keeps
 * its place. */
void lab_layer_merge(LabLayer *base, LabLayer *over);

/* profile_ini.c */
LabLayer *lab_ini_parse(const char *text, gsize len, const char *file, GError **error);

/* profile_error.c: errors that begin with where and what; profile warnings; near misses */
void lab_error_at(GError **error, LabProfileError code, const char *file, int line,
                  const char *format, ...) G_GNUC_PRINTF(5, 6);
void lab_error_setting(GError **error, LabProfileError code, const LabSetting *s,
                       const char *format, ...) G_GNUC_PRINTF(4, 5);
/* TEXT as it may stand in a message. g_free. */
char *lab_shorten(const char *text);
/* "FILE:LINE: [SECTION] KEY = VALUE" */
char *lab_setting_where(const LabSetting *s);
void lab_warn(LabProfile *p, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* " (did you mean `X'?)" for the nearest of NAMES (char *), or "". g_free. */
char *lab_near_hint(const char *word, const GPtrArray *names);

/* profile_keys.c */
/* SECTION "workload NAME" finds the keys of "workload". NULL when there is none. */
const LabKey *lab_key_find(const char *section, const char *key);
/* Whether a workload of TYPE knows KEY; NULL: TYPE is no type. */
gboolean lab_workload_type_known(const char *type);
gboolean lab_workload_type_has(const char *type, const char *key);
/* Names of the keys of TYPE, "a, b, c". g_free. */
char *lab_workload_type_keys(const char *type);
/* The part of "workload NAME" after the space, or NULL for other sections. */
const char *lab_workload_name(const char *section);
/* "section.key" as it stands in LabCell.settings. g_free. */
char *lab_address(const char *section, const char *key);
/*
 * Splits TEXT ("guest.pin", "workload NAME.key", "workload.NAME.key", "check.host.kvm", "kernel")
 * and finds its key, in the workloads that L has. The error is about WHERE.
 */
const LabKey *lab_address_resolve(const LabLayer *l, const char *text, const LabSetting *where,
                                  char **section, char **key, GError **error);
/* The unknown key of S, with the nearest known one or the section it belongs to. */
void lab_error_unknown_key(GError **error, const LabSetting *s);

/* profile_value.c */
/* Parses TEXT and stores it at TARGET + K->offset (TARGET NULL: only checks). The message is the
 * reason alone. */
gboolean lab_value_parse(const LabKey *k, const char *text, gpointer target, GError **error);

/* profile_axes.c */
/* Checks every line by its key and type, and fills p->axes and p->variants. */
gboolean lab_axes_build(LabProfile *p, GError **error);
void lab_axis_free(LabAxis *a);
const LabAxis *lab_axis_find(const LabProfile *p, const char *name);
/* Position of TEXT among the axis's values: spelled so, or a position from 0; -1: neither. */
int lab_axis_position(const LabAxis *a, const char *text);

/* profile_matrix.c */
gboolean lab_matrix_expand(LabProfile *p, GError **error);
void lab_cell_free(LabCell *c);

/* profile_params.c */
/*
 * Parameters from IN_FORCE ("section.key" -> const LabSetting *, borrowed) and the table's initial
 * values; SETTINGS gets them all as interned text.
 */
LabParams *lab_params_new(const LabProfile *p, GHashTable *in_force, GHashTable *settings,
                          GError **error);
void lab_params_free(LabParams *params);

/* profile_check.c */
/* Everything about one cell that a key alone can't tell. */
gboolean lab_cell_check(LabProfile *p, const LabCell *c, GHashTable *in_force, GError **error);

/* profile_expect.c */
gboolean lab_expectations_check(LabProfile *p, GError **error);

/* profile_relevant.c */
/* Fills p->relevant from [relevant], whose metrics must be of a workload there is. */
gboolean lab_relevant_check(LabProfile *p, GError **error);
