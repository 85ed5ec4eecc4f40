"""Secrets by example: what is one, and what is not."""

import pytest

from domain.redaction import find_secrets, redact

SECRETS = [
    ("Mein Passwort lautet Geheim-99x!", "Geheim-99x", "password"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPx", "wJalrXUtnFEMI/K7MDENG/bPx", "API key"),
    ("The password is swordfish.", "swordfish", "password"),
    ("my wifi password is hunter2, ok?", "hunter2", "password"),
    ("password=hunter2", "hunter2", "password"),
    ('{"password": "p@ss word1"}', "p@ss word1", "password"),
    ("The password for the home router is Tr0ub4dor&3.", "Tr0ub4dor&3", "password"),
    ("passphrase is correct horse battery staple.", "correct horse battery staple", "password"),
    ("contraseña: Gato99", "Gato99", "password"),
    ("Пароль: Мурка77", "Мурка77", "password"),
    ("密码是Abc12345", "Abc12345", "password"),
    ("postgres://admin:s3cr3t@db/x", "s3cr3t", "password"),
    ("my PIN is 1234", "1234", "PIN"),
    ("the pin for the bike lock is 4471", "4471", "PIN"),
    ("pay with 4111 1111 1111 1111 please", "4111 1111 1111 1111", "card number"),
    ("amex 378282246310005", "378282246310005", "card number"),
    ("CVV 123", "123", "card security code"),
    ("IBAN DE89 3704 0044 0532 0130 00 OK", "DE89 3704 0044 0532 0130 00", "IBAN"),
    ("send to GB82WEST12345698765432", "GB82WEST12345698765432", "IBAN"),
    ("SSN 123-45-6789", "123-45-6789", "social security number"),
    ("key sk-abcdefghijklmnop1234", "sk-abcdefghijklmnop1234", "API key"),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "API key"),
    ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE", "API key"),
    ("xoxb-1234567890-abc", "xoxb-1234567890-abc", "API key"),
    ("the api key is 9f8a7b6c5d4e3f2a1b", "9f8a7b6c5d4e3f2a1b", "API key"),
    ("Authorization: Bearer abcdef1234567890XYZ", "abcdef1234567890XYZ", "bearer token"),
    ("eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK", "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK", "bearer token"),
    ("Your verification code is 839201.", "839201", "one-time code"),
    ("the door code is 4471#", "4471#", "access code"),
    ("The passport number is X1234567.", "X1234567", "passport number"),
]

ORDINARY = [
    "The password is too long and my password is expired.",
    "Did you change the password? I forgot the password to my account and reset it.",
    "The secret is patience. The access token is required. My token is broken.",
    "pin the note 4455 to the wall, pin code 560001 for Bangalore",
    "call me at +44 7911 123456 or 555-123-4567 or (020) 7946 0958",
    "Room 4471, on 2024-03-04 at 07:15, $1,234.56, ISBN 9780306406157",
    "Use the code 5512 for 10% off. Flight TP1359, seat 14C. Tracking 1Z999AA10123456784.",
    "order number 4111111111111112, epoch 1709551234567",
    "Six neon tetras went in; the 20 Gallons tank holds 75 litres.",
    "DE12 is not an account and GB82WEST12345698765433 has a wrong check sum",
    "https://example.org:8080/a@b and user@example.org",
]


@pytest.mark.parametrize(("text", "value", "caption"), SECRETS)
def test_a_secret_is_found_and_replaced(text: str, value: str, caption: str) -> None:
    found = find_secrets(text)
    assert [(text[each.start : each.end], each.caption) for each in found] == [(value, caption)]
    clean = redact(text, found)
    assert clean == text.replace(value, f"[vault:{caption}]")
    assert find_secrets(clean) == ()


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left(text: str) -> None:
    assert find_secrets(text) == ()


def test_a_private_key_goes_whole() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----"
    text = f"here: {key} thanks"
    assert redact(text, find_secrets(text)) == "here: [vault:private key] thanks"
    unfinished = "x -----BEGIN PRIVATE KEY-----\nMIIabc"
    assert redact(unfinished, find_secrets(unfinished)) == "x [vault:private key]"


def test_a_found_value_is_found_again_without_its_label() -> None:
    text = "the password is Sommer2024x. I typed Sommer2024x twice."
    assert redact(text, find_secrets(text)) == "the password is [vault:password]. I typed [vault:password] twice."
