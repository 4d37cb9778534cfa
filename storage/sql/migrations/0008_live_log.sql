-- What a running check has printed so far. Pieces stand until the run ends and its log is kept whole in check_log.
-- `began_at` names one try of a run: what a lost worker still writes for an earlier try is left out.
CREATE TABLE check_progress (
    check_id    text PRIMARY KEY REFERENCES check_run (id),
    began_at    timestamptz NOT NULL,
    written_at  timestamptz NOT NULL,
    written     bigint NOT NULL DEFAULT 0,    -- bytes printed, also those beyond what is kept
    progress    jsonb NOT NULL DEFAULT '{}',  -- protocol.live.Progress
    tail        bytea NOT NULL DEFAULT ''     -- the last bytes printed
);

CREATE TABLE check_output (
    check_id    text NOT NULL REFERENCES check_progress (check_id) ON DELETE CASCADE,
    start       bigint NOT NULL,              -- how many bytes of the log stand before this piece
    content     bytea NOT NULL,
    PRIMARY KEY (check_id, start)
);

-- Files that a finished run handed over, bounded in number and size by the runner.
CREATE TABLE check_artifact (
    check_id    text NOT NULL REFERENCES check_run (id),
    number      integer NOT NULL,
    name        text NOT NULL,                -- its path below the checkout; the project's own words
    content     bytea NOT NULL,
    PRIMARY KEY (check_id, number)
);

-- What held for a run's last try, in words, and how many files its check named beyond those that are kept.
CREATE TABLE check_ground (
    check_id    text PRIMARY KEY REFERENCES check_run (id),
    isolation   text[] NOT NULL,
    left_out    integer NOT NULL,
    kept_at     timestamptz NOT NULL
);
