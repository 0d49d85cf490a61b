#!/bin/sh
# Fetch the libraries of the page with npm, as it is set up on this machine, and put what browsers need beside their
# licenses: src/druthers/web/vendor.sh. Change a version here, run it, and look at what changed.
set -eu
PREACT=11.2.0 HTM=3.1.1 UPLOT=1.6.32

here=$(cd "$(dirname "$0")" && pwd)/files/vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y > npm.log 2>&1
npm install --no-save --ignore-scripts "preact@$PREACT" "htm@$HTM" "uplot@$UPLOT" >> npm.log 2>&1 || { cat npm.log; exit 1; }

mkdir -p "$here"
# Maps are not shipped; a bare name is nothing that a browser finds without an import map, which would be a script in the page.
tidy() { sed -e '/^\/\/# sourceMappingURL=/d' -e 's|from"preact"|from"./preact.js"|g' "$1"; }
tidy node_modules/preact/dist/preact.mjs > "$here/preact.js"
tidy node_modules/preact/hooks/dist/hooks.mjs > "$here/hooks.js"
tidy node_modules/htm/dist/htm.mjs > "$here/htm.js"
# The smallest build of uPlot is a script that leaves a variable.
{ cat node_modules/uplot/dist/uPlot.iife.min.js; echo; echo "export default uPlot;"; } > "$here/uplot.js"
cp node_modules/uplot/dist/uPlot.min.css "$here/uplot.css"
for name in preact htm uplot; do cp "node_modules/$name/LICENSE" "$here/LICENSE-$name.txt"; done
printf 'preact %s\nhtm %s\nuplot %s\n' "$PREACT" "$HTM" "$UPLOT" > "$here/VERSIONS.txt"
ls -l "$here"
