/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/job.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "guest/trace_line.h"
#include "guest/word.h"

const char *
bm_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* Each of these returns NULL, or what is wrong with the line. */

static const char *
workload_start(BmJob *job, char **words, size_t n)
{
    BmWorkload *w = &job->workloads[job->n_workloads];
    unsigned long timeout_s;

    if (job->n_workloads == BM_WORKLOADS_MAX)
        return "too many workloads";
    if (n != 3)
        return "expected \"workload NAME TIMEOUT_S\"";
    if (!bm_name_ok(words[1], BM_NAME_MAX))
        return "a workload's name is of letters, digits, '.', '_' and '-', at most 64";
    for (size_t i = 0; i < job->n_workloads; i++)
        if (strcmp(job->workloads[i].name, words[1]) == 0)
            return "an earlier workload has the same name";
    if (!bm_number_parse(words[2], BM_TIMEOUT_MAX_S, &timeout_s) || timeout_s == 0)
        return "a timeout is from 1 to 86400 s";
    *w = (BmWorkload){.name = words[1], .timeout_s = (unsigned int)timeout_s, .cpu = -1};
    return NULL;
}

static const char *
workload_argv(BmWorkload *w, char *word)
{
    if (w->n_argv == BM_ARGV_MAX)
        return "too many arguments";
    if (!bm_word_decode(word))
        return "the argument is not a well-formed word";
    if (w->n_argv == 0 && word[0] != '/')
        return "the program's path must be absolute";
    w->argv[w->n_argv++] = word;
    return NULL;
}

static const char *
workload_collect(BmWorkload *w, char *word)
{
    if (w->n_collect == BM_COLLECT_MAX)
        return "too many files to collect";
    if (!bm_word_decode(word))
        return "the path is not a well-formed word";
    if (word[0] != '/' || !bm_name_ok(bm_path_name(word), BM_FILE_NAME_MAX))
        return "a path to collect is absolute, its last part of letters, digits, '.', '_' and '-'";
    for (size_t i = 0; i < w->n_collect; i++)
        if (strcmp(bm_path_name(w->collect[i]), bm_path_name(word)) == 0)
            return "another file to collect has the same name";
    w->collect[w->n_collect++] = word;
    return NULL;
}

static const char *
workload_trace(BmWorkload *w, const char *word)
{
    if (w->trace != NULL)
        return "trace is given twice";
    if (!bm_trace_function_ok(word, BM_NAME_MAX))
        return "a function to trace is of letters, digits, '_' and '.', at most 64";
    w->trace = word;
    return NULL;
}

static const char *
workload_line(BmWorkload *w, char **words, size_t n)
{
    unsigned long cpu;

    if (n != 2)
        return "expected \"cpu N\", \"argv WORD\", \"collect PATH\", \"trace FUNCTION\" "
               "or \"end\"";
    if (strcmp(words[0], "argv") == 0)
        return workload_argv(w, words[1]);
    if (strcmp(words[0], "collect") == 0)
        return workload_collect(w, words[1]);
    if (strcmp(words[0], "trace") == 0)
        return workload_trace(w, words[1]);
    if (strcmp(words[0], "cpu") != 0)
        return "expected \"cpu N\", \"argv WORD\", \"collect PATH\", \"trace FUNCTION\" "
               "or \"end\"";
    if (w->cpu >= 0)
        return "cpu is given twice";
    if (!bm_number_parse(words[1], BM_CPU_MAX, &cpu))
        return "a cpu is a number up to 8191";
    w->cpu = (int)cpu;
    return NULL;
}

static const char *
barriers_line(BmJob *job, char **words, size_t n, bool *seen)
{
    bool host = n == 2 && strcmp(words[1], "host") == 0;
    bool end = n == 2 && strcmp(words[1], "end") == 0;

    if (!host && !end && (n != 2 || strcmp(words[1], "none") != 0))
        return "expected \"barriers host\", \"barriers end\" or \"barriers none\"";
    if (*seen || job->n_workloads > 0)
        return "barriers is given once, before the workloads";
    job->barriers = host;
    job->end_barrier = host || end;
    *seen = true;
    return NULL;
}

static const char *
put_line(BmJob *job, char **words, size_t n)
{
    if (n != 3)
        return "expected \"put PATH WORD\"";
    if (job->n_puts == BM_PUTS_MAX)
        return "too many puts";
    if (!bm_word_decode(words[1]) || !bm_word_decode(words[2]))
        return "the path or the text is not a well-formed word";
    if (words[1][0] != '/')
        return "a path to put text into must be absolute";
    job->puts[job->n_puts++] = (BmPut){words[1], words[2]};
    return NULL;
}

