import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Ledger } from "./ledger.ts";
import type { BankAnswer, BankRequest } from "./moves.ts";

// The bank: a process of its own that books what the service orders over the IPC channel, and lives
// exactly as long as that channel.

const { values } = parseArgs({ options: { "data-dir": { type: "string" } } });
const dataDir = values["data-dir"];
if (dataDir === undefined || process.send === undefined) {
  process.stderr.write("bank: started by the sandbox, with --data-dir and an IPC channel\n");
  process.exit(2);
}

let ledger: Ledger | undefined;
let openLedgerId: string | undefined;

/** Opens one ledger and deletes all others: a sandbox that was reset forgets its money too. */
function openLedger(directory: string, ledgerId: string): Ledger {
  if (ledger !== undefined && openLedgerId === ledgerId) return ledger;
  ledger?.close();
  ledger = undefined;
  mkdirSync(directory, { recursive: true });
  const file = `bank-${ledgerId}.db`;
  for (const name of readdirSync(directory)) {
    if (/^bank-.+\.db(-wal|-shm)?$/.test(name) && !name.startsWith(file)) {
      rmSync(join(directory, name), { force: true });
    }
  }
  ledger = new Ledger(join(directory, file));
  openLedgerId = ledgerId;
  return ledger;
}

function answer(directory: string, request: BankRequest): BankAnswer {
  const { id, op } = request;
  const book = openLedger(directory, request.ledgerId);
  switch (op) {
    case "apply":
      return { id, op, refusals: book.apply(request.orders) };
    case "entries":
      return { id, op, ...book.entries(request.afterSeq, request.limit) };
    case "books":
      return { id, op, ...book.books() };
  }
}

process.on("message", (message) => {
  const request = message as BankRequest;
  let reply: BankAnswer;
  try {
    reply = answer(dataDir, request);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    reply = { id: request.id, op: "error", message: text };
  }
  // A service that has died takes no answer; the bank ends when the channel ends.
  process.send?.(reply, undefined, undefined, () => undefined);
});

process.on("disconnect", () => {
  ledger?.close();
  process.exit(0);
});

// Ctrl-C reaches the whole process group, and the service may still have moves to deliver then.
process.on("SIGINT", () => undefined);
