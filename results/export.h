/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * A page for programs. Every text that came from outside is made valid UTF-8 and escaped as the
 * format wants it; figures of fidelity `functional`, which mean nothing, are left out wherever the
 * format has no place to say so (KCIDB, Prometheus). All: to g_free; ended by a newline.
 */
#include "results/page.h"

/* Schema: results/report.schema.json. Fails when a record can't be written. */
char *res_export_json(const ResPage *p, GError **error);

/*
 * JUnit XML, as Jenkins and GitLab read it. Suite PROFILE: a testcase an expectation; suite
 * "PROFILE runs": one a run; suite "PROFILE against SET": one a compared metric that has a
 * direction. An expectation that fails, a metric that is worse and a guest that failed are
 * failures; an expectation that can't be told, and a run that infra or the user ended, errors; a
 * skipped run, and a metric that can't be told, are skipped, with the reason.
 */
char *res_export_junit(const ResPage *p);

/* TAP 14, the same points in the same order; what JUnit calls skipped is SKIP. */
char *res_export_tap(const ResPage *p);

/*
 * A KCIDB submission, schema 5.3 (github.com/kernelci/kcidb-io): a build for every kernel, a test
 * for every run, metric of a run, and expectation. ORIGIN: the name of the submitting system,
 * [a-z0-9_]+ (see res_export_origin_valid).
 */
char *res_export_kcidb(const ResPage *p, const char *origin);
gboolean res_export_origin_valid(const char *origin);

/*
 * Prometheus text exposition format 0.0.4: medians over boots, range over boots, verdicts. All are
 * gauges, without timestamps, as node_exporter's textfile collector wants it: when the set ended is
 * nohzlab_set_ended_timestamp_seconds.
 */
char *res_export_prometheus(const ResPage *p);
