/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Words, names and numbers of the job and report formats (guest/report-format.md). */
#include <stdbool.h>
#include <stddef.h>

/*
 * Write LEN bytes as a word into OUT (CAP bytes, at least 4, NUL included); with REST spaces stand
 * for themselves. Stops before a byte that no longer fits: *USED says how many bytes were taken.
 * Returns the length written.
 */
size_t bm_word_encode(char *out, size_t cap, const char *bytes, size_t len, bool rest,
                      size_t *used);

/* Decode WORD in place. False: not well-formed, or it holds a NUL. */
bool bm_word_decode(char *word);

/* Letters, digits, '.', '_' and '-', the first a letter or digit, 1 to MAX characters. */
bool bm_name_ok(const char *name, size_t max);

/* Decimal digits only, no leading zero, at most MAX. */
bool bm_number_parse(const char *word, unsigned long max, unsigned long *number);

/* True when WORD is a number as `value` takes it: sign, digits, fraction; at most 32 characters. */
bool bm_figure_ok(const char *word);

/*
 * Split LINE in place at single spaces into at most MAX words. Returns their number, or 0 when the
 * line is empty, has an empty word or too many.
 */
size_t bm_words_split(char *line, char **words, size_t max);
