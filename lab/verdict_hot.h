/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Hot functions of the cells that have them (lab/hot.h), for people. */
#include "lab/verdict.h"

/* Appends a table for each cell and workload, the largest shares first; nothing without any. */
void lab_verdict_append_hot(GString *out, const LabVerdict *v);
