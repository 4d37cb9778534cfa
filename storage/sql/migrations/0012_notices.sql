-- A notice that tells of another intent is closed when that one has ended.
ALTER TABLE change_request ADD COLUMN about_id text REFERENCES intent (id);
CREATE INDEX change_request_about ON change_request (about_id) WHERE about_id IS NOT NULL AND closed_at IS NULL;
