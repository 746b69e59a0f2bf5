/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Inside results/ only: reads a tool's text line by line, out of whatever a terminal or a CI's log
 * put around it: escape codes, time stamps in front of lines, other programs' output.
 */
#include "results/latency_private.h"
#include "results/source.h"

/*
 * Reads with READER, or (NULL) with the one that first claims a line. *TOOL, if not NULL, gets the
 * name of the tool whose text it is, also on failure; NULL when none claimed it
 * (RES_LATENCY_ERROR_FOREIGN). A command line of the tool in the text (as a shell's prompt or trace
 * shows it) is taken as what was run. Errors name the tool, the line and its text.
 */
ResLatency *res_text_read(ResSource *source, const ResTextReader *reader, const char **tool,
                          GError **error);

/* For tests: strips LINE in place and gives where what is left begins. */
char *res_text_strip(char *line);
