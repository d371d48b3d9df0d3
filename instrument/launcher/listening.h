/* Whether one of the processes that a command has started listens for connections. */
#ifndef FRONTLOAD_LAUNCHER_LISTENING_H
#define FRONTLOAD_LAUNCHER_LISTENING_H

#include <stdbool.h>
#include <stdint.h>

struct Place {
  uint16_t port;
  int family;          /* AF_INET, AF_INET6, or AF_UNSPEC for any address */
  uint8_t address[16]; /* in network order */
};

/* Reads [ADDRESS:]PORT, with a numeric address (IPv6 in brackets). False for any other text. */
bool place_parse(const char *text, struct Place *place);

/* Call this first. False, with errno, if the kernel does not tell. */
bool listening_begin(const struct Place *place);

/* Whether a descendant of this process listens there, or at all addresses. */
bool is_listening(const struct Place *place);

#endif
