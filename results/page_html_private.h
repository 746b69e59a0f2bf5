/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only: the sections of the HTML page. Each appends nothing when it has nothing to
 * show. */
#include <json-glib/json-glib.h>

#include "results/page_private.h"

/* page.css, page.js, and uPlot's; from page_assets.c. */
extern const char res_page_css[], res_page_js[];
extern const char res_uplot_css[], res_uplot_js[], res_uplot_licence[];

/* What compares with what, in the order and colour they are shown in everywhere. */
#define RES_PAGE_BASELINE "baseline"
#define RES_PAGE_SUBJECT "this set"
/* More lines in one plot than this can't be told apart. */
#define RES_PAGE_SERIES_MAX 6

void res_page_html_claims(GString *out, const ResPage *p);
void res_page_html_comparison(GString *out, const ResPage *p);
void res_page_html_differences(GString *out, const ResPage *p);
void res_page_html_latencies(GString *out, const ResPage *p);
void res_page_html_host(GString *out, const ResPage *p);
void res_page_html_metrics(GString *out, const ResPage *p);
void res_page_html_axes(GString *out, const ResPage *p);
void res_page_html_history(GString *out, const ResPage *p);
void res_page_html_runs(GString *out, const ResPage *p);
void res_page_html_circumstances(GString *out, const ResPage *p);

/* The members of the object that page.js draws from. */
void res_page_data_latencies(JsonBuilder *b, const ResPage *p);
void res_page_data_boots(JsonBuilder *b, const ResPage *p);
void res_page_data_axes(JsonBuilder *b, const ResPage *p);
void res_page_data_history(JsonBuilder *b, const ResPage *p);

/* --- small pieces --- */

/* <table> with CAPTION and column heads (NULL-terminated); closed by res_html_table_end. Its cells
 * name their column, for the narrow layout. */
typedef struct {
    GString *out;
    const char *const *heads;
    guint column;
} ResHtmlTable;
void res_html_table(ResHtmlTable *t, GString *out, const char *caption, const char *const *heads);
void res_html_row(ResHtmlTable *t, const char *class);
/* CLASS and TEXT may be NULL. Then what is appended to OUT belongs to the cell, until the next. */
void res_html_cell(ResHtmlTable *t, const char *class, const char *text);
void res_html_table_end(ResHtmlTable *t);
/* Appends escaped text from a format. */
void res_html_printf(GString *out, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* "12.3 ns"; without unit for "1" and "count"; a share as "75.8 %". g_free. */
char *res_html_quantity(double value, const char *unit);
/* A cell of the profile's matrix for people: its name, or "–" without a matrix. */
const char *res_html_cell_name(const char *cell);
/* LINES (char *) as a list; nothing when there are none. */
void res_html_list(GString *out, const GPtrArray *lines);
/* <span> with a mark and the word WORD in the colour of GRADE: "good", "bad", "unsure", "plain". */
void res_html_badge(GString *out, const char *grade, const char *word);
const char *res_html_verdict_grade(ResVerdict v);
