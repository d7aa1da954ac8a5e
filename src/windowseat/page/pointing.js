// What lies under the pointer: the cursor's shape and a link's address. Runs in our own world; called
// by page/pointing.py. No DevTools command tells the shape, so it is worked out from the style.
(function (x, y) {
  'use strict';

  const NOT_TEXT = new Set([
    'button', 'checkbox', 'color', 'file', 'image', 'radio', 'range', 'reset', 'submit',
  ]);

  function under(doc, left, top) {
    let element = doc.elementFromPoint(left, top);
    for (;;) {
      if (!element) return null;
      if (element.shadowRoot) {
        const inner = element.shadowRoot.elementFromPoint(left, top);
        if (inner && inner !== element) {
          element = inner;
          continue;
        }
      }
      if (element.localName !== 'iframe' && element.localName !== 'frame') return { doc, element, left, top };
      let below = null;
      try {
        below = element.contentDocument;
      } catch (error) {
        below = null;
      }
      if (!below) return { doc, element, left, top };
      const box = element.getBoundingClientRect();
      return under(below, left - box.left - element.clientLeft, top - box.top - element.clientTop);
    }
  }

  function linkOf(element) {
    for (let node = element; node; node = node.parentNode || node.host) {
      if ((node.localName === 'a' || node.localName === 'area') && node.href) {
        return String(node.href.animVal === undefined ? node.href : node.href.animVal);
      }
    }
    return '';
  }

  function overText({ doc, element, left, top }) {
    if (doc.defaultView.getComputedStyle(element).userSelect === 'none') return false;
    const range = doc.caretRangeFromPoint && doc.caretRangeFromPoint(left, top);
    if (!range || range.startContainer.nodeType !== 3) return false;
    const whole = doc.createRange();
    whole.selectNodeContents(range.startContainer);
    return [...whole.getClientRects()].slice(0, 200).some(
      (box) => left >= box.left && left <= box.right && top >= box.top && top <= box.bottom,
    );
  }

  function shapeOf(place, link) {
    const { doc, element } = place;
    // `url(...) 4 4, pointer`: only the keyword at the end can be shown elsewhere.
    const wanted = doc.defaultView.getComputedStyle(element).cursor.split(',').pop().trim();
    if (wanted !== 'auto') return /^[a-z-]{1,20}$/.test(wanted) ? wanted : 'default';
    if (link) return 'pointer';
    if (element.localName === 'textarea' || element.isContentEditable) return 'text';
    if (element.localName === 'input') return NOT_TEXT.has(element.type) ? 'default' : 'text';
    if (['button', 'select', 'option', 'label', 'iframe', 'frame'].includes(element.localName)) return 'default';
    return overText(place) ? 'text' : 'default';
  }

  const place = under(document, x, y);
  if (!place) return { cursor: 'default', link: '' };
  const link = linkOf(place.element).slice(0, 2048);
  return { cursor: shapeOf(place, link), link };
})
