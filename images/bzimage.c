/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/bzimage.h"

#include <string.h>

#include "images/image.h"

/* Offsets and bits from boot.rst, "The Real-Mode Kernel Header". */
enum {
    SETUP_SECTS = 0x1f1,
    SYSSIZE = 0x1f4,
    BOOT_FLAG = 0x1fe,
    HEADER_MAGIC = 0x202,
    PROTOCOL = 0x206,
    KERNEL_VERSION = 0x20e,
    LOADFLAGS = 0x211,
    XLOADFLAGS = 0x236,
    HEADER_END = 0x238, /* of what is read here */

    PROTOCOL_2_12 = 0x020c, /* the first with xloadflags, Linux 3.8 */
    LOADED_HIGH = 1 << 0,
    XLF_KERNEL_64 = 1 << 0,
    SECTOR_BYTES = 512,
    DEFAULT_SETUP_SECTS = 4, /* what 0 stands for */
    RELEASE_MAX = 64,        /* __NEW_UTS_LEN */
};

static const char *const machine_arm64 = "an arm64 kernel (guests are x86-64)";

void
img_bzimage_free(ImgBzimage *b)
{
    if (!b)
        return;
    g_free(b->release);
    g_free(b->version);
    g_free(b);
}

static guint16
le16(const guint8 *p)
{
    return (guint16)(p[0] | p[1] << 8);
}

static guint32
le32(const guint8 *p)
{
    return le16(p) | (guint32)le16(p + 2) << 16;
}

static const char *
pe_kind(const guint8 *head, gsize bytes)
{
    if (bytes < 0x40)
        return NULL;
    gsize pe = le32(head + 0x3c);
    if (pe > bytes || bytes - pe < 6 || memcmp(head + pe, "PE\0\0", 4) != 0)
        return NULL;
    switch (le16(head + pe + 4)) {
    case 0xaa64:
        return machine_arm64;
    case 0x8664:
        return "an EFI program or unified kernel image, not a bzImage; extract its .linux section";
    case 0x014c:
        return "a 32-bit EFI program";
    case 0x5064:
        return "a RISC-V kernel (guests are x86-64)";
    case 0x6264:
        return "a LoongArch kernel (guests are x86-64)";
    default:
        return "an EFI program for another architecture";
    }
}

/* What a file that is no bzImage most likely is, or NULL. */
static const char *
foreign_kind(const guint8 *head, gsize bytes)
{
    /* Order matters: the kernels with an EFI stub are PE files as well. */
    static const struct {
        gsize offset;
        const char *magic;
        gsize bytes;
        const char *kind;
    } kinds[] = {
        {0, "\177ELF", 4, "an ELF file (a vmlinux cannot be used; use arch/x86/boot/bzImage)"},
        {4, "zimg", 4, "a compressed EFI kernel (zboot), which x86-64 does not use"},
        {0x38, "ARM\x64", 4, machine_arm64},
        {0x38, "RSC\x05", 4, "a RISC-V kernel (guests are x86-64)"},
        {0x24, "\x18\x28\x6f\x01", 4, "a 32-bit ARM zImage (guests are x86-64)"},
        {0, "\x27\x05\x19\x56", 4, "a U-Boot uImage (guests need a bzImage)"},
        {0, "\x1f\x8b", 2,
         "gzip data (arm64 and other kernels come like this; a bzImage does not)"},
        {0,
         "\xfd"
         "7zXZ",
         5, "xz data, not a bzImage"},
        {0, "\x28\xb5\x2f\xfd", 4, "zstd data, not a bzImage"},
        {0, "070701", 6, "a cpio archive (an initramfs?), not a kernel"},
        {0, "#!", 2, "a script, not a kernel"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (bytes >= kinds[i].offset + kinds[i].bytes &&
            memcmp(head + kinds[i].offset, kinds[i].magic, kinds[i].bytes) == 0)
            return kinds[i].kind;
    return pe_kind(head, bytes);
}

static gboolean
check_is_bzimage(const guint8 *head, gsize bytes, const char *name, GError **error)
{
    gboolean flag = bytes >= BOOT_FLAG + 2 && le16(head + BOOT_FLAG) == 0xaa55;
    gboolean magic = bytes >= HEADER_MAGIC + 4 && memcmp(head + HEADER_MAGIC, "HdrS", 4) == 0;

    if (flag && magic && bytes >= HEADER_END)
        return TRUE;
    const char *kind = foreign_kind(head, bytes);
    if (kind && !magic)
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID, "%s: not an x86 bzImage: %s", name, kind);
    else if (bytes < HEADER_END)
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s: not an x86 bzImage: %zu bytes, too short for its header", name, bytes);
    else
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID, "%s: not an x86 bzImage: no %s", name,
                    magic ? "boot flag 0xAA55 at 0x1fe" : "HdrS at 0x202");
    return FALSE;
}

