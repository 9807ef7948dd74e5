/** Who is who in tests. */
export const account = '6BApk';
export const token = 'a-token';
