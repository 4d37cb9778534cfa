-- Several named checks a project, results remembered by what they hang on, flaky tests.
-- Rows of before keep their meaning (the check named test); without inputs and environment they are not reused.

ALTER TABLE check_run
    ADD COLUMN name        text NOT NULL DEFAULT 'test',
    ADD COLUMN request_id  text NOT NULL DEFAULT '',    -- the request, one tree, that asked for it
    ADD COLUMN inputs      text NOT NULL DEFAULT '',    -- the tree, or a digest of the part of it that the check reads
    ADD COLUMN environment text NOT NULL DEFAULT '',    -- digest of what on the host can change the result
    ADD COLUMN tries       integer NOT NULL DEFAULT 1,
    ADD COLUMN flaky       text[] NOT NULL DEFAULT '{}';   -- red on an earlier try, green on the last

CREATE INDEX check_run_results ON check_run (project_id, inputs, definition, environment)
    WHERE state IN ('passed', 'failed');
CREATE INDEX check_run_request ON check_run (request_id) WHERE request_id <> '';
DROP INDEX check_run_memory;

-- Tests seen red and green on one tree. `test` is '' for a check that names no test.
CREATE TABLE flaky_test (
    project_id  text NOT NULL REFERENCES project (id),
    check_name  text NOT NULL,
    test        text NOT NULL,
    seen        integer NOT NULL,
    last_seen   timestamptz NOT NULL,
    last_tree   text NOT NULL,
    PRIMARY KEY (project_id, check_name, test)
);
