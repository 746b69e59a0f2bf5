/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/elf_object.h"

#include <gelf.h>
#include <string.h>

#include "images/image.h"

/* Real files have about a dozen segments and a few hundred dynamic entries. */
#define SEGMENTS_MAX 1024
#define DYNAMIC_MAX 65536

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Elf, elf_end)

typedef struct {
    Elf *elf;
    guint64 bytes;
    const char *name;
    size_t segments;
} Reader;

void
img_elf_free(ImgElf *e)
{
    if (!e)
        return;
    g_free(e->interp);
    g_free(e->soname);
    g_free(e->rpath);
    g_free(e->runpath);
    g_ptr_array_unref(e->needed);
    g_free(e);
}

static gboolean fail(const char *name, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

static gboolean
fail(const char *name, GError **error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID, "%s: damaged ELF file: %s", name, what);
    return FALSE;
}

gboolean
img_elf_is(GBytes *bytes)
{
    gsize size;
    const char *data = g_bytes_get_data(bytes, &size);

    return size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
}

/* libelf wants a writable pointer, but with ELF_C_READ semantics leaves what it points to alone. */
static Elf *
open_elf(GBytes *bytes, const char *name, GElf_Ehdr *header, GError **error)
{
    gsize size;
    const char *data = g_bytes_get_data(bytes, &size);

    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)data, size);
    if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, header)) {
        fail(name, error, "%s", elf ? "no usable header" : elf_errmsg(-1));
        elf_end(elf);
        return NULL;
    }
    return elf;
}

/* A NUL-terminated string at OFFSET in the file, ending before LIMIT bytes. */
static char *
string_at(const Reader *r, guint64 offset, guint64 limit, const char *what, GError **error)
{
    if (limit > r->bytes || offset > r->bytes - limit) {
        fail(r->name, error, "%s lies outside the file", what);
        return NULL;
    }
    Elf_Data *raw = limit ? elf_getdata_rawchunk(r->elf, (gint64)offset, limit, ELF_T_BYTE) : NULL;
    if (!raw || !memchr(raw->d_buf, 0, limit)) {
        fail(r->name, error, "%s has no end", what);
        return NULL;
    }
    return g_strdup(raw->d_buf);
}

static gboolean
check_segments(Reader *r, const GElf_Ehdr *header, GError **error)
{
    if (elf_getphdrnum(r->elf, &r->segments) != 0)
        return fail(r->name, error, "%s", elf_errmsg(-1));
    /* libelf counts only those that lie in the file. */
    if (header->e_phnum != PN_XNUM && header->e_phnum != r->segments)
        return fail(r->name, error, "%u segments in its header, %zu in the file: cut short?",
                    header->e_phnum, r->segments);
    if (r->segments > SEGMENTS_MAX)
        return fail(r->name, error, "%zu segments", r->segments);

    for (size_t i = 0; i < r->segments; i++) {
        GElf_Phdr ph;
        if (!gelf_getphdr(r->elf, (int)i, &ph))
            return fail(r->name, error, "%s", elf_errmsg(-1));
        if (ph.p_type != PT_LOAD && ph.p_type != PT_INTERP && ph.p_type != PT_DYNAMIC)
            continue;
        if (ph.p_filesz > r->bytes || ph.p_offset > r->bytes - ph.p_filesz)
            return fail(r->name, error,
                        "segment %zu ends after the file, which has %" G_GUINT64_FORMAT
                        " bytes: cut short?",
                        i, r->bytes);
    }
    return TRUE;
}

static gboolean
find_segment(const Reader *r, guint32 type, GElf_Phdr *ph)
{
    for (size_t i = 0; i < r->segments; i++)
        if (gelf_getphdr(r->elf, (int)i, ph) && ph->p_type == type)
            return TRUE;
    return FALSE;
}

/* The file offset of a virtual address, and how many bytes of its segment follow there. */
static gboolean
file_offset(const Reader *r, guint64 address, guint64 *offset, guint64 *left)
{
    for (size_t i = 0; i < r->segments; i++) {
        GElf_Phdr ph;
        if (!gelf_getphdr(r->elf, (int)i, &ph) || ph.p_type != PT_LOAD || address < ph.p_vaddr ||
            address - ph.p_vaddr >= ph.p_filesz)
            continue;
        *offset = ph.p_offset + (address - ph.p_vaddr);
        *left = ph.p_filesz - (address - ph.p_vaddr);
        return TRUE;
    }
    return FALSE;
}

/* Where DT_STRTAB is in the file. */
static gboolean
find_strings(const Reader *r, Elf_Data *dynamic, size_t count, guint64 *offset, guint64 *bytes,
             GError **error)
{
    gboolean found = FALSE;
    guint64 address = 0, left = 0;

    *bytes = 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Dyn dyn;
        if (!gelf_getdyn(dynamic, (int)i, &dyn) || dyn.d_tag == DT_NULL)
            break;
        if (dyn.d_tag == DT_STRTAB) {
            address = dyn.d_un.d_ptr;
            found = TRUE;
        } else if (dyn.d_tag == DT_STRSZ) {
            *bytes = dyn.d_un.d_val;
        }
    }
    if (!found || !file_offset(r, address, offset, &left))
        return fail(r->name, error, "no dynamic string table");
    if (*bytes > left)
        return fail(r->name, error, "its dynamic string table ends after its segment");
    return TRUE;
}

static gboolean
take_string(const Reader *r, char **slot, const GElf_Dyn *dyn, guint64 strings,
            guint64 strings_bytes, GError **error)
{
    if (dyn->d_un.d_val >= strings_bytes)
        return fail(r->name, error, "a dynamic entry names no string");
    g_free(*slot);
    *slot = string_at(r, strings + dyn->d_un.d_val, strings_bytes - dyn->d_un.d_val,
                      "a dynamic string", error);
    return *slot != NULL;
}

