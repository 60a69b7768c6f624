// The page of one run in a file of its own, which needs neither a server nor a network.
import { notice } from "unweave/element";
import { openSource } from "unweave/onnx-source";
import { showRun } from "unweave/run-view";

const root = document.getElementById("page");
try {
  showRun(root, await openSource());
} catch (error) {
  const problem = notice();
  root.replaceChildren(problem.element);
  const old = typeof DecompressionStream === "undefined" ? " This page needs a browser of 2023 or later." : "";
  problem.show(`The model could not be loaded: ${error.message}.${old}`);
}
