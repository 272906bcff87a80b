/* SPDX-License-Identifier: MIT */
/* The checking variant: whether all holders and claimants of a lock fit into its word. */
#include "check.h"

#if PAWL_CHECKED

#include "../base/base.h"

static struct pawl_check_units claims_sum_of_claims(ipawl_address_ lock, uint32_t *claimants)
{
    const uint32_t lines = check_lines_used();
    struct pawl_check_units plain = {0, 0};
    struct pawl_check_units insisting = {0, 0};
    bool atomics = false;

    *claimants = 0;
    for (uint32_t i = 0; i < lines; i++) {
        const struct pawl_check_line *line = &check_here()->lines[i];
        const uint32_t used = check_owner(line) == 0 ? 0 : check_used_of(line);
        for (uint32_t k = 0; k < used; k++) {
            const uint32_t what = check_what_of(&line->held[k]);
            const struct pawl_check_units one = ipawl_units_of_(what, false);
            const struct pawl_check_units most = ipawl_units_of_(what, true);
            if (check_lock_of(&line->held[k]) != lock)
                continue;
            *claimants += most.sw + most.r != 0;
            plain.sw += one.sw;
            plain.r += one.r;
            insisting.sw += most.sw;
            insisting.r += most.r;
            atomics =
                atomics || check_state(what) == PAWL_STATE_A || check_wants(what) == PAWL_STATE_A;
        }
    }
    return atomics ? insisting : plain;
}

static void claims_report_excess(const struct pawl_check_call *call, struct pawl_check_units sum,
                                 struct pawl_check_units most, uint32_t claimants)
{
    struct pawl_check_view view;
    ipawl_check_view_(call, call->site != 0, &view);
    ipawl_report_begin_("too many claimants", call);
    if (claimants != 0)
        ipawl_report_say_("    %u holders and claimants at once; ", claimants);
    else
        ipawl_report_say_("    by the word; ");
    ipawl_report_say_("R could reach %llu of %llu, and W:S, counted in S, %llu of %llu\n",
                      (unsigned long long)sum.r, (unsigned long long)most.r,
                      (unsigned long long)sum.sw, (unsigned long long)most.sw);
    ipawl_report_holders_(call, &view);
    ipawl_report_end_(PAWL_REPORT_FAULT);
}

/* Whether the operation adds to a word that shows these units. Some operations read the word first
 * (WAIT_ADD and LOOK_ADD in transitions.def), and their gates keep most of them from adding. */
static bool claims_at_once(const struct pawl_check_call *call, struct pawl_check_units now)
{
    if (call->to == PAWL_STATE_R)
        return call->kind == CHECK_tells || now.sw < 4;
    if (call->kind != CHECK_try && call->kind != CHECK_claim)
        return true;
    if (call->kind == CHECK_claim && call->from == PAWL_STATE_U && call->to == PAWL_STATE_A)
        return now.sw == 0 || (now.sw % 4 == 0 && now.r == 0);
    return now.sw == 0;
}

static struct pawl_check_units claims_most_of(uint32_t bits)
{
    const struct pawl_check_units most = {(UINT64_C(1) << bits / 2) - 1,
                                          (UINT64_C(1) << (bits / 2 - 2)) - 1};
    return most;
}

/* Whether the operation's next addition fits into the word as it is. This is the only test for 32
 * and 64 bits, which have room for more threads than there are lines. */
bool ipawl_claims_fit_(const struct pawl_check_call *call, uint32_t what)
{
    const struct pawl_check_units most = claims_most_of(check_width(call->bits));
    const struct pawl_check_units now = {call->word >> check_width(call->bits) / 2,
                                         call->word >> 2 & most.r};
    const struct pawl_check_units before =
        ipawl_units_of_(check_what(call->from, PAWL_STATE_U, 0, 0), false);
    const struct pawl_check_units claim = ipawl_units_of_(what, false);
    struct pawl_check_units sum;

    if (!claims_at_once(call, now) ||
        (claim.sw - before.sw <= most.sw - now.sw && claim.r - before.r <= most.r - now.r))
        return true;
    sum.sw = now.sw + claim.sw - before.sw;
    sum.r = now.r + claim.r - before.r;
    claims_report_excess(call, sum, most, 0);
    return false;
}

/* The same from the entries, the caller's included, which is enough for the 16-bit word. Each
 * claimant publishes and then counts under one lock: the last of too many sees all the others. */
void ipawl_claims_count_(struct pawl_check_line *line, const struct pawl_check_call *call)
{
    const struct pawl_check_units most = claims_most_of(check_width(call->bits));
    struct pawl_check_units sum;
    uint32_t claimants;

    if (call->bits != 16 || line->busy != 0 || check_lines_used() * 5 <= most.sw)
        return;
    check_enter(line, &orders_here()->lock);
    sum = claims_sum_of_claims(call->lock, &claimants);
    check_leave(line, &orders_here()->lock);
    if (sum.sw > most.sw || sum.r > most.r)
        claims_report_excess(call, sum, most, claimants);
}

#endif
