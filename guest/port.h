/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The report port: lines out, `go` lines in. When the port breaks there is nobody to report to:
 * every function here then says so on the console and powers off, so none of them returns an error.
 */
#include <stdbool.h>
#include <stddef.h>

#include "guest/report.h"

typedef struct {
    int fd;
    unsigned long lines; /* sent so far */
    size_t bytes;        /* sent so far */
    bool connected;      /* the host has taken something */
    char out[16 * 1024];
    size_t n_out;
    char in[BM_LINE_MAX];
    size_t n_in;
} BmPort;

/*
 * Open the port called BM_PORT_NAME; with WAIT give its driver some time to find it. False: WHY
 * (CAP bytes) says what is missing.
 */
bool bm_port_open(BmPort *p, bool wait, char *why, size_t cap);

/* One line of well-formed words, without its newline. */
void bm_port_line(BmPort *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "HEAD REST", REST encoded. Returns how many of the LEN bytes fit the line. */
size_t bm_port_rest(BmPort *p, const char *head, const char *rest, size_t len);
/* A line of output or of a file: `part`s as needed, then `text`. */
void bm_port_text(BmPort *p, const char *line, size_t len);
/* True while there is room for LEN more encoded bytes and for all that must still follow. */
bool bm_port_has_room(const BmPort *p, size_t len);

/* Send `barrier NAME`; with WAIT come back when the host says `go NAME`. */
void bm_port_barrier(BmPort *p, const char *name, bool wait);
/* Send `end` and close: returns when the host has everything. */
void bm_port_end(BmPort *p);
