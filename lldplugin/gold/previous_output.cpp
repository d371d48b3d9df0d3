//===- previous_output.cpp - keeps what a failed link would remove ---------===//

#include "previous_output.h"
#include "output_file.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <unistd.h>

using namespace llvm;

namespace frontload {

namespace {
/// A file under another name than its own.
struct Aside {
  std::string own, other;

  std::error_code putBack() const { return sys::fs::rename(other, own); }
  void remove() const {
    if (!other.empty())
      sys::fs::remove(other);
  }
};
} // namespace

static Aside previous, report;
static std::string acceptable; ///< the output

static void finish() {
  std::error_code error;
  if (!acceptable.empty() && sys::fs::exists(acceptable)) {
    if (!report.other.empty())
      error = report.putBack();
  } else {
    if (!previous.other.empty())
      previous.putBack();
  }
  previous.remove(); // also what was put back: two names of one file stay both
  report.remove();
  if (error) {
    errs() << "frontload-gold: error: " << report.own << ": " << error.message() << '\n'
           << "frontload-gold: note: the program itself is linked\n";
    fflush(nullptr);
    _exit(EXIT_FAILURE); // the status is too late to be changed otherwise
  }
}

static void finishAtExit() {
  static int registered = std::atexit(finish);
  (void)registered;
}

/// Whether what is at `path` itself, not what it refers to, is one of `types`.
static bool isType(StringRef path, std::initializer_list<sys::fs::file_type> types) {
  sys::fs::file_status status;
  (void)sys::fs::status(path, status, /*follow=*/false);
  return is_contained(types, status.type());
}

void keepPreviousOutput(StringRef path) {
  using sys::fs::file_type;
  if (!previous.other.empty() || !isType(path, {file_type::regular_file, file_type::symlink_file}))
    return;
  std::string aside = nameBeside(path, ".kept-");
  // A second name for the same file, so that there is no moment without the first. Some file
  // systems have no such thing.
  if (sys::fs::create_hard_link(path, aside) && sys::fs::rename(path, aside))
    return;
  previous = {path.str(), aside};
  finishAtExit();
}

std::string placeForReport(StringRef path) {
  using sys::fs::file_type;
  if (!isType(path, {file_type::regular_file, file_type::file_not_found}))
    return path.str();
  report = {path.str(), nameBeside(path, ".new-")};
  finishAtExit();
  return report.other;
}

void acceptOutput(StringRef output) { acceptable = output.str(); }

} // namespace frontload
