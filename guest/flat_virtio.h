/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * QEMU's virtio-serial device, polled, by virtio's legacy interface (the OASIS specification 1.1,
 * 4.1.4.8 and 2.6.2: transitional PCI device, ring laid out by the driver's page; 5.3: console).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens the port called NAME. NULL, or what was missing. */
const char *bm_virtio_open(const char *name);
/* Sends N bytes of DATA and waits until the device has taken them. */
void bm_virtio_send(const void *data, size_t n);
/* What the host has sent since the last call, at most CAP bytes; 0: nothing. */
size_t bm_virtio_receive(void *data, size_t cap);
