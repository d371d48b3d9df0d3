// A session: lines in, text out.
#pragma once
#include "text.h"

namespace tabula {

class Session {
public:
  explicit Session(Output &out);
  virtual ~Session();
  /// Runs a query or a command that begins with a dot; false if it failed.
  virtual bool line(std::string_view text);

protected:
  void query(std::string_view text);
  void command(std::string_view text);

  Output &out;
  std::string format = "plain";
  unsigned errors = 0;
};

/// A session that repeats what it is told.
class EchoSession final : public Session {
public:
  using Session::Session;
  ~EchoSession() override;
  bool line(std::string_view text) override;
};

} // namespace tabula
