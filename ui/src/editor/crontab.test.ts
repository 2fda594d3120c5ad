import { expect, it } from "vitest";
import { parse } from "yaml";
import { importCrontab } from "./crontab";

it("makes a workflow of each line", () => {
  const { workflows, passed } = importCrontab(`
MAILTO=ops
PATH=/usr/bin
TZ="Europe/Oslo"
# Nightly backup
0 3 * * 1-5 /opt/backup.sh --full "a b"
*/5 * * * *   /opt/backup.sh
@daily tidy
@reboot start-something
0 0 * * * date +%F
`);
  expect(workflows.map((each) => each.name)).toEqual(["backup", "backup-2", "tidy"]);
  expect(parse(workflows[0]?.text ?? "")).toEqual({
    name: "backup",
    description: "Nightly backup",
    schedule: { cron: "0 3 * * 1-5", timezone: "Europe/Oslo" },
    env: { PATH: "/usr/bin" },
    tasks: { run: { run: '/opt/backup.sh --full "a b"' } },
  });
  expect(passed).toEqual(["@reboot start-something", "0 0 * * * date +%F"]);
});
