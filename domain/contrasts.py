"""Words that tell two things apart when each name has another one of the same set (design 3.2)."""

from domain.text import words

MONTHS: dict[str, int] = {
    word: month
    for month, names in enumerate(
        (
            "january jan janvier januar enero gennaio janeiro januari января январь",
            "february feb février februar febrero febbraio fevereiro februari февраля февраль",
            "march mar mars märz marzo março maart марта март",
            "april apr avril abril aprile апреля апрель",
            "may mai mayo maggio maio mei мая май",
            "june jun juin juni junio giugno junho июня июнь",
            "july jul juillet juli julio luglio julho июля июль",
            "august aug août agosto augustus августа август",
            "september sep sept septembre septiembre settembre setembro сентября сентябрь",
            "october oct octobre oktober octubre ottobre outubro октября октябрь",
            "november nov novembre noviembre novembro ноября ноябрь",
            "december dec décembre dezember diciembre dicembre dezembro декабря декабрь",
        ),
        start=1,
    )
    for word in words(names)
}
"""Month names of eight languages to the number of the month."""

WEEKDAYS: dict[str, int] = {
    word: day
    for day, names in enumerate(
        (
            "monday mon lundi montag lunes lunedì segunda maandag понедельник",
            "tuesday tue tues mardi dienstag martes martedì dinsdag вторник",
            "wednesday wed mercredi mittwoch miércoles mercoledì woensdag среда",
            "thursday thu thurs jeudi donnerstag jueves giovedì donderdag четверг",
            "friday fri vendredi freitag viernes venerdì vrijdag пятница",
            "saturday sat samedi samstag sábado sabato zaterdag суббота",
            "sunday sun dimanche sonntag domingo domenica zondag воскресенье",
        ),
        start=1,
    )
    for word in words(names)
}
"""Names of days in seven languages to the ISO number of the day."""

DATE_WORDS = frozenset(
    words(
        """
    january february september october november december monday tuesday wednesday thursday friday saturday
    sunday
    """
    )
)
"""Words that are nothing but a date: one name with and one without them are two things. `May` may be a person."""

_CONTRASTS = """
    left izquierdo izquierda gauche links linke linker linkes левый левая اليسار الأيسر | right derecho derecha
        droite rechts rechte rechter rechtes правый правая اليمين الأيمن ;
    north northern norte nord северный северная الشمالي | south southern sur sud süd südlich южный южная الجنوبي
        | east eastern este est ost восточный الشرقي | west western oeste ouest westlich западный الغربي |
        northeast northeastern | northwest northwestern | southeast southeastern | southwest southwestern ;
    inbound incoming arrival arrivals arriving | outbound outgoing departure departures departing ;
    outbound outward | return returning ;
    front delantero delantera avant vorne vordere передний الأمامي الأمامية | back rear trasero trasera arrière
        hintere задний الخلفي الخلفية | side ;
    old older former previous viejo vieja ancien ancienne alte alter altes старый старая القديم القديمة | new
        newer current nuevo nueva nouveau nouvelle neue neuer neues новый новая الجديد الجديدة ;
    older elder oldest eldest | younger youngest ;
    day daytime | night nighttime overnight ;
    credit | debit ;
    upper | lower ;
    upstairs | downstairs ;
    top | bottom | middle ;
    above | below ;
    over | under ;
    indoor indoors | outdoor outdoors ;
    inner interior internal | outer exterior external ;
    inside | outside ;
    morning | afternoon | evening | night ;
    spring | summer | autumn fall | winter ;
    daily | weekly | fortnightly biweekly | monthly | quarterly | yearly annual ;
    before pre | after post ;
    early earlier | late later ;
    start beginning | end ending finish ;
    entry entrance | exit ;
    import | export ;
    buy buying buyer purchase | sell selling seller sale ;
    hot | cold ;
    big large grande großer große großes большой | small little pequeño petit petite kleiner kleine маленький |
        medium ;
    long | short ;
    high | low ;
    heavy | light ;
    wet | dry ;
    open | closed ;
    public | private ;
    senior sr | junior jr ;
    male men mens boys | female women womens girls ;
    husband | wife ;
    mother mom mum | father dad ;
    son | daughter ;
    brother | sister ;
    uncle | aunt ;
    nephew | niece ;
    grandmother grandma | grandfather grandpa ;
    king | queen ;
    maternal | paternal ;
    major | minor ;
    maximum | minimum ;
    positive | negative ;
    plus | minus ;
    offline | online ;
    digital | analog analogue ;
    manual | automatic ;
    input | output ;
    upload | download ;
    hardware | software ;
    frontend | backend ;
    client | server ;
    staging | production | development ;
    pro | max | mini | plus | ultra | lite | air ;
    zero | diet | classic ;
    cloud | desktop | mobile ;
    red | blue | green | yellow | orange | purple | pink | brown | black | white | grey gray | silver | gold ;
    accepted approved | rejected refused declined ;
    won win victory | lost loss defeat
"""
CONTRASTS = tuple(tuple(words(side) for side in contrast.split("|")) for contrast in _CONTRASTS.split(";"))
"""Sets of sides that exclude each other: opposites, directions, sexes, editions, colours."""

CONTRASTING_CHARACTERS = (
    "左右",
    "東西",
    "东西",
    "南北",
    "前后",
    "前後",
    "新旧",
    "新舊",
    "上下",
    "内外",
    "內外",
    "男女",
    "大小",
    "入出",
)
"""Han pairs: two names that differ by one such character alone."""

PLANNED = frozenset(
    words(
        """
    plan plans planned planning proposal proposals proposed propose draft drafts drafted intended intention
    upcoming scheduled tentative prospective roadmap plan plano план предложение geplant projet proyecto 计划 計画
    提案
    """
    )
)
"""Words for what is not there yet."""

DONE = frozenset(
    words(
        """
    done completed complete finished implemented merged launched shipped released delivered executed held
    cancelled canceled abandoned postponed
    """
    )
)
"""Words for what has come to an end, one way or the other."""

CALLED_OFF = frozenset(words("cancelled canceled postponed abandoned rejected declined abgesagt cancelado annulé"))
"""Words for what did not come about: a thing called off is not the thing itself."""

REVERSALS = frozenset(words("non not without ex former anti un never"))
"""Words that turn a name into another thing."""
