# SPDX-License-Identifier: MIT
"""What stands beside every number: the machine, its kernel, the commit."""

import os
import platform
import subprocess
from pathlib import Path


def _text(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return ""


def _colon_table(text: str) -> dict[str, str]:
    halves = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in halves}


def _lscpu() -> dict[str, str]:
    try:
        answer = subprocess.run(
            ["lscpu"],
            capture_output=True,
            text=True,
            timeout=10,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
        return _colon_table(answer.stdout)
    except (OSError, subprocess.SubprocessError):
        return {}


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


def describe() -> dict:
    cpu = _lscpu()
    memory = _colon_table(_text("/proc/meminfo")).get("MemTotal", "0 kB").split()[0]
    return {
        "cpu": cpu.get("Model name") or platform.processor() or "unknown",
        "architecture": platform.machine(),
        "family_model_stepping": "/".join(
            cpu.get(k, "?") for k in ("CPU family", "Model", "Stepping")
        ),
        "cpus": os.cpu_count(),
        "cpus_allowed": len(os.sched_getaffinity(0)),
        "sockets": _whole(cpu.get("Socket(s)")),
        "cores_per_socket": _whole(cpu.get("Core(s) per socket")),
        "threads_per_core": _whole(cpu.get("Thread(s) per core")),
        "l1d": cpu.get("L1d cache"),
        "l2": cpu.get("L2 cache"),
        "l3": cpu.get("L3 cache"),
        "hypervisor": cpu.get("Hypervisor vendor"),
        "governor": _text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or None,
        "memory_mib": int(memory) // 1024,
    }


def kernel() -> str:
    name = (
        platform.freedesktop_os_release().get("PRETTY_NAME", "")
        if os.path.exists("/etc/os-release")
        else ""
    )
    return f"{platform.system()} {platform.release()}" + (f", {name}" if name else "")


def _git(root: Path, *words: str) -> str | None:
    try:
        # The user who builds need not own the checkout.
        answer = subprocess.run(
            ["git", "--no-optional-locks", "-c", f"safe.directory={root}", "-C", str(root), *words],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def commit(root: Path | None) -> tuple[str | None, bool | None]:
    """The commit of the checkout and whether files differ from it; None when unknown."""
    if root is None:
        return None, None
    name = _git(root, "rev-parse", "HEAD")
    # Results written a moment ago, of the run before this one, do not change what is measured.
    status = (
        _git(root, "status", "--porcelain", "--", ".", ":(exclude)bench/results") if name else None
    )
    return name, None if status is None else bool(status)
