/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * A machine as seen through its files: "/", or a folder with proc/, sys/, etc/ that stands for one
 * (tests, a box mounted elsewhere). Nothing read by way of it comes from outside that folder: links
 * are resolved inside it (openat2(2), RESOLVE_IN_ROOT; Linux 5.6).
 */
#include <glib.h>

#include "host/cpulist.h"

typedef struct HostRoot HostRoot;

/* PATH NULL: "/". */
HostRoot *host_root_open(const char *path, GError **error);
void host_root_close(HostRoot *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostRoot, host_root_close)

const char *host_root_path(const HostRoot *r); /* absolute; "/" for this machine */
gboolean host_root_is_machine(const HostRoot *r);
int host_root_fd(const HostRoot *r); /* O_PATH; stays R's */

/* PATHs below are relative: "proc/cmdline". */

/* Larger than /proc/interrupts of 1024 CPUs. */
#define HOST_ROOT_MAX_BYTES (32 * 1024 * 1024)
/* The text of a file of at most HOST_ROOT_MAX_BYTES, G_FILE_ERROR on failure. g_free. */
char *host_root_read(const HostRoot *r, const char *path, gsize *len, GError **error);
/* Its first line without the white space around it, or NULL when it can't be read. g_free. */
char *host_root_line(const HostRoot *r, const char *path);
char *host_root_linef(const HostRoot *r, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* A file that holds a CPU list; NULL when it can't be read or understood. */
HostCpuset *host_root_cpulist(const HostRoot *r, const char *path);
/* The names in folder PATH, numbers in their order, then the rest; NULL when it can't be read. */
GPtrArray *host_root_list(const HostRoot *r, const char *path);
gboolean host_root_exists(const HostRoot *r, const char *path);

/*
 * The kernel's messages (char *): of this machine from /dev/kmsg, never waiting; of a folder from
 * its file "kmsg". NULL when they can't be read. *FROM_BOOT: whether the first one is still there.
 */
GPtrArray *host_root_kmsg(const HostRoot *r, gboolean *from_boot);
