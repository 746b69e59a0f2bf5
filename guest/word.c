/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/word.h"

#include <string.h>

static const char digits[] = "0123456789ABCDEF";

size_t
bm_word_encode(char *out, size_t cap, const char *bytes, size_t len, bool rest, size_t *used)
{
    size_t n = 0, i = 0;

    for (; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        bool plain = c > 0x20 && c <= 0x7e && c != '%';

        if (rest && c == ' ')
            plain = true;
        if (n + (plain ? 1 : 3) >= cap)
            break;
        if (plain) {
            out[n++] = (char)c;
            continue;
        }
        out[n++] = '%';
        out[n++] = digits[c >> 4];
        out[n++] = digits[c & 15];
    }
    if (len == 0)
        out[n++] = '%';
    out[n] = '\0';
    *used = i;
    return n;
}

static int
hex_value(char c)
{
    const char *at = c == '\0' ? NULL : strchr(digits, c);

    return at == NULL ? -1 : (int)(at - digits);
}

bool
bm_word_decode(char *word)
{
    char *to = word;

    if (strcmp(word, "%") == 0) {
        *word = '\0';
        return true;
    }
    if (*word == '\0')
        return false;
    for (const char *from = word; *from != '\0'; from++) {
        int high, low;

        if (*from <= 0x20 || *from > 0x7e)
            return false;
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        high = hex_value(from[1]);
        low = high < 0 ? -1 : hex_value(from[2]);
        if (low < 0 || high * 16 + low == 0)
            return false;
        *to++ = (char)(high * 16 + low);
        from += 2;
    }
    *to = '\0';
    return true;
}

static bool
alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool
bm_name_ok(const char *name, size_t max)
{
    if (!alnum(name[0]) || strlen(name) > max)
        return false;
    for (; *name != '\0'; name++)
        if (!alnum(*name) && strchr("._-", *name) == NULL)
            return false;
    return true;
}

bool
bm_number_parse(const char *word, unsigned long max, unsigned long *number)
{
    unsigned long n = 0;

    if (*word == '\0' || (word[0] == '0' && word[1] != '\0'))
        return false;
    for (; *word != '\0'; word++) {
        unsigned long digit = (unsigned long)(*word - '0');

        if (*word < '0' || *word > '9' || digit > max || n > (max - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *number = n;
    return true;
}

bool
bm_figure_ok(const char *word)
{
    const char *p = word + (*word == '-');
    size_t whole = strspn(p, "0123456789");
    size_t fraction = 0;

    p += whole;
    if (*p == '.') {
        fraction = strspn(p + 1, "0123456789");
        if (fraction == 0)
            return false;
        p += 1 + fraction;
    }
    return whole > 0 && *p == '\0' && p - word <= 32;
}

size_t
bm_words_split(char *line, char **words, size_t max)
{
    size_t n = 0;

    for (;;) {
        char *space = strchr(line, ' ');

        if (n == max || *line == '\0' || *line == ' ')
            return 0;
        words[n++] = line;
        if (space == NULL)
            return n;
        *space = '\0';
        line = space + 1;
    }
}
