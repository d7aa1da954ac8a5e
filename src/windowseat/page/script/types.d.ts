// What the page script's own modules need beyond the DOM: the one library in the bundle, and newer DOM calls.

declare module "dom-accessibility-api" {
  interface NameOptions {
    getComputedStyle?: (element: Element, pseudo?: string | null) => CSSStyleDeclaration;
    computedStyleSupportsPseudoElements?: boolean;
  }
  export function computeAccessibleName(element: Element, options?: NameOptions): string;
  export function getRole(element: Element): string | null;
}

interface Element {
  scrollIntoViewIfNeeded(center?: boolean): void;
}

// A node of the outline: role, name, ref (0: none), states, children; or plain text. Children that are a
// number stand for a frame whose document this world cannot reach: its place in the list of such frames.
type OutlineNode = string | [string, string, number, string[], OutlineNode[] | number];
