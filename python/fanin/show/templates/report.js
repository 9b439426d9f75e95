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
      const left = claims.filter((claim) => !claim.hidden).length;
      article.hidden = Boolean(verdict) && left === 0;
      if (ofPaper) shown += left;
    }
  }
  form.querySelector("output").textContent = paper || verdict ? `${shown} claims` : "";
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
