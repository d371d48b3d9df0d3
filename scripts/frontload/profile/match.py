"""How much of a startup profile was found, for every verb that looks for its names.

A profile rots: functions are renamed and removed, and one day half of it names nothing. The linkers
report it in the same words (lldplugin/profile/match_summary.h).
"""

from frontload.base import errors
from frontload.base.errors import EXIT_VERDICT, Diagnostics, Failure
from frontload.profile.format import escape

_MAX_LISTED = 10
_MAX_LENGTH = 200


def judge(label: str, found: int, missing: list[bytes], min_match: float,
          diagnostics: Diagnostics) -> None:
    """Notes `label: n of m names found (x%)` and the first missing ones; raises Failure if less
    than `min_match` percent are found."""
    total = found + len(missing)
    what = f"{label}: {found} of {errors.count(total, 'name')} found"
    if total:
        what += f" ({errors.percent(found, total)})"
    listed = [_shown(name) for name in missing[:_MAX_LISTED]]
    if len(missing) > _MAX_LISTED:
        listed.append(f"and {len(missing) - _MAX_LISTED} more")
    note = f"missing: {', '.join(listed)}" if listed else ""
    if 100 * found < min_match * total:
        raise Failure(f"{what}, less than {min_match:g}%", code=EXIT_VERDICT,
                      note=f"record the program again, or accept less with --min-match; {note}")
    diagnostics.note(what)
    if note:
        diagnostics.note(note)


def _shown(name: bytes) -> str:
    text = escape(name).decode("utf-8")
    return text if len(text) <= _MAX_LENGTH else text[:_MAX_LENGTH] + "..."
