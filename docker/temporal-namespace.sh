#!/bin/sh
# Makes the namespace where it is missing, and the search attributes that Payrun's workflows set.
# Reads TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.
set -eu

# A server that has just started isn't ready at once, nor is a namespace that was just made.
eventually() {
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || return 1
    sleep 1
  done
}

make_namespace() {
  temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" ||
    temporal operator namespace create --retention 30d --namespace "$TEMPORAL_NAMESPACE"
}

# Making one that is there already changes nothing.
make_search_attributes() {
  temporal operator search-attribute create \
    --name PayrunBusiness --type Keyword \
    --name PayrunPlaybook --type Keyword \
    --name PayrunPeriod --type Keyword \
    --name PayrunPhase --type Keyword \
    --name PayrunNeedsAction --type Bool \
    --name PayrunExceptions --type Int \
    --name PayrunTotalCents --type Int \
    --name PayrunPayDate --type Datetime
}

eventually temporal operator cluster health
eventually make_namespace
eventually make_search_attributes
