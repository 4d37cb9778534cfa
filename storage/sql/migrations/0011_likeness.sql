-- Whom an intent meets is asked of these indexes at every declare and publication. With PostgreSQL's default they put new
-- entries aside in a list that each look-up reads whole, until a vacuum sorts it in; after a busy hour that list was longer
-- than everything else that was read.
ALTER INDEX place_ancestors SET (fastupdate = off);
ALTER INDEX fm_intent_depends_on SET (fastupdate = off);
ALTER INDEX fm_intent_likes SET (fastupdate = off);
ALTER INDEX fm_scope_likes SET (fastupdate = off);
SELECT gin_clean_pending_list('place_ancestors'), gin_clean_pending_list('fm_intent_depends_on'),
       gin_clean_pending_list('fm_intent_likes'), gin_clean_pending_list('fm_scope_likes');
