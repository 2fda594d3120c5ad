/** The token with which this browser calls the server, if it needs one. It stays in this browser. */
const KEY = "windlass.token";

export function token(): string | null {
  return localStorage.getItem(KEY);
}

export function setToken(value: string | null): void {
  if (value) localStorage.setItem(KEY, value);
  else localStorage.removeItem(KEY);
}
