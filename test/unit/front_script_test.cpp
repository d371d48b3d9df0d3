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
