// What a knob does, in one line: for a pointer as a title, for the keyboard below the focused knob.

const tip = document.createElement("p");
tip.id = "tip";
tip.setAttribute("aria-hidden", "true"); // a screen reader has the title already
tip.hidden = true;

/** Show the title of what the keyboard reaches. */
export function showTips() {
  document.body.append(tip);
  document.addEventListener("focusin", ({ target }) => {
    tip.hidden = !(target.title && target.matches(":focus-visible"));
    tip.textContent = target.title;
    place();
  });
  document.addEventListener("focusout", () => { tip.hidden = true; });
  document.addEventListener("keydown", ({ key }) => { if (key !== "Tab") tip.hidden = true; });
  document.addEventListener("scroll", place, { capture: true });
}

function place() {
  if (tip.hidden) return;
  const box = document.activeElement.getBoundingClientRect();
  const isLow = box.bottom + 6 + tip.offsetHeight > innerHeight;
  tip.style.left = `${Math.max(4, Math.min(box.left, innerWidth - tip.offsetWidth - 4))}px`;
  tip.style.top = `${isLow ? box.top - tip.offsetHeight - 6 : box.bottom + 6}px`;
}
