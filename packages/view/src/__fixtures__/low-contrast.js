/** Runs in the tab: texts whose contrast with what is behind them is below WCAG AA (4.5). */
export function lowContrast() {
  const channels = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (color) => {
    const [r = 0, g = 0, b = 0] = channels(color).map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    const color = getComputedStyle(node).backgroundColor;
    return channels(color)[3] === 0 && node.parentElement ? ground(node.parentElement) : color;
  };
  return [...document.querySelectorAll('main *')]
    .filter((node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim() !== ''))
    .flatMap((node) => {
      const [light = 0, dark = 0] = [luminance(getComputedStyle(node).color), luminance(ground(node))].sort(
        (a, b) => b - a,
      );
      const contrast = (light + 0.05) / (dark + 0.05);
      return contrast < 4.5 ? [`${node.tagName}.${node.className} ${contrast.toFixed(2)}`] : [];
    });
}
