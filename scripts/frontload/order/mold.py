"""Why there is no order file for mold: mold has no option that takes one."""

from frontload.base.errors import Failure
from frontload.order.request import Order, Request

USE = "no option"


def make(request: Request) -> Order:
    raise Failure("mold: has no option for an order of sections or symbols",
                  note="link with ld.frontload --startup-profile, or with lld, gold or GNU ld and "
                  "frontload order --linker lld, gold or bfd")
