// The data that every session begins with.
#include "errors.h"
#include "schema.h"

namespace tabula {

static const char *const table[] = {
    "1, Oslo, 1, 709037, 1048-01-01",      "2, Bergen, 1, 291940, 1070-01-01",
    "3, Aarhus, 2, 285273, 1441-06-02",    "4, Odense, 2, 180863, 988-03-18",
    "5, Malmo, 3, 357377, 1275-01-01",     "6, Uppsala, 3, 177074, 1286-05-05",
    "7, Tampere, 4, 249009, 1779-10-01",   "8, Turku, 4, 197900, 1229-01-23",
    "9, Akureyri, 5, 19219, 1862-08-29",   "10, Tartu, 6, 97435, 1030-01-01",
    "11, Narva, 6, 53424, 1345-01-01",     "12, Liepaja, 7, 67360, 1625-03-18",
    "13, Kaunas, 8, 304198, 1408-02-25",   "14, Klaipeda, 8, 158420, 1252-08-01",
    "15, Gdansk, 9, 486022, 997-01-01",    "16, Rostock, 10, 209920, 1218-06-24",
    "17, Kiel, 10, 247717, 1242-01-01",    "18, Visby, 3, 24330, 1645-08-13"};

static const char countries[] = "1, Norway, true\n2, Denmark, true\n3, Sweden, true\n"
                                "4, Finland, true\n5, Iceland, true\n6, Estonia, false\n"
                                "7, Latvia, false\n8, Lithuania, false\n9, Poland, false\n"
                                "10, Germany, false\n";

template <class T> static Table &define(Catalog &catalog, const char *name, const char *columns,
                                         const Type *otherwise = nullptr) {
  Schema schema;
  std::string_view rest = columns;
  while (!rest.empty()) {
    size_t colon = rest.find(':'), comma = rest.find(',');
    const Type *type = typeNamed(rest.substr(colon + 1, comma - colon - 1));
    if (!type)
      type = otherwise;
    if (!type)
      failName(rest);
    schema.add(rest.substr(0, colon), *type);
    rest.remove_prefix(comma == rest.npos ? rest.size() : comma + 1);
  }
  return catalog.add(std::make_unique<T>(name, std::move(schema)));
}

void loadBuiltIn(Catalog &catalog) {
  Table &cities =
      define<Table>(catalog, "cities", "id:integer,city:text,country:integer,people:integer,since:date");
  for (const char *line : table)
    loadLines(cities, line);
  loadLines(define<UniqueTable>(catalog, "countries", "id:integer,name:text,nordic:bool"), countries);
}

} // namespace tabula
