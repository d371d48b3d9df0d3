// tabula: a small database in memory. Without arguments it starts a session, asks a few things, some
// of them wrong, and ends; with `--all` it goes on to what a start does not need.
#include "schema.h"
#include "session.h"
#include "stats.h"

using namespace tabula;

static const char *const startup[] = {
    ".tables",
    "select city, people from cities where people > 250000 order by people desc limit 5",
    "select city, countries.name, since from cities join countries on country = id "
    "where countries.nordic and length(city) < 6 order by city",
    "select * from countries limit 3",
    "select country, count from cities group by country order by count desc limit 4",
    "select upper(city) as shout, people / 1000 as thousands from cities where id % 6 = 2 - 1",
    "select name from cities",
    "select city from cities where people > since",
    "select city from cities limit many",
    ".columns nowhere",
    ".thread",
    ".counts"};

static const char *const rest[] = {
    ".columns cities",
    ".functions",
    ".formats",
    ".format csv",
    "select city || ', ' || id as both, roman(id) as r from cities where not (id > 3)",
    ".format json",
    "select name, nordic, null as nothing from countries order by name limit 2",
    ".format html",
    "select reverse(name) as back, square(id) as sq, cube(id) as cu from countries limit 2",
    ".format plain",
    "select replace(lower(name), 'a', 'A') as re, sign(-id) as si, abs(0 - id) as ab, "
    "max(id, 3) as ma, min(id, 3) as mi, initial(name) as f from countries where id >= 8",
    ".show -x + f(1, 'a') * 2 || 'b'",
    ".fold 1 + 2 * 3 - x",
    "select city from nowhere",
    "select nothing from cities",
    "select city from cities where people / 0 = 1",
    "select city + 1 as c from cities",
    "select 'city from cities",
    "select city from cities order",
    "select ? from cities",
    ".format pdf",
    ".drop countries",
    ".drop countries",
    ".errors",
    ".counts"};

template <class T> static int runAll(Session &session, const T &lines) {
  int failed = 0;
  for (const char *line : lines)
    failed += !session.line(line);
  return failed;
}

int main(int argc, char **argv) {
  FileOutput out(1);
  loadBuiltIn(catalog());
  int failed = 0;
  {
    Session session(out);
    failed = runAll(session, startup);
  }
  if (argc > 1 && std::string_view(argv[1]) == "--all") {
    EchoSession session(out);
    runAll(session, rest);
  }
  return failed != 4; // as many of the lines are wrong
}
