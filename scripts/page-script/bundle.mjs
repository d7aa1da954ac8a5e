// Bundle the page script: `npm ci --omit-lockfile-registry-resolved && node bundle.mjs` in this folder.
// With --check it writes nothing and fails when the committed bundle is not what the sources give.

import { createHash } from "node:crypto";
import { copyFile, readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const folder = path.resolve(here, "../../src/windowseat/page/script");
const bundle = path.join(folder, "page_script.bundle.js");
const modules = path.join(here, "node_modules");

// The sources' fingerprint stands in the bundle, so that a test without Node sees when it is out of date.
const sources = (await readdir(folder)).filter((name) => name.endsWith(".js") && !name.endsWith(".bundle.js")).sort();
const hash = createHash("sha256");
for (const name of sources) {
  hash.update(await readFile(path.join(folder, name)));
}

const built = await build({
  absWorkingDir: here,
  entryPoints: [path.join(folder, "index.js")],
  bundle: true,
  minify: true,
  charset: "ascii",
  format: "iife",
  target: "chrome120",
  legalComments: "none",
  nodePaths: [modules],
  banner: {
    js:
      "// Made by scripts/page-script/bundle.mjs; do not edit. Contains dom-accessibility-api (MIT), " +
      `see page_script.licences.txt.\n// Sources: ${hash.digest("hex")}`,
  },
  write: false,
});
const text = built.outputFiles[0].text;

if (process.argv.includes("--check")) {
  if ((await readFile(bundle, "utf8")) !== text) {
    console.error("The bundle is not what its sources give: run node scripts/page-script/bundle.mjs.");
    process.exit(1);
  }
} else {
  await writeFile(bundle, text);
  await copyFile(path.join(modules, "dom-accessibility-api", "LICENSE.md"), path.join(folder, "page_script.licences.txt"));
  console.log(`${path.relative(process.cwd(), bundle)}: ${text.length} bytes`);
}
