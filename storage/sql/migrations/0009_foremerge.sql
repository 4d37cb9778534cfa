-- The Foremerge face: agents that registered, what they published, what the two faces have in common, and what came of it.
-- Where a text may be long, the index is over the first 16 bytes of its SHA-256 (`…_hash`).

CREATE TABLE fm_agent (
    id            text PRIMARY KEY,
    project_id    text NOT NULL REFERENCES project (id),
    person_id     text NOT NULL REFERENCES person (id),
    token_id      text NOT NULL REFERENCES token (id),
    of_gitring    boolean NOT NULL DEFAULT false,   -- stands for a token of gitring's own face; nobody acts as it here
    name          text NOT NULL,
    model         text,
    capabilities  text[] NOT NULL DEFAULT '{}',
    worktree      text,
    git_branch    text,
    git_head      text,
    registered_at timestamptz NOT NULL,
    last_seen_at  timestamptz NOT NULL
);
CREATE INDEX fm_agent_project ON fm_agent (project_id, registered_at, id);
CREATE UNIQUE INDEX fm_agent_token ON fm_agent (project_id, token_id) WHERE of_gitring;

CREATE TABLE fm_task (
    id            text PRIMARY KEY,
    project_id    text NOT NULL REFERENCES project (id),
    task_key      text NOT NULL,                    -- SHA-256 of the text as it was sent, in hex
    title         text NOT NULL,
    created_by    text NOT NULL REFERENCES fm_agent (id),
    created_at    timestamptz NOT NULL,
    UNIQUE (project_id, task_key)
);

-- One row for each intent that this face knows: its own, and once a project has agents here, gitring's too.
CREATE TABLE fm_intent (
    intent_id     text PRIMARY KEY REFERENCES intent (id),
    project_id    text NOT NULL REFERENCES project (id),
    agent_id      text NOT NULL REFERENCES fm_agent (id),
    task_id       text NOT NULL REFERENCES fm_task (id),
    summary       text NOT NULL,
    rationale     text,
    depends_on    text[] NOT NULL DEFAULT '{}',
    metadata      text NOT NULL DEFAULT '{}',       -- JSON, as it was sent
    status        text CHECK (status IN ('INTENT', 'CLAIMED', 'IN_PROGRESS', 'PROVISIONAL', 'VALIDATED', 'ACCEPTED',
                      'COMMITTED', 'DISCARDED')),   -- NULL: gitring's own intent, whose state says it
    version       integer NOT NULL DEFAULT 1,
    summary_likes bigint[] NOT NULL,                -- rules.foremerge.alike
    live          boolean NOT NULL,                 -- other work is compared with it
    scopes_since  timestamptz NOT NULL,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL
);
CREATE INDEX fm_intent_project ON fm_intent (project_id, created_at DESC, intent_id);
CREATE INDEX fm_intent_agent ON fm_intent (agent_id);
CREATE INDEX fm_intent_depends_on ON fm_intent USING gin (depends_on);
CREATE INDEX fm_intent_likes ON fm_intent USING gin (summary_likes) WHERE live;
CREATE INDEX fm_intent_live ON fm_intent (project_id) WHERE live;

-- Scopes of the intents of both faces; kept after their end, when nothing is compared with them any more.
CREATE TABLE fm_scope (
    intent_id     text NOT NULL REFERENCES fm_intent (intent_id),
    position      integer NOT NULL,
    project_id    text NOT NULL,
    kind          text NOT NULL,
    key           text NOT NULL,
    operation     text NOT NULL,
    inferred      boolean NOT NULL DEFAULT false,
    precise       text NOT NULL,
    alias         text NOT NULL,
    precise_hash  bytea NOT NULL,
    alias_hash    bytea NOT NULL,
    key_hash      bytea NOT NULL,
    likes         bigint[] NOT NULL,                -- rules.foremerge.alike
    path          text,                             -- where it names a place of the repository
    symbol        text NOT NULL DEFAULT '',
    live          boolean NOT NULL,
    PRIMARY KEY (intent_id, position)
);
CREATE INDEX fm_scope_alias ON fm_scope (project_id, alias_hash);
CREATE INDEX fm_scope_precise ON fm_scope (project_id, precise_hash);
CREATE INDEX fm_scope_key ON fm_scope (project_id, key_hash) WHERE live;
CREATE INDEX fm_scope_likes ON fm_scope USING gin (likes) WHERE live;

