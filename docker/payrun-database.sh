#!/bin/sh
# Makes the users of Payrun and Temporal and their databases where they are missing. Neither user is
# a superuser, or sees the other's database.
# psql finds the server in PGHOST, PGPORT, PGUSER and PGPASSWORD; PAYRUN_DB_PASSWORD and
# TEMPORAL_DB_PASSWORD are the users'.
set -eu

psql --no-psqlrc --quiet --dbname postgres --set ON_ERROR_STOP=1 \
  --set payrun="$PAYRUN_DB_PASSWORD" --set temporal="$TEMPORAL_DB_PASSWORD" <<'SQL'
select format('create role payrun login password %L', :'payrun')
  where not exists (select from pg_roles where rolname = 'payrun') \gexec
select format('create role temporal login password %L', :'temporal')
  where not exists (select from pg_roles where rolname = 'temporal') \gexec
select format('create database %I owner %I', name, owner)
  from (values ('payrun', 'payrun'), ('temporal', 'temporal'), ('temporal_visibility', 'temporal'))
    as wanted (name, owner)
  where not exists (select from pg_database where datname = name) \gexec
select format('revoke connect on database %I from public', datname)
  from pg_database where datname in ('payrun', 'temporal', 'temporal_visibility') \gexec
SQL
echo "the databases are there"
