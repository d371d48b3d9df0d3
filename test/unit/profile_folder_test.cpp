// Which names the profile of an output may have.
#include "profile/profile_folder.h"
#include <gtest/gtest.h>

using namespace frontload;
using Names = std::vector<std::string>;

// It is called as the output is, wherever that is.
TEST(ProfileNames, AreThoseOfOutputs) {
  EXPECT_EQ(profileNames("app"), Names{"app.startup"});
  EXPECT_EQ(profileNames("/some/where.d/my app.exe"), Names{"my app.exe.startup"});
  EXPECT_EQ(profileNames("libfoo.so"), Names{"libfoo.so.startup"});
}

// A library's version may change, and its name stays.
TEST(ProfileNames, HaveNoVersions) {
  EXPECT_EQ(profileNames("lib/libfoo.so.1"), Names{"libfoo.so.startup"});
  EXPECT_EQ(profileNames("libfoo-2.0.so.1.2.3"), Names{"libfoo-2.0.so.startup"});
  EXPECT_EQ(profileNames("libc.so.d.so.6"), Names{"libc.so.d.so.startup"});
  // These are none.
  EXPECT_EQ(profileNames("libfoo.so.debug"), Names{"libfoo.so.debug.startup"});
  EXPECT_EQ(profileNames("app.1"), Names{"app.1.startup"});
}

// What libtool links to be renamed or to be used before it is installed.
TEST(ProfileNames, OfLibtool) {
  EXPECT_EQ(profileNames(".libs/libfoo.so.1.2.3T"), Names{"libfoo.so.startup"});
  EXPECT_EQ(profileNames(".libs/libfoo.soT"), Names{"libfoo.so.startup"});
  EXPECT_EQ(profileNames("src/.libs/lt-app"), (Names{"lt-app.startup", "app.startup"}));
  EXPECT_EQ(profileNames("lt-proc"), Names{"lt-proc.startup"});
}

// Cargo's hash changes with each compiler; its own name comes first all the same.
TEST(ProfileNames, OfCargo) {
  EXPECT_EQ(profileNames("deps/my_app-0123456789abcdef"),
            (Names{"my_app-0123456789abcdef.startup", "my_app.startup", "my-app.startup"}));
  EXPECT_EQ(profileNames("libx-fedcba9876543210.so").back(), "libx.so.startup");
  EXPECT_EQ(profileNames("app-0123456789abcde").size(), 1u);
  EXPECT_EQ(profileNames("app-0123456789abcdeF").size(), 1u);
  EXPECT_EQ(profileNames("-0123456789abcdef").size(), 1u);
}
