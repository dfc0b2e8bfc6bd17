import { fork } from "node:child_process";

/** A service that dies while its bank still has many requests to answer. */
const [program = "", dataDir = ""] = process.argv.slice(2);
const bank = fork(program, ["--data-dir", dataDir], {
  stdio: ["ignore", "ignore", "inherit", "ipc"],
});
bank.once("message", () => {
  process.stdout.write(`${bank.pid}\n`);
  for (let id = 2; id < 3_000; id += 1) bank.send({ id, op: "books", ledgerId: "one" });
  setTimeout(() => process.kill(process.pid, "SIGKILL"), 5);
});
bank.send({ id: 1, op: "books", ledgerId: "one" });
