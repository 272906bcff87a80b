# SPDX-License-Identifier: MIT
"""What sysfs says about CPUs, and what it does not say."""

import pytest

from pawl.core import topology


@pytest.fixture
def machine(tmp_path):
    """Writes a sysfs tree: two sockets of two cores of two threads; CPU n and n+4 are siblings."""

    def put(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")

    for cpu in range(8):
        core, package = cpu % 4, cpu % 4 // 2
        folder = tmp_path / f"cpu{cpu}"
        put(folder / "topology/core_id", str(core))
        put(folder / "topology/physical_package_id", str(package))
        put(folder / "topology/thread_siblings_list", f"{core},{core + 4}")
        (folder / f"node{package}").mkdir()
        shared = f"{2 * package}-{2 * package + 1},{2 * package + 4}-{2 * package + 5}"
        own = f"{core},{core + 4}"
        for n, (level, kind, size, by) in enumerate(
            (
                (1, "Data", "48K", own),
                (1, "Instruction", "32K", own),
                (2, "Unified", "1024K", own),
                (3, "Unified", "32M", shared),
            )
        ):
            for name, text in (
                ("level", str(level)),
                ("type", kind),
                ("size", size),
                ("shared_cpu_list", by),
            ):
                put(folder / f"cache/index{n}/{name}", text)
    return lambda cpus: topology.read(cpus, tmp_path)


def test_data_caches_are_read_and_the_one_for_instructions_is_not(machine):
    assert topology.cache_bytes(machine([0])) == [48 << 10, 1 << 20, 32 << 20]


@pytest.mark.parametrize(
    ("other", "name"),
    [(4, "SMT siblings"), (1, "share the L3"), (2, "other socket, other NUMA node")],
)
def test_pairs_are_named_by_what_they_share(machine, other, name):
    about = machine([0, other])
    assert topology.relation(about, 0, other) == name == topology.relation(about, other, 0)


def test_a_socket_without_a_common_cache_is_still_one_socket(machine, tmp_path):
    for cpu in (0, 1):
        (tmp_path / f"cpu{cpu}/cache/index3/shared_cpu_list").write_text(f"{cpu}\n")
    assert topology.relation(machine([0, 1]), 0, 1) == "same socket"


def test_the_nearest_is_another_core_with_a_common_cache(machine):
    assert topology.nearest(machine([0, 4, 2, 3, 1])) == 1


def test_a_sibling_is_the_nearest_only_where_there_is_nobody_else(machine):
    assert topology.nearest(machine([0, 4])) == 4
    assert topology.nearest(machine([0, 4, 2])) == 2


def test_one_cpu_has_no_neighbour(machine):
    assert topology.nearest(machine([3])) is None


def test_a_system_that_says_nothing_gives_zeros_and_says_so(tmp_path):
    about = topology.read([0, 1], tmp_path / "nowhere")
    assert topology.cache_bytes(about) == [0, 0, 0]
    assert topology.relation(about, 0, 1) == topology.UNKNOWN
    assert topology.nearest(about) == 1


@pytest.mark.parametrize(
    ("text", "cpus"), [("0-3,8", [0, 1, 2, 3, 8]), ("", []), ("none", []), ("1-", []), ("5", [5])]
)
def test_lists_are_in_the_notation_of_the_kernel(text, cpus):
    assert topology.cpu_list(text) == cpus


@pytest.mark.parametrize(
    ("text", "size"), [("48K", 49152), ("1M", 1 << 20), ("512", 512), ("", None), ("big", None)]
)
def test_sizes_have_units(text, size):
    assert topology.size(text) == size
