// Screens have addresses, so that Back, Forward and a reload work as usual: #map, #review,
// #review?like=ITEM, #export. The label screen has none.

export const OTHERS = ["map", "review", "export"];

// The screen that the address names, and what it shows first.
export function currentScreen() {
  const [name, query] = location.hash.slice(1).split("?");
  const like = new URLSearchParams(query).get("like");
  if (!OTHERS.includes(name)) return { name: "label" };
  return { name, wanted: name === "review" && like ? { like } : undefined };
}

function address(name, wanted) {
  if (name === "label") return `${location.pathname}${location.search}`;
  return `#${name}${wanted?.like ? `?${new URLSearchParams({ like: wanted.like })}` : ""}`;
}

// The person went to a screen: Back leads to the one before.
export function visit(name, wanted) {
  const before = currentScreen();
  if (before.name !== name || before.wanted?.like !== wanted?.like) history.pushState(null, "", address(name, wanted));
}

// `go` is called with the screen that Back or Forward leads to.
export function watchHistory(go) {
  window.addEventListener("popstate", () => {
    const { name, wanted } = currentScreen();
    go(name, wanted);
  });
}
