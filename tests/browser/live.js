// What a page says of a live view. The names of controls are those that a screen reader reads out.
const text = element => element.textContent.replace(/\s+/g, ' ').trim();
const parts = element => [...element.childNodes].map(text).filter(Boolean).join(' ');
const texts = (root, selector) => [...root.querySelectorAll(selector)].map(text);
const name = control => text(control.labels?.length ? control.labels[0] : control);
const value = control => control.matches('[type=checkbox]') ? control.checked
  : control.matches('select') ? [...control.selectedOptions].map(text).join() : control.value;
const tabbable = view => [...view.querySelectorAll('input, select, textarea, button, [tabindex]')]
  .filter(element => element.tabIndex >= 0 && !element.disabled && element.checkVisibility());
const controls = view => tabbable(view).filter(element => element.matches('input, select, textarea, button'));
window.shownBy = view => ({
  said: texts(view, '[role=status]').join(' '),
  problem: texts(view, '[role=alert]').join(' '),
  tables: [...view.querySelectorAll('table')].map(
    table => [text(table.caption), ...[...table.rows].map(row => [...row.cells].map(parts))]),
  lists: [...view.querySelectorAll('ol, ul')].map(
    list => [list.getAttribute('aria-label'), ...[...list.children].map(parts)]),
  pictures: [...view.querySelectorAll('[role=img]')].map(picture => picture.getAttribute('aria-label')),
  drawn: texts(view, '[role=img] text'),
  notes: texts(view, '.gen p').filter(note => note),
  ticked: [...view.querySelectorAll('button')].filter(button => button.querySelector('.fa-check')).map(name),
  values: Object.fromEntries(
    controls(view).filter(control => !control.matches('button')).map(control => [name(control), value(control)])),
  controls: controls(view).map(name),
});
window.agrees = (view, wanted) => {
  const shown = window.shownBy(view), same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  return Object.keys(wanted).every(part => part === 'values'
    ? Object.entries(wanted.values).every(([key, value]) => same(shown.values[key], value))
    : ['notes', 'drawn'].includes(part) ? wanted[part].every(words => shown[part].includes(words))
    : same(shown[part], wanted[part]));
};
window.focused = () => name(document.activeElement);
window.named = (view, wanted) => tabbable(view).find(control => name(control) === wanted);
window.presses = (view, wanted) => {
  const order = tabbable(view);
  return order.indexOf(window.named(view, wanted)) - order.indexOf(document.activeElement);
};
window.stepsTo = (list, wanted) => [...list.options].map(text).indexOf(wanted) - list.selectedIndex;
