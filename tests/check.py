# SPDX-License-Identifier: MIT
"""check: counts the checks of a test in Python, as check.h does for those in C."""
passed = failed = 0


def check(good, what):
    """Count a check. If it fails, print what it was, and go on."""
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good and failed <= 20:
        print("FAILED", what)


def report():
    """Print the last line of a test, and return its exit status."""
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)
