/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* For tests: fake roots, and the smallest files that pass for kernels, libraries and modules. */
#include <elf.h>
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

G_GNUC_UNUSED static char *
test_dir_new(void)
{
    g_autoptr(GError) error = NULL;
    char *dir = g_dir_make_tmp("nohzlab-images-XXXXXX", &error);

    g_assert_no_error(error);
    return dir;
}

G_GNUC_UNUSED static void
test_dir_free(char *path)
{
    g_autoptr(GDir) dir =
        g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir)))
        test_dir_free(g_build_filename(path, name, NULL));
    g_assert_cmpint(g_remove(path), ==, 0);
    g_free(path);
}
typedef char TestDir;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TestDir, test_dir_free)

/* Writes ROOT/NAME, and the folders it lies in. Returns its path. */
G_GNUC_UNUSED static char *
test_write(const char *root, const char *name, const void *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    char *path = g_build_filename(root, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);

    g_assert_cmpint(g_mkdir_with_parents(parent, 0755), ==, 0);
    g_file_set_contents(path, data, (gssize)size, &error);
    g_assert_no_error(error);
    return path;
}

G_GNUC_UNUSED static void
test_write_text(const char *root, const char *name, const char *text)
{
    g_free(test_write(root, name, text, strlen(text)));
}

G_GNUC_UNUSED static void
test_write_array(const char *root, const char *name, GByteArray *bytes)
{
    g_free(test_write(root, name, bytes->data, bytes->len));
}

/* ERROR is of CODE and mentions all of the words after it (NULL-terminated). */
G_GNUC_UNUSED static void
test_error_says(GError *error, GQuark domain, int code, ...)
{
    va_list words;
    const char *word;

    g_assert_error(error, domain, code);
    va_start(words, code);
    while ((word = va_arg(words, const char *)))
        if (!strstr(error->message, word))
            g_error("\"%s\" is not in: %s", word, error->message);
    va_end(words);
}

/* A bzImage header (2 setup sectors, 4 KiB of kernel) whose version text is VERSION. */
G_GNUC_UNUSED static GByteArray *
test_bzimage(const char *version)
{
    GByteArray *b = g_byte_array_new();

    g_byte_array_set_size(b, 3 * 512 + 4096);
    memset(b->data, 0, b->len);
    memcpy(b->data, "MZ", 2);
    b->data[0x1f1] = 2;
    b->data[0x1f5] = 1; /* syssize 0x100 * 16 */
    b->data[0x1fe] = 0x55;
    b->data[0x1ff] = 0xaa;
    memcpy(b->data + 0x202, "HdrS\x0f\x02", 6);
    b->data[0x20f] = 2; /* 0x200 + 0x200 */
    b->data[0x211] = 1;
    b->data[0x236] = 1;
    memcpy(b->data + 0x400, version, strlen(version) + 1);
    return b;
}

typedef struct {
    const char *interp;
    const char *soname;
    const char *rpath;
    const char *runpath;
    const char *needed[4];
    const char *import;   /* an undefined dynamic symbol */
    guint16 machine;      /* 0: x86-64 */
    gboolean static_only; /* no dynamic segment */
    char filler;          /* makes files differ */
} TestElf;

G_GNUC_UNUSED static guint64
test_elf_string(GByteArray *strings, const char *text)
{
    guint64 at = strings->len;

    g_byte_array_append(strings, (const guint8 *)text, (guint)strlen(text) + 1);
    return at;
}

/* One page: headers, interpreter, dynamic entries, strings; all of it in one PT_LOAD at address 0.
 */
