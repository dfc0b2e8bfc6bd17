import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * The answer of a server that does as little as possible: it reads the request and answers with one
 * fixed bill.
 */
const answer = JSON.stringify({
  id: "bill_5f0c1d2e3a4b5c6d7e8f",
  publicId: "BILL-000001",
  status: "approved",
  paymentStatus: "none",
  totalAmountCents: 100_000,
  amountPaidCents: 0,
  remainingAmountCents: 100_000,
  dueDate: "2030-01-31",
  issueDate: null,
  customNumber: null,
  description: null,
  contact: { id: "con_5f0c1d2e3a4b5c6d7e8f", displayName: "Plain vendor" },
  items: [],
});

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "application/json" }).end(answer);
  });
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
process.stdin.resume().once("end", () => process.exit(0));
