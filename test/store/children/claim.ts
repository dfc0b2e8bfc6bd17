import { claimPayables } from "../../../src/store/payables/claims.ts";
import { openStore } from "../../../src/store/open.ts";

const [url = "", owner = "", count = "0"] = process.argv.slice(2);
const store = await openStore(url, { mustExist: true });
const claimed: string[] = [];
// One at a time, so that the two processes interleave and neither takes everything at once.
for (let n = 1; n <= Number(count); n += 1) {
  const result = await store.transaction((trx) =>
    claimPayables(trx, { businessId: "biz_1", payableIds: [`pay_${n}`], owner, nowMs: 1 }),
  );
  claimed.push(...result.claimed);
}
await store.close();
process.stdout.write(JSON.stringify(claimed));
