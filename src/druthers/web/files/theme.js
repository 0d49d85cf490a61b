// Runs before anything is painted: the theme that was chosen here, or else that of the system.
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* storage may be forbidden */ }
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