static const char *
stamp_line(BmJob *job, char **words, size_t n)
{
    BmStamp *stamp = &job->stamps[job->n_stamps];

    if (n != 3)
        return "expected \"stamp PATH TIME_S\"";
    if (job->n_stamps == BM_STAMPS_MAX)
        return "too many stamps";
    if (!bm_word_decode(words[1]) || words[1][0] != '/')
        return "a path to stamp is a well-formed word and absolute";
    if (!bm_number_parse(words[2], UINT_MAX, &stamp->time_s))
        return "a time is a number up to 4294967295";
    stamp->path = words[1];
    job->n_stamps++;
    return NULL;
}

static const char *
host_line(BmJob *job, size_t n)
{
    if (n != 1)
        return "expected \"lab-host\"";
    if (job->lab_host)
        return "lab-host is given twice";
    job->lab_host = true;
    return NULL;
}

/* What is said once, before the workloads; FOUND tells whether the line was such a one. */
static const char *
set_up_line(BmJob *job, char **words, size_t n, bool *barriers_seen, bool *found)
{
    bool barriers = strcmp(words[0], "barriers") == 0, host = strcmp(words[0], "lab-host") == 0,
         put = strcmp(words[0], "put") == 0, stamp = strcmp(words[0], "stamp") == 0;

    *found = barriers || host || put || stamp;
    if (barriers)
        return barriers_line(job, words, n, barriers_seen);
    if (*found && job->n_workloads > 0)
        return "lab-host, put and stamp come before the workloads";
    if (host)
        return host_line(job, n);
    return put ? put_line(job, words, n) : stamp ? stamp_line(job, words, n) : NULL;
}

typedef struct {
    bool started, barriers_seen, inside, done;
} State;

static const char *
job_line(BmJob *job, State *s, char *line)
{
    char *words[3];
    size_t n = bm_words_split(line, words, 3);
    BmWorkload *w = &job->workloads[job->n_workloads];
    const char *wrong;
    bool found;

    if (n == 0)
        return "expected one to three words, one space between them";
    if (!s->started) {
        s->started = true;
        if (n != 2 || strcmp(words[0], BM_JOB_MAGIC) != 0)
            return "expected \"" BM_JOB_MAGIC " 1\"";
        return strcmp(words[1], "1") == 0 ? NULL : "this guest reads job version 1 only";
    }
    if (s->done)
        return "nothing may follow \"done\"";
    if (s->inside && n == 1 && strcmp(words[0], "end") == 0) {
        if (w->n_argv == 0)
            return "the workload has no argv";
        s->inside = false;
        job->n_workloads++;
        return NULL;
    }
    if (s->inside)
        return workload_line(w, words, n);
    if (strcmp(words[0], "workload") == 0) {
        s->inside = true;
        return workload_start(job, words, n);
    }
    wrong = set_up_line(job, words, n, &s->barriers_seen, &found);
    if (found)
        return wrong;
    if (n != 1 || strcmp(words[0], "done") != 0)
        return "expected \"workload\", \"barriers\", \"lab-host\", \"put\", \"stamp\" or "
               "\"done\"";
    s->done = true;
    return NULL;
}

bool
bm_job_parse(BmJob *job, char *text, size_t len, char *why, size_t cap)
{
    State state = {0};
    unsigned int number = 0;
    char *line = text;

    memset(job, 0, sizeof *job);
    text[len] = '\0';
    if (len > BM_JOB_MAX) {
        snprintf(why, cap, "the job is longer than %d bytes", BM_JOB_MAX);
        return false;
    }
    while (line < text + len) {
        char *newline = memchr(line, '\n', (size_t)(text + len - line));
        const char *wrong = NULL;

        number++;
        if (newline == NULL)
            wrong = "the line is cut short";
        else if (newline - line >= BM_LINE_MAX)
            wrong = "the line is longer than 4096 bytes";
        else if (memchr(line, '\0', (size_t)(newline - line)) != NULL)
            wrong = "the line holds a NUL byte";
        if (wrong == NULL) {
            *newline = '\0';
            wrong = job_line(job, &state, line);
            line = newline + 1;
        }
        if (wrong != NULL) {
            snprintf(why, cap, "job line %u: %s", number, wrong);
            return false;
        }
    }
    if (state.done)
        return true;
    snprintf(why, cap, "the job is cut short after line %u: \"done\" is missing", number);
    return false;
}
