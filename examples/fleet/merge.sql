-- Merges startup profiles of one program in DuckDB, to the same bytes as `frontload profile`:
--
--   duckdb < merge.sql    reads parts/*.startup, writes merged.startup
--
-- docs/reference/profile-format.md describes the format, and why merging needs no order.

CREATE VIEW lines AS
SELECT filename, row_number() OVER () AS line, kind, class, runs, step, touched, name, file
FROM read_csv('parts/*.startup', delim = '\t', quote = '', escape = '', header = false,
              auto_detect = false, null_padding = true, filename = true, max_line_size = 4194304,
              columns = {kind: VARCHAR, class: VARCHAR, runs: VARCHAR, step: VARCHAR,
                         touched: VARCHAR, name: VARCHAR, file: VARCHAR})
WHERE NOT starts_with(kind, '#');

CREATE TABLE header AS
SELECT filename, string_split(kind, ' ')[1] AS key, kind[length(key) + 2:] AS value
FROM lines WHERE class IS NULL AND CASE WHEN starts_with(kind, 'generations ')
    THEN error(filename || ' has generations, which only frontload profile merges') ELSE true END;

CREATE TABLE entries AS
SELECT filename, kind, class, name, coalesce(file, '') AS file,
       string_split(runs, '=')[1]::BIGINT AS runs, string_split(runs, '=')[2] AS kept, touched,
       string_split(step, '@')[2] AS spread,
       sum(string_split(step, '@')[1]::BIGINT) OVER (PARTITION BY filename ORDER BY line) - 1 AS rank
FROM lines WHERE class IS NOT NULL;

-- The runs that are kept, by the bits that stand for them in their files, and in what is made.
CREATE TABLE given AS
WITH each AS (
    SELECT filename, generate_subscripts(string_split(value, ' '), 1) - 1 AS bit,
           string_split(unnest(string_split(value, ' ')), ':') AS parts
    FROM header WHERE key = 'kept-runs')
SELECT filename, bit, parts[1] AS id, parts[2]::BIGINT AS weight, parts[3] IS NOT NULL AS data
FROM each;

CREATE TABLE kept_runs AS
WITH first AS (
    SELECT id, sum(weight)::BIGINT AS weight, any_value(data) AS data
    FROM given GROUP BY id ORDER BY id LIMIT 64)
SELECT *, 1::UBIGINT << (row_number() OVER (ORDER BY id) - 1)::UBIGINT AS bit FROM first;

CREATE TABLE kept_by AS
SELECT kind, class, name, file, bit_or(kept_runs.bit) AS kept
FROM entries JOIN given USING (filename) JOIN kept_runs USING (id)
WHERE if(kept IS NULL, kind = 'function' OR given.data,
         ('0x' || kept)::UBIGINT >> given.bit::UBIGINT & 1 = 1)
GROUP BY ALL;

-- One row for each octave of an entry's positions; most entries have one, and no spread.
CREATE TABLE octaves AS
WITH each AS (
    SELECT kind, class, name, file, unnest(coalesce(
        string_split(spread, ','),
        [concat_ws(':', if(rank = 0, 0, length(bin(rank::BIGINT))), runs, rank)])) AS octave
    FROM entries)
SELECT kind, class, name, file, string_split(octave, ':')[1]::BIGINT AS number,
       sum(string_split(octave, ':')[2]::BIGINT)::BIGINT AS runs,
       min(string_split(octave, ':')[3]::BIGINT) AS lowest
FROM each GROUP BY ALL;

-- A twentieth of the runs decides how early a name is.
CREATE TABLE ranks AS
WITH counted AS (
    SELECT *, sum(runs) OVER name AS all_runs, sum(runs) OVER (name ORDER BY number) AS up_to
    FROM octaves WINDOW name AS (PARTITION BY kind, class, name, file))
SELECT kind, class, name, file, any_value(all_runs)::BIGINT AS runs,
       arg_min(lowest, number) FILTER (20 * up_to >= all_runs) AS rank,
       if(count(*) > 1, '@' || string_agg(concat_ws(':', number, counted.runs, lowest), ','
                                          ORDER BY number), '') AS spread
FROM counted GROUP BY kind, class, name, file;

-- The most bytes and windows, and the stretch that holds all stretches, if each has one and it is
-- not too long.
CREATE TABLE amounts AS
WITH each AS (
    SELECT kind, class, name, file,
           regexp_extract(touched, '^([0-9]+)(?:/([0-9]+))?(?:@([0-9]+)-([0-9]+))?$',
                          ['size', 'windows', 'first', 'last']) AS parts
    FROM entries WHERE touched <> '-'),
merged AS (
    SELECT kind, class, name, file, max(parts.size::BIGINT) AS size,
           max(coalesce(nullif(parts.windows, '')::BIGINT, 1)) AS windows,
           min(nullif(parts.first, '')::BIGINT) AS first,
           max(nullif(parts.last, '')::BIGINT) AS last,
           bool_and(parts.first <> '') AS told
    FROM each GROUP BY ALL)
SELECT kind, class, name, file,
       size || if(windows > 1, '/' || windows, '')
            || if(told AND last - first < 16384, '@' || first || '-' || last, '') AS touched
FROM merged;

CREATE TABLE named AS
SELECT *, if(coalesce(kept, 0) IS DISTINCT FROM (
                 SELECT coalesce(bit_or(bit), 0) FROM kept_runs WHERE data OR kind = 'function'),
             '=' || lower(hex(coalesce(kept, 0))), '') AS kept_word
FROM ranks LEFT JOIN amounts USING (kind, class, name, file)
           LEFT JOIN kept_by USING (kind, class, name, file);

CREATE TABLE body AS
SELECT row_number() OVER sorted AS line, spread, touched, kept_word,
       concat_ws(chr(9), kind, class, runs || kept_word,
                 '+' || rank - lag(rank, 1, -1) OVER sorted || spread,
                 coalesce(touched, '-'), name, nullif(file, '')) AS text
FROM named
WINDOW sorted AS (ORDER BY rank, runs DESC, kind, class, encode(name), encode(file));

COPY (
    SELECT text FROM (
        SELECT 0 AS line, 'frontload-startup-profile ' || CASE
            WHEN bool_or(kept_word <> '') THEN 5
            WHEN bool_or(spread <> '') THEN 4 WHEN bool_or(contains(touched, '@')) THEN 3
            ELSE 2 END AS text FROM body
        UNION ALL SELECT 1, 'program ' || any_value(value) FROM header WHERE key = 'program'
        UNION ALL SELECT 2, 'runs ' || sum(value::BIGINT) FROM header WHERE key = 'runs'
        UNION ALL SELECT 3, 'data-runs ' || sum(value::BIGINT) FROM header WHERE key = 'data-runs'
        UNION ALL SELECT 4, 'cold-parts unknown' FROM header WHERE key = 'cold-parts' GROUP BY ALL
        UNION ALL SELECT 5, 'kept-runs ' || string_agg(
            concat_ws(':', id, weight, if(data, 'data', NULL)), ' ' ORDER BY id) FROM kept_runs
        UNION ALL SELECT 6, '# kind class runs step touched name [file]'
        UNION ALL SELECT 6 + line, text FROM body)
    WHERE text IS NOT NULL ORDER BY line)
TO 'merged.startup' (FORMAT csv, header false, delim '', quote '', escape '');
