# SPDX-License-Identifier: MIT
"""Reads the small languages of the options: thread ranges, CPU lists, shares, lists."""

import os

from pawl.core.errors import BadInput

MAX_THREADS = 1024
HIT_PERCENT = (1, 100)


def _integer(text: str, option: str, example: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise BadInput(
            f"{option}: '{text}' is not a whole number; write for instance {example}."
        ) from None


def threads(text: str) -> list[int]:
    """`4`, `1,2,8` or `first:last[:step]`; every count once, ascending."""
    option, example = "--threads", "1:8:1 or 1,2,4"
    counts: set[int] = set()
    for part in text.split(","):
        numbers = [_integer(n, option, example) for n in part.strip().split(":")]
        if len(numbers) > 3:
            raise BadInput(f"{option}: '{part}' has too many colons; write for instance {example}.")
        first, last = numbers[0], numbers[1] if len(numbers) > 1 else numbers[0]
        step = numbers[2] if len(numbers) > 2 else 1
        for number in (first, last):
            if not 1 <= number <= MAX_THREADS:
                raise BadInput(
                    f"{option}: {number} threads cannot be measured; "
                    f"choose from 1 to {MAX_THREADS}."
                )
        if step < 1 or last < first:
            raise BadInput(
                f"{option}: '{part}' is empty; write first:last:step with first <= last "
                f"and step >= 1, for instance {example}."
            )
        counts.update(range(first, last + 1, step))
    return sorted(counts)


def doubling(most: int) -> list[int]:
    """1, 2, 4, ... and the most itself: a curve, on any machine."""
    counts, count = [], 1
    while count < most:
        counts.append(count)
        count *= 2
    return [*counts, most]


def integers(text: str, option: str, low: int, high: int, example: str = "30,100,300") -> list[int]:
    """A comma-separated list in the order given, without repeats."""
    numbers = [_integer(n.strip(), option, example) for n in text.split(",")]
    for number in numbers:
        if not low <= number <= high:
            raise BadInput(f"{option}: {number} is out of range; choose from {low} to {high}.")
    return list(dict.fromkeys(numbers))


def numbers(text: str, option: str, low: float, high: float, example: str) -> list[float]:
    """As integers(), for what may have a point in it."""
    values = []
    for part in text.split(","):
        try:
            value = float(part)
        except ValueError:
            raise BadInput(
                f"{option}: '{part}' is not a number; write for instance {example}."
            ) from None
        if not low <= value <= high:
            raise BadInput(
                f"{option}: {part.strip()} is out of range; choose from {low:g} to {high:g}."
            )
        values.append(value)
    return list(dict.fromkeys(values))


def percents(text: str, option: str = "--hit") -> list[float]:
    values = []
    for part in text.split(","):
        try:
            value = float(part.strip().removesuffix("%"))
        except ValueError:
            raise BadInput(
                f"{option}: '{part}' is not a percentage; write for instance 99 or 50,90,99."
            ) from None
        if not HIT_PERCENT[0] <= value <= HIT_PERCENT[1]:
            raise BadInput(
                f"{option}: {part.strip()} is out of range; "
                f"choose from {HIT_PERCENT[0]} to {HIT_PERCENT[1]} percent."
            )
        values.append(int(value) if value == int(value) else value)
    return list(dict.fromkeys(values))


def cache_size(text: str, keyspace: int | None) -> int:
    """A number of entries, or a share of the key space when that is known (`25%`)."""
    if text.endswith("%"):
        if keyspace is None:
            raise BadInput(
                "--size: a share such as 25% needs --keys or --keyspace; "
                "give one of them or a number of entries."
            )
        share = percents(text, "--size")[0]
        return max(1, int(keyspace * share / 100))
    size = _integer(text, "--size", "3200 or, with --keys, 25%")
    if size < 1:
        raise BadInput(f"--size: a cache of {size} entries holds nothing; choose 1 or more.")
    return size


def allowed_cpus() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def cpu_list(text: str, option: str = "--pin", otherwise: str = "none") -> list[int]:
    """`0,1,4-7`, in the order given: thread i runs on entry i modulo the length."""
    cpus: list[int] = []
    for part in text.split(","):
        ends = [_integer(n, option, "0,1 or 0-3") for n in part.strip().split("-", 1)]
        if ends[-1] < ends[0] or ends[-1] - ends[0] > 4096:
            raise BadInput(
                f"{option}: '{part}' is not a range of CPUs; write for instance 0,1 or 0-3."
            )
        cpus.extend(range(ends[0], ends[-1] + 1))
    allowed = allowed_cpus()
    refused = [cpu for cpu in cpus if cpu not in allowed]
    if refused:
        raise BadInput(
            f"{option}: this process may not run on CPU {show_cpus(refused)}, only on "
            f"{show_cpus(allowed)}; choose among those or say {option} {otherwise}."
        )
    return cpus


def show_cpus(cpus: list[int]) -> str:
    """The shortest usual notation of a list of CPUs: 0-3,8."""
    parts: list[str] = []
    start = previous = None
    for cpu in [*cpus, None]:
        if previous is not None and cpu == previous + 1:
            previous = cpu
            continue
        if previous is not None:
            parts.append(str(start) if start == previous else f"{start}-{previous}")
        start = previous = cpu
    return ",".join(parts)
