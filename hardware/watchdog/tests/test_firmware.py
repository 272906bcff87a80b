# SPDX-License-Identifier: MIT
"""The compiled firmware on the simulated chip, and what the build says of it."""

import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT, cmocka_tests, program, run, run_cmocka


@pytest.mark.parametrize("test", cmocka_tests("usb_test"))
def test_usb(test):
    run_cmocka("usb_test", test)


@pytest.mark.parametrize("test", cmocka_tests("device_test"))
def test_device(test):
    run_cmocka("device_test", test)


@pytest.mark.parametrize(("kind", "room"), [("hid", "6012"), ("cdc", "6012"), ("small", "5310")])
def test_the_image_fits_below_a_boot_loader_and_says_how_well(kind, room):
    done = run(ROOT / "hardware/watchdog/firmware/margins", program(f"watchdog-{kind}.elf"), room)
    assert done.returncode == 0 and "to spare" in done.stdout


def test_an_image_that_is_too_large_is_not_made(tmp_path):
    source = tmp_path / "large.c"
    source.write_text('int main(void) { __asm__ volatile(".fill 7000"); return 0; }\n')
    image = tmp_path / "large.elf"
    subprocess.run(["avr-gcc", "-mmcu=attiny85", source, "-o", image], check=True)
    done = run(ROOT / "hardware/watchdog/firmware/margins", image)
    assert done.returncode == 1 and "too large" in done.stderr and not image.exists()


def test_the_fuses_turn_on_the_pll_and_the_brown_out_detector():
    image = program("watchdog-hid.elf")
    fuses = run("avr-objdump", "-s", "-j", ".fuse", image).stdout
    assert "e1d5ff" in fuses, fuses


def test_names_and_numbers_of_the_maker_can_be_built_in(tmp_path):
    if not shutil.which("avr-gcc"):
        pytest.skip("avr-gcc is not installed (scripts/setup watchdog)")
    done = run(
        "make",
        "-C",
        ROOT / "hardware/watchdog",
        f"BUILD={tmp_path}",
        "VENDOR=example.org",
        "IDS=0x1234 0x5678",
        f"{tmp_path}/watchdog-cdc.elf",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    image = (tmp_path / "watchdog-cdc.elf").read_bytes()
    assert "example.org".encode("utf-16-le") in image
    assert bytes([0x34, 0x12, 0x78, 0x56]) in image
    assert "pawl.invalid".encode("utf-16-le") not in image


def test_the_hex_file_holds_the_image():
    text = BUILD / "watchdog-hid.hex"
    if not text.exists():
        pytest.skip(f"{text} is not built (make -C watchdog)")
    lines = text.read_text().split()
    assert lines[-1] == ":00000001FF"
    for line in lines:
        assert sum(bytes.fromhex(line[1:])) % 256 == 0
