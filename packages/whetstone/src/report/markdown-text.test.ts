import { describe, expect, test } from 'vitest';
import { markdownCode, markdownLink, markdownText } from './markdown-text.ts';

describe('markdownText', () => {
  test.each([
    ['a|b', 'a\\|b'],
    ['`code` *bold* _it_ ~~no~~ $x$', '\\`code\\` \\*bold\\* \\_it\\_ \\~\\~no\\~\\~ \\$x\\$'],
    ['<img src=x> &amp;', '&lt;img src=x&gt; &amp;amp;'],
    ['[text](http://evil.example)', '\\[text\\](http\\://evil.example)'],
    ['see www.evil.example', 'see www\\.evil.example'],
    ['# heading\n- item', '\\# heading - item'],
    ['- item', '\\- item'],
    ['1. item', '1\\. item'],
    ['2026-01-02', '2026-01-02'],
    ['\\|', '\\\\\\|'],
  ])('%j reads as itself', (text, markdown) => {
    expect(markdownText(text)).toBe(markdown);
  });
});

describe('markdownCode', () => {
  test.each([
    ['plain', '`plain`'],
    ['a `b` c', '``a `b` c``'],
    ['``', '``` `` ```'],
    ['', '` `'],
    ['a\n\nb', '`a b`'],
  ])('%j', (text, markdown) => {
    expect(markdownCode(text)).toBe(markdown);
  });
});

test('a link’s target cannot end early or have a scheme', () => {
  expect(markdownLink('a]b', 'cases/x (1)/é:y.log')).toBe('[a\\]b](cases/x%20%281%29/%C3%A9%3Ay.log)');
});
