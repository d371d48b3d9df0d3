/* Whether one of the processes that a command has started listens for connections. */
#ifndef FRONTLOAD_LAUNCHER_LISTENING_H
#define FRONTLOAD_LAUNCHER_LISTENING_H

#include <stdbool.h>
#include <stdint.h>

struct Place {
  uint16_t port;
  int family;          /* AF_INET, AF_INET6, or AF_UNSPEC for any address */
  uint8_t address[16]; /* in the order of the network */
};

/* Reads [ADDRESS:]PORT, with a numeric address, of IPv6 in brackets. False if it is something else.
 */
bool place_parse(const char *text, struct Place *place);

/* Whether a descendant of this process listens there; who listens at all addresses listens at each.
 */
bool is_listening(const struct Place *place);

#endif
