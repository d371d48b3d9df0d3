// Columns, tables and the catalog of them.
#include "schema.h"
#include "errors.h"
#include "stats.h"
#include "text.h"

namespace tabula {

static long generation = 1;

[[gnu::always_inline]] static inline void check(const Table &table, const Row &row) {
  if (__builtin_expect(row.size() != table.schema.columns.size(), 0))
    throw TypeError(number(static_cast<long>(table.schema.columns.size())) + " columns",
                    number(static_cast<long>(row.size())));
  for (size_t i = 0; i < row.size(); ++i)
    if (!row[i].isNull() && row[i].type != table.schema.columns[i].type)
      throw TypeError(table.schema.columns[i].type->name(), row[i].type->name());
}

int Schema::indexOf(std::string_view name) const {
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == name)
      return static_cast<int>(i);
  return -1;
}

void Schema::add(std::string_view name, const Type &type) {
  columns.push_back({std::string(name), &type});
}

Table::Table(std::string_view n, Schema s) : name(n), schema(std::move(s)) { ++generation; }
Table::~Table() { --generation; }

void Table::insert(Row row) {
  check(*this, row);
  unsigned position = static_cast<unsigned>(rows.size());
  if (const Value &key = row.front(); !key.isNull()) {
    if (key.text.empty())
      byNumber[key.number].push_back(position);
    else
      byText[key.text].push_back(position);
  }
  rows.push_back(std::move(row));
  count(Counter::Inserts);
}

UniqueTable::UniqueTable(std::string_view n, Schema s) : Table(n, std::move(s)) {}
UniqueTable::~UniqueTable() { rows.clear(); }

void UniqueTable::insert(Row row) {
  if (!row.empty() && lookUp(row.front()))
    throw Error("a second row for " + show(row.front()));
  Table::insert(std::move(row));
}

Catalog::Catalog() { tables["none"] = nullptr; }
Catalog::~Catalog() = default;

Table &Catalog::add(std::unique_ptr<Table> table) {
  std::unique_ptr<Table> &place = tables[table->name];
  place = std::move(table);
  return *place;
}

Table &Catalog::get(std::string_view name) {
  std::unique_ptr<Table> *found = tables.find(std::string(name));
  if (!found || !*found)
    failName(name);
  return **found;
}

bool Catalog::drop(std::string_view name) { return tables.erase(std::string(name)); }

Catalog &catalog() {
  static Catalog instance;
  return instance;
}

} // namespace tabula
