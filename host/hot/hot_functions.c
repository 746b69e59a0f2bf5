/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin of QEMU's emulator: counts the instructions that the guest executes between two marks
 * (guest/report.h), by where they are. Nothing of the guest is changed, and under icount
 * its clock counts the same with the plugin as without: the count is exact and costs the figure
 * nothing.
 *
 * The unit is the translation block, which the emulator leaves early only for an exception; a block
 * that runs from one function on into the next counts for the first. Written to standard error,
 * which libvirt keeps as QEMU's log, at the closing mark:
 *
 *   nohzlab-hot begin
 *   nohzlab-hot ADDRESS INSTRUCTIONS      a block of kernel code, hexadecimal and decimal
 *   nohzlab-hot end USER                  instructions of user space
 *
 * All CPUs are counted: which one runs QEMU does not tell reliably, as without CF_PARALLEL it
 * compiles the number of the CPU that translates into the block. The others should be idle; under
 * icount they have to be anyway. For an emulator that runs all CPUs in one thread: there are no
 * locks.
 */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "guest/report.h"
#include "host/hot/qemu_api.h"

#define KERNEL_FROM 0xffff800000000000u /* x86-64: the upper half */

extern HOT_EXPORT int qemu_plugin_version;
int qemu_plugin_version = HOT_API_VERSION;
HOT_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                   char **argv);

typedef struct {
    uint64_t address, instructions; /* of the block */
    uint64_t runs;
} Block;

static GHashTable *blocks; /* Block * by itself: address and length */
static gboolean counting;

static guint
block_hash(gconstpointer block)
{
    const Block *b = block;
    return g_int64_hash(&b->address) ^ (guint)b->instructions;
}

static gboolean
block_equal(gconstpointer a, gconstpointer b)
{
    const Block *x = a, *y = b;
    return x->address == y->address && x->instructions == y->instructions;
}

static void
on_block(unsigned int cpu G_GNUC_UNUSED, void *data)
{
    if (counting)
        ((Block *)data)->runs++;
}

static void
on_begin(unsigned int cpu G_GNUC_UNUSED, void *data G_GNUC_UNUSED)
{
    GHashTableIter iter;
    gpointer block;

    g_hash_table_iter_init(&iter, blocks);
    while (g_hash_table_iter_next(&iter, &block, NULL))
        ((Block *)block)->runs = 0;
    counting = TRUE;
}

static void
on_end(unsigned int cpu G_GNUC_UNUSED, void *data G_GNUC_UNUSED)
{
    GHashTableIter iter;
    gpointer block;
    uint64_t user = 0;

    if (!counting)
        return;
    counting = FALSE;
    fprintf(stderr, "nohzlab-hot begin\n");
    g_hash_table_iter_init(&iter, blocks);
    while (g_hash_table_iter_next(&iter, &block, NULL)) {
        const Block *b = block;
        if (b->runs == 0)
            continue;
        if (b->address < KERNEL_FROM)
            user += b->runs * b->instructions;
        else
            fprintf(stderr, "nohzlab-hot %" G_GINT64_MODIFIER "x %" G_GUINT64_FORMAT "\n",
                    b->address, b->runs * b->instructions);
    }
    fprintf(stderr, "nohzlab-hot end %" G_GUINT64_FORMAT "\n", user);
    fflush(stderr);
}

/* A mark is looked for in user space only. */
static void
find_marks(struct qemu_plugin_tb *tb, size_t n)
{
    static const unsigned char begin[] = {BM_MARK_BEGIN_BYTES}, end[] = {BM_MARK_END_BYTES};
    unsigned char bytes[sizeof begin];

    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        if (qemu_plugin_insn_size(insn) != sizeof bytes ||
            qemu_plugin_insn_data(insn, bytes, sizeof bytes) != sizeof bytes)
            continue;
        if (memcmp(bytes, begin, sizeof bytes) == 0)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_begin, QEMU_PLUGIN_CB_NO_REGS, NULL);
        else if (memcmp(bytes, end, sizeof bytes) == 0)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_end, QEMU_PLUGIN_CB_NO_REGS, NULL);
    }
}

static void
on_translate(qemu_plugin_id_t id G_GNUC_UNUSED, struct qemu_plugin_tb *tb)
{
    Block key = {.address = qemu_plugin_tb_vaddr(tb), .instructions = qemu_plugin_tb_n_insns(tb)};
    Block *b = g_hash_table_lookup(blocks, &key);

    if (!b) {
        b = g_memdup2(&key, sizeof key);
        g_hash_table_add(blocks, b);
    }
    if (key.address < KERNEL_FROM)
        find_marks(tb, key.instructions);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, b);
}

int
qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info G_GNUC_UNUSED,
                    int argc G_GNUC_UNUSED, char **argv G_GNUC_UNUSED)
{
    blocks = g_hash_table_new_full(block_hash, block_equal, g_free, NULL);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    return 0;
}
