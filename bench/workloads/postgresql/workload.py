"""PostgreSQL, a server: its work is to start, as another user, and to answer a first query.

Only the program is cold: the database and the files of the installation are on the file system that
the bench runs from. That user has to reach the work folder.
"""

from coldbench.variants.workload import Workload
from frontload.base.ready import Ready

_QUERIES = {
    "count": "select count(*) from pg_class",
    "join": "select c.relname, a.attname from pg_class c join pg_attribute a on attrelid = c.oid "
            "where attnum > 0 order by 1, 2 limit 5",
    "explain": "explain analyze select * from pg_proc p left join pg_type t on prorettype = t.oid",
    "regexp": "select regexp_replace(proname, '(a|b)+c?', 'x', 'g') from pg_proc",
    "json": "select jsonb_path_query(to_jsonb(t), '$.typname') from pg_type t",
    "aggregate": "select n % 7, avg(n), stddev(n) from generate_series(1, 5000) n group by 1",
    "window": "select n, rank() over (partition by n % 3 order by n) from generate_series(1, 99) n",
    "recursive": "with recursive r(n) as (select 1 union all select n + 1 from r where n < 99) "
                 "select sum(n) from r",
    "text search": "select to_tsvector('english', description) @@ 'number' from pg_description",
    "table": "create temp table t (a int primary key, b text); insert into t values (1, 'x'); "
             "update t set b = 'y'; analyze t; select * from t",
    "procedure": "do $$begin for i in 1..9 loop raise notice '%', i; end loop; end$$",
    "dates": "select date_trunc('month', now()) + interval '1 day', age(now())",
    "numbers": "select exp(1.5::numeric), sqrt(2::numeric), md5('x'), encode(sha256('x'), 'hex')",
}

PROCESSES = "each of its processes would write a profile of its own"

WORKLOAD = Workload(
    name="postgresql",
    title="PostgreSQL 15.18 (C): the server starts, and answers `select 1`",
    variants=("default", "order", "order+relr", "front", "front+prefetch"),
    peers=("bp-startup", "preread", "willneed", "front+run"),
    absent={name: PROCESSES for name in (
        "temporal", "gcc-pgo", "gcc-pgo-lto", "gcc-pgo+front", "clang-pgo", "clang-pgo+front",
        "bolt", "front+blocks+prefetch")},
    recorders={"bp-startup": ("breakpoints",)},
    before=("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"),
    arguments=("-D", "{work}/data", "-p", "5498", "-k", ""),
    ready=Ready(output="ready to accept connections",
                request="{work}/home/bin/psql -h 127.0.0.1 -p 5498 -U postgres -c 'select 1' "
                        "-o {output}"),
    # One more query, which the server answers next.
    scenarios={name: ("-c", query) for name, query in _QUERIES.items()},
    environment={"LC_ALL": "C.UTF-8"},
)
