// The linker script that places startup sections.
#include "front_script.h"
#include <gtest/gtest.h>

using namespace frontload;

// Each pattern costs a look at every input section, so those that are not needed are not there.
TEST(FrontScript, HasOnlyThePatternsItNeeds) {
  ClassSet classes = {};
  classes[static_cast<unsigned>(SectionClass::Text)] = true;
  std::string script = frontScript(classes, {});
  EXPECT_NE(script.find(startupPattern(SectionClass::Text)), std::string::npos);
  for (llvm::StringRef absent :
       {startupPattern(SectionClass::Rodata), startupPattern(SectionClass::Relro),
        startupPattern(SectionClass::Data), llvm::StringRef(".bss."), llvm::StringRef("HIDDEN")})
    EXPECT_EQ(script.find(absent), std::string::npos) << absent.str();
}

// Edge symbols are given a value only if somebody refers to them and nobody defines them.
TEST(FrontScript, AssignsTheEdgeSymbolsThatAreNeeded) {
  EdgeSymbols edges;
  edges.noteReference(llvm::StringRef("_end\0abc", 8));
  edges.noteReference(llvm::StringRef("end\0abcd", 8));
  edges.noteDefinition("end");
  edges.noteDefinition("etext");
  edges.noteReference("_edatax");
  std::string script = frontScript({}, edges);
  EXPECT_NE(script.find("HIDDEN(_end = .)"), std::string::npos);
  for (const char *absent : {"HIDDEN(end", "etext", "edata"})
    EXPECT_EQ(script.find(absent), std::string::npos) << absent;
}
