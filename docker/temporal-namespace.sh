#!/bin/sh
# Makes the namespace where it is missing, and the search attributes that Payrun's workflows set.
# Reads TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE. Fails where the server isn't ready: it is run again.
set -eu

temporal operator cluster health
temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" ||
  temporal operator namespace create --retention 30d --namespace "$TEMPORAL_NAMESPACE"

# Creating one that is there already changes nothing.
temporal operator search-attribute create \
  --name PayrunBusiness --type Keyword \
  --name PayrunPlaybook --type Keyword \
  --name PayrunPhase --type Keyword \
  --name PayrunNeedsAction --type Bool \
  --name PayrunExceptions --type Int \
  --name PayrunTotalCents --type Int \
  --name PayrunPayDate --type Datetime
