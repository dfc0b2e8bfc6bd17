// The regions marked data-live are read again every few seconds; forms stay as they are. If the
// plan that a page's forms are about has changed, the page says so and disables its buttons. The
// answer to a form stays as it is: its address would return another page, and reloading it would
// send the form again. Its banners are read from another page (data-look).
const EVERY_MS = 4000;
const regions = () => document.querySelectorAll("[data-live]");
const main = document.querySelector("main");

async function look() {
  if (document.hidden) return;
  const { look: elsewhere, plan } = main.dataset;
  const answer = await fetch(elsewhere ?? location.href, { headers: { accept: "text/html" } });
  if (answer.redirected) {
    if (elsewhere === undefined) location.assign(answer.url);
    return;
  }
  // 409 is the answer to a form whose plan has changed.
  if (!answer.ok && answer.status !== 409) return;
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const region of regions()) {
    const fresh = next.getElementById(region.id);
    if (!fresh || fresh.innerHTML === region.innerHTML) continue;
    if (region.contains(document.activeElement) || region.querySelector("details[open]")) continue;
    region.innerHTML = fresh.innerHTML;
  }
  if (!plan) return;
  const now = next.querySelector("main")?.dataset.plan;
  if (now && now !== plan) planChanged();
}

function planChanged() {
  const note = document.getElementById("plan-changed");
  const buttons = document.querySelectorAll("main form button");
  if (!note?.hidden || buttons.length === 0) return;
  note.hidden = false;
  for (const button of buttons) button.disabled = true;
}

if (main && regions().length > 0) {
  const again = () =>
    setTimeout(async () => {
      await look().catch(() => {});
      again();
    }, EVERY_MS);
  again();
}

// A form is sent only once, however often its button is pressed.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post") return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
});
addEventListener("pageshow", () => {
  for (const sent of document.querySelectorAll("form[data-sent]")) delete sent.dataset.sent;
});

// The code of a sign-in link is after the #, which no server sees: the button sends it.
const typed = document.getElementById("f-code");
function takeLink() {
  const link = location.hash.slice(1);
  if (link === "" || typed === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  typed.value = link;
  document.documentElement.classList.add("has-link");
}
takeLink();
// Opening such a link where this page is already open loads nothing.
addEventListener("hashchange", takeLink);
