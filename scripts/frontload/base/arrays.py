"""numpy where it is installed, elsewhere the part of it that most verbs need."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
else:
    try:
        import numpy as np
    except ImportError:
        from frontload.base import plain_arrays as np

__all__ = ["np"]
