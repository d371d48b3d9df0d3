"""Numbers of bytes, as people write them on command lines."""

import pytest
from frontload.base.quantities import parse_bytes


@pytest.mark.parametrize("text, value", [
    ("1", 1), ("4096", 4096), ("80k", 80_000), ("80M", 80_000_000), ("2G", 2_000_000_000),
    ("1.5M", 1_500_000), ("0.5", 0.5), ("1e3k", 1_000_000), ("80.0", 80),
    ("18446744073709551615", (1 << 64) - 1)])
def test_a_number_may_have_a_unit(text, value):
    """A whole number stays one, so that JSON has it as it was written."""
    assert parse_bytes(text) == value
    assert type(parse_bytes(text)) is type(value)


@pytest.mark.parametrize("text", [
    "", "0", "0M", "-1", "80MG", "80GM", "80kk", "80m", "80K", "80 M", " 80", "2T", "M", "1.M",
    ".5", "1_000", "nan", "inf", "1e999", "1e400G", "٣", "9" * 40, "0x10", "80MB"])
def test_what_is_no_number_of_bytes_is_refused(text):
    """Two units, other units, spaces, and what is not above nothing or no number at all."""
    with pytest.raises(ValueError, match="is not a number of bytes"):
        parse_bytes(text)
