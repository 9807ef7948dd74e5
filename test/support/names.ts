/** Who is who in tests. */
export const account = '6BApk';
/** Beside `account` in one service: many of their vendors bear the same numbers. */
export const otherAccount = '7CBql';
export const publicUrl = 'https://mirror.example.com';
export const token = 'a-token';
