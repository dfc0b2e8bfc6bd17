#!/bin/sh
# Makes Payrun's user and database where they are missing.
# psql finds the server in PGHOST, PGPORT, PGUSER and PGPASSWORD; PAYRUN_DB_PASSWORD is the user's.
set -eu

psql --no-psqlrc --quiet --dbname postgres --set ON_ERROR_STOP=1 \
  --set password="$PAYRUN_DB_PASSWORD" <<'SQL'
select format('create role payrun login password %L', :'password')
  where not exists (select from pg_roles where rolname = 'payrun') \gexec
select 'create database payrun owner payrun'
  where not exists (select from pg_database where datname = 'payrun') \gexec
SQL
echo "the database payrun is there"
