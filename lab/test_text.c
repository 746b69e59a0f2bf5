/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text for people. */
#include "lab/text.h"

#include <math.h>

static void
test_printable(void)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"", ""},
        {"plain text, 100%", "plain text, 100%"},
        {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\xa7", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\xa7"},
        {"\033[31mred\033[0m\007\b\x7f", "?[31mred?[0m???"},
        {"two\nlines\r\n\tand", "two?lines???and"},
        /* CSI as one character, C1: escape codes without an escape */
        {"\xc2\x9b"
         "31m",
         "?31m"},
        {"bad \xff\xc3(", "bad \xef\xbf\xbd\xef\xbf\xbd("},
        /* Right-to-left override and its kin turn a line into another one; U+2028 is a line end. */
        {"run\xe2\x80\xaegnihton\xe2\x80\xac\xe2\x81\xa6x\xe2\x80\x8f", "run?gnihton??x?"},
        {"a\xe2\x80\xa8"
         "b\xe2\x80\xa9"
         "c",
         "a?b?c"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *shown = lab_printable(cases[i].text);
        g_assert_cmpstr(shown, ==, cases[i].shown);
    }
}

static void
test_figure(void)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "0"},
        {228.19, "228.2"},
        {6655, "6655"},
        {6655.4, "6655"},
        {1234567.8, "1234568"},
        {0.0213, "0.02130"},
        {2.391, "2.391"},
        {-228.19, "-228.2"},
        {1, "1.000"},
        {10, "10.00"},
        {9.9996, "10.00"},
        {999.96, "1000"},
        {9999.6, "10000"},
        {0.99996, "1.000"},
        {0.00001234, "0.00001234"},
        {1.234e-12, "1.234e-12"}, /* never "0.00000000", which it is not */
        {1e15, "1000000000000000"},
        {1.5e300, "1.5e+300"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = lab_figure(cases[i].value);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

static void
test_duration(void)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {
        {0, "0:00"},         {0.4, "0:00"},         {0.5, "0:01"},     {42, "0:42"},
        {59.6, "1:00"},      {725, "12:05"},        {3599.4, "59:59"}, {3599.6, "1:00:00"},
        {3723, "1:02:03"},   {360000, "100:00:00"}, {-5, "0:00"},      {NAN, "0:00"},
        {-INFINITY, "0:00"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = lab_duration(cases[i].seconds);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
    /* Too long to be said, but no nonsense and no trap. */
    g_autofree char *endless = lab_duration(INFINITY), *huge = lab_duration(1e300);
    g_assert_cmpstr(endless, ==, huge);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/text/printable", test_printable);
    g_test_add_func("/text/figure", test_figure);
    g_test_add_func("/text/duration", test_duration);
    return g_test_run();
}
