/* SPDX-License-Identifier: MIT */
/*
 * What addresses mean: the files that are mapped, the blocks of memory.
 *
 * The files come from /proc/self/maps, read again when a call comes from code that is in none. The
 * loader's own lists would need the loader's lock, which another thread may hold while it waits for
 * the very lock that this one holds.
 */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_READS = 64, LINE = 4352 };

static bool is_known(uint64_t address)
{
    const struct trace_control *const c = trace_control;
    for (uint32_t i = 0; i < c->modules && i < TRACE_MODULES; i++)
        if (address >= c->module[i].from && address < c->module[i].to)
            return true;
    return false;
}

/* ---- A line: from-to perms offset device inode path ------------------------------------------ */

struct mapping {
    uint64_t from, to, offset, inode;
    char perms[4];
    const char *path;
};

static const char *number(const char *at, uint32_t base, uint64_t *value)
{
    for (*value = 0;; at++) {
        const char c = *at;
        uint64_t digit;
        if (c >= '0' && c <= '9')
            digit = (uint64_t)(c - '0');
        else if (base == 16 && c >= 'a' && c <= 'f')
            digit = (uint64_t)(c - 'a' + 10);
        else
            return at;
        *value = *value * base + digit;
    }
}

static bool parse(const char *line, struct mapping *m)
{
    uint64_t unused;
    const char *at = number(line, 16, &m->from);
    if (*at++ != '-')
        return false;
    at = number(at, 16, &m->to);
    if (*at++ != ' ' || strlen(at) < 5)
        return false;
    memcpy(m->perms, at, 4);
    at = number(at + 5, 16, &m->offset);
    if (*at++ != ' ')
        return false;
    at = number(at, 16, &unused);
    if (*at++ != ':')
        return false;
    at = number(at, 16, &unused);
    if (*at++ != ' ')
        return false;
    at = number(at, 10, &m->inode);
    while (*at == ' ')
        at++;
    m->path = at;
    return true;
}

/* The module that a mapping belongs to: its first one, or one that begins it. */
static struct trace_module *module_at(const struct mapping *m, struct trace_module *last)
{
    struct trace_control *const c = trace_control;
    const size_t length = strlen(m->path) + 1;
    if (last != NULL && last->inode == m->inode && strcmp(&c->paths[last->path], m->path) == 0)
        return last;
    for (uint32_t i = 0; i < c->modules; i++)
        if (c->module[i].from == m->from && c->module[i].inode == m->inode)
            return &c->module[i];
    if (c->modules == TRACE_MODULES || c->paths_used + length > TRACE_PATHS) {
        c->lost_modules++;
        return NULL;
    }
    struct trace_module *made = &c->module[c->modules];
    memcpy(&c->paths[c->paths_used], m->path, length);
    made->path = c->paths_used;
    made->from = m->from;
    made->file_offset = m->offset;
    made->inode = m->inode;
    c->paths_used += (uint32_t)length;
    c->modules++;
    return made;
}

static struct trace_module *add(const struct mapping *m, struct trace_module *last)
{
    /* What follows the data of a file without a file is its bss. */
    if (m->inode == 0 && m->path[0] == 0 && last != NULL && last->to == m->from &&
        m->perms[1] == 'w')
        last->to = m->to;
    if (m->path[0] != '/' || m->inode == 0 || m->perms[3] == 's')
        return m->path[0] == 0 ? last : NULL;
    last = module_at(m, last);
    if (last != NULL && m->to > last->to)
        last->to = m->to;
    return last;
}

static void read_maps(void)
{
    static char text[LINE];
    struct trace_module *last = NULL;
    struct mapping m;
    size_t used = 0;
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    for (;;) {
        const ssize_t got = read(file, text + used, sizeof text - 1 - used);
        char *line = text, *end;
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
        text[used] = 0;
        while ((end = strchr(line, '\n')) != NULL) {
            *end = 0;
            if (parse(line, &m))
                last = add(&m, last);
            line = end + 1;
        }
        used -= (size_t)(line - text);
        if (used == sizeof text - 1)
            used = 0; /* no line is as long */
        memmove(text, line, used);
    }
    (void)close(file);
}

void trace_know(uint64_t address, uint64_t another)
{
    const int saved = errno;
    int cancel;
    if ((is_known(address) && is_known(another)) || trace_control->maps_read >= MOST_READS)
        return;
    if (!trace_tables_try())
        return;
    if (trace_may_call()) {
        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
        trace_control->maps_read++;
        read_maps();
        (void)pthread_setcancelstate(cancel, NULL);
        trace_has_called();
    }
    trace_tables_done();
    errno = saved;
}

/* ---- Code that is unloaded ------------------------------------------------------------------- */

/* Sites are addresses. Where nothing is mapped any more no other code may come to lie: so the
 * addresses are kept, without memory behind them. */
__attribute__((visibility("default"))) int dlclose(void *handle)
{
    const int result = next()->dlclose(handle);
    const int saved = errno;
    if (trace_control == NULL || !trace_may_call())
        return result;
    for (uint32_t i = 0; i < trace_control->modules && i < TRACE_MODULES; i++) {
        const struct trace_module *const m = &trace_control->module[i];
        void *const from = (void *)(uintptr_t)m->from;
        void *const kept =
            mmap(from, m->to - m->from, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (kept != MAP_FAILED && kept != from) /* Linux before 4.17 */
            (void)munmap(kept, m->to - m->from);
    }
    trace_has_called();
    errno = saved;
    return result;
}

/* ---- Blocks of memory ------------------------------------------------------------------------ */

/* Of libpawl-trace-blocks.so (blocks.c), which may be left out: `found` becomes the lock's place in
 * its block, the block's bytes, and the site that allocated it. */
__attribute__((weak)) bool ipawl_trace_block_(uint64_t address, uint64_t found[3]);

void trace_find_block(struct trace_init *init)
{
    uint64_t found[3];
    if (!ipawl_trace_block_ || !ipawl_trace_block_(init->lock, found))
        return;
    init->offset = found[0];
    init->allocated = found[2];
    init->size = found[1];
    trace_know(found[2], found[2]);
}

/* For a lock that no call has initialised, or that was set up by its type's initialiser. It takes
 * no place that another lock has. */
void trace_allocated(uint64_t key)
{
    const uint64_t address = key & TRACE_ADDRESS;
    struct trace_init *const init = &trace_control->inits[mixed(address, 0, 0) % TRACE_INITS];
    if (!ipawl_trace_block_ || address == 0 || init->lock != 0)
        return;
    init->lock = address;
    trace_find_block(init);
    if (init->size == 0)
        init->lock = 0;
}
