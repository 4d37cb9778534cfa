-- How people sign in: links that work once, and the browser sessions made from them. Only SHA-256 is kept of either.

CREATE TABLE sign_in_link (
    id          text PRIMARY KEY,
    hash        bytea NOT NULL UNIQUE,
    person_id   text NOT NULL REFERENCES person (id),
    made_by     text REFERENCES person (id),    -- NULL: the first start made it
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    used_at     timestamptz
);
CREATE INDEX sign_in_link_person ON sign_in_link (person_id) WHERE used_at IS NULL;

CREATE TABLE session (
    id          text PRIMARY KEY,
    hash        bytea NOT NULL UNIQUE,
    person_id   text NOT NULL REFERENCES person (id),
    method      text NOT NULL,                  -- how the person proved who they are: link
    browser     text NOT NULL,                  -- what the browser called itself: untrusted, cut
    created_at  timestamptz NOT NULL,
    seen_at     timestamptz NOT NULL,           -- moved at most every few minutes
    expires_at  timestamptz NOT NULL,
    ended_at    timestamptz
);
CREATE INDEX session_person ON session (person_id, created_at) WHERE ended_at IS NULL;

-- The pages' look at one project's people, and at what waits for a person.
CREATE INDEX member_person ON member (person_id);
CREATE INDEX intent_waits_for_person ON intent (project_id, state_since)
    WHERE state IN ('plan_review', 'awaiting_approval');
