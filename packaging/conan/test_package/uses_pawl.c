/* SPDX-License-Identifier: MIT */
/* Ends with 0 if a seek lock keeps writers out, lets readers in, and becomes a write lock. */
#include <pawl/pawl.h>

int main(void)
{
    pawl_lock64 lock = PAWL_LOCK64_INIT;
    pawl_take_seek(&lock);
    if (!pawl_try_read(&lock))
        return 1;
    if (pawl_try_write(&lock))
        return 2;
    pawl_drop_read(&lock);
    pawl_seek_to_write(&lock);
    if (pawl_try_read(&lock))
        return 3;
    pawl_drop_write(&lock);
    return pawl_lock64_is_free(&lock) ? 0 : 4;
}
