// Results as a table in HTML.
#include "format.h"

namespace tabula {

static const struct {
  char character;
  const char *escaped;
} table[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}};

static void escape(std::string_view s, Output &out) {
  for (char c : s) {
    std::string_view written(&c, 1);
    for (const auto &entry : table)
      if (c == entry.character)
        written = entry.escaped;
    out << written;
  }
}

static void element(const char *tag, std::string_view contents, Output &out) {
  out << "<" << tag << ">";
  escape(contents, out);
  out << "</" << tag << ">";
}

namespace {

class Writer : public Format {
public:
  Writer() : Format("html") {}
  void begin(const Schema &schema, Output &out) override {
    out << "<table>\n<tr>";
    for (const Column &column : schema.columns)
      element("th", column.name, out);
    out << "</tr>\n";
  }
  void row(const Row &row, Output &out) override {
    out << "<tr>";
    for (const Value &value : row)
      element("td", show(value), out);
    out << "</tr>\n";
  }
  void end(Output &out) override { out << "</table>\n"; }
};

Writer writer;

} // namespace

} // namespace tabula
