// Columns, tables and the catalog of them.
#pragma once
#include "hash_map.h"
#include "value.h"
#include <memory>

namespace tabula {

struct Column {
  std::string name;
  const Type *type;
};

struct Schema {
  std::vector<Column> columns;
  int indexOf(std::string_view name) const;
  void add(std::string_view name, const Type &type);
};

class Table {
public:
  Table(std::string_view name, Schema schema);
  Table(const Table &) = delete;
  virtual ~Table();
  virtual void insert(Row row);
  /// The numbers of the rows whose first column has this value.
  const std::vector<unsigned> *lookUp(const Value &key);

  std::string name;
  Schema schema;
  std::vector<Row> rows;

private:
  HashMap<long, std::vector<unsigned>> byNumber;
  HashMap<std::string, std::vector<unsigned>> byText;
};

/// A table that refuses what it has.
class UniqueTable : public Table {
public:
  UniqueTable(std::string_view name, Schema schema);
  ~UniqueTable() override;
  void insert(Row row) override;
};

class Catalog {
public:
  Catalog();
  ~Catalog();
  Table &add(std::unique_ptr<Table> table);
  Table &get(std::string_view name);
  bool drop(std::string_view name);
  HashMap<std::string, std::unique_ptr<Table>> tables;
};

Catalog &catalog();

/// Fills the catalog with what every session begins with.
void loadBuiltIn(Catalog &catalog);
/// Reads lines of values separated by commas; returns how many.
unsigned loadLines(Table &table, std::string_view lines);

} // namespace tabula
