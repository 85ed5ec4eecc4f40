"""The conversation of the fault tests: small, yet with something for every step."""

from domain.intake import InputIn
from tests.e2e.deployment import talk

USER = "ines"

SESSIONS = (
    (
        "2025-03-03",
        (
            "Ines: I moved to Porto last week with my brother Rafael.",
            "Bruno: Great! Did you find a flat near the river?",
            "Ines: Yes, we rented a flat in Ribeira for 850 euros a month.",
            'Bruno: I am reading "The Lighthouse Keeper" on the train to Braga.',
            "Ines: Rafael adopted a cat called Mostarda yesterday.",
            "Bruno: My sister Clara has three dogs and a parrot.",
            "Ines: I will run the half marathon in Lisbon on 11 May.",
            "Bruno: Good luck, I ran it in 2023 and finished in 1:58.",
        ),
    ),
    (
        "2025-03-12",
        (
            "Bruno: Clara opened a bakery in Braga on Saturday.",
            "Ines: I bought 12 rolls there this morning, they were delicious.",
            "Bruno: She bakes with flour from her uncle's mill in Barcelos.",
            "Ines: Mostarda broke the blue vase that my grandmother gave me.",
            "Bruno: I repaired the kitchen table in the flat two days ago.",
            "Ines: The pump X-100 died, so I ordered the X-1000.",
            "Bruno: Clara drove to the Braga bakery fair with her old bakery van.",
            "Ines: Rafael painted the old kitchen table blue.",
        ),
    ),
    (
        "2025-05-13",
        (
            "Ines: I finished the half marathon in Lisbon on Sunday in 2:04.",
            "Bruno: Fantastic! Clara and I watched you from the bridge.",
            "Ines: Rafael got a job at the aquarium in Porto.",
            "Bruno: I plan to visit the aquarium with Clara next month.",
            "Ines: He feeds the two sea turtles every morning.",
            "Bruno: I sold my old bicycle for 120 euros last Friday.",
        ),
    ),
)


def sessions() -> tuple[InputIn, ...]:
    """One input a session."""
    return tuple(talk(USER, f"s{number}", lines, day=day) for number, (day, lines) in enumerate(SESSIONS))
