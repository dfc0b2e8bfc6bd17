import { appendAudit } from "../../../src/store/audit/audit.ts";
import { openStore } from "../../../src/store/open.ts";

const [url = "", actor = "", count = "0"] = process.argv.slice(2);
const store = await openStore(url, { mustExist: true });
for (let n = 1; n <= Number(count); n += 1) {
  await store.transaction((trx) =>
    appendAudit(trx, {
      businessId: "biz_1",
      nowMs: Date.now(),
      actor,
      action: "counted",
      subject: "pay_1",
      details: { n },
    }),
  );
}
await store.close();
process.stdout.write("true");
