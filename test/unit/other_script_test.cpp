// What linker scripts say that others wrote.
#include "plan/other_script.h"
#include <gtest/gtest.h>

using namespace frontload;

// A script that places sections is told from one that only names files, whatever its comments say.
TEST(OtherScript, KnowsScriptsThatDecideTheLayout) {
  for (const char *script :
       {"SECTIONS { .x : { *(.x) } }", "/* GROUP */ SECTIONS{}", "SECTIONS{} INSERT AFTER .bss;",
        "x = 1; OVERWRITE_SECTIONS { }", "MEMORY { ram : ORIGIN = 0, LENGTH = 1 }", "PHDRS { }"})
    EXPECT_TRUE(decidesLayout(script)) << script;
  for (const char *script :
       {"", "/* GNU ld script: SECTIONS */ GROUP ( libc.so.6 AS_NEEDED ( ld.so ) )",
        "INPUT(\"SECTIONS\")", "# SECTIONS\nVERSION { V { global: MY_SECTIONS; }; }", "/* SECTIONS",
        "\"SECTIONS", "INPUT(MY_SECTIONS)", "INPUT(/a/SECTIONS/b.o)", "INPUT(a-SECTIONS)"})
    EXPECT_FALSE(decidesLayout(script)) << script;
}
