/* SPDX-License-Identifier: MIT */
/* A frame's caller: by the tables where there are some, else by the frame pointer. */
#include "unwind.h"

enum { LARGEST_FRAME = 1 << 20 };

/* In code that uses it for something else it points anywhere: so the frame must be a plausible one,
 * and return into an object. */
static bool step_by_frame(struct unwind *u)
{
    const uint64_t frame = u->value[UNWIND_FRAME], sp = u->value[UNWIND_SP];
    struct unwind_object unused;
    uint64_t above, pc;
    if ((u->known & 1u << UNWIND_FRAME) == 0 || frame % 8 != 0 || frame < sp)
        return false;
    if (sp != 0 && frame - sp > LARGEST_FRAME)
        return false;
    if (!trace_unwind_read(u, frame, &above) || !trace_unwind_read(u, frame + 8, &pc))
        return false;
    pc = trace_unwind_without_signature(pc);
    if (!trace_unwind_object(pc, &unused))
        return false;
    u->value[UNWIND_FRAME] = above;
    u->value[UNWIND_SP] = frame + 16;
    u->value[UNWIND_PC] = pc;
    u->known = 1u << UNWIND_FRAME | 1u << UNWIND_SP | 1u << UNWIND_PC;
    u->return_at = frame + 8;
    u->interrupted = false;
    return true;
}

bool trace_unwind_step(struct unwind *u)
{
    const enum unwind_answer answer = trace_unwind_by_table(u);
    return answer == UNWIND_NO_TABLE ? step_by_frame(u) : answer == UNWIND_DONE;
}
