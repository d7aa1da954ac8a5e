// Paste, copy, cut and deletion in the focused field of one frame. Runs in our own world; called by
// page/editing.py with the name of a function below and its arguments. Answers {elsewhere: true}
// where the focus lies in a frame that this one cannot reach into.
(function (name, ...args) {
  const NOT_TEXT = new Set([
    'button', 'checkbox', 'color', 'file', 'hidden', 'image', 'radio', 'range', 'reset', 'submit',
  ]);

  function focused() {
    let doc = document;
    let left = 0;
    let top = 0;
    let element = doc.activeElement;
    for (;;) {
      const inner = element && element.shadowRoot && element.shadowRoot.activeElement;
      if (inner) {
        element = inner;
        continue;
      }
      const tag = element ? element.localName : '';
      if (tag !== 'iframe' && tag !== 'frame') break;
      let below = null;
      try {
        below = element.contentDocument;
      } catch (error) {
        below = null;
      }
      if (!below) return { elsewhere: true };
      const box = element.getBoundingClientRect();
      left += box.left + element.clientLeft;
      top += box.top + element.clientTop;
      doc = below;
      element = doc.activeElement;
    }
    return { doc, element: element || doc.body || doc.documentElement, left, top };
  }

  function isTextField(element) {
    if (element.localName === 'textarea') return true;
    return element.localName === 'input' && !NOT_TEXT.has(element.type);
  }

  function isEditable(place) {
    const { doc, element } = place;
    if (isTextField(element)) return !element.readOnly && !element.disabled;
    return Boolean(element.isContentEditable) || doc.designMode === 'on';
  }

  function selectedText(place) {
    const { doc, element } = place;
    if (isTextField(element)) {
      // A password never leaves the page; some kinds of input have no selection to ask for.
      if (element.type === 'password' || element.selectionStart === null) return '';
      return element.value.slice(element.selectionStart, element.selectionEnd);
    }
    return String(doc.defaultView.getSelection() || '');
  }

  // Blanks that HTML would fold stay as many as they were, as a native paste keeps them.
  function keepBlanks(text) {
    return text.replace(/\t/g, '    ').replace(/^ | (?= )| $/gm, '\u00a0');
  }

  function fitted(place, text) {
    const { doc, element } = place;
    const lines = text.replace(/\r\n?/g, '\n');
    if (element.localName === 'input') return lines.replace(/\n/g, ' ');
    if (element.localName === 'textarea') return lines;
    const space = doc.defaultView.getComputedStyle(element).whiteSpaceCollapse;
    return space === 'collapse' || space === 'preserve-breaks' ? keepBlanks(lines) : lines;
  }

  // What is still to insert once the page's own paste handlers have had their say; null: nothing.
  function paste(text) {
    const place = focused();
    if (place.elsewhere) return place;
    const view = place.doc.defaultView;
    const data = new view.DataTransfer();
    data.setData('text/plain', text);
    const event = new view.ClipboardEvent('paste', {
      clipboardData: data, bubbles: true, cancelable: true, composed: true,
    });
    if (!place.element.dispatchEvent(event)) return { insert: null };
    const now = focused();
    if (now.elsewhere || !isEditable(now)) return { insert: null };
    return { insert: fitted(now, text) };
  }

  // A real copy or cut event, with what the page makes of it, kept out of the browser's one clipboard.
  function take(kind) {
    const place = focused();
    if (place.elsewhere) return place;
    const { doc } = place;
    const view = doc.defaultView;
    let text = '';
    let heard = false;
    let remove = false;
    const listener = (event) => {
      heard = true;
      if (event.defaultPrevented) {
        text = event.clipboardData ? event.clipboardData.getData('text/plain') : '';
        return;
      }
      text = selectedText(place);
      remove = kind === 'cut' && isEditable(place) && text !== '';
      event.preventDefault();
    };
    view.addEventListener(kind, listener);
    try {
      doc.execCommand(kind);
    } finally {
      view.removeEventListener(kind, listener);
    }
    if (!heard) text = selectedText(place);
    if (remove) doc.execCommand('delete');
    return { text: text.slice(0, 1048576) };
  }

  // `before` and `after` count UTF-16 units around the caret, as a phone's keyboard does.
  function erase(before, after) {
    const place = focused();
    if (place.elsewhere) return place;
    if (!isEditable(place)) return { done: false };
    const { doc, element } = place;
    if (isTextField(element)) {
      if (element.selectionStart === null) return { done: false };
      const start = Math.max(0, element.selectionStart - before);
      const end = Math.min(element.value.length, element.selectionEnd + after);
      element.setSelectionRange(start, end);
    } else {
      const selection = doc.defaultView.getSelection();
      if (!selection || selection.rangeCount === 0) return { done: false };
      extend(doc, selection, before, after);
    }
    return { done: doc.execCommand('delete') };
  }

  function extend(doc, selection, before, after) {
    const range = selection.getRangeAt(0);
    const { startContainer, startOffset, endContainer, endOffset } = range;
    if (startContainer.nodeType === 3 && startOffset >= before
      && (after === 0 || (endContainer.nodeType === 3 && endContainer.length - endOffset >= after))) {
      range.setStart(startContainer, startOffset - before);
      range.setEnd(endContainer, endOffset + after);
      return;
    }
    // Over the borders of text nodes the caret moves by characters, which is what a person sees.
    selection.collapse(startContainer, startOffset);
    for (let n = 0; n < before; n += 1) selection.modify('move', 'backward', 'character');
    for (let n = 0; n < before + after; n += 1) selection.modify('extend', 'forward', 'character');
  }

  function field() {
    const place = focused();
    if (place.elsewhere) return place;
    if (!isEditable(place)) return { on: false };
    const box = place.element.getBoundingClientRect();
    return { on: true, x: box.left + place.left, y: box.top + place.top, w: box.width, h: box.height };
  }

  return { paste, take, erase, field }[name](...args);
})