G_GNUC_UNUSED static GByteArray *
test_elf(const TestElf *t)
{
    enum { INTERP = 0x200, DYNAMIC = 0x300, STRINGS = 0x600, SYMBOLS = 0xc00, PAGE = 0x1000 };
    g_autoptr(GByteArray) strings = g_byte_array_new();
    Elf64_Dyn dyn[16] = {0};
    Elf64_Phdr ph[3] = {0};
    guint n = 0, segments = 0;

    test_elf_string(strings, "");
    const struct {
        Elf64_Sxword tag;
        const char *text;
    } texts[] = {{DT_SONAME, t->soname},    {DT_RPATH, t->rpath},      {DT_RUNPATH, t->runpath},
                 {DT_NEEDED, t->needed[0]}, {DT_NEEDED, t->needed[1]}, {DT_NEEDED, t->needed[2]},
                 {DT_NEEDED, t->needed[3]}};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        if (texts[i].text)
            dyn[n++] = (Elf64_Dyn){texts[i].tag, {test_elf_string(strings, texts[i].text)}};
    guint64 import = t->import ? test_elf_string(strings, t->import) : 0;
    dyn[n++] = (Elf64_Dyn){DT_STRTAB, {STRINGS}};
    dyn[n++] = (Elf64_Dyn){DT_STRSZ, {strings->len}};
    n++; /* DT_NULL */

    GByteArray *b = g_byte_array_new();
    g_byte_array_set_size(b, PAGE);
    memset(b->data, t->filler, PAGE);
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = t->machine ? t->machine : EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof ph[0],
    };
    ph[segments++] = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = PAGE, .p_memsz = PAGE};
    if (t->interp) {
        gsize length = strlen(t->interp) + 1;
        memcpy(b->data + INTERP, t->interp, length);
        ph[segments++] = (Elf64_Phdr){
            .p_type = PT_INTERP, .p_offset = INTERP, .p_vaddr = INTERP, .p_filesz = length};
    }
    if (!t->static_only)
        ph[segments++] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
                                      .p_offset = DYNAMIC,
                                      .p_vaddr = DYNAMIC,
                                      .p_filesz = n * sizeof dyn[0]};
    header.e_phnum = (Elf64_Half)segments;
    memcpy(b->data, &header, sizeof header);
    memcpy(b->data + sizeof header, ph, segments * sizeof ph[0]);
    if (t->import) {
        const Elf64_Sym symbols[2] = {{0}, {.st_name = (Elf64_Word)import, .st_info = 0x12}};
        const Elf64_Shdr sections[3] = {
            {0},
            {.sh_type = SHT_DYNSYM,
             .sh_offset = SYMBOLS,
             .sh_size = sizeof symbols,
             .sh_link = 2,
             .sh_entsize = sizeof symbols[0]},
            {.sh_type = SHT_STRTAB, .sh_offset = STRINGS, .sh_size = strings->len}};
        header.e_shoff = SYMBOLS + sizeof symbols;
        header.e_shentsize = sizeof sections[0];
        header.e_shnum = G_N_ELEMENTS(sections);
        memcpy(b->data, &header, sizeof header);
        memcpy(b->data + SYMBOLS, symbols, sizeof symbols);
        memcpy(b->data + header.e_shoff, sections, sizeof sections);
    }
    memcpy(b->data + DYNAMIC, dyn, n * sizeof dyn[0]);
    memcpy(b->data + STRINGS, strings->data, strings->len);
    return b;
}

/* A relocatable file with a .modinfo section and nothing else. */
G_GNUC_UNUSED static GByteArray *
test_module(const char *vermagic)
{
    static const char names[] = "\0.modinfo\0.shstrtab";
    g_autofree char *text = g_strdup_printf("license=GPL|vermagic=%s SMP preempt |", vermagic);
    gsize length = strlen(text);
    GByteArray *b = g_byte_array_new();

    g_strdelimit(text, "|", 0);
    Elf64_Off info = sizeof(Elf64_Ehdr), strings = info + length;
    Elf64_Off table = (strings + sizeof names + 7) & ~7ull;
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_REL,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_shoff = table,
        .e_ehsize = sizeof header,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = 3,
        .e_shstrndx = 2,
    };
    Elf64_Shdr sections[3] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = info, .sh_size = length},
        {.sh_name = 10, .sh_type = SHT_STRTAB, .sh_offset = strings, .sh_size = sizeof names},
    };
    g_byte_array_set_size(b, (guint)(table + sizeof sections));
    memset(b->data, 0, b->len);
    memcpy(b->data, &header, sizeof header);
    memcpy(b->data + info, text, length);
    memcpy(b->data + strings, names, sizeof names);
    memcpy(b->data + table, sections, sizeof sections);
    return b;
}
