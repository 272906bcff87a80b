/* SPDX-License-Identifier: MIT */
/*
 * Unwind tables of x86-64: the section .eh_frame of the DWARF format, found by .eh_frame_hdr
 * (Linux Standard Base, "Exception Frames"). A table says for each instruction where the caller's
 * registers lie. What it uses and is not known here ends the stack.
 */
#include "unwind.h"

#if defined(__x86_64__)

#include <string.h>

/* ---- Reading --------------------------------------------------------------------------------- */

struct bytes {
    const uint8_t *at, *end;
    bool bad; /* something beyond the end was asked for; what was read is 0 */
};

static uint64_t fixed(struct bytes *b, size_t size)
{
    uint64_t value = 0;
    if ((size_t)(b->end - b->at) < size) {
        b->bad = true;
        b->at = b->end;
        return 0;
    }
    memcpy(&value, b->at, size);
    b->at += size;
    return value;
}

static int64_t with_sign(uint64_t value, uint32_t bits)
{
    return bits >= 64 ? (int64_t)value : (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static uint64_t leb(struct bytes *b, bool is_signed)
{
    uint64_t value = 0, byte;
    uint32_t shift = 0;
    do {
        byte = fixed(b, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) != 0);
    return is_signed ? (uint64_t)with_sign(value, shift) : value;
}

static uint64_t uleb(struct bytes *b)
{
    return leb(b, false);
}

static int64_t sleb(struct bytes *b)
{
    return (int64_t)leb(b, true);
}

/* Bytes that follow, out of the rest. */
static struct bytes part(struct bytes *b, uint64_t size)
{
    struct bytes made = {b->at, b->at, b->bad};
    if (size > (uint64_t)(b->end - b->at)) {
        b->bad = made.bad = true;
        size = 0;
    }
    b->at += size;
    made.end = b->at;
    return made;
}

static uint64_t address_of(const uint8_t *at)
{
    return (uint64_t)(uintptr_t)at;
}

/* A pointer by its encoding; `is_address`: relative to its place where the encoding says so. */
static uint64_t pointer(struct bytes *b, uint32_t encoding, bool is_address)
{
    static const uint8_t sizes[8] = {8, 0, 2, 4, 8, 0, 0, 0};
    const uint64_t here = address_of(b->at);
    const uint32_t size = sizes[encoding & 7];
    if (size == 0 || (encoding & 0x60) != 0) {
        b->bad = true;
        return 0;
    }
    uint64_t value = fixed(b, size);
    if ((encoding & 8) != 0)
        value = (uint64_t)with_sign(value, size * 8);
    return is_address && (encoding & 0x10) != 0 ? value + here : value;
}

/* ---- The entry of an instruction ------------------------------------------------------------- */

struct entry {
    struct bytes first, second; /* instructions: what its kind has in common, its own */
    uint64_t begins;
    uint64_t code_unit;
    int64_t data_unit;
    uint32_t encoding;
    bool has_sizes, is_signal;
};

static struct bytes inside(const struct unwind_object *o, uint64_t address)
{
    struct bytes b = {(const uint8_t *)(uintptr_t)address, NULL, false};
    b.end = (const uint8_t *)(uintptr_t)o->to;
    b.bad = address < o->from || address >= o->to;
    if (b.bad)
        b.end = b.at;
    return b;
}

/* A record: its length, and its bytes. */
static struct bytes record_at(const struct unwind_object *o, uint64_t address)
{
    struct bytes b = inside(o, address);
    const uint64_t size = fixed(&b, 4);
    if (size == 0xffffffff)
        b.bad = true; /* of 64 bits; compilers write none */
    return part(&b, size);
}

/* "Common information entry": what many functions share. */
static bool read_common(const struct unwind_object *o, uint64_t address, struct entry *e)
{
    struct bytes b = record_at(o, address), rest;
    if (fixed(&b, 4) != 0 || b.bad)
        return false;
    uint64_t version = fixed(&b, 1);
    const char *augmentation = (const char *)b.at;
    while (fixed(&b, 1) != 0)
        continue;
    if ((version != 1 && version != 3) || b.bad)
        return false;
    e->code_unit = uleb(&b);
    e->data_unit = sleb(&b);
    (void)(version == 1 ? fixed(&b, 1) : uleb(&b)); /* the register of the return address: 16 */
    e->has_sizes = *augmentation == 'z';
    rest = e->has_sizes ? part(&b, uleb(&b)) : part(&b, 0);
    if (e->has_sizes)
        augmentation++;
    for (; *augmentation != 0; augmentation++) {
        if (*augmentation == 'R')
            e->encoding = (uint32_t)fixed(&rest, 1);
        else if (*augmentation == 'P')
            (void)pointer(&rest, (uint32_t)fixed(&rest, 1) & 0x0f, false);
        else if (*augmentation == 'L')
            (void)fixed(&rest, 1);
        else if (*augmentation == 'S')
            e->is_signal = true;
        else
            return false;
    }
    e->first = b;
    return !b.bad && !rest.bad;
}

/* "Frame description entry": of one function. */
static bool read_entry(const struct unwind_object *o, uint64_t address, uint64_t pc,
                       struct entry *e)
{
    struct bytes b = record_at(o, address);
    const uint64_t place = address_of(b.at), distance = fixed(&b, 4);
    memset(e, 0, sizeof *e);
    if (distance == 0 || b.bad || !read_common(o, place - distance, e))
        return false;
    e->begins = pointer(&b, e->encoding, true);
    uint64_t length = pointer(&b, e->encoding & 0x0f, false);
    if (e->has_sizes)
        (void)part(&b, uleb(&b));
    e->second = b;
    return !b.bad && pc - e->begins < length;
}

/* The header has a sorted table of begin and entry, relative to itself. */
static bool find(const struct unwind_object *o, uint64_t pc, struct entry *e)
{
    struct bytes b = inside(o, o->tables);
    const uint64_t format = fixed(&b, 4);
    uint64_t low = 0, high;
    (void)fixed(&b, 4);
    high = fixed(&b, 4);
    if (format != 0x3b031b01 || b.bad || high == 0 || high > (uint64_t)(b.end - b.at) / 8)
        return false;
    while (high - low > 1) { /* the last one that begins at or before pc */
        const uint64_t middle = low + (high - low) / 2;
        struct bytes one = {b.at + middle * 8, b.end, false};
        if (o->tables + (uint64_t)with_sign(fixed(&one, 4), 32) <= pc)
            low = middle;
        else
            high = middle;
    }
    b.at += low * 8 + 4;
    return read_entry(o, o->tables + (uint64_t)with_sign(fixed(&b, 4), 32), pc, e);
}

/* ---- Rules ----------------------------------------------------------------------------------- */

/* "Call frame instructions" of the DWARF format. The CFA is the caller's stack pointer. */
enum instruction {
    NOP,
    ADVANCE_1 = 0x02,
    ADVANCE_2,
    ADVANCE_4,
    SAVED_AT,
    AS_AT_FIRST,
    UNDEFINED,
    SAME_VALUE,
    REMEMBER = 0x0a,
    RETURN_TO,
    CFA_IS,
    CFA_REGISTER,
    CFA_OFFSET,
    CFA_EXPRESSION,
    SAVED_AT_EXPRESSION,
    SAVED_AT_SIGNED,
    CFA_IS_SIGNED,
    CFA_OFFSET_SIGNED,
    SIZE_OF_ARGUMENTS = 0x2e
};

enum kind { AS_IT_IS, AT_OFFSET, AT_EXPRESSION, LOST, ENDS };

struct rule {
    enum kind kind;
    uint32_t size; /* of the expression */
    union {
        int64_t offset; /* of the caller's stack pointer */
        const uint8_t *expression;
    } at;
};

struct rules {
    struct rule of[UNWIND_REGISTERS];
    struct rule cfa;       /* the caller's stack pointer: an expression, or from a register */
    uint32_t cfa_register; /* NOT_OURS: not known */
};

enum { REMEMBERED = 2, NOT_OURS = UNWIND_REGISTERS };

/* Numbers of the System V interface. */
static uint32_t register_of(uint64_t number)
{
    static const uint8_t ours[17] = {NOT_OURS,   NOT_OURS,     NOT_OURS,   UNWIND_RBX, NOT_OURS,
                                     NOT_OURS,   UNWIND_FRAME, UNWIND_SP,  NOT_OURS,   NOT_OURS,
                                     NOT_OURS,   NOT_OURS,     UNWIND_R12, UNWIND_R13, UNWIND_R14,
                                     UNWIND_R15, UNWIND_PC};
    return number < sizeof ours ? ours[number] : NOT_OURS;
}

struct machine {
    struct rules now, first, remembered[REMEMBERED];
    uint32_t depth;
    uint64_t at;
};

static void set(struct machine *m, uint64_t number, enum kind kind, int64_t offset)
{
    const uint32_t r = register_of(number);
    if (r == NOT_OURS)
        return;
    m->now.of[r].kind = kind;
    m->now.of[r].at.offset = offset;
}

static struct rule expression(struct bytes *b)
{
    const struct bytes found = part(b, uleb(b));
    struct rule made;
    made.kind = AT_EXPRESSION;
    made.size = (uint32_t)(found.end - found.at);
    made.at.expression = found.at;
    return made;
}

static void set_cfa(struct machine *m, uint64_t number, int64_t offset)
{
    m->now.cfa.kind = AT_OFFSET;
    m->now.cfa.at.offset = offset;
    m->now.cfa_register = register_of(number);
}

/* False: the register and offset are an expression by now. */
static bool set_cfa_offset(struct machine *m, int64_t offset)
{
    if (m->now.cfa.kind != AT_OFFSET)
        return false;
    m->now.cfa.at.offset = offset;
    return true;
}

/* A damaged table may make it too large, so it wraps. */
static int64_t scaled(uint64_t number, const struct entry *e)
{
    return (int64_t)(number * (uint64_t)e->data_unit);
}

/* The two upper bits of the byte say which: 1 advances, 2 is SAVED_AT, 3 AS_AT_FIRST. */
static void short_instruction(struct machine *m, const struct entry *e, struct bytes *b,
                              uint64_t byte)
{
    const uint64_t low = byte & 0x3f;
    const uint32_t r = register_of(low);
    if (byte >> 6 == 1)
        m->at += low * e->code_unit;
    else if (byte >> 6 == 2)
        set(m, low, AT_OFFSET, scaled(uleb(b), e));
    else if (r != NOT_OURS)
        m->now.of[r] = m->first.of[r];
}

static bool keep_or_return(struct machine *m, bool keep)
{
    if (keep ? m->depth == REMEMBERED : m->depth == 0)
        return false;
    if (keep)
        m->remembered[m->depth++] = m->now;
    else
        m->now = m->remembered[--m->depth];
    return true;
}

/* False: it is not known here. */
static bool long_instruction(struct machine *m, const struct entry *e, struct bytes *b,
                             uint64_t byte)
{
    uint64_t number;
    struct rule rule;
    switch (byte) {
    case NOP: return true;
    case ADVANCE_1:
    case ADVANCE_2:
    case ADVANCE_4: m->at += fixed(b, (size_t)1 << (byte - ADVANCE_1)) * e->code_unit; return true;
    case SAVED_AT:
        number = uleb(b);
        set(m, number, AT_OFFSET, scaled(uleb(b), e));
        return true;
    case AS_AT_FIRST:
        number = register_of(uleb(b));
        if (number != NOT_OURS)
            m->now.of[number] = m->first.of[number];
        return true;
    case UNDEFINED: /* of the return address: the end of the stack */
        number = uleb(b);
        set(m, number, register_of(number) == UNWIND_PC ? ENDS : LOST, 0);
        return true;
    case SAME_VALUE: set(m, uleb(b), AS_IT_IS, 0); return true;
    case REMEMBER:
    case RETURN_TO: return keep_or_return(m, byte == REMEMBER);
    case CFA_IS:
        number = uleb(b);
        set_cfa(m, number, (int64_t)uleb(b));
        return true;
    case CFA_REGISTER:
        m->now.cfa_register = register_of(uleb(b));
        return m->now.cfa.kind == AT_OFFSET;
    case CFA_OFFSET: return set_cfa_offset(m, (int64_t)uleb(b));
    case CFA_EXPRESSION: m->now.cfa = expression(b); return true;
    case SAVED_AT_EXPRESSION:
        number = register_of(uleb(b));
        rule = expression(b);
        if (number != NOT_OURS)
            m->now.of[number] = rule;
        return true;
    case SAVED_AT_SIGNED:
        number = uleb(b);
        set(m, number, AT_OFFSET, scaled(leb(b, true), e));
        return true;
    case CFA_IS_SIGNED:
        number = uleb(b);
        set_cfa(m, number, scaled(leb(b, true), e));
        return true;
    case CFA_OFFSET_SIGNED: return set_cfa_offset(m, scaled(leb(b, true), e));
    case SIZE_OF_ARGUMENTS: (void)uleb(b); return true;
    default: return false;
    }
}

/* The rules at `pc`. */
static bool run(struct machine *m, const struct entry *e, struct bytes b, uint64_t pc)
{
    while (b.at < b.end && m->at <= pc) {
        const uint64_t byte = fixed(&b, 1);
        if (byte >> 6 != 0)
            short_instruction(m, e, &b, byte);
        else if (!long_instruction(m, e, &b, byte))
            return false;
    }
    return !b.bad;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

enum operation {
    WORD_AT = 0x06,
    AND = 0x1a,
    MINUS = 0x1c,
    PLUS = 0x22,
    PLUS_NUMBER,
    SHIFT_LEFT,
    IS_AT_LEAST = 0x2a,
    LITERAL = 0x30,
    REGISTER_AND_OFFSET = 0x70
};

enum { DEEPEST = 8 };

struct values {
    uint64_t at[DEEPEST];
    uint32_t count;
    bool bad;
};

static void push(struct values *v, uint64_t value)
{
    if (v->count == DEEPEST)
        v->bad = true;
    else
        v->at[v->count++] = value;
}

static uint64_t pop(struct values *v)
{
    if (v->count == 0)
        v->bad = true;
    return v->count == 0 ? 0 : v->at[--v->count];
}

static void of_two(struct values *v, uint64_t byte)
{
    const uint64_t second = pop(v), first = pop(v);
    switch (byte) {
    case AND: push(v, first & second); break;
    case MINUS: push(v, first - second); break;
    case PLUS: push(v, first + second); break;
    case SHIFT_LEFT: push(v, second < 64 ? first << second : 0); break;
    case IS_AT_LEAST: push(v, (int64_t)first >= (int64_t)second); break;
    default: v->bad = true;
    }
}

static void operation(struct unwind *u, struct values *v, struct bytes *b)
{
    const uint64_t byte = fixed(b, 1);
    uint64_t value;
    if (byte >= LITERAL && byte < LITERAL + 32) {
        push(v, byte - LITERAL);
    } else if (byte >= REGISTER_AND_OFFSET && byte < REGISTER_AND_OFFSET + 32) {
        const uint32_t r = register_of(byte - REGISTER_AND_OFFSET);
        const int64_t offset = sleb(b);
        v->bad |= r == NOT_OURS || (u->known & 1u << r) == 0;
        push(v, v->bad ? 0 : u->value[r] + (uint64_t)offset);
    } else if (byte == WORD_AT) {
        v->bad |= !trace_unwind_read(u, pop(v), &value);
        push(v, v->bad ? 0 : value);
    } else if (byte == PLUS_NUMBER) {
        value = uleb(b);
        push(v, pop(v) + value);
    } else {
        of_two(v, byte);
    }
}

/* `first`: the stack pointer of the caller, where the expression begins with it. */
static bool evaluate(struct unwind *u, const struct rule *rule, const uint64_t *first,
                     uint64_t *value)
{
    struct bytes b = {rule->at.expression, rule->at.expression + rule->size, false};
    struct values v = {{0}, 0, false};
    if (first != NULL)
        push(&v, *first);
    while (b.at < b.end && !b.bad && !v.bad)
        operation(u, &v, &b);
    *value = pop(&v);
    return !b.bad && !v.bad;
}

/* ---- The step -------------------------------------------------------------------------------- */

static bool find_cfa(struct unwind *u, const struct rules *rules, uint64_t *cfa)
{
    if (rules->cfa.kind == AT_EXPRESSION)
        return evaluate(u, &rules->cfa, NULL, cfa);
    if (rules->cfa.kind != AT_OFFSET || rules->cfa_register >= NOT_OURS ||
        (u->known & 1u << rules->cfa_register) == 0)
        return false;
    *cfa = u->value[rules->cfa_register] + (uint64_t)rules->cfa.at.offset;
    return true;
}

/* Where a register lies; false: it lies nowhere. */
static bool place_of(struct unwind *u, const struct rule *rule, uint64_t cfa, uint64_t *place)
{
    if (rule->kind == AT_EXPRESSION)
        return evaluate(u, rule, &cfa, place);
    *place = cfa + (uint64_t)rule->at.offset;
    return rule->kind == AT_OFFSET;
}

static bool follow(struct unwind *u, const struct rules *rules, bool is_signal)
{
    uint64_t value[UNWIND_REGISTERS], cfa, place = 0;
    uint32_t known = 0, r;
    /* A handler may run on a stack of its own, so only there the next frame may lie lower. */
    if (!find_cfa(u, rules, &cfa) || (cfa <= u->value[UNWIND_SP] && !is_signal))
        return false;
    for (r = 0; r < UNWIND_REGISTERS; r++) {
        const struct rule *const rule = &rules->of[r];
        value[r] = r == UNWIND_SP ? cfa : u->value[r];
        if (rule->kind == AS_IT_IS)
            known |= r == UNWIND_SP ? 1u << r : u->known & 1u << r;
        else if (place_of(u, rule, cfa, &place) && trace_unwind_read(u, place, &value[r]))
            known |= 1u << r;
        if (r == UNWIND_PC && rule->kind == AS_IT_IS)
            return false; /* of a function that saves no return address */
    }
    if ((known & 1u << UNWIND_PC) == 0 || (known & 1u << UNWIND_SP) == 0 || value[UNWIND_PC] == 0)
        return false;
    memcpy(u->value, value, sizeof value);
    u->known = known;
    u->return_at = place; /* of the last register, which is the pc */
    u->interrupted = is_signal;
    return true;
}

enum unwind_answer trace_unwind_by_table(struct unwind *u)
{
    const uint64_t pc = u->value[UNWIND_PC] - !u->interrupted;
    struct unwind_object object;
    struct machine m;
    struct entry e;
    if (!trace_unwind_object(pc, &object) || object.tables == 0 || !find(&object, pc, &e))
        return UNWIND_NO_TABLE;
    memset(&m, 0, sizeof m);
    m.now.cfa_register = NOT_OURS;
    if (!run(&m, &e, e.first, UINT64_MAX))
        return UNWIND_END;
    m.first = m.now;
    m.at = e.begins;
    if (!run(&m, &e, e.second, pc) || m.now.of[UNWIND_PC].kind == ENDS)
        return UNWIND_END;
    return follow(u, &m.now, e.is_signal) ? UNWIND_DONE : UNWIND_END;
}

#else

enum unwind_answer trace_unwind_by_table(struct unwind *u)
{
    (void)u;
    return UNWIND_NO_TABLE;
}

#endif
