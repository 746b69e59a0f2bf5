/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/flat_virtio.h"

#include <string.h>

#include "guest/flat.h"

/* Registers of the I/O BAR. */
#define HOST_FEATURES 0x00
#define GUEST_FEATURES 0x04
#define QUEUE_PAGE 0x08
#define QUEUE_SIZE 0x0c
#define QUEUE_SELECT 0x0e
#define QUEUE_NOTIFY 0x10
#define STATUS 0x12
#define STATUS_DRIVER_OK 7 /* with ACKNOWLEDGE and DRIVER */

#define FEATURE_MULTIPORT 2
#define CONTROL_IN 2
#define CONTROL_OUT 3
enum {
    DEVICE_READY,
    PORT_ADD,
    PORT_REMOVE,
    PORT_READY,
    CONSOLE_PORT,
    RESIZE,
    PORT_OPEN,
    PORT_NAME
};

#define PCI_ADDRESS 0xcf8
#define PCI_DATA 0xcfc
#define VIRTIO_CONSOLE 0x10031af4 /* transitional */
#define PCI_COMMAND_ON 7          /* I/O, memory, bus master */

#define PAGE 4096
#define QUEUE_MAX 256
#define BUFFERS 16
#define BUFFER_BYTES 256
#define OPEN_WAIT 10000000000UL /* TSC ticks: seconds */
#define DESC_WRITE 2
#define AVAIL_NO_INTERRUPT 1

typedef struct {
    uint64_t address;
    uint32_t len;
    uint16_t flags, next;
} Desc;

typedef struct {
    uint16_t flags, index, ring[];
} Avail;

typedef struct {
    uint16_t flags, index;
    struct {
        uint32_t id, len;
    } ring[];
} Used;

typedef struct {
    unsigned int number, size;
    volatile Desc *desc;
    volatile Avail *avail;
    volatile Used *used;
    uint16_t seen; /* of used */
    uint8_t *memory;
} Queue;

typedef struct {
    uint32_t port;
    uint16_t event, value;
} Control;

static uint8_t rings[4][3 * PAGE] __attribute__((aligned(PAGE)));
static uint8_t buffers[2][BUFFERS][BUFFER_BYTES];
static Queue control_in = {.memory = rings[0]}, control_out = {.memory = rings[1]};
static Queue port_in = {.memory = rings[2]}, port_out = {.memory = rings[3]};
static uint16_t io;

static inline void
barrier(void)
{
    __asm__ volatile("mfence" : : : "memory");
}

static bool
find_device(void)
{
    for (uint32_t slot = 0; slot < 32; slot++) {
        uint32_t address = 0x80000000U | slot << 11;
        bm_outl(PCI_ADDRESS, address);
        if (bm_inl(PCI_DATA) != VIRTIO_CONSOLE)
            continue;
        bm_outl(PCI_ADDRESS, address | 0x04);
        bm_outw(PCI_DATA, PCI_COMMAND_ON);
        bm_outl(PCI_ADDRESS, address | 0x10);
        io = bm_inl(PCI_DATA) & 0xfffc;
        return io != 0;
    }
    return false;
}

