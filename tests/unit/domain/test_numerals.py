"""Numbers in names by example."""

import pytest

from domain.numerals import number_values, numerals


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("twenty-nine", ("29",)),
        ("two hundred and five", ("205",)),
        ("three thousand four hundred", ("3400",)),
        ("twenty-first", ("21",)),
        ("seven eight", ("7", "8")),
        ("Bay 014", ("14",)),
        ("1,250.50", ("1,250.50",)),
        ("a dozen eggs", ("12",)),
        ("第十二章", ("12",)),
        ("二〇二四年", ("2024",)),
        ("IV drip", ()),
        ("part V", ("5",)),
        ("Henry VIII", ("8",)),
        ("Priya", ()),
    ],
)
def test_numbers(name: str, numbers: tuple[str, ...]) -> None:
    assert numerals(name).numbers == numbers


def test_codes_units_and_currencies() -> None:
    assert numerals("X-100").codes == numerals("x100").codes == ("x100",)
    assert numerals("20-gallon tank").codes == ()
    assert numerals("20gal tank").units == numerals("20 Gallons").units == ("gallon",)
    assert numerals("$5").currencies == numerals("5 dollars").currencies == ("usd",)


def test_values() -> None:
    assert number_values("six of 14, six") == frozenset({"6", "14"})
