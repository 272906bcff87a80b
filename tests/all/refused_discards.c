/* SPDX-License-Identifier: MIT */
/* A program that does not look whether it got the lock is told so. Case 0 is right. */
#pragma GCC diagnostic error "-Wunused-result"
#include <pawl/pawl.h>

void use(pawl_spin32 *spin, pawl_lock64 *lock, pawl_pshared_lock32 *pshared);
void use(pawl_spin32 *spin, pawl_lock64 *lock, pawl_pshared_lock32 *pshared)
{
    if (pawl_try_write(spin))
        pawl_drop_write(spin);
    if (pawl_take_read_until(lock, 0))
        pawl_drop_read(lock);
    (void)pawl_spin32_is_write(spin);
#if CASE == 1
    pawl_try_read(spin); // expect: unused.result
#elif CASE == 2
    pawl_lock64_take_write_until(lock, 0); // expect: unused.result
#elif CASE == 3
    pawl_claim_write(lock); // expect: unused.result
#elif CASE == 4
    pawl_try_read_to_write(spin); // expect: unused.result
#elif CASE == 5
    pawl_seek_to_write_until(lock, 0); // expect: unused.result
#elif CASE == 6
    pawl_pshared_lock32_try_read(pshared); // expect: unused.result
#elif CASE == 7
    pawl_atomic_to_read_until(lock, 0); // expect: unused.result
#elif CASE == 8
    uint32_t word = 0;
    pawl_bitlock32_try(&word, 3); // expect: unused.result
#elif CASE == 9
    pawl_seq seq = PAWL_SEQ_INIT;
    pawl_seq_try_write(&seq); // expect: unused.result
#elif CASE == 10
    static pawl_brlock big;
    pawl_brlock_try_read(&big); // expect: unused.result
#elif CASE == 11
    static pawl_sift sift;
    pawl_sift_try_write(&sift); // expect: unused.result
#elif CASE == 12
    static pawl_robust_lock robust;
    pawl_robust_lock_try_read(&robust); // expect: unused.result
#elif CASE == 13
    static pawl_counter_limit limited;
    pawl_counter_limit_try_add(&limited, 1); // expect: unused.result
#elif CASE == 14
    static pawl_bigref ref;
    pawl_bigref_try_get(&ref); // expect: unused.result
#endif
}
