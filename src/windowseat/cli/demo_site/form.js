// The demo shop's form: it knows a few towns, adds up, and can show a note from the agent.

const TOWNS = ["Prague", "Praha", "Brno", "Ostrava", "Plzeň", "Pilsen", "Olomouc", "Liberec", "London", "Paris",
  "Berlin", "Vienna", "Warsaw", "Bratislava"];
const PRICES = { post: 6.5, courier: 12, "pick-up": 5 };
const PACKET = 5;

const town = document.querySelector("#town");
const hint = document.querySelector("#town-hint");
const delivery = document.querySelector("#delivery");
const packets = document.querySelector("#packets");
const note = document.querySelector("#note");

function checkTown() {
  const typed = town.value.trim();
  const known = TOWNS.some((name) => name.toLowerCase() === typed.toLowerCase());
  town.dataset.known = String(known);
  town.setAttribute("aria-invalid", String(!known && typed !== ""));
  hint.textContent = known || typed === "" ? "" : `We know no town “${typed}”.`;
  document.querySelector("#send").disabled = !known;
  if (known) {
    note.hidden = true;
  }
}

function addUp() {
  const count = Number.parseInt(packets.value, 10) || 0;
  document.querySelector("#sum").textContent = (PRICES[delivery.value] + (count - 1) * PACKET).toFixed(2);
}

town.addEventListener("input", checkTown);
delivery.addEventListener("change", addUp);
packets.addEventListener("input", addUp);

// Called by the scripted agent where it needs a person.
window.demo = {
  ask(text) {
    note.textContent = text;
    note.hidden = false;
    town.scrollIntoView({ block: "center" });
  },
};

checkTown();
addUp();
