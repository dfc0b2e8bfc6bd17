import {
  answer,
  at,
  BOTH,
  CORA,
  go,
  GRETA,
  HANNA,
  IVY,
  send,
  type State,
  URSULA,
} from "./state.ts";
import { runPath, type World } from "./world.ts";

const recalling = "/emergency/cancel?bill=umbrella%2Fpbl_u_0&bill=umbrella%2Fpbl_u_1";
const why = { text: { Why: "Debits that nobody knows" } };
const releasing = ({ umbrella: { holdIds } }: World) =>
  `/holds/release?${holdIds
    .slice(0, 2)
    .map((id) => `id=${id}`)
    .join("&")}`;

/** Holds, stops and recalls. */
export const STOPS: readonly State[] = [
  at("holds", URSULA, "/holds"),
  at("holds-nothing", IVY, "/holds"),
  at("hold-account", CORA, "/holds/new?on=source"),
  at("hold-playbook-two-businesses", BOTH, "/holds/new?on=playbook"),
  answer("hold-refused", GRETA, {
    path: "/holds/new?on=source",
    filled: { text: { Account: "The old one", ...why.text } },
    button: "Hold it",
  }),
  at("release", URSULA, releasing),
  at("release-nothing-ticked", URSULA, "/holds/release"),
  at("release-all", URSULA, "/holds/release-all?by=ursula"),
  at("release-all-of-nobody", URSULA, "/holds/release-all?by=nobody"),
  answer("released", URSULA, { path: releasing, button: "Release them" }),
  at("emergency", URSULA, "/emergency"),
  at("emergency-nothing", IVY, "/emergency"),
  at("emergency-two-businesses", BOTH, "/emergency"),
  at("stop-vendor", URSULA, "/emergency/stop?contactId=con_u_1&business=umbrella"),
  at(
    "stop-run",
    URSULA,
    ({ umbrella }) =>
      `/emergency/stop?${new URLSearchParams({ run: umbrella.paying.runId, business: "umbrella" }).toString()}`,
  ),
  at("stop-which", CORA, "/emergency/stop?kind=vendor&q=Pinecrest"),
  at("stop-which-nothing", GRETA, "/emergency/stop?kind=vendor&q=Zzyzx"),
  answer("stop-mistake", URSULA, {
    path: "/emergency/stop?contactId=con_u_1&business=umbrella",
    button: "Stop Castellan Steel",
  }),
  answer("stopped-vendor", URSULA, {
    path: "/emergency/stop?contactId=con_u_1&business=umbrella",
    filled: why,
    button: "Stop Castellan Steel",
  }),
  at("recall", URSULA, recalling),
  at("recall-nothing-ticked", URSULA, "/emergency/cancel"),
  answer("recall-mistake", URSULA, { path: recalling, button: "Cancel them" }),
  answer("recalled", URSULA, { path: recalling, filled: why, button: "Cancel them" }),
  answer("stopped", URSULA, { path: "/emergency", filled: why, button: "Stop everything" }),
  at("today-stopped", URSULA, "/"),
  at("run-stopped", URSULA, ({ umbrella }) => runPath(umbrella.paying)),
  at("bill-stopped", URSULA, "/bills/pbl_u_6"),
  at("emergency-stopped", URSULA, "/emergency"),
  {
    name: "stopped-and-called-back",
    who: HANNA,
    async come(page, world) {
      await go(page, world, "/emergency");
      await send(page, { ...why, check: ["Call back as well"] }, "Stop everything");
    },
  },
  answer("released-all", URSULA, {
    path: "/holds/release-all?by=ursula",
    button: "Release them all",
  }),
  at("cancellation", CORA, ({ acme }) => `/runs/${encodeURIComponent(acme.cancellation)}`),
  at("onboarding", HANNA, `/runs/${encodeURIComponent("kyb-onboarding/hooli")}`),
];