static gboolean
check_bootable(const guint8 *head, const char *name, GError **error)
{
    guint16 protocol = le16(head + PROTOCOL);

    if (protocol < PROTOCOL_2_12) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s: boot protocol %u.%02u; 2.12 (Linux 3.8) or newer is needed", name,
                    protocol >> 8, protocol & 0xff);
        return FALSE;
    }
    if (!(head[LOADFLAGS] & LOADED_HIGH)) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s: a zImage, loaded below 1 MiB; a bzImage is needed", name);
        return FALSE;
    }
    if (!(le16(head + XLOADFLAGS) & XLF_KERNEL_64)) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s: a 32-bit x86 kernel (no 64-bit entry point); guests are x86-64", name);
        return FALSE;
    }
    return TRUE;
}

/* A signature may follow the kernel, so a longer file is right; a shorter one never. */
static gboolean
check_size(guint64 setup_bytes, guint64 system_bytes, guint64 file_bytes, const char *name,
           GError **error)
{
    if (system_bytes == 0) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID, "%s: its header says it has no kernel",
                    name);
        return FALSE;
    }
    if (file_bytes < setup_bytes + system_bytes) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s: truncated: %" G_GUINT64_FORMAT
                    " bytes, its header says %" G_GUINT64_FORMAT,
                    name, file_bytes, setup_bytes + system_bytes);
        return FALSE;
    }
    return TRUE;
}

/* The release becomes part of paths, so nothing that could lead out of a folder passes. */
static gboolean
check_release(const char *release, const char *name, GError **error)
{
    gsize length = strlen(release);
    gboolean ok = length > 0 && length <= RELEASE_MAX && release[0] != '.';

    for (gsize i = 0; ok && i < length; i++)
        ok = g_ascii_isgraph(release[i]) && release[i] != '/';
    if (ok)
        return TRUE;
    g_autofree char *shown = g_strndup(release, RELEASE_MAX);
    g_autofree char *escaped = g_strescape(shown, NULL);
    g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                "%s: its header's release \"%s\" is not one (1 to %d printable characters, no '/', "
                "no leading '.')",
                name, escaped, RELEASE_MAX);
    return FALSE;
}

ImgBzimage *
img_bzimage_parse(const guint8 *head, gsize head_bytes, guint64 file_bytes, const char *name,
                  GError **error)
{
    if (!check_is_bzimage(head, head_bytes, name, error) || !check_bootable(head, name, error))
        return NULL;

    gsize sectors = head[SETUP_SECTS] ? head[SETUP_SECTS] : DEFAULT_SETUP_SECTS;
    gsize setup_bytes = (sectors + 1) * SECTOR_BYTES;
    if (!check_size(setup_bytes, (guint64)le32(head + SYSSIZE) * 16, file_bytes, name, error))
        return NULL;

    gsize offset = le16(head + KERNEL_VERSION);
    gsize end = MIN(setup_bytes, head_bytes);
    if (offset == 0 || offset + 0x200 >= end) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s: its header has no kernel version (pointer 0x%zx, setup is 0x%zx bytes)",
                    name, offset, setup_bytes);
        return NULL;
    }
    offset += 0x200;
    const char *text = (const char *)head + offset;
    if (!memchr(text, 0, end - offset)) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s: the kernel version in its header has no end", name);
        return NULL;
    }
    g_autoptr(ImgBzimage) b = g_new0(ImgBzimage, 1);
    b->version = g_strdup(text);
    b->release = g_strndup(text, strcspn(text, " "));
    if (!check_release(b->release, name, error))
        return NULL;
    return g_steal_pointer(&b);
}
