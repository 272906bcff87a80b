/* SPDX-License-Identifier: MIT */
/*
 * The account of a re-enacted thread's sleeps (bench/replay/pauses.hpp), on a clock of its own:
 *
 *   pauses SLEEP PAUSE BETWEEN OVERSLEPT STOLEN WAITED KIND
 *
 * A thread works BETWEEN ns, then pauses PAUSE ns, a thousand times. A sleep ends OVERSLEPT ns
 * late, where SLEEP is expected. While it works the system takes the processor away for STOLEN
 * ns, and it waits WAITED ns for a lock. KIND is 1 if the pause may have been such time,
 * too, and 2 if it was none of it. Prints the length of a round in ns, and the part of it in
 * which the thread paused.
 */
#include <cstdio>
#include <cstdlib>

#include "bench/replay/pauses.hpp"

int main(int count, char **words)
{
    if (count != 8)
        return 2;
    std::int64_t given[7];
    for (int i = 0; i < 7; i++)
        given[i] = std::atoll(words[i + 1]);
    constexpr std::int64_t rounds = 1000;
    bench::pauses account(given[0]);
    std::int64_t now = 0, cpu = 0;
    account.resume(now, cpu);
    for (std::int64_t i = 0; i < rounds; i++) {
        cpu += given[2];
        now += given[2] + given[4] + given[5];
        account.waited(given[5]);
        const std::int64_t asked = account.begin(given[1], given[6] == 1, now, cpu);
        if (asked > 0) {
            now += asked + given[3];
            account.slept(asked + given[3], asked, given[6] == 2);
        }
        account.resume(now, cpu);
    }
    std::printf("%lld %lld\n", static_cast<long long>(now / rounds),
                static_cast<long long>(account.paused() / rounds));
    return 0;
}
