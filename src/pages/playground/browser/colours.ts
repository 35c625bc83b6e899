/** Colours of the GraphiQL theme. They are read from its CSS variables, because ECharts accepts only colour values. */
export interface ThemeColours {
  text: string;
  line: string;
  background: string;
  isDark: boolean;
}

const MAX_DARK_LIGHTNESS_PERCENT = 50;

export function themeColoursOf(element: Element): ThemeColours {
  const style = getComputedStyle(element);
  /** Returns the hue, saturation and lightness of the colour in a CSS variable. */
  const hslParts = (name: string) =>
    style
      .getPropertyValue(name)
      .split(/[\s,]+/)
      .filter(Boolean);
  const colourOf = (name: string, alpha = 1) => `hsla(${hslParts(name).join(', ')}, ${alpha})`;
  return {
    text: colourOf('--color-neutral'),
    line: colourOf('--color-neutral', 0.3),
    background: colourOf('--color-base'),
    isDark: parseFloat(hslParts('--color-base')[2] ?? '') < MAX_DARK_LIGHTNESS_PERCENT,
  };
}

/** Calls the listener when the theme may have changed. Returns a function that unsubscribes. */
export function onThemeChange(listener: () => void): () => void {
  // GraphiQL sets its theme as a class of the body.
  const theme = new MutationObserver(listener);
  theme.observe(document.body, { attributes: true, attributeFilter: ['class'] });
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', listener);
  return () => {
    theme.disconnect();
    scheme.removeEventListener('change', listener);
  };
}
