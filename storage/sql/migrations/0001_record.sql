-- The record: everything gitring knows that outlives a process. Design: docs/architecture.md.
-- Identifiers are prefix + ULID (text). Times are UTC. Event payloads are text, because the hash
-- chain covers their exact bytes.

CREATE TABLE person (
    id          text PRIMARY KEY,
    name        text NOT NULL,
    created_at  timestamptz NOT NULL
);

CREATE TABLE project (
    id             text PRIMARY KEY,
    slug           text NOT NULL UNIQUE,
    owner_id       text NOT NULL REFERENCES person (id),
    host           text NOT NULL,           -- the machine whose disk holds the repository
    default_line   text NOT NULL,
    settings       jsonb NOT NULL,          -- protocol.projects.ProjectSettings
    created_at     timestamptz NOT NULL
);

-- The project's lock and its counters. One short transaction holds this row; readers never need it.
CREATE TABLE project_counter (
    project_id   text PRIMARY KEY REFERENCES project (id),
    event_seq    bigint NOT NULL DEFAULT 0,
    event_hash   text NOT NULL DEFAULT 'GENESIS',
    intent_count bigint NOT NULL DEFAULT 0
);

CREATE TABLE line (
    project_id  text NOT NULL REFERENCES project (id),
    name        text NOT NULL,              -- main, release/2.x
    head        text,                       -- last landed commit, as recorded
    paused      text,                       -- why the queue stands still; NULL while it moves
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (project_id, name)
);

CREATE TABLE member (
    project_id  text NOT NULL REFERENCES project (id),
    person_id   text NOT NULL REFERENCES person (id),
    role        text NOT NULL CHECK (role IN ('owner', 'writer', 'viewer')),
    PRIMARY KEY (project_id, person_id)
);

CREATE TABLE token (
    id           text PRIMARY KEY,
    hash         bytea NOT NULL UNIQUE,      -- SHA-256; the token itself is shown once and not kept
    kind         text NOT NULL CHECK (kind IN ('person', 'agent', 'git', 'mcp')),
    name         text NOT NULL,
    person_id    text NOT NULL REFERENCES person (id),
    project_ids  text[] NOT NULL,            -- what the token names; empty for a person: all of theirs
    parent_id    text REFERENCES token (id), -- a git token dies with the agent token it came from
    credential_helper boolean NOT NULL DEFAULT false,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz,
    revoked_at   timestamptz
);

CREATE TABLE intent (
    id             text PRIMARY KEY,
    project_id     text NOT NULL REFERENCES project (id),
    number         bigint NOT NULL,
    title          text NOT NULL,
    goal           text NOT NULL,
    kind           text NOT NULL DEFAULT 'change',
    landing        text NOT NULL DEFAULT 'queue' CHECK (landing IN ('queue', 'external')),
    state          text NOT NULL CHECK (state IN ('plan_review', 'active', 'held', 'verifying',
                       'awaiting_approval', 'queued', 'merged', 'withdrawn')),
    line           text NOT NULL,
    base           text NOT NULL,             -- the line's head at declare
    head           text,                      -- the latest recorded push
    submitted_head text,
    merged_commit  text,
    plan_version   integer NOT NULL,
    plan_approved  integer,                   -- the plan version a person approved
    merge_approved text,                      -- the head a person approved for the line
    priority       text NOT NULL DEFAULT 'normal' CHECK (priority IN ('normal', 'high')),
    issue          text,
    risk           text NOT NULL CHECK (risk IN ('low', 'high')),
    risk_reasons   text[] NOT NULL DEFAULT '{}',
    person_id      text NOT NULL REFERENCES person (id),
    token_id       text NOT NULL REFERENCES token (id),
    agent_name     text NOT NULL,
    session_name   text,                      -- `as`: never shown to others
    created_at     timestamptz NOT NULL,
    state_since    timestamptz NOT NULL,
    queued_at      timestamptz,
    UNIQUE (project_id, number),
    FOREIGN KEY (project_id, line) REFERENCES line (project_id, name)
);
CREATE INDEX intent_token ON intent (token_id, number);
CREATE INDEX intent_live ON intent (project_id, line, number) WHERE state NOT IN ('merged', 'withdrawn');
CREATE INDEX intent_merged ON intent (project_id, line, state_since DESC) WHERE state = 'merged';
CREATE INDEX intent_queue ON intent (project_id, line, queued_at) WHERE queued_at IS NOT NULL;

CREATE TABLE plan (
    intent_id   text NOT NULL REFERENCES intent (id),
    version     integer NOT NULL,
    summary     text NOT NULL,
    steps       text[] NOT NULL,
    checks      text[] NOT NULL,
    scope       jsonb NOT NULL,               -- protocol.scopes.Scope
    reason      text,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (intent_id, version)
);

