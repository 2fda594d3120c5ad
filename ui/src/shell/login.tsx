import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { answer, client } from "../api/client";
import { setToken, token } from "../api/token";
import { Problem } from "../parts/problem";

/** Takes a token where the server wants one, and says where tokens come from. */
export function Login() {
  const navigate = useNavigate();
  const [secret, setSecret] = useState("");
  const [error, setError] = useState<unknown>(null);
  const enter = async (event: FormEvent) => {
    event.preventDefault();
    const before = token();
    setToken(secret.trim());
    try {
      await answer(client.GET("/api/v1/cluster"));
      // A new page has a new stream of live updates, with the token.
      await navigate({ to: "/" });
      window.location.reload();
    } catch (refused) {
      setToken(before);
      setError(refused);
    }
  };
  return (
    <main className="login card" id="content">
      <h1>Windlass</h1>
      <p className="soft" style={{ margin: "6px 0 18px" }}>
        This server wants a token. The first one is in its data folder, in <code>admin-token</code>; who has that makes
        others with <code>windlass tokens create</code>. It is kept in this browser only.
      </p>
      <form className="stack" onSubmit={enter}>
        <div className="field">
          <label htmlFor="token">Token</label>
          <input
            id="token"
            className="input wide mono"
            type="password"
            autoComplete="current-password"
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
            required
          />
        </div>
        {error !== null && <Problem error={error} />}
        <button type="submit" className="btn primary">
          Enter
        </button>
      </form>
    </main>
  );
}
