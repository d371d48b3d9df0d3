// The list of formats, and the plain one.
#include "format.h"
#include "errors.h"

namespace tabula {

static Format *first = nullptr;

Format::Format(const char *n) : name(n), next(first) { first = this; }
Format::~Format() = default;
void Format::end(Output &) {}

Format *firstFormat() { return first; }

Format &formatNamed(std::string_view name) {
  for (Format *format = first; format; format = format->next)
    if (name == format->name)
      return *format;
  failName(name);
}

unsigned run(Operator &step, Format &format, Output &out) {
  unsigned rows = 0;
  format.begin(step.schema, out);
  for (Row row; step.next(row); ++rows)
    format.row(row, out);
  format.end(out);
  return rows;
}

static void escape(std::string_view s, Output &out) { out << s; }

namespace {

class Writer : public Format {
public:
  Writer() : Format("plain") {}
  void begin(const Schema &schema, Output &out) override {
    columns = schema.columns;
    for (const Column &column : columns)
      out << padded(column.name, width, column.type->isRightAligned()) << " ";
    out << "\n";
  }
  void row(const Row &row, Output &out) override {
    for (size_t i = 0; i < row.size(); ++i) {
      escape(padded(show(row[i]), width, row[i].type && row[i].type->isRightAligned()), out);
      out << " ";
    }
    out << "\n";
  }

private:
  static constexpr unsigned width = 12;
  std::vector<Column> columns;
};

Writer writer;

} // namespace

} // namespace tabula
