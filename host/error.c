/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/error.h"

#include <libvirt/virterror.h>

G_DEFINE_QUARK(host - error - quark, host_error)

void
host_error_set_libvirt(GError **error, const char *what)
{
    virErrorPtr last = virGetLastError();

    g_set_error(error, HOST_ERROR, HOST_ERROR_LIBVIRT, "%s: %s", what,
                last && last->message ? last->message : "libvirt gave no reason");
    virResetLastError();
}
