/**
 * Shows suggestions in a `<datalist>`. Choosing one fills the name into the visible field and the
 * row id into a hidden field.
 */
const { src: scriptUrl } = document.currentScript as HTMLScriptElement;

for (const input of document.querySelectorAll<HTMLInputElement>('input[data-suggest]')) {
  const list = document.createElement('datalist');

  list.id = `${input.id}-suggestions`;
  input.after(list);
  input.setAttribute('list', list.id);
  const idInput = document.getElementById(`${input.id}-chosen`) as HTMLInputElement | null;
  let timer: number | undefined;
  let inputCount = 0;

  const suggest = async (text: string) => {
    const currentInput = inputCount;
    const query = new URLSearchParams({ type: input.dataset.suggest!, text });
    const url = new URL(`suggestions?${query}`, scriptUrl);
    const response = await fetch(url).catch(() => undefined);
    let matches: { value: string; label: string }[] = [];

    if (response?.ok) matches = (await response.json()) as typeof matches;
    // Ignores the response if the text has changed since the request.
    if (currentInput !== inputCount) return;
    list.replaceChildren(
      ...matches.map(({ value, label }) => {
        const option = new Option('', label);

        option.dataset.id = value;
        return option;
      }),
    );
  };

  input.addEventListener('input', () => {
    clearTimeout(timer);
    inputCount += 1;
    const text = input.value.trim();
    const option = [...list.options].find(({ value }) => value === text);

    if (idInput) idInput.value = option?.dataset.id ?? '';
    if (option || text.length < 2 || /^\d+$/.test(text)) return;
    timer = setTimeout(() => void suggest(text), 200);
  });
}
