"""CPU time on a busy machine: many short rounds, of which the least counts, since others can only add."""

import gc
import time


def least(calls, *, rounds=60, seconds=0.0003):
    """CPU seconds of one call, for each of *calls* (a mapping): the least mean over rounds of about *seconds* each.

    The rounds of all calls alternate, so that a slow moment of the machine falls on all of them.
    """
    shortest = {name: max(min(once(call, 1), once(call, 1)), 1e-7) for name, call in calls.items()}
    counts = {name: max(1, round(seconds / shortest[name])) for name in calls}
    found = dict.fromkeys(calls, float("inf"))
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in calls.items():
                found[name] = min(found[name], once(call, counts[name]))
    finally:
        gc.enable()
    return found


def reference():
    """A fixed piece of work. What it costs says what the machine is like at the moment."""
    return [number * number for number in range(100)]


def once(call, calls):
    """CPU seconds of one call: the mean of *calls* in a row."""
    rounds = range(calls)
    began = time.process_time()
    for _ in rounds:
        call()
    return (time.process_time() - began) / calls


def judged(measured, target, *, least=False):
    """What to print beside a number that has a target: the most it may be, or the *least*."""
    if least:
        return "ok" if measured >= target else f"under the target of {target:g}"
    return "ok" if measured <= target else f"over the target of {target:g}"
