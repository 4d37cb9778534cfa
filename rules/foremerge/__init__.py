"""The judgement of the Foremerge face: pure functions over records, as in the rest of `rules` (`docs/foremerge.md`)."""
