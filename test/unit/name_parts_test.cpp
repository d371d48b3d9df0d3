// What of a name stays from build to build, and how alike two names are.
#include "names/constructors.h"
#include "names/name_parts.h"
#include "names/rust_paths.h"
#include "llvm/ADT/Twine.h"
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace frontload;
using namespace llvm;

namespace {
std::optional<Likeness> likeness(StringRef wanted, StringRef found) {
  NameParts a = takeApart(wanted), b = takeApart(found);
  return a.stem == b.stem ? compare(a, b) : std::nullopt;
}

TEST(NameParts, SuffixesThatOnlyTellNamesApartDoNotMatter) {
  for (StringRef other : {"f.llvm.123", "f.__uniq.99", "f.lto_priv.0", "f.7", "f@@V2", "f@V1",
                          "f.localalias", "f.__uniq.99.llvm.5"}) {
    EXPECT_EQ(likeness("f", other), Likeness::Suffix) << other.str();
    EXPECT_EQ(likeness(other, "f"), Likeness::Suffix) << other.str();
  }
  EXPECT_EQ(likeness("f.llvm.1", "f.llvm.2"), Likeness::Suffix);
  EXPECT_EQ(likeness("f.isra.0", "f.isra.3"), Likeness::Suffix);
}

TEST(NameParts, MicrosoftsNamesHaveNoSuffixes) {
  EXPECT_EQ(takeApart("?f@@YAHXZ").stem, "?f@@YAHXZ");
  EXPECT_EQ(likeness("?f@@YAHXZ", "?f@@YAHH@Z"), std::nullopt);
}

TEST(NameParts, ClonesAreOfTheirFunction) {
  for (StringRef other : {"f.isra.0", "f.constprop.1", "f.isra.0.constprop.2", "f.specialized.1",
                          "f.constprop.0.llvm.8", "f.clone.3"}) {
    EXPECT_EQ(likeness("f", other), Likeness::Clone) << other.str();
    EXPECT_EQ(likeness(other, "f"), Likeness::Clone) << other.str();
  }
  EXPECT_EQ(likeness("f.isra.0", "f.constprop.0"), Likeness::Clone);
}

TEST(NameParts, APartIsInItsFunctionButTheFunctionIsNotInItsColdPart) {
  EXPECT_EQ(likeness("f.cold", "f"), Likeness::Part);
  EXPECT_EQ(likeness("f.cold", "f.constprop.0"), Likeness::Part);
  EXPECT_EQ(likeness("f.part.0", "f"), Likeness::Part);
  EXPECT_EQ(likeness("f", "f.part.0"), Likeness::Part);
  EXPECT_EQ(likeness("f", "f.cold"), std::nullopt);
  EXPECT_EQ(likeness("f", "f.eh"), std::nullopt);
  EXPECT_EQ(likeness("f.cold.3", "f.cold"), Likeness::Suffix);
  EXPECT_EQ(likeness("f.part.0", "f.cold"), std::nullopt);
}

TEST(NameParts, WhatIsNotACompilersSuffixBelongsToTheName) {
  EXPECT_EQ(takeApart("f.avx2").stem, "f.avx2");
  EXPECT_EQ(takeApart("_GLOBAL__sub_I_main.cpp").stem, "_GLOBAL__sub_I_main.cpp");
  EXPECT_EQ(takeApart("f._omp_fn.1").stem, "f._omp_fn.1");
  EXPECT_EQ(takeApart("f._omp_fn.1.constprop.0").stem, "f._omp_fn.1");
  EXPECT_EQ(takeApart("f.isra.0.avx2").stem, "f.isra.0.avx2");
  EXPECT_EQ(takeApart(".Lx").stem, ".Lx");
  EXPECT_EQ(takeApart("").stem, "");
  EXPECT_EQ(takeApart("f.").stem, "f.");
}

TEST(NameParts, RustsLegacyHashIsNotOfTheSource) {
  StringRef a = "_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE";
  StringRef b = "_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17hfedcba9876543210E";
  EXPECT_EQ(likeness(a, b), Likeness::Hash);
  EXPECT_EQ(likeness(a, (Twine(a) + ".llvm.77").str()), Likeness::Suffix);
  EXPECT_EQ(likeness(a, (Twine(b) + ".llvm.77").str()), Likeness::Hash);
  EXPECT_EQ(takeApart(b.drop_back(1)).hash, "");
  EXPECT_EQ(takeApart("_ZN1a17h0123456789abcdeXE").hash, "");
}

TEST(NameParts, RustsCrateHashesAreNotOfTheSource) {
  std::string a = withoutCrateHashes("_RNvNtCs1234_7mycrate3foo3bar");
  EXPECT_FALSE(a.empty());
  EXPECT_EQ(a, withoutCrateHashes("_RNvNtCsabcd9_7mycrate3foo3bar"));
  EXPECT_NE(a, withoutCrateHashes("_RNvNtCs1234_7mycrate3foo3baz"));
  // A reference back is an offset, which the hashes before it shift.
  EXPECT_EQ(withoutCrateHashes("_RINvCs12_3abc3fooNtB2_3BarE"),
            withoutCrateHashes("_RINvCs1234567_3abc3fooNtB2_3BarE"));
  EXPECT_EQ(withoutCrateHashes("_RINvCs12_3abc3fooNtBd_3BarE"),
            withoutCrateHashes("_RINvCs1234567_3abc3fooNtBi_3BarE"));
  EXPECT_NE(withoutCrateHashes("_RINvCs12_3abc3fooNtBd_3BarE"),
            withoutCrateHashes("_RINvCs1234567_3abc3fooNtBd_3BarE"));
  // A length that no number holds is gone through like any other.
  EXPECT_EQ(withoutCrateHashes("_RNv333333333333333333333333foo"), "Nv333333333333333333333333foo");
  EXPECT_EQ(withoutCrateHashes("_RNvMs_Cs12_3abcNtB4_3Bar3foo"),
            withoutCrateHashes("_RNvMs1_Cs1234567_3abcNtB5_3Bar3foo"));
  // Numbers of other things are not lengths: closures, lifetimes, constants.
  EXPECT_EQ(withoutCrateHashes("_RNCNvCs1_3abc4mains4_0Cs1_3abc"),
            withoutCrateHashes("_RNCNvCs22_3abc4mains4_0Cs22_3abc"));
  EXPECT_NE(withoutCrateHashes("_RNCNvCs1_3abc4mains4_0"),
            withoutCrateHashes("_RNCNvCs1_3abc4mains5_0"));
  EXPECT_EQ(withoutCrateHashes("_RINvCs1_3abc1fRL5_Kj9_NtCs2_1d1eE"),
            withoutCrateHashes("_RINvCs1_3abc1fRL5_Kj9_NtCs345_1d1eE"));
  // In an identifier it is no crate.
  EXPECT_NE(withoutCrateHashes("_RNvCs1_3abc5Csa_x"), withoutCrateHashes("_RNvCs1_3abc5Csb_x"));
  for (const char *rubbish : {"_Rubbish", "_R", "_RC", "_RCs", "_RCs_", "_RB", "_R9", "_R99999_a"})
    EXPECT_FALSE(withoutCrateHashes(rubbish).size() > strlen(rubbish));
}

// Whatever a name ends with, it begins like its stem: what has another head is another name.
TEST(NameParts, ANameAndItsStemHaveOneHead) {
  const StringRef pieces[] = {"f",
                              ".f",
                              "@",
                              ".isra",
                              ".0",
                              ".avx2",
                              ".llvm.7",
                              "@@V1",
                              ".cold",
                              "_ZN",
                              "$LT$..as",
                              "?f@@",
                              "E",
                              "17h0123456789abcdefE",
                              "17h012345678xabcdefE"};
  std::vector<std::string> names;
  for (StringRef a : pieces)
    for (StringRef b : pieces)
      for (StringRef c : pieces)
        names.push_back((a + b + c).str());
  for (const std::string &name : names) {
    ASSERT_EQ(headOf(takeApart(name).stem), headOf(name)) << name;
    StringRef suffixes = StringRef(name).drop_front(headOf(name).size());
    ASSERT_TRUE(!takeApart(name).isCold || mayBeCold(suffixes)) << name;
    for (const std::string &other : otherVariants(name))
      ASSERT_EQ(headOf(takeApart(other).stem), headOf(other)) << other;
  }
  EXPECT_EQ(headOf("_ZN3abc4main17h0123456789abcdefE.llvm.9"), "_ZN3abc4main");
  EXPECT_EQ(headOf(".L.str.5"), ".L");
  EXPECT_EQ(headOf("f.avx2"), "f");
}

TEST(NameParts, ConstructorsAndDestructorsHaveVariants) {
  auto variants = otherVariants("_ZN3FooC2ERKS_");
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[0], "_ZN3FooC1ERKS_");
  EXPECT_EQ(variants[1], "_ZN3FooC3ERKS_");
  EXPECT_EQ(otherVariants("_ZN3BarIiED1Ev").size(), 2u);
  variants = otherVariants("_ZN3FooILi5EN2C12D2EEC1IiEET_S1_");
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[0], "_ZN3FooILi5EN2C12D2EEC2IiEET_S1_");
  EXPECT_EQ(otherVariants("_ZZN3FooC1EvEN3BarD0Ev")[0], "_ZZN3FooC1EvEN3BarD1Ev");
  // These have no variants, though they look like it.
  for (StringRef name : {"_ZN2C13runEv", "_ZN3FooD5Ev", "C1E", "_ZC1E", "main", "_ZN3a1C2b1Ev"})
    EXPECT_TRUE(otherVariants(name).empty()) << name.str();
}
} // namespace
