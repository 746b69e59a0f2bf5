/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/flat_port.h"

#include <string.h>

#include "guest/flat.h"
#include "guest/flat_virtio.h"
#include "guest/report.h"

/* QEMU's docs/specs/fw_cfg.rst: items are selected, then read byte by byte. */
#define FW_CFG_SELECT 0x510
#define FW_CFG_DATA 0x511
#define FW_CFG_CPUS 0x05
#define FW_CFG_FILES 0x19
#define FW_CFG_FILES_MAX 1024
#define RFLAGS_INTERRUPTS 0x200

typedef struct {
    uint32_t size; /* big-endian, as the next */
    uint16_t select, reserved;
    char name[56];
} FwCfgFile;

static char out[16 * 1024];
static size_t n_out;
static uint64_t lines;

size_t
bm_flat_read_job(char *text, size_t cap)
{
    uint32_t count;

    bm_outw(FW_CFG_SELECT, FW_CFG_FILES);
    bm_ins(FW_CFG_DATA, &count, sizeof count);
    count = __builtin_bswap32(count);
    for (uint32_t i = 0; i < count && i < FW_CFG_FILES_MAX; i++) {
        FwCfgFile file;
        bm_ins(FW_CFG_DATA, &file, sizeof file);
        file.name[sizeof file.name - 1] = '\0';
        if (strcmp(file.name, BM_FWCFG_JOB) != 0)
            continue;
        size_t size = __builtin_bswap32(file.size);
        if (size >= cap)
            return 0;
        bm_outw(FW_CFG_SELECT, __builtin_bswap16(file.select));
        bm_ins(FW_CFG_DATA, text, size);
        text[size] = '\0';
        return size;
    }
    return 0;
}

unsigned int
bm_flat_vcpus(void)
{
    uint16_t n;

    bm_outw(FW_CFG_SELECT, FW_CFG_CPUS);
    bm_ins(FW_CFG_DATA, &n, sizeof n);
    return n;
}

const char *
bm_flat_port_open(void)
{
    return bm_virtio_open(BM_PORT_NAME);
}

static void
flush(void)
{
    if (n_out)
        bm_virtio_send(out, n_out);
    n_out = 0;
}

void
bm_flat_put(const char *text)
{
    size_t n = strlen(text);

    if (n_out + n > sizeof out)
        flush();
    if (n > sizeof out)
        n = sizeof out;
    memcpy(out + n_out, text, n);
    n_out += n;
}

void
bm_flat_put_number(uint64_t number)
{
    char digits[24];
    size_t at = sizeof digits;

    digits[--at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    bm_flat_put(digits + at);
}

void
bm_flat_put_end(void)
{
    bm_flat_put("\n");
    lines++;
}

/* The next line from the host, at most CAP - 1 characters of it. */
static void
read_line(char *line, size_t cap)
{
    static char in[512];
    static size_t n_in;

    for (;;) {
        for (size_t i = 0; i < n_in; i++) {
            if (in[i] != '\n' && i + 1 < sizeof in)
                continue;
            size_t n = i < cap - 1 ? i : cap - 1;
            memcpy(line, in, n);
            line[n] = '\0';
            n_in -= i + 1;
            memcpy(in, in + i + 1, n_in);
            return;
        }
        size_t n = bm_virtio_receive(in + n_in, sizeof in - n_in);
        if (n == 0)
            bm_relax();
        n_in += n;
    }
}

bool
bm_flat_barrier(const char *name, const char *workload, bool wait)
{
    char line[128];
    uint64_t flags;

    bm_flat_put("barrier ");
    bm_flat_put(name);
    bm_flat_put(workload);
    bm_flat_put_end();
    flush();
    if (!wait)
        return true;
    /* With interrupts on, or a host that takes its time looks like a guest that hangs. */
    __asm__ volatile("pushfq\n\tpopq %0\n\tsti" : "=r"(flags) : : "memory");
    read_line(line, sizeof line);
    if (!(flags & RFLAGS_INTERRUPTS))
        __asm__ volatile("cli" : : : "memory");
    size_t n = strlen(name);
    return memcmp(line, "go ", 3) == 0 && strlen(line) >= 3 + n && memcmp(line + 3, name, n) == 0 &&
           strcmp(line + 3 + n, workload) == 0;
}

void
bm_flat_port_end(void)
{
    bm_flat_put("end ");
    bm_flat_put_number(lines);
    bm_flat_put_end();
    flush();
}
