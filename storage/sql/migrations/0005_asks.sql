-- What people ask for in their own words, until an agent of theirs declares it.

CREATE TABLE ask (
    id          text PRIMARY KEY,
    project_id  text NOT NULL REFERENCES project (id),
    person_id   text NOT NULL REFERENCES person (id),
    text        text NOT NULL,
    draft       jsonb,                          -- protocol.asks.AskDraft, as given
    intent_id   text REFERENCES intent (id),    -- the intent that declared it
    closed_at   timestamptz,                    -- set when a person gave it up
    created_at  timestamptz NOT NULL,
    CHECK (intent_id IS NULL OR closed_at IS NULL)
);
-- Ids sort by creation, byte by byte: the oldest ask is the first to be shown.
CREATE INDEX ask_open ON ask (project_id, person_id, id COLLATE "C")
    WHERE intent_id IS NULL AND closed_at IS NULL;
CREATE UNIQUE INDEX ask_intent ON ask (intent_id) WHERE intent_id IS NOT NULL;
