import { expect, it } from "vitest";
import { forExcel } from "../../src/domain/for-excel.ts";

async function written(...parts: string[]): Promise<string> {
  let text = "";
  for await (const part of forExcel(ReadableStream.from(parts))) text += part;
  return text;
}

const TABLE =
  'public_id,vendor,amount_usd,attempts,date\r\n0012,"Café, Zoë ""7""",120.00,2,2026-11-30\r\n123456789012345678,42,5.00,1,\r\n';

it("a table for Excel begins with a byte-order mark and keeps texts of digits only as texts", async () => {
  expect(await written(TABLE)).toBe(
    '\uFEFFpublic_id,vendor,amount_usd,attempts,date\r\n"=""0012""","Café, Zoë ""7""",120.00,2,2026-11-30\r\n"=""123456789012345678""","=""42""",5.00,1,\r\n',
  );
});

it("a table for Excel is the same wherever its parts are split", async () => {
  expect(await written(...TABLE.split(""))).toBe(await written(TABLE));
});

it("digits within a quoted text stay as they are", async () => {
  expect(await written('note\r\n"12,\r\n34"\r\n')).toBe('\uFEFFnote\r\n"12,\r\n34"\r\n');
});
