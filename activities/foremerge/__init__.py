"""The Foremerge face's steps: each one transaction on gitring's own records."""