static bool
queue_set_up(Queue *q, unsigned int number)
{
    bm_outw(io + QUEUE_SELECT, (uint16_t)number);
    q->number = number;
    q->size = bm_inw(io + QUEUE_SIZE);
    if (q->size == 0 || q->size > QUEUE_MAX)
        return false;
    q->desc = (Desc *)q->memory;
    q->avail = (Avail *)(q->memory + q->size * sizeof(Desc));
    uintptr_t after = (uintptr_t)&q->avail->ring[q->size + 1];
    q->used = (Used *)((after + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
    q->avail->flags = AVAIL_NO_INTERRUPT;
    bm_outl(io + QUEUE_PAGE, (uint32_t)((uintptr_t)q->memory / PAGE));
    return true;
}

/* The buffer of descriptor ID for the device; it is told. */
static void
queue_offer(Queue *q, unsigned int id, const void *data, size_t n, bool write)
{
    q->desc[id].address = (uintptr_t)data;
    q->desc[id].len = (uint32_t)n;
    q->desc[id].flags = write ? DESC_WRITE : 0;
    q->avail->ring[q->avail->index % q->size] = (uint16_t)id;
    barrier();
    q->avail->index++;
    barrier();
    bm_outw(io + QUEUE_NOTIFY, (uint16_t)q->number);
}

/* The next descriptor the device is done with. */
static bool
queue_taken(Queue *q, unsigned int *id, size_t *n)
{
    if (q->used->index == q->seen)
        return false;
    barrier();
    *id = q->used->ring[q->seen % q->size].id;
    *n = q->used->ring[q->seen % q->size].len;
    q->seen++;
    return true;
}

static void
queue_send(Queue *q, const void *data, size_t n)
{
    unsigned int id;
    size_t taken;

    queue_offer(q, 0, data, n, false);
    while (!queue_taken(q, &id, &taken))
        bm_relax();
}

static void
control_send(uint32_t port, uint16_t event, uint16_t value)
{
    static Control message;

    message = (Control){port, event, value};
    queue_send(&control_out, &message, sizeof message);
}

static void
offer_buffers(Queue *q, unsigned int set)
{
    for (unsigned int i = 0; i < BUFFERS && i < q->size; i++)
        queue_offer(q, i, buffers[set][i], BUFFER_BYTES, true);
}

/* The device announces its ports, and each one's name once we are ready for it. True: NAME's came.
 */
static bool
control_message(const uint8_t *bytes, size_t n, const char *name, uint32_t *port)
{
    Control c;
    size_t len = strlen(name);

    if (n < sizeof c)
        return false;
    memcpy(&c, bytes, sizeof c);
    *port = c.port;
    if (c.event == PORT_ADD)
        control_send(c.port, PORT_READY, 1);
    return c.event == PORT_NAME && n >= sizeof c + len &&
           memcmp(bytes + sizeof c, name, len) == 0 &&
           (n == sizeof c + len || bytes[sizeof c + len] == '\0');
}

static bool
find_port(const char *name, uint32_t *port)
{
    uint64_t start = bm_tsc();

    while (bm_tsc() - start < OPEN_WAIT) {
        unsigned int id;
        size_t n;
        if (!queue_taken(&control_in, &id, &n)) {
            bm_relax();
            continue;
        }
        if (id < BUFFERS && n <= BUFFER_BYTES && control_message(buffers[0][id], n, name, port))
            return true;
        queue_offer(&control_in, id % BUFFERS, buffers[0][id % BUFFERS], BUFFER_BYTES, true);
    }
    return false;
}

const char *
bm_virtio_open(const char *name)
{
    uint32_t port;

    if (!find_device())
        return "there is no virtio-serial device";
    bm_outb(io + STATUS, 0);
    bm_outb(io + STATUS, 3);
    if (!(bm_inl(io + HOST_FEATURES) & FEATURE_MULTIPORT))
        return "the virtio-serial device has no ports";
    bm_outl(io + GUEST_FEATURES, FEATURE_MULTIPORT);
    if (!queue_set_up(&control_in, CONTROL_IN) || !queue_set_up(&control_out, CONTROL_OUT))
        return "the virtio-serial device's queues are of a size not known";
    bm_outb(io + STATUS, STATUS_DRIVER_OK);
    offer_buffers(&control_in, 0);
    control_send(0, DEVICE_READY, 1);
    if (!find_port(name, &port))
        return "no virtio-serial port has the report's name";
    /* Port 0 has queues 0 and 1; the others' come after the control queues. */
    unsigned int first = port == 0 ? 0 : 2 * port + 2;
    if (!queue_set_up(&port_in, first) || !queue_set_up(&port_out, first + 1))
        return "the report port's queues are of a size not known";
    offer_buffers(&port_in, 1);
    control_send(port, PORT_OPEN, 1);
    return NULL;
}

void
bm_virtio_send(const void *data, size_t n)
{
    queue_send(&port_out, data, n);
}

size_t
bm_virtio_receive(void *data, size_t cap)
{
    unsigned int id;
    size_t n;

    if (!queue_taken(&port_in, &id, &n))
        return 0;
    id %= BUFFERS;
    n = n < cap ? n : cap;
    n = n < BUFFER_BYTES ? n : BUFFER_BYTES;
    memcpy(data, buffers[1][id], n);
    queue_offer(&port_in, id, buffers[1][id], BUFFER_BYTES, true);
    return n;
}
