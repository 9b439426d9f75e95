// Shows the claims of one paper or one verdict. Without scripts the page shows them all, and no filter.
const form = document.getElementById("filter");
const show = () => {
  const { paper, verdict } = Object.fromEntries(new FormData(form));
  let shown = 0;
  for (const section of document.querySelectorAll("section.paper")) {
    const ofPaper = !paper || section.dataset.paper === paper;
    section.hidden = !ofPaper;
    for (const article of section.querySelectorAll("article")) {
      const claims = [...article.querySelectorAll(".claim")];
      for (const claim of claims) claim.hidden = Boolean(verdict) && claim.dataset.verdict !== verdict;
      const left = claims.filter((claim) => !claim.hidden);
      article.hidden = Boolean(verdict) && left.length === 0;
      // A sentence that another experiment counts is shown, but counts once.
      if (ofPaper) shown += left.filter((claim) => claim.dataset.repeats === undefined).length;
    }
  }
  for (const section of document.querySelectorAll("section.missing")) {
    const rows = [...section.querySelectorAll("tr[data-paper]")];
    for (const row of rows) row.hidden = Boolean(paper) && row.dataset.paper !== paper;
    const left = rows.filter((row) => !row.hidden);
    section.hidden = left.length === 0 || Boolean(verdict && verdict !== "not-run");
    if (!section.hidden) for (const row of left) shown += Number(row.dataset.claims);
  }
  form.querySelector("output").textContent = paper || verdict ? `${shown} claim${shown === 1 ? "" : "s"}` : "";
};
form.hidden = false;
form.addEventListener("change", show);
// A link to a claim shows it, whatever is filtered or folded.
const open = () => {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place) return;
  if (place.closest("[hidden]")) { form.reset(); show(); }
  for (let each = place.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
  place.querySelector("details")?.setAttribute("open", "");
  place.scrollIntoView();
};
addEventListener("hashchange", open);
show();
open();
