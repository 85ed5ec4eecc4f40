"""Conservative singular forms: only plural endings, only where the ending is unlikely to be anything else (paper A.2)."""

MIN_LETTERS = 4
"""Shorter words are never touched (paper A.2)."""

_KEPT = frozenset(
    # the same word in both numbers, or no plural at all
    "always news series species means perhaps alias atlas canvas christmas pancreas chaos lens pathos ethos cosmos "
    "whereas besides sometimes diabetes herpes rabies scabies swiss plus thus yes "
    # places and names that a missing s would turn into another one
    "texas dallas vegas kansas arkansas athens naples wales honduras bahamas barbados laos brussels cannes andes alps "
    "lucas jonas andreas elias carlos marcos tobias matthias mathias nicholas nikolas thomas james charles silas amos "
    "hans jens lars niklas klaus claus anders niels nils marcus angeles jesus moses mercedes dolores ines tomas matias "
    "williams roberts edwards peters daniels michaels richards stephens stevens rogers adams andrews phillips hughes "
    "brooks jones davis evans collins harris jacobs jenkins matthews mills myers owens parsons perkins peterson powers "
    "reynolds rhodes robbins sanders simmons simons summers walters waters watkins watts wells woods yates hayes "
    "hawkins higgins hopkins howells jeffers josephs marks martins morris nichols olivas rivas rojas salinas vargas "
    "elvis travis".split()
)
_EXCEPTIONS = {
    **{word + "s": word for word in
       "movie cookie zombie rookie brownie calorie selfie hoodie smoothie veggie auntie newbie birdie prairie groupie "
       "genie foodie indie bestie sortie collie budgie pie tie lie die townie oldie pixie cutie sweetie lassie laddie "
       "shoe toe canoe oboe hoe foe doe ache headache backache toothache stomachache heartache cache niche avalanche "
       "moustache quiche psyche axe".split()},
    **{word + "es": word for word in
       "bus virus campus bonus octopus cactus status plus focus sinus circus census chorus walrus gas lens atlas canvas "
       "iris alias christmas".split()},
    **{word[:-1] + "ves": word for word in "wolf shelf half loaf thief scarf elf calf hoof leaf".split()},
    **{word[:-2] + "ves": word for word in "knife wife".split()},
}  # fmt: skip
_SIBILANTS = ("sses", "shes", "ches", "xes", "zzes")
_NOT_PLURAL = ("ss", "us", "is")


def singular(word: str) -> str:
    """The singular of a casefolded word of at least four letters that ends like an English plural; else the word itself.

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
