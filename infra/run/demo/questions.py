"""What the demo asks of its conversation, and whose memory it is."""

from datetime import UTC, datetime

USER = "demo"

TIMEZONE = "Europe/Dublin"

AS_OF = datetime(2025, 7, 1, 12, tzinfo=UTC)
"""Ten days after the last session: the moment of asking is fixed, so that the answers never change."""

QUESTIONS = (
    "Who gave Tamsin the old wooden skiff?",
    "How many times did Ruben repair the boathouse roof?",
    "When did Tamsin win at the Lakeside Regatta?",
)
