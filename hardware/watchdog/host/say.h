/* SPDX-License-Identifier: MIT */
/* What all parts of the daemon ask for: the time, and a line of words. */
#pragma once

/* Milliseconds of CLOCK_MONOTONIC. */
long long now_ms(void);
/* One line to standard error, from where systemd's journal takes it. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
