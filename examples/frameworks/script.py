"""What the models of this folder say, so that the agents run without a key: rules in the place of a model.

A model is asked with all that was said and done; `next_step` looks at the same.
"""

CITIES = ("Brooklyn", "London", "Paris")


def next_step(said, results):
    """What comes next: a text, or a tool and its arguments.

    *said*: what the user said, in order. *results*: what tools gave since the user's last words.
    """
    last = said[-1]
    if "weather" in last or "tomorrow" in last:
        city = max(CITIES, key=" ".join(said).rfind)  # the one that was named last
        day = "tomorrow" if "tomorrow" in last else "today"
        if not results:
            return "get_weather", {"city": city, "day": day}
        kind = "tomorrow's" if day == "tomorrow" else "the weather"
        return f"Here is {kind} forecast for {city}: {results[-1]}."
    if last.startswith("Please refund order"):
        if not results:
            return "issue_refund", {"order": int(last.rstrip(".").split()[-1])}
        return f"It is done: {results[-1]}."
    if "days ago" in last:
        late = int(last.partition(" days ago")[0].split()[-1]) > 30
        return "I am sorry, it is too late to send it back." if late else "Yes, you are within the 30 days."
    return f"I will remember that: {last}"


def get_weather(city: str, day: str) -> str:
    """The weather of a city, today or tomorrow."""
    return f"{'rain' if day == 'tomorrow' else 'sun'}, {20 + len(city)} degrees"


def issue_refund(order: int) -> str:
    """Pay an order back. In these evaluations a mock answers: nobody is paid."""
    raise RuntimeError(f"order {order} would have been paid back")