CREATE TABLE depends_on (
    intent_id  text NOT NULL REFERENCES intent (id),
    on_id      text NOT NULL REFERENCES intent (id),
    PRIMARY KEY (intent_id, on_id)
);

CREATE INDEX depends_on_on ON depends_on (on_id);

-- The places of live intents, one row each, so that overlap is an index look-up and not a scan.
-- `ancestors` holds the place's own path and every folder above it ('' is the root): two places can
-- meet only when one's path is among the other's ancestors.
CREATE TABLE place (
    intent_id   text NOT NULL REFERENCES intent (id),
    project_id  text NOT NULL,
    line        text NOT NULL,
    role        text NOT NULL CHECK (role IN ('change', 'use')),
    source      text NOT NULL CHECK (source IN ('declared', 'pushed')),
    path        text NOT NULL,                -- a folder ends in '/'
    symbol      text NOT NULL DEFAULT '',
    ancestors   text[] NOT NULL,
    PRIMARY KEY (intent_id, role, source, path, symbol)
);
CREATE INDEX place_path ON place (project_id, line, path);
CREATE INDEX place_ancestors ON place USING gin (ancestors);

CREATE TABLE conflict (
    id           text PRIMARY KEY,
    project_id   text NOT NULL REFERENCES project (id),
    first_id     text NOT NULL REFERENCES intent (id),   -- goes first
    second_id    text NOT NULL REFERENCES intent (id),   -- holds, yields or adapts
    range        integer NOT NULL,
    rule         text NOT NULL,
    verdict      text NOT NULL,
    places       jsonb NOT NULL,
    uses         text[] NOT NULL DEFAULT '{}',   -- which of the two uses what the other changes
    depends      text[] NOT NULL DEFAULT '{}',   -- which of them does so by a file or symbol (rule R1a)
    pushed       text[] NOT NULL DEFAULT '{}',   -- which of them pushed code into the overlap (rule R4)
    settled      text,                           -- the intent that a person said goes first
    state        text NOT NULL CHECK (state IN ('open', 'ended')),
    created_at   timestamptz NOT NULL,
    ended_at     timestamptz
);
CREATE UNIQUE INDEX conflict_pair ON conflict (least(first_id, second_id), greatest(first_id, second_id))
    WHERE state = 'open';
CREATE INDEX conflict_first ON conflict (first_id) WHERE state = 'open';
CREATE INDEX conflict_second ON conflict (second_id) WHERE state = 'open';

CREATE TABLE change_request (
    id           text PRIMARY KEY,
    project_id   text NOT NULL REFERENCES project (id),
    intent_id    text NOT NULL REFERENCES intent (id),
    from_kind    text NOT NULL CHECK (from_kind IN ('gitring', 'person', 'agent')),
    from_name    text NOT NULL,
    kind         text NOT NULL,              -- conflict, check, merge, plan, review, notice, suggestion
    conflict_id  text REFERENCES conflict (id),
    check_id     text,
    place        text,
    reason       text NOT NULL,
    todo         text NOT NULL,              -- the `Do:` line, always gitring's own words
    blocking     boolean NOT NULL,
    head         text,                       -- the push it speaks of
    created_at   timestamptz NOT NULL,
    closed_at    timestamptz,
    closed_how   text
);
CREATE INDEX change_request_open ON change_request (intent_id, created_at DESC) WHERE closed_at IS NULL;

CREATE TABLE push (
    id           text PRIMARY KEY,
    project_id   text NOT NULL REFERENCES project (id),
    intent_id    text NOT NULL REFERENCES intent (id),
    old_head     text NOT NULL,
    new_head     text NOT NULL,
    token_id     text NOT NULL REFERENCES token (id),
    paths        text[] NOT NULL,            -- changed against the base, old names of renames too
    created_at   timestamptz NOT NULL
);
CREATE INDEX push_of_intent ON push (intent_id, created_at);
CREATE INDEX push_by_head ON push (new_head);

CREATE TABLE decision (
    id           text PRIMARY KEY,
    project_id   text NOT NULL REFERENCES project (id),
    intent_id    text NOT NULL REFERENCES intent (id),
    kind         text NOT NULL,              -- plan_approved, plan_returned, merge_approved, merge_returned, …
    person_id    text NOT NULL REFERENCES person (id),
    plan_version integer NOT NULL,
    head         text,
    note         text,
    created_at   timestamptz NOT NULL
);
CREATE INDEX decision_of_intent ON decision (intent_id, created_at);

