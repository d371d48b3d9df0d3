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

// What is not wanted in the front is told by what it holds; without any there is nothing to tell.
TEST(FrontScript, MovesWhatIsNotWanted) {
  EXPECT_EQ(behindScript({}), "");
  OutputsBehind behind;
  behind.constants = {"blob"};
  behind.data = {"pool"};
  EXPECT_EQ(behindScript(behind), "SECTIONS {\n  \"blob\" : { }\n} INSERT AFTER .eh_frame;\n"
                                  "SECTIONS {\n  \"pool\" : { }\n} INSERT BEFORE .data;\n");
}
