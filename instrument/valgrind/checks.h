/* The tests that are put into the program's code as Valgrind translates it. */
#pragma once

#include <pub_tool_basics.h>
#include <pub_tool_tooliface.h>

/* The kind of the code at an address. */
typedef struct {
  Bool is_recorded; /* its own first touches are recorded */
  Bool is_loader;   /* its reads and writes are not the program's */
  Bool is_end;      /* the startup is over when it is reached */
} CodeKind;

/* Adds the tests to a superblock; `kind_of` is asked for each instruction. */
IRSB *add_checks(const IRSB *in, const VexGuestLayout *layout, CodeKind (*kind_of)(Addr address));
