-- The watchdog: what stands still though it should move, since when, and who looks.

-- One row a finding, from its opening to its end; the ledger hears of both.
CREATE TABLE watch_finding (
    id          text PRIMARY KEY,
    project_id  text NOT NULL REFERENCES project (id),
    kind        text NOT NULL,              -- protocol.watch.WatchKind
    subject     text NOT NULL,              -- the intent, check or line that it is about
    line        text NOT NULL,
    intent_id   text REFERENCES intent (id),
    number      bigint,
    check_id    text,
    since       timestamptz NOT NULL,       -- when what was found began
    said        text NOT NULL,              -- what is found and what to do, in our own words
    heals       integer NOT NULL DEFAULT 0, -- how often the watchdog tried to set it right
    healed_at   timestamptz,                -- when it last tried
    opened_at   timestamptz NOT NULL,
    closed_at   timestamptz
);
CREATE UNIQUE INDEX watch_finding_open ON watch_finding (project_id, kind, subject) WHERE closed_at IS NULL;

-- The one seat of the watchdog. Whoever sits in it keeps it by sitting down again; it is free when that stops.
CREATE TABLE watch_seat (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    holder      text NOT NULL,
    taken_until timestamptz NOT NULL,
    looked_at   timestamptz                 -- the end of the latest whole round
);
INSERT INTO watch_seat (holder, taken_until) VALUES ('', '-infinity');

-- When the worker of each host was last heard of.
CREATE TABLE watch_host (
    host        text PRIMARY KEY,
    heard_at    timestamptz NOT NULL
);

CREATE INDEX check_run_of_line ON check_run (project_id, line, started_at DESC);
CREATE INDEX check_run_running ON check_run (project_id, line) WHERE state = 'running';
CREATE INDEX intent_waits ON intent (state_since) WHERE state IN ('plan_review', 'active', 'held', 'verifying');
CREATE INDEX event_of_stops ON event (project_id, entity_id, seq)
    WHERE event_type IN ('line.paused', 'line.resumed', 'line.draining');
