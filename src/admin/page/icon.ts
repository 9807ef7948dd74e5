/** The mark of the program: two sheets, one the mirror of the other. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="8" fill="#0f766e"/>
<path d="M14 8 6 12v8l8 4z" fill="#fff"/>
<path d="m18 8 8 4v8l-8 4z" fill="#fff" fill-opacity=".55"/>
</svg>
`;
