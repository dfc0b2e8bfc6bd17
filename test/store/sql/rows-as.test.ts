import { sql } from "kysely";
import { expect, test } from "vitest";
import { idsIn, rowsAs } from "../../../src/store/sql/rows-as.ts";
import { testStore } from "../support.ts";

test("many rows arrive as given and in order, whatever their texts contain", async () => {
  const { store } = await testStore();
  const rows = [
    { subject: "10", seq: 2 ** 50, note: null },
    { subject: 'it\'s "quoted" \\u0000 é 漢 😀', seq: -1, note: "[1]" },
    { subject: "", seq: null, note: "null" },
    ...Array.from({ length: 40 }, (_, seq) => ({ subject: `row ${seq}`, seq, note: "" })),
  ];
  const given = rowsAs("given", "sends", rows);
  const read = await sql`select subject, seq, note from ${given}`.execute(store.db);
  expect(read.rows).toEqual(rows);
});

test("characters that no database can store in a text are replaced, and nothing else is", async () => {
  const { store } = await testStore();
  const given = rowsAs("given", "sends", [{ subject: "a\0b", note: "half \ud83d of a pair" }]);
  const read = await sql`select subject, note from ${given}`.execute(store.db);
  expect(read.rows).toEqual([{ subject: "a\uFFFDb", note: "half \uFFFD of a pair" }]);
});

test("ids find their rows, even if there are none or very many", async () => {
  const { store } = await testStore();
  const claim = (payableId: string) => ({
    business_id: "b",
    payable_id: payableId,
    owner: "o",
    claimed_at_ms: 1,
  });
  await store.db.insertInto("claims").values(["p'1", "p2", "3"].map(claim)).execute();
  const found = async (ids: readonly string[]): Promise<string[]> => {
    const rows = await store.db
      .selectFrom("claims")
      .select("payable_id")
      .where("business_id", "=", "b")
      .where("payable_id", "in", idsIn(ids))
      .orderBy("payable_id")
      .execute();
    return rows.map((row) => row.payable_id);
  };
  expect(await found([])).toEqual([]);
  expect(await found(["3", "p'1", "p9"])).toEqual(["3", "p'1"]);
  const many = Array.from({ length: 5_000 }, (_, index) => `p${index}`);
  expect(await found(many)).toEqual(["p2"]);
});
