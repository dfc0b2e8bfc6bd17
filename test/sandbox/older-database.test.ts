import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDatabase } from "../../src/sandbox/db.ts";

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "older-"));
  file = join(directory, "sandbox.sqlite");
  const old = new DatabaseSync(file);
  old.exec("CREATE TABLE bills (id TEXT PRIMARY KEY); INSERT INTO bills VALUES ('one');");
  old.close();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it("an older database gets the columns and tables it lacks and keeps its rows", () => {
  const ddl = `CREATE TABLE IF NOT EXISTS bills (
      id TEXT PRIMARY KEY, note TEXT, cents INTEGER NOT NULL DEFAULT 7);
    CREATE INDEX IF NOT EXISTS bills_note ON bills (note);
    CREATE TABLE IF NOT EXISTS others (id TEXT PRIMARY KEY);`;
  for (let start = 1; start <= 2; start += 1) {
    const db = openDatabase(file, [ddl]);
    expect({ ...db.prepare("SELECT * FROM bills").get() }).toEqual({
      id: "one",
      note: null,
      cents: 7,
    });
    expect(db.prepare("SELECT count(*) AS n FROM others").get()?.["n"]).toBe(0);
    db.close();
  }
});

it("a column that can't be added is an error that says what to do", () => {
  const ddl = "CREATE TABLE IF NOT EXISTS bills (id TEXT PRIMARY KEY, cents INTEGER NOT NULL)";
  expect(() => openDatabase(file, [ddl])).toThrow(
    "an older sandbox made this data directory, and its bills have no cents; remove the directory to start over",
  );
});