static gboolean
take_entry(const Reader *r, ImgElf *e, const GElf_Dyn *dyn, guint64 strings, guint64 strings_bytes,
           GError **error)
{
    if (dyn->d_tag == DT_SONAME)
        return take_string(r, &e->soname, dyn, strings, strings_bytes, error);
    if (dyn->d_tag == DT_RPATH)
        return take_string(r, &e->rpath, dyn, strings, strings_bytes, error);
    if (dyn->d_tag == DT_RUNPATH)
        return take_string(r, &e->runpath, dyn, strings, strings_bytes, error);
    if (dyn->d_tag != DT_NEEDED)
        return TRUE;

    char *needed = NULL;
    if (!take_string(r, &needed, dyn, strings, strings_bytes, error))
        return FALSE;
    g_ptr_array_add(e->needed, needed);
    return TRUE;
}

static gboolean
read_dynamic(const Reader *r, ImgElf *e, GError **error)
{
    GElf_Phdr ph;

    if (!find_segment(r, PT_DYNAMIC, &ph))
        return TRUE;
    e->dynamic = TRUE;

    size_t count = ph.p_filesz / gelf_fsize(r->elf, ELF_T_DYN, 1, EV_CURRENT);
    if (count == 0 || count > DYNAMIC_MAX)
        return fail(r->name, error, "%zu dynamic entries", count);
    Elf_Data *dynamic = elf_getdata_rawchunk(r->elf, (gint64)ph.p_offset, ph.p_filesz, ELF_T_DYN);
    guint64 strings = 0, strings_bytes = 0;
    if (!dynamic)
        return fail(r->name, error, "%s", elf_errmsg(-1));
    if (!find_strings(r, dynamic, count, &strings, &strings_bytes, error))
        return FALSE;

    for (size_t i = 0; i < count; i++) {
        GElf_Dyn dyn;
        if (!gelf_getdyn(dynamic, (int)i, &dyn) || dyn.d_tag == DT_NULL)
            break;
        if (!take_entry(r, e, &dyn, strings, strings_bytes, error))
            return FALSE;
    }
    return TRUE;
}

/* By section headers, as there is no count elsewhere; a file stripped of them just says nothing. */
static gboolean
imports_unwinding(Elf *elf)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr sh;
        if (!gelf_getshdr(section, &sh) || sh.sh_type != SHT_DYNSYM)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        GElf_Sym sym;
        for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
            const char *name = elf_strptr(elf, sh.sh_link, sym.st_name);
            if (sym.st_shndx == SHN_UNDEF && name &&
                (strcmp(name, "pthread_exit") == 0 || strcmp(name, "pthread_cancel") == 0))
                return TRUE;
        }
    }
    return FALSE;
}

ImgElf *
img_elf_parse(GBytes *bytes, const char *name, GError **error)
{
    GElf_Ehdr header;
    g_autoptr(Elf) elf = open_elf(bytes, name, &header, error);
    if (!elf)
        return NULL;

    Reader r = {.elf = elf, .bytes = g_bytes_get_size(bytes), .name = name};
    g_autoptr(ImgElf) e = g_new0(ImgElf, 1);
    e->needed = g_ptr_array_new_with_free_func(g_free);
    e->machine = header.e_machine;
    e->is_64bit = header.e_ident[EI_CLASS] == ELFCLASS64;
    if (!check_segments(&r, &header, error))
        return NULL;

    GElf_Phdr interp;
    if (find_segment(&r, PT_INTERP, &interp)) {
        e->interp =
            string_at(&r, interp.p_offset, interp.p_filesz, "its interpreter's name", error);
        if (!e->interp)
            return NULL;
    }
    if (!read_dynamic(&r, e, error))
        return NULL;
    e->unwinds = e->dynamic && imports_unwinding(elf);
    return g_steal_pointer(&e);
}

/* The value of KEY among the NUL-separated KEY=VALUE texts of a .modinfo section, or NULL. */
static char *
modinfo_value(const char *text, gsize bytes, const char *key)
{
    gsize key_length = strlen(key);

    while (bytes > 0) {
        gsize length = strnlen(text, bytes);
        if (length > key_length && text[key_length] == '=' && strncmp(text, key, key_length) == 0)
            return g_strndup(text + key_length + 1, length - key_length - 1);
        gsize step = MIN(length + 1, bytes);
        text += step;
        bytes -= step;
    }
    return NULL;
}

char *
img_elf_modinfo(GBytes *bytes, const char *name, const char *key, GError **error)
{
    if (!img_elf_is(bytes)) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s: not a kernel module (not an ELF file)", name);
        return NULL;
    }
    GElf_Ehdr header;
    g_autoptr(Elf) elf = open_elf(bytes, name, &header, error);
    if (!elf)
        return NULL;
    if (header.e_type != ET_REL || header.e_machine != EM_X86_64) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s: not an x86-64 kernel module (ELF type %u, machine %u)", name,
                    header.e_type, header.e_machine);
        return NULL;
    }
    size_t names;
    Elf_Scn *section = NULL;
    gboolean named = elf_getshdrstrndx(elf, &names) == 0;
    while (named && (section = elf_nextscn(elf, section))) {
        GElf_Shdr sh;
        const char *section_name =
            gelf_getshdr(section, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
        if (!section_name || strcmp(section_name, ".modinfo") != 0)
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        char *value = data && data->d_buf ? modinfo_value(data->d_buf, data->d_size, key) : NULL;
        if (value)
            return value;
    }
    g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                "%s: no %s in a .modinfo section: damaged, cut short, or not a kernel module", name,
                key);
    return NULL;
}
