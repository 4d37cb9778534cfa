-- What is read from source files. All of it can be read again from Git: nothing here is a fact of the record.

-- A file content is read once, whatever the number of commits, lines and intents that hold it.
CREATE TABLE blob_symbols (
    blob       text NOT NULL,               -- git's id of the content
    language   text NOT NULL,
    extractor  integer NOT NULL,            -- rules.symbols.languages.EXTRACTOR at the time
    found      jsonb NOT NULL,              -- protocol.symbols.FileSymbols
    PRIMARY KEY (blob, language, extractor)
);

-- Up to which commit a line's import edges are known. `run` is the latest indexing that began: an older one that
-- still lives finds another value here and writes no more.
CREATE TABLE line_index (
    project_id  text NOT NULL REFERENCES project (id),
    line        text NOT NULL,
    commit_id   text,                       -- NULL until the first indexing came to its end
    run         text NOT NULL,
    PRIMARY KEY (project_id, line)
);

-- `path` imports `target`, both files of the line.
CREATE TABLE import_edge (
    project_id  text NOT NULL REFERENCES project (id),
    line        text NOT NULL,
    path        text NOT NULL,
    target      text NOT NULL,
    PRIMARY KEY (project_id, line, path, target)
);
CREATE INDEX import_edge_target ON import_edge (project_id, line, target);
