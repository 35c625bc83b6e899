/**
 * Colours of the GraphiQL theme. The values of its CSS variables are read, because ECharts cannot
 * resolve `var(--…)`.
 */
export interface ThemeColours {
  textColour: string;
  lineColour: string;
  backgroundColour: string;
  isDark: boolean;
}

const MAX_DARK_LIGHTNESS_PERCENT = 50;

export function themeColoursOf(element: Element): ThemeColours {
  const style = getComputedStyle(element);
  const hslOfCssVariable = (name: string) =>
    style
      .getPropertyValue(name)
      .split(/[\s,]+/)
      .filter(Boolean);
  const colourOf = (name: string, alpha = 1) =>
    `hsla(${hslOfCssVariable(name).join(', ')}, ${alpha})`;

  return {
    textColour: colourOf('--color-neutral'),
    lineColour: colourOf('--color-neutral', 0.3),
    backgroundColour: colourOf('--color-base'),
    isDark: parseFloat(hslOfCssVariable('--color-base')[2] ?? '') < MAX_DARK_LIGHTNESS_PERCENT,
  };
}

/** Calls the listener when the theme may have changed, until the returned function is called. */
export function onThemeChange(listener: () => void): () => void {
  // GraphiQL sets its theme as a class of the body.
  const themeObserver = new MutationObserver(listener);

  themeObserver.observe(document.body, { attributes: true, attributeFilter: ['class'] });
  const colourSchemeQuery = matchMedia('(prefers-color-scheme: dark)');

  colourSchemeQuery.addEventListener('change', listener);

  return () => {
    themeObserver.disconnect();
    colourSchemeQuery.removeEventListener('change', listener);
  };
}
