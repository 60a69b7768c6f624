// The page of a server: the table of runs, one run, or several side by side, by what stands after # in the address.
import { route as routeOf } from "unweave/address";
import { showComparison } from "unweave/compare-view";
import { h, notice } from "unweave/element";
import { showRun } from "unweave/run-view";
import { ask, serverSource } from "unweave/server-source";
import { chooseForComparison, showTable } from "unweave/table-view";

const root = document.getElementById("page");
const home = document.getElementById("home");
let end = () => {};

async function begin() {
  const problem = notice();
  try {
    const page = await ask("api/page");
    document.getElementById("version").textContent = page.version;
    home.textContent = page.kind === "study" ? page.title : "All runs";
    home.hidden = page.kind === "representation";
    addEventListener("hashchange", () => route(page));
    if (page.run && location.hash.length < 2) location.replace(`#/run/${encodeURIComponent(page.run)}`);
    else route(page);
  } catch (error) {
    root.replaceChildren(problem.element);
    problem.show(error.message);
  }
}

function route(page) {
  end();
  end = () => {};
  scrollTo(0, 0);
  const [view, names] = routeOf();
  home.toggleAttribute("aria-current", !view);
  const chosen = namesIn(names);
  if (view && !(["run", "compare"].includes(view) && chosen.length)) {
    const problem = notice();
    root.replaceChildren(h("h1", {}, "No such page"), problem.element);
    problem.show("This address leads nowhere. “All runs” above leads to the list of runs.");
  } else if (view === "run") {
    const [name] = chosen;
    const compare = h("a", { href: "#/", onclick: () => chooseForComparison(name) }, "Compare with another run");
    end = showRun(root, serverSource(name), page.kind === "representation" ? [] : [compare]);
  } else if (view === "compare") {
    end = showComparison(root, chosen.map(serverSource), chosen);
  } else end = showTable(root, page);
}

/** Return the names of runs in an address, none if it cannot be read. */
function namesIn(text) {
  try {
    const names = (text ?? "").split(",").filter(Boolean).slice(0, 3).map(decodeURIComponent);
    return names.includes("..") ? [] : names; // it would be another address of the server
  } catch {
    return [];
  }
}

begin();
