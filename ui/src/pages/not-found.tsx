import { Link } from "@tanstack/react-router";
import { Empty } from "../parts/bits";

export function NotFound() {
  return (
    <main id="content">
      <Empty title="There is no such page">
        <p>The address may be mistyped, or of another version.</p>
        <div className="row">
          <Link to="/" className="btn primary">
            Go home
          </Link>
        </div>
      </Empty>
    </main>
  );
}
