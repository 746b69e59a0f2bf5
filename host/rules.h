/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The known mistakes: a plan, however it came about, against the machine it is for. Pure. */
#include <glib.h>

#include "host/plan.h"

/* The command line's size with its final zero: COMMAND_LINE_SIZE of x86
 * (arch/x86/include/asm/setup.h) and arm64. */
#define HOST_COMMAND_LINE_SIZE 2048

typedef struct {
    char severity; /* 'E': the plan must not be used, 'W': most likely a mistake, 'N': worth knowing
                    */
    char *rule;    /* "smt-split": stable, for programs */
    char *message; /* what is so, with the CPUs */
    char *advice;  /* what to do about it; "" when MESSAGE says it */
} HostRuleFinding;

/* HostRuleFinding *, errors first. */
GPtrArray *host_rules_check(const HostPlan *p, const HostTopology *t);
/* Whether an error is among FINDINGS. */
gboolean host_rules_refuse(const GPtrArray *findings);
/* "error", "warning", "note". */
const char *host_rule_severity_name(char severity);

/* For the files that hold rules. */
typedef struct {
    const HostPlan *p;
    const HostTopology *t;
    GPtrArray *findings;
} HostRules;
void host_rules_add(HostRules *r, char severity, const char *rule, const char *advice,
                    const char *format, ...) G_GNUC_PRINTF(5, 6);
/* Those about the guest's pins and priority (host/rules_guest.c). */
void host_rules_check_guest(HostRules *r);
