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

it.for(["1E5", "12e+3", "2026-11", "10-12", "5/6", "1.2.3", "12:30", "0", "555-0100"])(
  "%s, which Excel would read as a number, a date or a time, stays a text",
  async (text) => {
    expect(await written(`number\r\n${text}\r\n`)).toBe(`\uFEFFnumber\r\n"=""${text}"""\r\n`);
  },
);

it.for(["120.00", "-120.00", "2026-11-30", "BILL-12", "INV 5/6", "1E5 rev. b", "'-5"])(
  "%s is written as it is",
  async (text) => {
    expect(await written(`number\r\n${text}\r\n`)).toBe(`\uFEFFnumber\r\n${text}\r\n`);
  },
);
