# SPDX-License-Identifier: MIT
"""check: counts the checks of a test in Python, as check.h does for those in C."""
import contextlib
import os
import threading

passed = failed = 0


def check(good, what):
    """Count a check. If it fails, print what it was, and go on."""
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good and failed <= 20:
        print("FAILED", what)


def all_shown(master, slave, process):
    """Return what a terminal gets from a process until that ends, and close both ends of the terminal.

    The terminal stays open until all was read: if the process's end closed it, a loaded machine lost the last bytes. Only
    the end of the process that leads the terminal's session closes it earlier."""
    end = b"\0the end\0"

    def mark():
        process.wait()
        with contextlib.suppress(OSError):
            os.write(slave, end)

    marker = threading.Thread(target=mark)
    marker.start()
    data = b""
    with contextlib.suppress(OSError):
        while not data.endswith(end):
            data += os.read(master, 65536)
    marker.join()
    os.close(slave)
    os.close(master)
    return data.removesuffix(end)


def report():
    """Print the last line of a test, and return its exit status."""
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)
