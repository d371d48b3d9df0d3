// The linker script that places startup sections.
#include "plan/front_script.h"
#include <gtest/gtest.h>

using namespace frontload;

// Each pattern costs a look at every input section, so those that are not needed are not there.
TEST(FrontScript, HasOnlyThePatternsItNeeds) {
  PatternSet patterns = {};
  patterns[static_cast<unsigned>(Pattern::Text)] = true;
  std::string script = frontScript(patterns, Selection::ByAnswer);
  EXPECT_NE(script.find(textOf(Pattern::Text)), std::string::npos);
  for (Pattern absent : {Pattern::Rodata, Pattern::Relro, Pattern::Data, Pattern::Strings,
                         Pattern::NextText, Pattern::NextRodata})
    EXPECT_EQ(script.find(textOf(absent)), std::string::npos);
}

// A script that places sections is told from one that only names files, whatever its comments say.
TEST(FrontScript, KnowsScriptsThatDecideTheLayout) {
  for (const char *script :
       {"SECTIONS { .x : { *(.x) } }", "/* GROUP */ SECTIONS{}", "SECTIONS{} INSERT AFTER .bss;",
        "x = 1; OVERWRITE_SECTIONS { }", "MEMORY { ram : ORIGIN = 0, LENGTH = 1 }", "PHDRS { }"})
    EXPECT_TRUE(decidesLayout(script)) << script;
  for (const char *script :
       {"", "/* GNU ld script: SECTIONS */ GROUP ( libc.so.6 AS_NEEDED ( ld.so ) )",
        "INPUT(\"SECTIONS\")", "# SECTIONS\nVERSION { V { global: MY_SECTIONS; }; }", "/* SECTIONS",
        "\"SECTIONS", "INPUT(MY_SECTIONS)"})
    EXPECT_FALSE(decidesLayout(script)) << script;
}
