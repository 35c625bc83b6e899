/** Colours of GraphiQL around an element, as a drawing needs them: it knows no variables. */
export interface Colours {
  text: string;
  line: string;
  ground: string;
  isDark: boolean;
}

/** In percent. */
const HALF = 50;

export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  /** Hue, saturation and lightness. */
  const parts = (name: string) =>
    style
      .getPropertyValue(name)
      .split(/[\s,]+/)
      .filter(Boolean);
  const of = (name: string, alpha = 1) => `hsla(${parts(name).join(', ')}, ${alpha})`;
  return {
    text: of('--color-neutral'),
    line: of('--color-neutral', 0.3),
    ground: of('--color-base'),
    isDark: parseFloat(parts('--color-base')[2] ?? '') < HALF,
  };
}

/** Tells whenever they may have changed; answers a function that ends it. */
export function whenRecoloured(told: () => void): () => void {
  // GraphiQL's own setting is a class of the body.
  const theme = new MutationObserver(told);
  theme.observe(document.body, { attributes: true, attributeFilter: ['class'] });
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', told);
  return () => {
    theme.disconnect();
    scheme.removeEventListener('change', told);
  };
}
