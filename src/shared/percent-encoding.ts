/** Decodes a percent-encoded URL segment. Invalid encoding yields an empty string. */
export function decodeUrlSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}
