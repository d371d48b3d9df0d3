//===- previous_output.cpp - keeps what a failed link would remove ---------===//

#include "gold/previous_output.h"
#include "program/diagnostics.h"
#include "program/output_file.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>
#include <unistd.h>

using namespace llvm;

namespace frontload {

namespace {
/// A file under another name than its own.
struct Aside {
  std::string own, other;

  void remove() const {
    if (!other.empty())
      sys::fs::remove(other);
  }
  std::error_code putBack() const {
    if (other.empty())
      return {};
    if (std::error_code error = sys::fs::rename(other, own))
      return error;
    remove(); // rename() keeps both names if they are of one file
    return {};
  }
};
} // namespace

static Aside previous, report;
static std::string acceptable; ///< the output

static void finish() {
  auto fail = [](const std::string &path, std::error_code code, const Twine &note) {
    error(path + ": " + code.message(), note);
    fflush(nullptr);
    _exit(EXIT_FAILURE); // the status cannot be changed otherwise any more
  };
  bool isAccepted = !acceptable.empty() && sys::fs::exists(acceptable);
  (isAccepted ? previous : report).remove();
  if (isAccepted) {
    if (std::error_code e = report.putBack())
      fail(report.own, e, "the program itself is linked");
  } else if (std::error_code e = previous.putBack()) {
    fail(previous.own, e, "the previous output is in " + previous.other);
  }
}

static void finishAtExit() {
  static int registered = std::atexit(finish);
  (void)registered;
}

/// Whether `path` itself, not the file that it links to, is one of `types`.
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
  // systems have no hard links.
  if (sys::fs::create_hard_link(path, aside) && sys::fs::rename(path, aside))
    return;
  previous = {path.str(), aside};
  finishAtExit();
}

std::string holdReport(StringRef path) {
  using sys::fs::file_type;
  if (!isType(path, {file_type::regular_file, file_type::file_not_found}))
    return path.str();
  report = {path.str(), nameBeside(path, ".new-")};
  finishAtExit();
  return report.other;
}

void acceptOutput(StringRef output) { acceptable = output.str(); }

} // namespace frontload
