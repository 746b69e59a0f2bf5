/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Words and numbers of an expectation's text, for its parser (lab/expect_parse.c). */
#include <glib.h>

typedef struct {
    const char *text, *at;
    int depth;
    int *column;
} LabLexer;

/* 1-based, in characters. */
int lab_lex_column(const LabLexer *r, const char *where);
void lab_lex_blanks(LabLexer *r);

/* A syntax error at the reader's position. */
void lab_lex_fail(LabLexer *r, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* "expected WHAT, found ..." */
void lab_lex_fail_expected(LabLexer *r, GError **error, const char *what);

/* Bytes of the name at P: words of letters, digits, `_` and `-`, dots between them; 0: none. */
gsize lab_lex_name(const char *p);
/* A number at the reader's position, with its `%`; FALSE with an error. */
gboolean lab_lex_number(LabLexer *r, double *number, GError **error);
