// The page that asks remote users for the password.

document.getElementById("door").addEventListener("submit", async (event) => {
  event.preventDefault();
  const problem = document.getElementById("problem");
  const response = await fetch("login", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ password: document.getElementById("password").value }),
  }).catch(() => null);
  if (response?.ok) location.assign(".");
  else problem.textContent = response ? (await response.json()).error : "poise does not answer. Is it still running?";
});