-- A lease ends by being read: no row changes when its time has passed.
CREATE TABLE fm_claim (
    id               text PRIMARY KEY,
    project_id       text NOT NULL REFERENCES project (id),
    intent_id        text NOT NULL REFERENCES fm_intent (intent_id),
    agent_id         text NOT NULL REFERENCES fm_agent (id),
    kind             text NOT NULL,
    key              text NOT NULL,
    precise_hash     bytea NOT NULL,
    alias_hash       bytea NOT NULL,
    reason           text,
    lease_expires_at timestamptz NOT NULL,
    created_at       timestamptz NOT NULL,
    released_at      timestamptz
);
CREATE UNIQUE INDEX fm_claim_one ON fm_claim (intent_id, precise_hash) WHERE released_at IS NULL;
CREATE INDEX fm_claim_alias ON fm_claim (project_id, alias_hash);
CREATE INDEX fm_claim_running ON fm_claim (project_id, created_at) WHERE released_at IS NULL;

-- What two intents have to settle; `source_id` is the lower id, and the four columns of the key make it one conflict.
CREATE TABLE fm_conflict (
    id            text PRIMARY KEY,
    project_id    text NOT NULL REFERENCES project (id),
    source_id     text NOT NULL REFERENCES fm_intent (intent_id),
    target_id     text NOT NULL REFERENCES fm_intent (intent_id),
    kind          text NOT NULL,
    scopes        text NOT NULL,                    -- rules.foremerge.identity
    scopes_hash   bytea NOT NULL,
    severity      text NOT NULL,
    score         double precision NOT NULL,
    scope_kind    text,
    scope_key     text,
    explanation   text NOT NULL,
    suggestion    text NOT NULL,
    evidence      jsonb NOT NULL,
    status        text NOT NULL CHECK (status IN ('OPEN', 'COORDINATING', 'RESOLVED', 'OVERRIDDEN', 'DISMISSED')),
    detected_at   timestamptz NOT NULL,
    UNIQUE (source_id, target_id, kind, scopes_hash)
);
CREATE INDEX fm_conflict_target ON fm_conflict (target_id);
CREATE INDEX fm_conflict_project ON fm_conflict (project_id, detected_at DESC, id);

-- One observation of a conflict each.
CREATE TABLE fm_detection (
    id                 text PRIMARY KEY,
    conflict_id        text NOT NULL REFERENCES fm_conflict (id),
    severity           text NOT NULL,
    score              double precision NOT NULL,
    scope_kind         text,
    scope_key          text,
    explanation        text NOT NULL,
    suggestion         text NOT NULL,
    evidence           jsonb NOT NULL,
    previously_settled boolean NOT NULL,
    detected_at        timestamptz NOT NULL
);
CREATE INDEX fm_detection_conflict ON fm_detection (conflict_id, detected_at, id);

CREATE TABLE fm_assessment (
    id                text PRIMARY KEY,
    project_id        text NOT NULL REFERENCES project (id),
    agent_id          text NOT NULL REFERENCES fm_agent (id),
    intent_id         text NOT NULL REFERENCES fm_intent (intent_id),
    related_intent_id text NOT NULL REFERENCES fm_intent (intent_id),
    verdict           text NOT NULL,
    rationale         text NOT NULL,
    action            text NOT NULL,
    created_at        timestamptz NOT NULL
);
CREATE INDEX fm_assessment_intent ON fm_assessment (intent_id, created_at, id);

-- What was made. At most one that is not superseded for each intent.
CREATE TABLE fm_changeset (
    id                      text PRIMARY KEY,
    project_id              text NOT NULL REFERENCES project (id),
    agent_id                text NOT NULL REFERENCES fm_agent (id),
    task_id                 text NOT NULL REFERENCES fm_task (id),
    intent_id               text NOT NULL REFERENCES fm_intent (intent_id),
    summary                 text NOT NULL,
    files                   text[] NOT NULL DEFAULT '{}',
    symbols                 text[] NOT NULL DEFAULT '{}',
    contracts               text[] NOT NULL DEFAULT '{}',
    dependencies            text[] NOT NULL DEFAULT '{}',
    tests                   jsonb NOT NULL DEFAULT '[]',
    decisions               jsonb NOT NULL DEFAULT '[]',
    provenance              jsonb NOT NULL DEFAULT '{}',
    base_ref                text,
    git_ref                 text,
    worktree                text,                   -- NULL: the candidate was pushed
    accepted_commit         text,
    integration_commit      text,
    supersedes_changeset_id text REFERENCES fm_changeset (id),
    fingerprint             text NOT NULL,
    snapshot                jsonb NOT NULL,         -- rules.foremerge.fingerprint.Snapshot
    status                  text NOT NULL CHECK (status IN ('PROVISIONAL', 'VALIDATED', 'ACCEPTED', 'COMMITTED',
                                'SUPERSEDED')),
    acceptance_verification text,
    acceptance_reason       text,
    created_at              timestamptz NOT NULL,
    updated_at              timestamptz NOT NULL
);
CREATE UNIQUE INDEX fm_changeset_current ON fm_changeset (intent_id) WHERE status <> 'SUPERSEDED';
CREATE INDEX fm_changeset_project ON fm_changeset (project_id, created_at, id);

