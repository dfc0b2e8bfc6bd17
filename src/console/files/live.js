// Regions marked data-live are read again every few seconds; forms stay as they are. When the plan
// that a page's forms are about has changed, the page says so and its buttons are off. What a form
// has answered stays as it stands: its address would ask for another page, and to load it again
// would send the form again. Its banners are read of another page.
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
  // 409: the page of a form whose plan has changed.
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

// One press is one act: a form is sent once.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post") return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
});
addEventListener("pageshow", () => {
  for (const sent of document.querySelectorAll("form[data-sent]")) delete sent.dataset.sent;
});

// The code of a link that signs in stands behind the #, where no server sees it: the button sends it.
const typed = document.getElementById("f-code");
function takeLink() {
  const link = location.hash.slice(1);
  if (link === "" || typed === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  typed.value = link;
  document.documentElement.classList.add("has-link");
}
takeLink();
// A link that is opened where this page stands already loads nothing.
addEventListener("hashchange", takeLink);
