/* Asks the kernel for listening sockets by sock_diag(7), in 10 us. Reading /proc/net/tcp walks the
 * whole table of connections, which takes most of a millisecond. */
#define _GNU_SOURCE
#include "ready.h"

#include "process_tree.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TCP_LISTEN = 10 /* of the kernel's tcp_states.h */, MAX_ANSWER = 1 << 15 };

bool place_parse(const char *text, struct Place *place) {
  memset(place, 0, sizeof *place);
  const char *colon = strrchr(text, ':');
  if (colon) {
    char host[INET6_ADDRSTRLEN];
    bool isSix = *text == '[' && colon > text && colon[-1] == ']';
    int length = (int)(colon - text) - (isSix ? 2 : 0);
    if (length < 0 || snprintf(host, sizeof host, "%.*s", length, text + isSix) >= (int)sizeof host)
      return false;
    place->family = isSix ? AF_INET6 : AF_INET;
    if (inet_pton(place->family, host, place->address) != 1)
      return false;
    text = colon + 1;
  }
  char *end;
  unsigned long port = strtoul(text, &end, 10);
  place->port = (uint16_t)port;
  return *text >= '0' && *text <= '9' && *end == 0 && port > 0 && port < 65536;
}

/* Whether a socket that listens at `address` takes connections to the place. */
static bool fits(const struct Place *place, int family, const void *address) {
  static const uint8_t any[16];
  size_t size = family == AF_INET ? 4 : 16;
  if (place->family == AF_UNSPEC || memcmp(address, any, size) == 0)
    return family == AF_INET6 || place->family != AF_INET6; /* [::] takes IPv4 as well */
  return family == place->family && memcmp(address, place->address, size) == 0;
}

static bool is_of_command(unsigned inode) {
  char name[48];
  snprintf(name, sizeof name, "socket:[%u]", inode);
  return tree_has_open(name);
}

static int file = -1;

/* Whether a listening socket of this family fits: 0 or 1; -1, with errno, if the kernel does not
 * answer. */
static int ask(int family, const struct Place *place) {
  struct {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
  } question = {
      .head = {.nlmsg_len = sizeof question,
               .nlmsg_type = SOCK_DIAG_BY_FAMILY,
               .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
      .body = {.sdiag_family = (uint8_t)family,
               .sdiag_protocol = IPPROTO_TCP,
               .idiag_states = 1u << TCP_LISTEN},
  };
  if (send(file, &question, sizeof question, 0) != sizeof question)
    return -1;
  static _Alignas(struct nlmsghdr) char answer[MAX_ANSWER];
  bool found = false;
  for (;;) {
    ssize_t size = recv(file, answer, sizeof answer, 0);
    if (size <= 0)
      return -1;
    struct nlmsghdr *message = (struct nlmsghdr *)answer;
    for (size_t left = (size_t)size; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) {
      if (message->nlmsg_type == NLMSG_DONE)
        return found;
      if (message->nlmsg_type == NLMSG_ERROR) {
        errno = -((const struct nlmsgerr *)NLMSG_DATA(message))->error;
        return -1;
      }
      const struct inet_diag_msg *socket = NLMSG_DATA(message);
      found = found ||
              (ntohs(socket->id.idiag_sport) == place->port &&
               fits(place, family, socket->id.idiag_src) && is_of_command(socket->idiag_inode));
    }
  }
}

bool listening_begin(const struct Place *place) {
  file = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  return file >= 0 && ask(AF_INET, place) >= 0;
}

bool is_listening(const struct Place *place) {
  return ask(AF_INET, place) > 0 || ask(AF_INET6, place) > 0;
}
