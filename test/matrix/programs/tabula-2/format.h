// How results are written.
#pragma once
#include "operators.h"
#include "text.h"

namespace tabula {

class Format {
public:
  explicit Format(const char *name);
  virtual ~Format();
  virtual void begin(const Schema &schema, Output &out) = 0;
  virtual void row(const Row &row, Output &out) = 0;
  virtual void end(Output &out);
  const char *name;
  Format *next;
};

Format &formatNamed(std::string_view name);
/// All formats, the last that was made first.
Format *firstFormat();
/// At most `most` rows.
unsigned run(Operator &step, Format &format, Output &out, unsigned most);

} // namespace tabula
