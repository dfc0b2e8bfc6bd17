import { html } from "../html.ts";
import { RunReviewBody, type RunReview } from "../../api/review.ts";
import { RunStatusBody } from "../../api/runs.ts";
import { HoldBody } from "../../api/holds.ts";
import { runPage, stopPage } from "../../contracts/console-pages.ts";
import { counted } from "../../domain/counted.ts";
import { formatUsd } from "../../domain/money.ts";
import type { PageRequest } from "../page.ts";
import { asking } from "./ask.ts";
import { holdSaid, UNTIL, untilProblem } from "./bill-acts.ts";

const subject = ({ api, params }: PageRequest) =>
  api.get(RunReviewBody, "/v1/runs/{id}/review", {
    params: { id: params["id"] ?? "" },
    query: { pageSize: "1" },
  });

const lead = ({ playbook, period, plan }: RunReview) =>
  `${playbook} ${period}: ${counted(plan.count, "bill")}, ${formatUsd(plan.cents)}`;

const back = ({ id }: RunReview) => runPage(id);

export const holdRun = asking<RunReview>({
  subject,
  lead,
  back,
  button: "Hold this run",
  fields: () => [UNTIL],
  check: untilProblem,
  title: () => "Hold a run",
  at: ({ id }) => `${runPage(id)}/hold`,
  says: ({ id: run, business }) =>
    html`<p>
      No bill of this run is sent while the hold lasts; it can be approved meanwhile. What was sent
      already is not stopped by a hold: <a href="${stopPage({ run, business })}">stop the run</a>
      for that.
    </p>`,
  act: async ({ api, form }, { id }, reason) => {
    await api.post(HoldBody, "/v1/holds", { body: { run: id, ...holdSaid(form, reason) } });
    return { goTo: "/holds" };
  },
});

export const cancelRun = asking<RunReview>({
  subject,
  lead,
  back,
  button: "Cancel what is not sent",
  isStop: true,
  title: () => "Cancel a run",
  at: ({ id }) => `${runPage(id)}/cancel`,
  says: () =>
    html`<p>
      Nothing more of this run is sent, for good: the next run plans these bills anew. What was sent
      is followed to its end.
    </p>`,
  act: async ({ api }, { id }, reason) => {
    await api.post(RunStatusBody, "/v1/runs/{id}/cancel", { params: { id }, body: { reason } });
    return { goTo: runPage(id) };
  },
});
