-- The queue: who stopped a line and why, what landed without checks, places that are kept, approvals bound to content.

ALTER TABLE line
    -- owner: paused by a person; line: the checks fail on the line itself; drained: a person let it run empty
    ADD COLUMN stopped_by      text CHECK (stopped_by IN ('owner', 'line', 'drained')),
    ADD COLUMN red_since       timestamptz,              -- red results from before then are not trusted
    ADD COLUMN draining_since  timestamptz,              -- what was queued by then lands, then the line stands still
    ADD COLUMN draining_why    text,
    ADD COLUMN untested        boolean NOT NULL DEFAULT false;  -- its head landed without checks
UPDATE line SET stopped_by = 'owner' WHERE paused IS NOT NULL;

ALTER TABLE intent
    ADD COLUMN place_kept       timestamptz,             -- its place in the queue when it was given back
    ADD COLUMN place_kept_until timestamptz,
    ADD COLUMN emergency        text CHECK (emergency IN ('checked', 'unchecked')),
    ADD COLUMN declared_base    text,                    -- where the line stood at declare; NULL for older intents
    ADD COLUMN outside          text[] NOT NULL DEFAULT '{}', -- what the submitted head changes outside the plan
    ADD COLUMN approved_patch   text,                    -- patch id of the head that a person approved for the line
    ADD COLUMN approved_plan    integer;                 -- and the plan version that person had before their eyes

ALTER TABLE push
    ADD COLUMN patch_id    text,                         -- what it does against the line; NULL: not computed
    ADD COLUMN deleted     text[] NOT NULL DEFAULT '{}', -- the files that it deletes
    ADD COLUMN signatures  text[] NOT NULL DEFAULT '{}'; -- sentences about exported signatures that it changes

CREATE INDEX intent_landed_as ON intent (merged_commit) WHERE merged_commit IS NOT NULL;
