import { Clients } from "../../../src/business/clients.ts";
import type { BusinessProfile, NotifySettings } from "../../../src/config/business-profile.ts";
import { startNoticeSender } from "../../../src/notices/sender.ts";
import { openStore } from "../../../src/store/index.ts";

const { databaseUrl, notify } = JSON.parse(process.argv[2] ?? "") as {
  databaseUrl: string;
  notify: NotifySettings;
};
const store = await openStore(databaseUrl, { mustExist: true });
const clients = new Clients({ connections: 2, timeoutMs: 5_000 });
const profile: BusinessProfile = {
  name: "acme",
  apiUrl: "http://127.0.0.1:1",
  businessId: "biz_1",
  token: { kind: "value", value: "api-token" },
  webhookSecrets: [],
  sandbox: false,
  notify,
};
startNoticeSender({
  store,
  profiles: { byBusinessId: () => profile },
  clientOf: (each) => clients.of(each),
  log: { warn: () => undefined },
  nowMs: Date.now,
});
// Goes with its parent, if nobody kills it first.
process.once("disconnect", () => process.exit(0));
