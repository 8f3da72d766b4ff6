"""Numbers in words: English says the tens first, German the ones: the order turns round."""

from __future__ import annotations

ENGLISH_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
ENGLISH_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
GERMAN_ONES = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
    "fünfzehn sechzehn siebzehn achtzehn neunzehn"
).split()
GERMAN_TENS = "- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()


def in_english(number: int) -> list[str]:
    """Say a number below a million: 21 is ``twenty one``."""
    if number < 20:
        return [ENGLISH_ONES[number]]
    if number < 100:
        return [ENGLISH_TENS[number // 10], *_rest(in_english, number % 10)]
    if number < 1000:
        return [*in_english(number // 100), "hundred", *_rest(in_english, number % 100)]
    return [*in_english(number // 1000), "thousand", *_rest(in_english, number % 1000)]


def in_german(number: int) -> list[str]:
    """Say a number below a million, its compound taken apart: 21 is ``ein und zwanzig``."""
    if number < 20:
        return [GERMAN_ONES[number]]
    if number < 100:
        ones = [*_joined(in_german(number % 10)), "und"] if number % 10 else []
        return [*ones, GERMAN_TENS[number // 10]]
    if number < 1000:
        return [*_joined(in_german(number // 100)), "hundert", *_rest(in_german, number % 100)]
    return [*_joined(in_german(number // 1000)), "tausend", *_rest(in_german, number % 1000)]


def _rest(say: object, number: int) -> list[str]:
    return say(number) if number else []  # type: ignore[operator]


def _joined(words: list[str]) -> list[str]:
    """Before another word, ``eins`` loses its s."""
    return [*words[:-1], "ein"] if words[-1] == "eins" else words
