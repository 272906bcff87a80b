/* SPDX-License-Identifier: MIT */
/* The checking variant: waits that cannot end, because nobody has what is in the lock's word. */
#include "check.h"

#if PAWL_CHECKED

static struct pawl_check_units awaits_units(uint32_t bits, uint64_t word)
{
    const unsigned half = check_width(bits) / 2;
    struct pawl_check_units units;
    units.sw = word >> half;
    units.r = word >> 2 & ((UINT64_C(1) << (half - 2)) - 1);
    return units;
}

/* Whether the operation waits if the word stays so. */
static bool awaits_at(const struct pawl_check_call *call)
{
    struct pawl_check_units rest = awaits_units(call->bits, call->word);
    const struct pawl_check_units own =
        ipawl_units_most_(check_what(call->from, PAWL_STATE_U, 0, call->bits));
    if (call->kind == CHECK_try || call->kind == CHECK_drop)
        return false;
    rest.sw -= rest.sw < own.sw ? rest.sw : own.sw;
    rest.r -= rest.r < own.r ? rest.r : own.r;
    if (call->kind == CHECK_claim) /* it waits for readers only, and fails behind others */
        return rest.sw == 0 && rest.r != 0;
    if (call->to == PAWL_STATE_S)
        return rest.sw != 0;
    if (call->to == PAWL_STATE_A)
        return rest.sw % 4 != 0 || rest.r != 0;
    return call->to == PAWL_STATE_R ? rest.sw >= 4 : (rest.sw | rest.r) != 0;
}

static bool awaits_too_much(const struct pawl_check_call *call, const struct pawl_check_view *view)
{
    const struct pawl_check_units units = awaits_units(call->bits, view->word);
    return units.sw > view->sw || units.r > view->r;
}

static uint32_t awaits_say_lost(ipawl_address_ lock, bool says)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < PAWL_CHECK_LOST; i++) {
        const struct pawl_check_lost *lost = &check_here()->lost[i];
        struct pawl_check_stack stack;
        if (PAWL_ADDRESS_(pawl_load_relaxed)(&lost->lock) != lock || found++ >= PAWL_VIEW_HOLDERS ||
            !says)
            continue;
        ipawl_report_say_("    a thread that is gone had it in %c, taken at ",
                          check_letter(check_state(pawl_load_relaxed32(&lost->what))));
        ipawl_stack_copy_(&stack, &lost->stack);
        ipawl_report_stack_(&stack);
    }
    return found;
}

void ipawl_check_awaits_(const struct pawl_check_call *call)
{
    struct pawl_check_view view;
    bool gone;
    if (!awaits_at(call))
        return;
    ipawl_check_watch_();
    ipawl_check_glance_(call, &view);
    if (!awaits_too_much(call, &view) || pawl_load_relaxed32(&check_here()->unbooked) != 0)
        return;
    ipawl_check_view_(call, true, &view);
    if (!view.sound || !awaits_too_much(call, &view) ||
        pawl_load_relaxed32(&check_here()->unbooked) != 0)
        return;
    gone = view.gone != 0 || awaits_say_lost(call->lock, false) != 0;
    ipawl_report_begin_(gone ? "waits for a holder whose thread is gone"
                             : "waits for a holder that does not exist",
                        call);
    ipawl_report_holders_(call, &view);
    (void)awaits_say_lost(call->lock, true);
    ipawl_report_end_(PAWL_REPORT_FAULT);
}

void ipawl_check_lose_(const struct pawl_held *held)
{
    struct pawl_check *const check = check_here();
    const uint32_t next = pawl_fetch_add_relaxed32(&check->lost_used, 1);
    struct pawl_check_lost *lost = &check->lost[next % PAWL_CHECK_LOST];
    PAWL_ADDRESS_(pawl_store_relaxed)(&lost->lock, 0);
    pawl_store_relaxed32(&lost->what, check_what_of(held));
    ipawl_stack_copy_(&lost->stack, &held->stack);
    PAWL_ADDRESS_(pawl_store_relaxed)(&lost->lock, check_lock_of(held));
}

void ipawl_check_forget_lost_(ipawl_address_ lock)
{
    struct pawl_check *const check = check_here();
    if (pawl_load_relaxed32(&check->lost_used) == 0)
        return;
    for (uint32_t i = 0; i < PAWL_CHECK_LOST; i++)
        if (PAWL_ADDRESS_(pawl_load_relaxed)(&check->lost[i].lock) == lock)
            PAWL_ADDRESS_(pawl_store_relaxed)(&check->lost[i].lock, 0);
}

#endif
