"""The tables of the Foremerge face (`0009_foremerge.sql`)."""
