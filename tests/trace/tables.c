/* SPDX-License-Identifier: MIT */
/*
 * Unwind tables that are damaged, for tool/trace/cfi.c: those of the C library, copied to memory of
 * their own, with some bytes changed by chance. Whatever they say, nothing beyond them may be read;
 * a sanitizer looks. The words of the stack are made up, too.
 *
 *   tables ROUNDS [SEED]
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tool/trace/unwind.h"
#include "../support/program.h"

enum { LOOKS = 400 };

static struct unwind_object copy;
static uint64_t state;

static uint64_t chance(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % below;
}

bool trace_unwind_object(uint64_t address, struct unwind_object *found)
{
    *found = copy;
    return true;
}

bool trace_unwind_read(struct unwind *u, uint64_t address, uint64_t *value)
{
    *value = chance(UINT64_MAX);
    return chance(16) != 0;
}

/* From the header to the end of its segment. */
static size_t length_of(const struct dl_find_object *object)
{
    const char *const base = object->dlfo_map_start;
    const ElfW(Ehdr) *const head = object->dlfo_map_start;
    const ElfW(Phdr) *const parts = (const void *)(base + head->e_phoff);
    const size_t at = (size_t)((const char *)object->dlfo_eh_frame - base);
    for (int i = 0; i < head->e_phnum; i++)
        if (parts[i].p_type == PT_LOAD && at - parts[i].p_vaddr < parts[i].p_memsz)
            return (size_t)(parts[i].p_vaddr + parts[i].p_memsz - at);
    return 0;
}

/* Of some entry of the table; its place in the copy, and code that it is for. */
static size_t choose(const uint8_t *tables, uint64_t *pc)
{
    uint32_t count;
    int32_t pair[2];
    memcpy(&count, tables + 8, sizeof count);
    memcpy(pair, tables + 12 + 8 * chance(count), sizeof pair);
    *pc = (uint64_t)(uintptr_t)tables + (uint64_t)(int64_t)pair[0] + chance(200) + 1;
    return (size_t)pair[1];
}

static void damage(uint8_t *tables, size_t length, size_t entry)
{
    for (uint64_t n = chance(6); n > 0; n--) {
        const size_t at = chance(4) == 0 ? chance(length) : entry + chance(80);
        if (at >= 12 && at < length) /* choose() goes by the header */
            tables[at] = (uint8_t)chance(256);
    }
}

static enum unwind_answer look(uint64_t pc)
{
    struct unwind u;
    memset(&u, 0, sizeof u);
    for (int i = 0; i < UNWIND_REGISTERS; i++)
        u.value[i] = 0x7fff00000000 + 8 * chance(8192);
    u.known = (1u << UNWIND_REGISTERS) - 1;
    u.value[UNWIND_PC] = pc;
    return trace_unwind_by_table(&u);
}

int main(int count, char **word)
{
    struct dl_find_object object;
    uint64_t answers[3] = {0, 0, 0}, pc;
    must(count > 1);
    int rounds = atoi(word[1]);
    state = count > 2 ? strtoull(word[2], NULL, 10) : 88172645463325252;
    must(_dl_find_object(dlsym(RTLD_DEFAULT, "printf"), &object) == 0);
    size_t length = length_of(&object);
    must(length > 1000);
    for (int round = 0; round < rounds; round++) {
        uint8_t *const tables = malloc(length);
        must(tables != NULL);
        memcpy(tables, object.dlfo_eh_frame, length);
        copy.from = copy.tables = (uint64_t)(uintptr_t)tables;
        copy.to = copy.from + length;
        for (int i = 0; i < LOOKS; i++) {
            const size_t entry = choose(tables, &pc);
            if (round > 0) /* the first time all is whole */
                damage(tables, length, entry);
            answers[look(pc)]++;
        }
        free(tables);
    }
    printf("%llu %llu %llu\n", (unsigned long long)answers[UNWIND_DONE],
           (unsigned long long)answers[UNWIND_NO_TABLE], (unsigned long long)answers[UNWIND_END]);
    return 0;
}
