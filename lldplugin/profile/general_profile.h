//===- general_profile.h - what every program touches ----------------------===//
//
// The startup profile of a link without one, with --front=auto: where programs begin. What is
// likely to come next is found in the link (startup_set/likely_sections.h).
//
//===----------------------------------------------------------------------===//

#pragma once

namespace frontload {

/// A startup profile, in the format of docs/reference/profile-format.md.
inline constexpr char generalProfile[] = "frontload-startup-profile 3\n"
                                         "program any\n"
                                         "runs 1\n"
                                         "function\ttext\t1\t+1\t-\t_start\n"
                                         "function\ttext\t1\t+1\t-\t_init\n"
                                         "function\ttext\t1\t+1\t-\tframe_dummy\n"
                                         "function\ttext\t1\t+1\t-\tmain\n";

} // namespace frontload
