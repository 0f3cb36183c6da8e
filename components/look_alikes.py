"""Name characters that look like ASCII characters or like nothing.

Text copied from a web page, a chat or a word processor can hold a dash, a quote, a space or a
letter of another alphabet that no editor shows as different. AWS refuses such names without saying
why. Source of the pairs: https://www.unicode.org/Public/security/latest/confusables.txt
"""

from __future__ import annotations

import unicodedata

_PAIRS = {
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d\u00ad",
    "'": "\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc",
    '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb",
    " ": "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f"
    "\u205f\u3000",
    "": "\u200b\u200c\u200d\u2060\ufeff\u200e\u200f\u202a\u202b\u202c\u202d\u202e",
    ":": "\u0589\u2236\ua789",
    "/": "\u2044\u2215",
    ".": "\u2024\u06d4",
    ",": "\u201a\u060c",
    "_": "\u02cd",
    "a": "\u0430\u03b1",
    "c": "\u0441\u03f2",
    "d": "\u0501",
    "e": "\u0435",
    "h": "\u04bb",
    "i": "\u0456\u03b9",
    "j": "\u0458",
    "k": "\u03ba",
    "l": "\u04cf",
    "o": "\u043e\u03bf\u0585",
    "p": "\u0440\u03c1",
    "q": "\u051b",
    "s": "\u0455",
    "u": "\u03c5",
    "v": "\u03bd",
    "w": "\u051d",
    "x": "\u0445",
    "y": "\u0443\u03b3",
    "A": "\u0410\u0391",
    "B": "\u0412\u0392",
    "C": "\u0421",
    "E": "\u0415\u0395",
    "H": "\u041d\u0397",
    "I": "\u0406\u0399",
    "J": "\u0408",
    "K": "\u041a\u039a",
    "M": "\u041c\u039c",
    "N": "\u039d",
    "O": "\u041e\u039f",
    "P": "\u0420\u03a1",
    "S": "\u0405",
    "T": "\u0422\u03a4",
    "X": "\u0425\u03a7",
    "Y": "\u04ae\u03a5",
    "Z": "\u0396",
}
_BREAKS = {"\n": "a line break", "\r": "a carriage return", "\t": "a tab"}
_PLAIN = {odd: plain for plain, every in _PAIRS.items() for odd in every}


def plain_characters(text: str) -> str:
    """Return a text with the ASCII characters that its look-alikes stand for."""
    return "".join(_plain(character) for character in text)


def odd_characters(text: str) -> str:
    """Return the look-alike and invisible characters of a text in words; empty without any.

    Such as "U+2013 (EN DASH), which looks like `-`".
    """
    odd = dict.fromkeys(
        character for character in text if character in _BREAKS or _plain(character) != character
    )
    return "; ".join(_named(character) for character in odd)


def _plain(character: str) -> str:
    if character.isascii():
        return character
    found = _PLAIN.get(character)
    if found is not None:
        return found
    # Full-width forms and the like, but no letters with accents and no other scripts.
    folded = unicodedata.normalize("NFKC", character)
    if folded.isascii():
        return folded
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def _named(character: str) -> str:
    if character in _BREAKS:
        return _BREAKS[character]
    name = unicodedata.name(character, "no name")
    plain = _plain(character)
    if not plain:
        says = "which is invisible"
    elif plain == " ":
        says = "which looks like a space"
    elif unicodedata.decimal(character, None) is not None:
        says = f"a digit {plain} of another script"
    else:
        says = f"which looks like `{plain}`"
    return f"U+{ord(character):04X} ({name}), {says}"
