/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says what isolation is in force on this machine: each line is PASS, WARN, FAIL or CANNOT CHECK,
 * what that means, and what puts it right. */
#include <json-glib/json-glib.h>
#include <stdio.h>

#include "host/check.h"
#include "lab/cmd_host.h"
#include "lab/json.h"
#include "lab/verdict.h"

typedef struct {
    unsigned int of[HOST_GRADES];
} Counts;

static Counts
count(const GPtrArray *lines)
{
    Counts c = {0};

    for (guint i = 0; i < lines->len; i++)
        c.of[((const HostCheckLine *)lines->pdata[i])->grade]++;
    return c;
}

static int
exit_code(const Counts *c)
{
    return c->of[HOST_GRADE_FAIL] ? LAB_EXIT_NOT_HELD : LAB_EXIT_HELD;
}

static void
print_text(const GPtrArray *lines)
{
    Counts c = count(lines);

    for (guint i = 0; i < lines->len; i++) {
        const HostCheckLine *l = lines->pdata[i];
        printf("%-12s  %-11s %s\n", host_grade_name(l->grade), l->name, l->message);
        if (l->fix)
            printf("%-12s  %-11s fix: %s\n", "", "", l->fix);
    }
    printf("\n%u passed, %u warnings, %u failed, %u can't be checked\n", c.of[HOST_GRADE_PASS],
           c.of[HOST_GRADE_WARN], c.of[HOST_GRADE_FAIL], c.of[HOST_GRADE_CANNOT]);
}

static void
add_lines(JsonBuilder *b, const GPtrArray *lines)
{
    json_builder_set_member_name(b, "checks");
    json_builder_begin_array(b);
    for (guint i = 0; i < lines->len; i++) {
        const HostCheckLine *l = lines->pdata[i];
        json_builder_begin_object(b);
        lab_json_string(b, "check", l->name);
        lab_json_string(b, "grade", host_grade_name(l->grade));
        lab_json_string(b, "message", l->message);
        lab_json_string(b, "fix", l->fix);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
}

static void
print_json(const HostRoot *root, const GPtrArray *lines)
{
    g_autoptr(JsonBuilder) b = json_builder_new();
    Counts c = count(lines);

    json_builder_begin_object(b);
    lab_json_string(b, "root", host_root_path(root));
    add_lines(b, lines);
    json_builder_set_member_name(b, "counts");
    json_builder_begin_object(b);
    for (HostGrade g = 0; g < HOST_GRADES; g++) {
        lab_json_int(b, host_grade_name(g), c.of[g]);
    }
    json_builder_end_object(b);
    lab_json_int(b, "exit_code", exit_code(&c));
    json_builder_end_object(b);
    g_autofree char *text = lab_json_text(b);
    fputs(text, stdout);
}

int
lab_cmd_host_check(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL, *partition = NULL, *root_path = NULL;
    gboolean json = FALSE;
    int code = 0;
    const GOptionEntry entries[] = {
        {"partition", 'p', 0, G_OPTION_ARG_FILENAME, &partition,
         "Profile or file with a [host] section: the partition that should be in force (default: "
         "what the kernel command line asks for)",
         "FILE"},
        {"root", 0, 0, G_OPTION_ARG_FILENAME, &root_path,
         "Look at the machine whose proc, sys and etc are in DIR (default: this one)", "DIR"},
        {"json", 'j', 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL},
        {NULL},
    };

    if (!lab_command_parse("host check", entries, 0, 0, &argc, &argv, &state, &code))
        return code;
    g_autoptr(HostRoot) root = host_root_open(root_path, &error);
    if (!root)
        return lab_command_fail("host check", error);
    g_autoptr(HostWish) wish =
        partition ? host_wish_from_file(partition, host_root_ncpus(root), &error) : NULL;
    if (partition && !wish)
        return lab_command_fail("host check", error);
    g_autoptr(GPtrArray) lines = host_check(root, wish);
    Counts c = count(lines);
    if (json)
        print_json(root, lines);
    else
        print_text(lines);
    return exit_code(&c);
}
