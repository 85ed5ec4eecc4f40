"""Conservative singular forms: only plural endings, and no more of them than are safe (paper A.2)."""

from domain.text import words

MIN_LETTERS = 4
"""Shorter words are never touched (paper A.2)."""

_SAME_IN_BOTH_NUMBERS = """
    always news series species means perhaps alias atlas canvas christmas pancreas chaos lens pathos
    ethos cosmos whereas besides sometimes diabetes herpes rabies scabies swiss plus thus yes
"""
_NAMES = """
    texas dallas vegas kansas arkansas athens naples wales honduras bahamas barbados laos brussels
    cannes andes alps lucas jonas andreas elias carlos marcos tobias matthias mathias nicholas nikolas
    thomas james charles silas amos hans jens lars niklas klaus claus anders niels nils marcus angeles
    jesus moses mercedes dolores ines tomas matias williams roberts edwards peters daniels michaels
    richards stephens stevens rogers adams andrews phillips hughes brooks jones davis evans collins
    harris jacobs jenkins matthews mills myers owens parsons perkins peterson powers reynolds rhodes
    robbins sanders simmons simons summers walters waters watkins watts wells woods yates hayes hawkins
    higgins hopkins howells jeffers josephs marks martins morris nichols olivas rivas rojas salinas
    vargas elvis travis
"""
_SINGULAR_IN_E = """
    movie cookie zombie rookie brownie calorie selfie hoodie smoothie veggie auntie newbie birdie
    prairie groupie genie foodie indie bestie sortie collie budgie pie tie lie die townie oldie pixie
    cutie sweetie lassie laddie shoe toe canoe oboe hoe foe doe ache headache backache toothache
    stomachache heartache cache niche avalanche moustache quiche psyche axe
"""
_SINGULAR_IN_S = """
    bus virus campus bonus octopus cactus status plus focus sinus circus census chorus walrus gas lens
    atlas canvas iris alias christmas
"""
_KEPT = frozenset(words(_SAME_IN_BOTH_NUMBERS + _NAMES))
"""Words that a missing s would turn into another word or another name."""
_EXCEPTIONS = {
    **{word + "s": word for word in words(_SINGULAR_IN_E)},
    **{word + "es": word for word in words(_SINGULAR_IN_S)},
    **{word[:-1] + "ves": word for word in words("wolf shelf half loaf thief scarf elf calf hoof leaf")},
    **{word[:-2] + "ves": word for word in words("knife wife")},
}
_SIBILANTS = ("sses", "shes", "ches", "xes", "zzes")
_NOT_PLURAL = ("ss", "us", "is")


def singular(word: str) -> str:
    """The singular of a casefolded word of four letters or more that ends like an English plural; else the word.

    `singular(singular(w)) == singular(w)`.
    """
    if word in _EXCEPTIONS:
        return _EXCEPTIONS[word]
    if len(word) < MIN_LETTERS or not word.endswith("s") or not word.isalpha() or word in _KEPT:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > MIN_LETTERS else word[:-1]
    if word.endswith((*_SIBILANTS, "oes")):
        return word[:-2]
    return word if word.endswith(_NOT_PLURAL) else word[:-1]