-- One run of one project's checks on one tree. A finished row with a tree is the memory of results.
CREATE TABLE check_run (
    id           text PRIMARY KEY,
    project_id   text NOT NULL REFERENCES project (id),
    line         text NOT NULL,
    line_head    text NOT NULL,
    commit_id    text NOT NULL,              -- what was checked out
    tree         text NOT NULL,
    definition   text NOT NULL,              -- digest of the checks' definition and the runner's version
    command      text,
    state        text NOT NULL CHECK (state IN ('running', 'passed', 'failed', 'error', 'skipped', 'cancelled')),
    exit_code    integer,
    timed_out    boolean NOT NULL DEFAULT false,
    summary      text NOT NULL DEFAULT '',
    failure      jsonb,                      -- protocol.checks.TestFailure
    log_bytes    bigint NOT NULL DEFAULT 0,
    started_at   timestamptz NOT NULL,
    finished_at  timestamptz
);
CREATE INDEX check_run_memory ON check_run (project_id, tree, definition) WHERE state IN ('passed', 'failed');

-- Logs are kept apart from the rows that lists read; the runner caps them before they come here.
CREATE TABLE check_log (
    check_id    text PRIMARY KEY REFERENCES check_run (id),
    content     bytea NOT NULL
);

CREATE TABLE check_of_intent (
    check_id    text NOT NULL REFERENCES check_run (id),
    intent_id   text NOT NULL REFERENCES intent (id),
    head        text NOT NULL,
    reused      boolean NOT NULL DEFAULT false,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (check_id, intent_id)
);
CREATE INDEX check_of_intent_newest ON check_of_intent (intent_id, created_at DESC);

-- Write-ahead marker of a landing: written before the ref moves, closed with the record of the merge.
CREATE TABLE landing (
    id           text PRIMARY KEY,
    project_id   text NOT NULL REFERENCES project (id),
    line         text NOT NULL,
    old_head     text NOT NULL,
    new_head     text NOT NULL,
    members      jsonb NOT NULL,             -- [protocol.queue.Merged], in landing order
    state        text NOT NULL CHECK (state IN ('prepared', 'landed', 'abandoned')),
    created_at   timestamptz NOT NULL,
    closed_at    timestamptz
);
CREATE UNIQUE INDEX landing_open ON landing (project_id, line) WHERE state = 'prepared';

-- A write's claim and its saved answer: token + tool + requestId, kept 24 hours.
CREATE TABLE request (
    token_id     text NOT NULL REFERENCES token (id),
    tool         text NOT NULL,
    request_id   text NOT NULL,
    digest       bytea NOT NULL,             -- of the arguments
    command_id   text NOT NULL,
    intent_id    text NOT NULL,              -- a declare's chosen id, so that a repeat starts the same workflow
    claimed_until timestamptz NOT NULL,      -- while it is ahead, the first call may still be running
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (token_id, tool, request_id)
);

-- What each command answered, written in the transaction of its write: the key of exactly-once.
CREATE TABLE command (
    id          text PRIMARY KEY,
    project_id  text NOT NULL,
    answer      jsonb NOT NULL,
    created_at  timestamptz NOT NULL
);
CREATE INDEX command_age ON command (created_at);

CREATE TABLE event (
    project_id   text NOT NULL REFERENCES project (id),
    seq          bigint NOT NULL,
    event_id     text NOT NULL UNIQUE,
    event_type   text NOT NULL,
    entity_type  text NOT NULL,
    entity_id    text NOT NULL,
    intent_id    text,
    agent_id     text,
    payload      text NOT NULL,
    created_at   text NOT NULL,              -- RFC 3339, as hashed
    prev_hash    text NOT NULL,
    event_hash   text NOT NULL,
    PRIMARY KEY (project_id, seq)
);
CREATE INDEX event_of_intent ON event (intent_id, seq) WHERE intent_id IS NOT NULL;

CREATE TABLE outbox (
    project_id  text NOT NULL,
    seq         bigint NOT NULL,
    PRIMARY KEY (project_id, seq)
);

CREATE FUNCTION event_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only: % on event is refused', TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER event_append_only BEFORE UPDATE OR DELETE ON event
    FOR EACH ROW EXECUTE FUNCTION event_is_append_only();
CREATE TRIGGER event_no_truncate BEFORE TRUNCATE ON event
    FOR EACH STATEMENT EXECUTE FUNCTION event_is_append_only();

CREATE FUNCTION event_to_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outbox (project_id, seq) SELECT project_id, seq FROM added;
    NOTIFY gitring_outbox;
    RETURN NULL;
END
$$;
CREATE TRIGGER event_outbox AFTER INSERT ON event
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION event_to_outbox();
