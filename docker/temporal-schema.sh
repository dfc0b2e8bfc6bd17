#!/bin/sh
# Brings the schemas of Temporal's two databases up to date; payrun-database.sh makes the databases.
# The tool finds the server in SQL_HOST, SQL_PORT, SQL_USER, SQL_PASSWORD and SQL_PLUGIN.
set -eu

schemas=${SCHEMAS:-/etc/temporal/schema/postgresql/v12}

update() {
  temporal-sql-tool --database "$1" update-schema --schema-dir "$schemas/$2/versioned" 2>&1
}

prepare() {
  if answer=$(update "$1" "$2"); then
    echo "$1 is up to date"
    return
  fi
  # Setting up sets the version back to 0.0, so only where there is none yet.
  case $answer in
    *"reading current schema version"*) ;;
    *) echo "$answer" && return 1 ;;
  esac
  temporal-sql-tool --database "$1" setup-schema --version 0.0
  update "$1" "$2"
}

prepare temporal temporal
prepare temporal_visibility visibility
