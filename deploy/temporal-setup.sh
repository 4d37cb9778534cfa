#!/bin/sh
# Makes gitring's namespace and search attributes. Safe to repeat.
# Needs TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, and the temporal command.
set -eu

temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
    temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 168h

# The server reads its list of namespaces every few seconds: a new one is not there at once.
attempt=0
until known=$(temporal operator search-attribute list --namespace "$TEMPORAL_NAMESPACE" 2>&1); do
    attempt=$((attempt + 1))
    if [ "$attempt" -ge 60 ]; then
        echo "$known" >&2
        exit 1
    fi
    sleep 0.5
done
for name in GitringProject GitringState GitringLine GitringWaitsFor; do
    case $known in
    *"$name"*) ;;
    *) temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" --name "$name" --type Keyword ;;
    esac
done
