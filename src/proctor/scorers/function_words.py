"""The function words of English: what holds a sentence together and says nothing of its subject.

Closed classes only: articles, pronouns, auxiliaries, prepositions, conjunctions, particles, question words. A word that
could be what somebody asks about (computer, fire, problem) is none, whatever lists for web search say.
"""

from __future__ import annotations

__all__ = ["FUNCTION_WORDS"]

_CLASSES = {
    "articles, determiners": "a an the this that these those each every either neither some any no another other such",
    "pronouns": (
        "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her"
        " hers herself it its itself they them their theirs themselves one one's someone somebody something anyone"
        " anybody anything everyone everybody everything nobody nothing none"
    ),
    "quantities": "all both many much more most few fewer less least several enough",
    "auxiliaries": (
        "am is are was were be been being do does did done doing have has had having can could may might must shall"
        " should will would ought let let's"
    ),
    "contractions": (
        "i'm i've i'd i'll we're we've we'd we'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's"
        " it'd it'll they're they've they'd they'll that's that'll there's here's what's who's where's when's how's"
        " why's isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't cannot couldn't mayn't"
        " mightn't mustn't shan't shouldn't won't wouldn't needn't ain't"
    ),
    "prepositions": (
        "about above across after against along among around as at before behind below beneath beside besides between"
        " beyond by despite down during except for from in inside into like near of off on onto out outside over past"
        " per since than through throughout till to toward towards under until up upon via with within without"
    ),
    "conjunctions": "and but or nor so yet if unless because although though while whereas whether once",
    "particles and adverbs": (
        "not also again already always ever never here there then thus therefore hence however too very quite rather"
        " just only even still almost else instead now o'clock yes please"
    ),
    "question words": "what which who whom whose when where why how whatever whichever whoever whenever wherever",
    "greetings": "hi hello hey dear thanks thank",
}

FUNCTION_WORDS = frozenset(word for words in _CLASSES.values() for word in words.split())
"""All of them, in small letters."""
