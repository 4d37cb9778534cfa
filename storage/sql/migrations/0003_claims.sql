-- Numbers and names that intents reserve, so that no two take the same one.

CREATE TABLE series (
    project_id  text NOT NULL REFERENCES project (id),
    key         text NOT NULL,              -- the prefix, its letters' case folded
    prefix      text NOT NULL,
    next        bigint NOT NULL,            -- only ever grows: a number is given once
    created_by  text NOT NULL REFERENCES person (id),
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (project_id, key)
);

-- A row is never removed. A name is held while its intent is live; whose it is now is asked with the
-- project's row locked, so two intents cannot both find it free.
CREATE TABLE claim (
    project_id  text NOT NULL REFERENCES project (id),
    intent_id   text NOT NULL REFERENCES intent (id),
    position    integer NOT NULL,           -- in the order the intent asked for them
    key         text NOT NULL,              -- what was given, its letters' case folded
    given       text NOT NULL,              -- D560, table:invoices
    series      text,                       -- key of the series; NULL for a name
    number      bigint,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (intent_id, position),
    CHECK ((series IS NULL) = (number IS NULL))
);
CREATE UNIQUE INDEX claim_number ON claim (project_id, series, number) WHERE series IS NOT NULL;
CREATE INDEX claim_name ON claim (project_id, key) WHERE series IS NULL;

-- The brief asks whether a line moved since a seq, the board which sessions an agent's name stands for.
CREATE INDEX event_of_line ON event (project_id, entity_id, seq) WHERE event_type = 'line.moved';
CREATE INDEX intent_agent
    ON intent (project_id, person_id, agent_name, token_id, coalesce(session_name, ''), number);