-- Runs of checks that ended; `authoritative` ones count for acceptance.
CREATE TABLE fm_validation_attempt (
    id                       text PRIMARY KEY,
    changeset_id             text NOT NULL REFERENCES fm_changeset (id),
    command                  text[] NOT NULL,
    passed                   boolean NOT NULL,
    exit_code                integer,
    stdout                   text NOT NULL,
    stderr                   text NOT NULL,
    duration_ms              bigint NOT NULL,
    run_at                   timestamptz NOT NULL,
    expected_fingerprint     text NOT NULL,
    observed_fingerprint     text NOT NULL,
    authoritative            boolean NOT NULL,
    stale_reason             text,
    changed_files            text[] NOT NULL DEFAULT '{}',
    excluded_paths           text[] NOT NULL DEFAULT '{}',
    exclusion_ruleset_digest text NOT NULL,
    recorded_at              timestamptz NOT NULL
);
CREATE INDEX fm_validation_attempt_changeset ON fm_validation_attempt (changeset_id, recorded_at DESC, id);

CREATE TABLE fm_message (
    id            text PRIMARY KEY,
    project_id    text NOT NULL REFERENCES project (id),
    from_agent_id text NOT NULL REFERENCES fm_agent (id),
    to_agent_id   text NOT NULL REFERENCES fm_agent (id),
    message       text NOT NULL,
    conflict_id   text REFERENCES fm_conflict (id),
    changeset_id  text REFERENCES fm_changeset (id),
    created_at    timestamptz NOT NULL,
    read_at       timestamptz                       -- set by whom it is for
);
CREATE INDEX fm_message_inbox ON fm_message (to_agent_id, created_at, id);

-- Of a ChangeSet, of a resolution, or of an override.
CREATE TABLE fm_decision (
    id            text PRIMARY KEY,
    project_id    text NOT NULL REFERENCES project (id),
    intent_id     text NOT NULL REFERENCES fm_intent (intent_id),
    changeset_id  text REFERENCES fm_changeset (id),
    conflict_id   text REFERENCES fm_conflict (id),
    agent_id      text REFERENCES fm_agent (id),
    title         text NOT NULL,
    rationale     text NOT NULL,
    alternatives  text[] NOT NULL DEFAULT '{}',
    provenance    jsonb NOT NULL DEFAULT '{}',
    created_at    timestamptz NOT NULL
);
CREATE INDEX fm_decision_project ON fm_decision (project_id, created_at, id);

-- The repository folder of its host that an owner bound a project to.
CREATE TABLE fm_binding (
    project_id    text PRIMARY KEY REFERENCES project (id),
    common_dir    text NOT NULL,
    bound_by      text NOT NULL REFERENCES person (id),
    created_at    timestamptz NOT NULL
);

-- Intents of both faces with their status in this face's words (rules.foremerge.faces.status_of).
CREATE VIEW fm_work AS
    SELECT fm_intent.intent_id AS id, fm_intent.project_id, intent.number, intent.landing, intent.line, agent_id, task_id,
           fm_task.title AS task, summary, rationale, fm_intent.depends_on, metadata,
           coalesce(status, CASE intent.state
               WHEN 'plan_review' THEN 'INTENT' WHEN 'held' THEN 'CLAIMED' WHEN 'active' THEN 'IN_PROGRESS'
               WHEN 'verifying' THEN 'PROVISIONAL' WHEN 'awaiting_approval' THEN 'VALIDATED'
               WHEN 'queued' THEN 'VALIDATED' WHEN 'merged' THEN 'COMMITTED' ELSE 'DISCARDED' END) AS status,
           version, live, scopes_since, fm_intent.created_at,
           CASE WHEN status IS NULL THEN greatest(fm_intent.updated_at, intent.state_since)
                ELSE fm_intent.updated_at END AS updated_at
    FROM fm_intent JOIN intent ON intent.id = fm_intent.intent_id JOIN fm_task ON fm_task.id = task_id;

CREATE FUNCTION fm_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER fm_detection_append_only BEFORE UPDATE OR DELETE ON fm_detection
    FOR EACH ROW EXECUTE FUNCTION fm_is_append_only();
CREATE TRIGGER fm_detection_no_truncate BEFORE TRUNCATE ON fm_detection
    FOR EACH STATEMENT EXECUTE FUNCTION fm_is_append_only();
CREATE TRIGGER fm_validation_attempt_append_only BEFORE UPDATE OR DELETE ON fm_validation_attempt
    FOR EACH ROW EXECUTE FUNCTION fm_is_append_only();
CREATE TRIGGER fm_validation_attempt_no_truncate BEFORE TRUNCATE ON fm_validation_attempt
    FOR EACH STATEMENT EXECUTE FUNCTION fm_is_append_only();
