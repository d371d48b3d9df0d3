"""Words of `typing` that Python 3.10 lacks: for type checkers, without a meaning at run time."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import NotRequired as NotRequired
    from typing_extensions import Self as Self
else:
    Self = object

    class NotRequired:
        def __class_getitem__(cls, kind):
            return kind
